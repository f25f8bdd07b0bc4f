"""Declared types of Java, Kotlin, C# and Scala as overloads compare them: bare names, with one name
for a type in all of these languages. Pure.
"""

import functools

from cortex.graph.facts.expressions.arguments import WIDENING
from cortex.graph.facts.facts import DEFAULT, LATER, MANY

#: Scala's function types by name
FUNCTIONS = ("PartialFunction[", "Function1[", "Function2[")
#: names in other languages → Java's name
_SAME = {
    "string": "String", "bool": "boolean", "object": "Object", "Any": "Object", "Int": "int",
    "Char": "char", "UInt": "int",
}  # fmt: skip
#: Scala's types that accept anything
_ANYTHING = frozenset({"Any", "AnyRef", "AnyVal"})
_KOTLIN = {"Long": "long", "Double": "double", "Float": "float", "Boolean": "boolean", "Byte": "byte"}
PRIMITIVES = frozenset((*WIDENING, "boolean"))
#: Java's types for values of primitive types
BOXES = {
    "Integer": "int", "Long": "long", "Double": "double", "Float": "float", "Boolean": "boolean",
    "Character": "char", "Byte": "byte", "Short": "short",
}  # fmt: skip
#: C#'s full names of its built-in types, with Java's names where both have the type; without those
#: that a project may give to its own types, `Single`
SYSTEM_TYPES = {
    "Int16": "short", "Int32": "int", "Int64": "long", "UInt16": "ushort", "UInt32": "uint", "UInt64": "ulong",
    "SByte": "sbyte",
}  # fmt: skip
#: C#'s types that are no function types
NO_FUNCTIONS = frozenset(
    "String CancellationToken Type Guid DateTime TimeSpan Exception StringBuilder Stream Task IEnumerable List "
    "IList ICollection Dictionary IDictionary HashSet Regex CultureInfo Encoding StringComparison".split()
)
#: C#'s function types → number of parameters, -1 for the number of type arguments
_FUNCTIONS = {"Func": -1, "Action": -1, "Predicate": 1, "Comparison": 2, "Converter": 1}
#: results of C#'s function types: nothing, and any; those that a task has a value
NO_RESULT, ANY_RESULT, WITH_RESULT = "void", "any", "<>"
TASKS = frozenset({"Task", "ValueTask"})
#: results of those that have no type for it
_RESULTS = {"Action": NO_RESULT, "Predicate": "boolean", "Comparison": "int"}
#: C#'s value types: `?` makes them another type
VALUES = PRIMITIVES.union("DateTime DateTimeOffset DateOnly TimeOnly TimeSpan Guid decimal uint".split())
#: Scala's containers, which are functions as well
COLLECTIONS = frozenset("Seq List Vector Array Map Set IndexedSeq Iterable Traversable Stream".split())


@functools.lru_cache(maxsize=10_000)
def bare_type(text: str, *, kotlin: bool) -> str:
    """Return a type without packages, arguments and modifiers; arrays keep their brackets."""
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
    """A Scala type without packages, arguments and mixins; `Object` if it accepts anything."""
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
    """Return a C# parameter's type: `fn2` for a function of two parameters, `Object` if it accepts
    any type.
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
    return _function_type(name, tail, free) or plain_csharp_type(text)


def _function_type(name: str, tail: str, free: frozenset[str]) -> str:
    """Return C#'s function type with the type arguments `A, B> …`: `fn1:int`; "" for others."""
    if name not in _FUNCTIONS:
        return ""
    fixed = _FUNCTIONS[name]
    count = fixed if fixed >= 0 else (len(_split_arguments(tail)) if tail else 0) - (name == "Func")
    return f"fn{count}:{_RESULTS.get(name) or _plain_result(tail, free)}"


@functools.lru_cache(maxsize=10_000)
def plain_csharp_type(text: str) -> str:
    """Return a C# type without packages and arguments; `?` remains on values, and a mark on tasks
    with a value.
    """
    plain = bare_type(text, kotlin=False)
    levels = len(plain) - len(plain.rstrip("[]"))
    inner = plain[: len(plain) - levels]
    inner = SYSTEM_TYPES.get(inner, inner)
    if not levels and "<" in text:
        if inner in TASKS:
            return inner + WITH_RESULT
        if inner in _FUNCTIONS:
            return _function_type(inner, text.partition("<")[2], frozenset())
    return inner + plain[len(plain) - levels :] + "?" * (inner in VALUES and text.rstrip().endswith("?"))


def _split_arguments(arguments: str) -> list[str]:
    """Return the type arguments at the begin of `A, B<C>> …`."""
    depth, begin, split = 0, 0, list[str]()
    for at, character in enumerate(arguments):
        depth += (character in "<([") - (character in ">)]")
        if depth < 0 or (character == "," and not depth):
            split.append(arguments[begin:at])
            begin = at + 1
        if depth < 0:
            return split
    return [*split, arguments[begin:]]


def _plain_result(arguments: str, free: frozenset[str]) -> str:
    """Return the result of a function type with these type arguments, the last of them."""
    text = _split_arguments(arguments)[-1].strip().rstrip("?")
    name = text.partition("<")[0].strip().rpartition(".")[2]
    if name in free or not name:
        return ANY_RESULT
    return plain_csharp_type(text)


def split_arrow(text: str) -> tuple[str, str]:
    """(a type without a by-name arrow, `=> Disk`; the result of a function type, `A => Disk`)."""
    text = text.strip().removeprefix("=>").strip()
    at = first_arrow(text)
    return (text, text[at + 2 :].strip()) if at >= 0 else (text, "")


def first_arrow(text: str) -> int:
    """Return the index of a type's first arrow outside of brackets; -1 for none."""
    depth = 0
    for at, character in enumerate(text):
        if character == "=" and text[at : at + 2] == "=>" and not depth:
            return at
        depth += (character in "[(") - (character in "])")
    return -1
