"""References that the sweep reads: calls of names, mentions of types, and the types that Rust's
macros define: `bitflags! { struct Flags … }`, and `id_type!(UserId)` where a macro of the file has
`struct $name`. Other items inside macros are read as if outside of them (facts/repairs/macros.py);
these are no items of the language.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from cortex.graph.facts.declared.pytest_marks import MARKS, fixtures_of_mark
from cortex.graph.facts.declared.types import names_in
from cortex.graph.facts.expressions.arguments import CallArguments, read_arguments
from cortex.graph.facts.expressions.chains import (
    TYPE_CHARS_MAX,
    UNKNOWN,
    chain_of,
    child_of,
    has_block,
    infix_of,
    last_name,
    required_module,
    strip_call,
    text_of,
    unwrap_node,
)
from cortex.graph.facts.expressions.operators import (
    OperatorReader,
    is_assigned,
    read_operator,
    read_test,
    tested_operands,
)
from cortex.graph.facts.facts import PROPERTY, TYPE_ONLY, WRITTEN, Reference, module_of
from cortex.graph.facts.grammars import Syntax
from cortex.graph.facts.repairs.macros import macro_calls, macro_value
from cortex.graph.facts.repairs.tokens import chain_of_tokens
from cortex.graph.sweep import definitions, script
from cortex.graph.sweep.frames import OpenDefinition
from cortex.graph.sweep.sweep import Sweep

#: words before a type's name → its kind
_KINDS = {"struct": "struct", "enum": "type"}
#: nodes that hold items
_ITEMS = frozenset({"source_file", "declaration_list"})


def define_types(sweep: Sweep, invocation: Node, macro: str) -> None:
    """Define the types of a macro that is called in place of an item."""
    around = invocation.parent
    if around is not None and around.type == "expression_statement":
        around = around.parent
    group = invocation.children[-1]
    if around is None or around.type not in _ITEMS or group.type != "token_tree":
        return
    named = [*_named_types(group)]
    frame = sweep.stack[-1]
    for kind, name in named or _made_types(sweep.macros.get(macro), group):
        node = group if len(named) == 1 else name  # its members are in the group
        sweep.keep(OpenDefinition(text_of(name), kind, frame.qualified, frame.index, node, name))


def _named_types(group: Node) -> Iterator[tuple[str, Node]]:
    """Yield (kind, name) of each `struct Name` among tokens."""
    for word, name in pairwise(group.children):
        if word.type in _KINDS and name.type == "identifier":
            yield _KINDS[word.type], name


def _made_types(macro: Node | None, group: Node) -> Iterator[tuple[str, Node]]:
    """Yield (kind, name) of the type for which a macro of the file has `struct $name`: the first
    name among the arguments.
    """
    name = next((child for child in group.children if child.type == "identifier"), None)
    if macro is None or name is None:
        return
    for rule in macro.named_children:
        body = rule.child_by_field_name("right") if rule.type == "macro_rule" else None
        for word, variable in pairwise(body.children if body is not None else ()):
            if word.type in _KINDS and variable.type == "metavariable":
                yield _KINDS[word.type], name
                return


#: Scala's nodes that call a type, even if a function has the same name
_CONSTRUCTIONS = frozenset({"instance_expression", "case_class_pattern", "extends_clause"})
_WRAPPERS = frozenset({"parenthesized_expression", "await_expression"})
#: ends the chain of a call's result or an element
_RESULT_ENDS, _RESULT_END = frozenset(")]>"), re.compile(r"(?:[\])]|\)<[^<>]*>)$")
#: suffix of C# attributes, left out where they are used
_ATTRIBUTE = "Attribute"


def read_call(sweep: Sweep, node: Node, callee: Node) -> None:
    syntax = sweep.syntax
    if syntax.selector and node.parent is not None and node.parent.type == syntax.selector:
        return  # Swift's `#selector(save(_:))` only names the function
    if sweep.is_script:
        callee = script.read_callee(sweep, node, callee)
    if callee.type == "unary_expression":  # Kotlin's `!f()`
        callee = unwrap_node(callee, syntax)
    kind, written = callee.type, node.type
    if kind in syntax.calls and not (syntax.requires and required_module(callee)):
        if has_block(node):
            sweep.with_blocks.add(callee.byte_range)
        return  # f()(): the target is unknown
    if written == "infix_expression":
        chain = strip_call(infix_of(node, syntax))
        if chain.rpartition(".")[2] != UNKNOWN:
            sweep.add_reference("call", chain, callee, CallArguments(1))
        return
    chain, member = _split_callee(callee, kind, syntax)
    if kind == "scoped_identifier" and (trait := _named_trait(callee)) is not None:
        chain = f"{chain_of(trait, syntax)}.{text_of(member)}"
    if written == "macro_invocation":
        sweep.add_reference("call", f"{chain}!", member)
        define_types(sweep, node, text_of(member))
        return
    if module_of(chain) and (behind := node.child_by_field_name("arguments")) is not None:
        member = behind  # of `require("x")()`: the name's position belongs to the inner call
    if chain.startswith(":") or kind in _WRAPPERS:
        return
    if chain[-1:] in _RESULT_ENDS and _RESULT_END.search(chain):
        return
    if syntax.mocked is not None and (mock := syntax.mocked(node, syntax)):
        chain = f"{mock}.{chain}"
    if written == "attribute" and not chain.endswith(_ATTRIBUTE):
        chain += _ATTRIBUTE
    if sweep.rules.fixtures and (mark := chain.rpartition(".")[2]) in MARKS:
        is_decorator = node.parent is not None and node.parent.type == "decorator"
        for use, name, place in fixtures_of_mark(node, mark):
            sweep.add_reference(use, name, place, CallArguments(int(is_decorator)))
    blocks = int(bool(sweep.with_blocks) and node.byte_range in sweep.with_blocks)
    arguments = read_arguments(node, callee, syntax, overloads=sweep.rules.overloads, blocks=blocks)
    if syntax.setters and arguments.arguments < 0 and "." in chain and is_assigned(node):
        if node.parent is not None and node.parent.type == "operator_assignment":  # reads it, too
            sweep.add_reference("call", chain, member, arguments)
        chain += "="
    if sweep.rules.included_hook and "." not in chain:
        definitions.bind_computed_methods(sweep, node, chain)
    is_made = written == "object_creation_expression" and sweep.rules.overloads and not arguments.types
    if written in _CONSTRUCTIONS or is_made:
        arguments = CallArguments(*arguments[:2], TYPE_ONLY)
    sweep.add_reference("call", chain, member, arguments)
    if syntax.dispatched is not None:
        for handler, place in syntax.dispatched(node, chain, syntax):
            sweep.add_reference("call", handler, place)


def _named_trait(callee: Node) -> Node | None:
    """Return the trait of Rust's `<Disk as Shop>::sell`, which is called; the result is that of the
    type's own method.
    """
    path = callee.child_by_field_name("path")
    if path is None or path.type != "bracketed_type":
        return None
    return next((child.child_by_field_name("alias") for child in path.named_children), None)


def _split_callee(callee: Node, kind: str, syntax: Syntax) -> tuple[str, Node]:
    """Return (chain of the callee, node of its last name)."""
    if (shape := syntax.methods.get(kind)) is not None:
        inner, member = child_of(callee, shape[0]), child_of(callee, shape[1]) or callee
        name = text_of(member)
        return (name if inner is None else f"{chain_of(inner, syntax, 1)}.{name}"), member
    if (shape := syntax.members.get(kind)) is not None:
        return chain_of(callee, syntax), last_name(child_of(callee, shape[1]) or callee, syntax)
    last = child_of(callee, "-1") if kind == "qualified_name" else None  # of PHP's `A\b()` the node `b`
    return chain_of(callee, syntax), last or callee


def call_operator(sweep: Sweep, node: Node, read: OperatorReader = read_operator) -> None:
    if (operator := read(node, sweep.syntax)) is not None:
        sweep.add_reference("call", *operator)
    for operand in tested_operands(node, sweep.syntax) if read is read_operator else ():
        call_operator(sweep, operand, read_test)


def call_literal_operator(sweep: Sweep, suffix: Node) -> None:
    """Add the call that C++'s `"disk"_id` is."""
    sweep.add_reference("call", f'operator""{text_of(suffix)}', suffix)


