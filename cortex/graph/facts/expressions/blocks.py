"""Implicit names in blocks: `this` and `it`.

They stand for the receiver or argument in Kotlin's `disk.apply { save() }` and `disks.forEach {
it.save() }`, and in the block passed to a function of the project.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, arguments_of, chain_of, child_of, text_of
from cortex.graph.facts.grammars import Syntax

#: names of the bindings: bare names in the block are members of the first
THIS, IT = "this", "it"
#: links for the receiver and the argument of a function's block parameter: of its last parameter,
#: or of the parameter that the name or number after the mark selects
BLOCK_RECEIVER, BLOCK_ARGUMENT = "(^)", "(~)"
BLOCK_MARKS = frozenset("^~")
#: functions that pass an index to their block before each element
_INDEXED = re.compile(r"\.(?:forEach|map|filter|flatMap|onEach)Indexed$")
#: functions of Kotlin's library that pass the receiver to their block as `this`, as `it`, or by
#: element
_AS_THIS = frozenset({"apply", "run"})
_AS_IT = frozenset({"let", "also", "takeIf", "takeUnless", "use"})
_AS_ELEMENT = frozenset(
    "forEach map mapNotNull flatMap filter filterNot any all none first firstOrNull single singleOrNull "
    "last lastOrNull find findLast count sumOf sortedBy sortedByDescending sortBy associateBy groupBy "
    "associateWith associate maxByOrNull minByOrNull maxOf minOf onEach partition takeWhile dropWhile "
    "distinctBy joinToString indexOfFirst removeAll removeIf".split()
)


def implicit_names(block: Node, syntax: Syntax) -> Iterator[tuple[str, str]]:
    """Yield (name, chain) for the implicit names of a block: THIS and IT."""
    call, argument = _enclosing_call(block)
    if call is None:
        return
    callee = call.children[0]
    if callee.type == "call_expression":  # `with(disk) { … }`
        call, callee = callee, callee.children[0]
    chain = chain_of(callee, syntax)
    receiver, _, name = chain.rpartition(".")
    if UNKNOWN in chain or LITERAL in chain:
        return
    if name == "with" and not receiver:
        arguments, _ = arguments_of(call)
        if arguments and (receiver_chain := chain_of(child_of(arguments[0], "-1"), syntax)) not in (
            UNKNOWN,
            LITERAL,
        ):
            yield THIS, receiver_chain
    elif receiver and name in _AS_THIS:
        yield THIS, receiver
    elif receiver and name in _AS_IT:
        yield IT, receiver
    elif receiver and name in _AS_ELEMENT:
        yield IT, f"{receiver}[]"
    else:
        yield THIS, f"{chain}{BLOCK_RECEIVER[:-1]}{argument})"
        yield IT, f"{chain}{BLOCK_ARGUMENT[:-1]}{argument})"


def block_parameter(name: Node, syntax: Syntax) -> str:
    """The chain of a block's first parameter, `disks.forEach { disk -> … }`; `?` for others."""
    around = name.parent.parent if name.parent is not None else None
    if around is None or around.type != "lambda_parameters" or around.parent is None:
        return UNKNOWN
    element_chain = dict(implicit_names(around.parent, syntax)).get(IT, UNKNOWN)
    if around.named_child_count == 1:
        return element_chain
    call, _ = _enclosing_call(around.parent)
    callee = call.children[0] if call is not None else None
    second = name.parent == around.named_children[1]
    if callee is None or not second or not _INDEXED.search(text_of(callee)):
        return UNKNOWN
    receiver = chain_of(callee.children[0], syntax)
    return UNKNOWN if receiver in (UNKNOWN, LITERAL) else f"{receiver}[]"


def component_of(name: Node, chain: str) -> str:
    """Return the chain for a name in a destructuring declaration."""
    around = name.parent.parent if name.parent is not None else None
    if around is None or chain in (UNKNOWN, LITERAL):
        return UNKNOWN
    return f"{chain}.component{around.named_children.index(name.parent) + 1}"  # type: ignore[arg-type]


def has_parameters(block: Node) -> bool:
    return any(child.type == "lambda_parameters" for child in block.named_children)


def _enclosing_call(block: Node) -> tuple[Node | None, str]:
    """Return the call that a block is passed to, and the block's position among the arguments.

    The position is "" for a trailing block, else the argument's name or number.
    """
    around = block.parent
    argument = ""
    if around is not None and around.type == "value_argument" and around.parent is not None:
        listed = around.parent
        if any(child.type == "=" for child in around.children):
            argument = text_of(around.named_children[0])
        else:
            argument = str(next((n for n, other in enumerate(listed.named_children) if other == around), 0))
        around = listed
    elif around is None or around.type != "annotated_lambda":
        return None, ""
    call = around.parent
    return (call, argument) if call is not None and call.type == "call_expression" else (None, "")
