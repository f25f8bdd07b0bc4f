"""Type parameters and type arguments as written: `class Box<T : Disk>`, `Box<Disk>`, Scala's
`Box[Disk]`. Of no project.
"""

import functools
import re

from tree_sitter import Node

from cortex.graph.facts.declared.types import split_top_level
from cortex.graph.facts.expressions.chains import TYPE_CHARS_MAX, text_of
from cortex.graph.facts.facts import GENERIC

#: a parameter's name after its annotations and variance
_PARAMETER = re.compile(r"\s*(?:@[\w.]+(?:\([^)]*\))?\s+|(?:in|out|reified)\s+|[+-]\s*)*([\w$]+)")
#: annotations and variance before a type argument
_VARIANCE = re.compile(r"(?:@[\w.]+\s+|(?:in|out)\s+|\?\s*(?:extends|super)\s+)+")
#: functions of Kotlin's library that make a container
_HOLDERS = {
    **dict.fromkeys("listOf emptyList mutableListOf arrayListOf listOfNotNull buildList".split(), "List"),
    **dict.fromkeys("setOf emptySet mutableSetOf hashSetOf linkedSetOf linkedMapOf".split(), "Set"),
    **dict.fromkeys("mapOf emptyMap mutableMapOf hashMapOf".split(), "Map"),
    **dict.fromkeys("arrayOf arrayOfNulls emptyArray sequenceOf".split(), "Array"),
}
_ANYTHING = frozenset({"?", "*", "_", ""})


def parameters_flag(definition: Node) -> tuple[str, ...]:
    """Return the flag that holds the names of a definition's type parameters; () without any."""
    for child in definition.children:
        if child.type == "type_parameters":
            matches = [
                _PARAMETER.match(parameter)
                for parameter in split_top_level(text_of(child).strip()[1:-1], ",")
            ]
            return (GENERIC + ",".join(match[1] for match in matches if match),)
    return ()


def arguments_text(base: Node) -> str:
    """Return the type arguments of a supertype, with their brackets; "" for none."""
    text = text_of(base)
    at = min((at for at in (text.find("<"), text.find("[")) if at >= 0), default=-1)
    return text[at:] if at > 0 and len(text) <= TYPE_CHARS_MAX else ""


@functools.lru_cache(maxsize=20_000)
def split_generic(text: str) -> tuple[str, tuple[str, ...]]:
    """Return (a type's name, its type arguments as written); "" for an argument of any type."""
    text = text.strip().rstrip("?! ")
    at = min((at for at in (text.find("<"), text.find("[")) if at >= 0), default=len(text))
    name, tail = text[:at].strip(), text[at:]
    if len(tail) < 3 or not name:  # the compiler infers the arguments of `Box<>`
        return name, ()
    inside = tail[1 : max(tail.rfind(">"), tail.rfind("]"))]
    arguments = (_VARIANCE.sub("", argument).strip() for argument in split_top_level(inside, ","))
    return name, tuple("" if argument in _ANYTHING else argument for argument in arguments)


def constructed_type(value: Node) -> str:
    """Return the type of a constructor call with type arguments; "" for other expressions.

    Such calls are `new Box<Disk>()`, Kotlin's `Box<Disk>()`, Scala's `new Box[Disk]`; C#'s
    `Boxes.Make<Disk>()` is none.
    """
    if value.type == "invocation_expression":
        return ""
    type_node = value.child_by_field_name("type") or value.child_by_field_name("function")
    if value.type == "instance_expression":
        type_node = value.named_child(0)
        if type_node is not None and type_node.type == "call_expression":
            type_node = type_node.child_by_field_name("function")
    text = text_of(type_node) if type_node is not None else ""
    if (
        value.type == "call_expression"
        and value.child_count > 1
        and value.children[1].type == "type_arguments"
    ):
        callee = text_of(value.children[0])
        text = _HOLDERS.get(callee, callee) + text_of(value.children[1])
    name, arguments = split_generic(text) if text[:1].isupper() and len(text) <= TYPE_CHARS_MAX else ("", ())
    return text if arguments and name.replace(".", "").isalnum() else ""