def assign_in_initializer(sweep: Sweep, name: Node, new_type: Node) -> None:
    """Add the assignment of a property in `new Disk { Size = 1 }`."""
    chain = f"{chain_of(new_type, sweep.syntax)}().{text_of(name)}"
    sweep.add_reference(PROPERTY, chain, name, CallArguments(types=WRITTEN))


def call_in_macro(sweep: Sweep, body: Node) -> None:
    """Add the calls in a C macro's text, which each use of the macro makes."""
    (row, column), text = body.start_point, text_of(body)
    if (owner := sweep.callable_around()) is not None and (value := macro_value(text)):
        owner.inferred.append(value)
    for chain, line, at in macro_calls(text):
        place = (row + 1 + line, at if line else column + at)
        sweep.references.append(Reference("call", chain, sweep.stack[-1].index, *place, body.start_byte))


def call_in_tokens(sweep: Sweep, name: Node, group: Node) -> None:
    """Add a call inside the arguments of a Rust macro."""
    sweep.add_reference("call", chain_of_tokens(name, group), name)


def call_component(sweep: Sweep, name: Node) -> None:
    """Add the call of JSX's `<Disk />`; `<div />` calls no function."""
    chain = chain_of(name, sweep.syntax)
    if chain[:1].isupper() or "." in chain:
        sweep.add_reference("call", chain, name)


def read_types(sweep: Sweep, node: Node) -> None:
    text, mark = text_of(node), sweep.rules.path_mark
    text = text.replace(mark, ".") if mark else text
    if len(text) > TYPE_CHARS_MAX:
        return
    for name in dict.fromkeys(names_in(text)):
        sweep.add_reference("type", name, node)
