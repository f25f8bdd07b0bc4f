"""Go's functions without a name in the syntax tree, and its function types."""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.facts.expressions.results import types_of
from cortex.graph.facts.grammars import Syntax

#: functions of the library that return a function with the results of the one they get
ONCE = frozenset({"sync.OnceFunc", "sync.OnceValue", "sync.OnceValues"})
_FUNCTION = "func("


def once_chain(function: Node, _syntax: Syntax, _depth: int) -> str | None:
    """Return the type of a function without a name that one of `ONCE` gets; None for others."""
    call = function.parent.parent if function.parent is not None else None
    callee = call.child_by_field_name("function") if call is not None else None
    result = function.child_by_field_name("result")
    if callee is None or result is None or text_of(callee) not in ONCE:
        return None
    return f":{_FUNCTION}) {types_of(result)}"


def function_type(text: str) -> tuple[str, str]:
    """Return (a type, its result): `*Disk` of `func(n int) *Disk`, "" for other types."""
    if not text.startswith(_FUNCTION):
        return text, ""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == ")" and not depth:
            return text, text[at + 1 :].strip()
    return text, ""
