"""Declared types of Java, Kotlin, C# and Scala as overloads compare them: names alone, those of one
thing the same in each. Pure.
"""

from __future__ import annotations

import functools

from cortex.graph.facts.arguments import WIDENING
from cortex.graph.facts.facts import DEFAULT, LATER, MANY
from cortex.graph.resolution.scala import FUNCTIONS, split_arrow

#: other languages' names of what Java calls so
_SAME = {
    "string": "String",
    "bool": "boolean",
    "object": "Object",
    "Any": "Object",
    "Int": "int",
    "Char": "char",
    "UInt": "int",
}
#: Scala's types that stand for any
_ANYTHING = frozenset({"Any", "AnyRef", "AnyVal"})
_KOTLIN = {"Long": "long", "Double": "double", "Float": "float", "Boolean": "boolean", "Byte": "byte"}
PRIMITIVES = frozenset((*WIDENING, "boolean"))
#: C#'s types of functions → how many parameters these have, -1 for as many as type arguments
_FUNCTIONS = {"Func": -1, "Action": -1, "Predicate": 1, "Comparison": 2, "Converter": 1}
#: C#'s values, which `?` makes another type of
VALUES = PRIMITIVES | {
    "DateTime",
    "DateTimeOffset",
    "DateOnly",
    "TimeOnly",
    "TimeSpan",
    "Guid",
    "decimal",
    "uint",
}
#: Scala's own types of what holds others, which are functions as well
COLLECTIONS = frozenset("Seq List Vector Array Map Set IndexedSeq Iterable Traversable Stream".split())


@functools.lru_cache(maxsize=10_000)
def bare_type(text: str, *, kotlin: bool) -> str:
    """A type without packages, arguments and words around it; arrays keep their brackets."""
    text = text.strip().lstrip(":").removesuffix(DEFAULT).strip()
    if "->" in text:
        return "fn"
    levels = text.count("[]") + text.count("...")
    name = text.partition("<")[0].replace("[]", "").rstrip("?! ").split()
    last = name[-1].rpartition(".")[2] if name else ""
    last = _SAME.get(last, last)
    return (_KOTLIN.get(last, last) if kotlin else last) + "[]" * levels


@functools.lru_cache(maxsize=10_000)
def bare_scala_type(text: str, free: frozenset[str] = frozenset()) -> str:
    """A type of Scala without packages, arguments and what is mixed in; `Object` for what stands
    for any.
    """
    text = text.removeprefix(MANY).removesuffix(DEFAULT).removesuffix(LATER)
    text, gives = split_arrow(text)
    if gives or text.startswith(FUNCTIONS):
        return "fn"
    name = text.partition("[")[0].partition(" with ")[0].partition("{")[0].strip().removesuffix(".type")
    if not name or name[0] == "(":
        return ""
    last = name.rpartition(".")[2].rpartition("#")[2]
    return "Object" if last in free or last in _ANYTHING else _KOTLIN.get(last, _SAME.get(last, last))


@functools.lru_cache(maxsize=10_000)
def bare_csharp_type(text: str, actual: str, free: frozenset[str]) -> str:
    """A parameter's type in C#: `fn2` for a function with two parameters, `Object` for what stands
    for any type.
    """
    many = text.startswith(MANY)
    text = text.removeprefix(MANY).removesuffix(DEFAULT).strip()
    if many and actual.endswith("[]"):
        text += "[]"
    name, _, tail = text.partition("<")
    name = name.strip().rpartition(".")[2].rpartition(" ")[2]
    if name == "Expression":
        return bare_csharp_type(tail.strip().removesuffix("?").removesuffix(">"), actual, free)
    if name.rstrip("?") in free:
        return "Object"
    if name in _FUNCTIONS:
        fixed = _FUNCTIONS[name]
        return f"fn{fixed if fixed >= 0 else (_argument_count(tail) if tail else 0) - (name == 'Func')}"
    plain = bare_type(text, kotlin=False)
    return plain + "?" * (plain in VALUES and text.endswith("?"))


def _argument_count(arguments: str) -> int:
    """How many type arguments there are, those inside of others not counted."""
    depth, count = 0, 1
    for character in arguments:
        depth += (character in "<([") - (character in ">)]")
        count += character == "," and not depth
    return count
