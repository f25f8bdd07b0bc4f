"""Types of the parameters of a script's unnamed functions, as links of a chain.

They come from the function that gets the unnamed one as an argument, `app.get("/", (context) =>
…)`, or from its declared type.
"""

from typing import NamedTuple

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, chain_of, text_of, type_text
from cortex.graph.facts.facts import module_of
from cortex.graph.facts.grammars import Syntax

#: begins such a value, and separates its fields
CONTEXT_MARK, _SEPARATOR = "^", "\x07"
#: depth of nested objects in which a function is found
KEYS_MAX = 3
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "method_definition"})
#: in place of a parameter's number: the argument itself
ITSELF = -2
#: the method of a promise that passes its value on
_THEN = "then"


class Context(NamedTuple):
    """Parameter `number` of a function that is passed as `argument` to `source`.

    `keys` lead to the function within an object that is passed. A `source` that begins with `:` is
    the declared type of the function, `:Handler`. `before` is the value passed `distance` arguments
    earlier in the call, "" for none.
    """

    number: int
    keys: tuple[str, ...]
    argument: int
    source: str
    before: str = ""
    distance: int = 0


def encode_context(context: Context) -> str:
    parts = (
        f"{CONTEXT_MARK}{context.number}",
        ".".join(context.keys),
        str(context.argument),
        context.source,
        context.before,
    )
    return _SEPARATOR.join((*parts, str(context.distance)))


def decode_context(value: str) -> Context:
    number, keys, argument, source, before, distance = value[len(CONTEXT_MARK) :].split(_SEPARATOR)
    key_path = tuple(keys.split(".")) if keys else ()
    return Context(int(number), key_path, int(argument), source, before, int(distance))


def callback_parameter(name: Node, syntax: Syntax) -> str:
    """Return the value of a parameter without a type; UNKNOWN if nothing gives its type."""
    around = name.parent
    if around is not None and around.type == "required_parameter":
        name, around = around, around.parent
    if around is None:
        return UNKNOWN
    function = around.parent if around.type == "formal_parameters" else around
    if function is None or function.type not in _FUNCTIONS:
        return UNKNOWN
    listed = (
        [child for child in around.named_children if not child.is_extra] if function != around else [name]
    )
    number = next((at for at, child in enumerate(listed) if child.start_byte == name.start_byte), -1)
    if listed and text_of(listed[0]).startswith("this") and len(listed) > 1:
        number -= listed[0].named_child_count > 0 and listed[0].named_children[0].type == "this"
    return _context_of(function, number, syntax) if number >= 0 else UNKNOWN


def parameter_of(argument: Node, syntax: Syntax) -> str:
    """Return the chain of the parameter that gets an argument; UNKNOWN if nothing tells it."""
    around = argument.parent
    if around is None:
        return UNKNOWN
    return _argument_context(argument, around, Context(ITSELF, (), 0, ""), syntax)


def _context_of(function: Node, number: int, syntax: Syntax) -> str:
    keys: list[str] = []
    node = function
    while (around := node.parent) is not None:
        if around.type in ("pair", "object"):
            place = around if around.type == "pair" else node if node.type == "method_definition" else None
            key = place.child_by_field_name("key" if place.type == "pair" else "name") if place else None
            literal = around.parent if around.type == "pair" else around
            if key is None or literal is None or key.type != "property_identifier" or len(keys) == KEYS_MAX:
                return UNKNOWN
            keys.insert(0, text_of(key))
            node = literal
            continue
        if around.type == "arguments" and around.parent is not None:
            return _argument_context(node, around, Context(number, tuple(keys), 0, ""), syntax)
        if around.type == "variable_declarator" and (kind := around.child_by_field_name("type")) is not None:
            return encode_context(Context(number, tuple(keys), 0, f":{type_text(kind)}"))
        break
    return UNKNOWN


def _argument_context(node: Node, arguments: Node, context: Context, syntax: Syntax) -> str:
    call = arguments.parent
    callee = (
        call.child_by_field_name(syntax.calls.get(call.type) or syntax.news.get(call.type, ""))
        if call
        else None
    )
    listed = [child for child in arguments.named_children if not child.is_extra]
    chain = chain_of(callee, syntax) if callee is not None else UNKNOWN
    if chain.rpartition(".")[2] in (UNKNOWN, LITERAL) or chain[:1] in "?#:~^":
        return UNKNOWN
    at = next((at for at, child in enumerate(listed) if child.start_byte == node.start_byte), 0)
    receiver, _, method = chain.rpartition(".")
    if method == _THEN and module_of(receiver) and "." not in receiver:  # `import("./x").then((x) => …)`
        return receiver if (at, context.number, context.keys) == (0, 0, ()) else UNKNOWN
    context = context._replace(argument=at, source=chain)
    for distance, other in enumerate(reversed(listed[:at]), 1):
        if (sibling_chain := chain_of(other, syntax))[:1] not in "?#:~^":
            context = context._replace(before=sibling_chain, distance=distance)
            break
    return encode_context(context)
