"""Functions that are given where a type is wanted: as an argument, or as the value of a name
with a declared type. Of one file; resolution tells whether a function can stand for the type.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from tree_sitter import Node

from cortex.graph.facts.expressions.chains import HOLD_ARGUMENTS, UNKNOWN, chain_of, text_of, type_text
from cortex.graph.facts.facts import LITERAL_ARGUMENT, PassedFunction, Reference
from cortex.graph.facts.grammars import Syntax

#: nodes around a value that stand for it
_WRAPPERS = frozenset(
    "argument value_argument keyword_argument parenthesized_expression expression_list "
    "variable_declarator arrow_expression_clause function_body".split()
)
_RETURNS = frozenset({"return_statement", "return_expression", "arrow_expression_clause", "function_body"})
_ASSIGNMENTS = frozenset({"assignment_expression", "assignment_statement", "assignment"})
#: nodes of functions, and their fields with the declared result
_FUNCTIONS = frozenset(
    "method_declaration function_declaration function_definition method_definition local_function_statement "
    "lambda_expression anonymous_method_expression arrow_function function_expression func_literal lambda".split()
)
#: functions of scripts that get the name of their variable or field, and the chain before that name
_NAMED = frozenset({"arrow_function", "function_expression"})
_NAMED_BY = {"variable_declarator": "", "public_field_definition": "this."}
_NAMES = frozenset({"identifier", "property_identifier"})
_RESULTS = ("return_type", "returns", "result", "type")


class _Place(NamedTuple):
    """Where a function is given: the call and the number or name of the parameter, or, outside of
    calls, the chain of a value of the wanted type.
    """

    call: Node | None
    parameter: str
    chain: str = ""


class GivenFunctions:
    """The functions that one file gives, beside its references."""

    def __init__(self, references: Sequence[Reference], syntax: Syntax) -> None:
        self._references = list(references)
        self._syntax = syntax
        self._calls = sorted(
            (reference.at, number) for number, reference in enumerate(references) if reference.kind == "call"
        )
        self._by_call: dict[int, list[PassedFunction]] = {}
        self._outside_calls: list[Reference] = []
        #: first byte of a call's arguments → first byte of each one → its number
        self._numbers: dict[int, dict[int, int]] = {}

    def add(self, node: Node, chain: str, scope: int) -> None:
        """Add a function: `chain` is that of its name, "" for an unnamed one."""
        place = _place_of(node, self._syntax, self._numbers)
        if place is None:
            return
        chain = chain or (_own_name(node) if place.call is None else "")
        row, column = node.start_point
        function = PassedFunction(place.parameter, chain, row + 1, column)
        if place.call is None:
            reference = Reference(
                LITERAL_ARGUMENT, place.chain, scope, row + 1, column, node.start_byte, functions=(function,)
            )
            self._outside_calls.append(reference)
        elif (number := self._number_of(place.call)) >= 0:
            self._by_call.setdefault(number, []).append(function)

    def references(self) -> list[Reference]:
        """Return all references: calls have the functions among their arguments."""
        for number, functions in self._by_call.items():
            called = self._references[number]
            self._references[number] = msgspec.structs.replace(called, functions=tuple(functions))
        return [*self._references, *self._outside_calls]

    def _number_of(self, call: Node) -> int:
        """Return the number of a call's reference: its place is the last name of the callee."""
        arguments = next((child for child in call.children if child.type in HOLD_ARGUMENTS), None)
        end = arguments.start_byte if arguments is not None else call.end_byte
        at = bisect_left(self._calls, (end, -1)) - 1
        return self._calls[at][1] if at >= 0 and self._calls[at][0] >= call.start_byte else -1


def _own_name(function: Node) -> str:
    """Return the chain of a script's function that a variable or field holds: it has that name."""
    around = function.parent if function.type in _NAMED else None  # slow to look up
    holder = _NAMED_BY.get(around.type) if around is not None else None
    if around is None or holder is None:
        return ""
    name = around.child_by_field_name("name")
    return holder + text_of(name) if name is not None and name.type in _NAMES else ""


def _place_of(node: Node, syntax: Syntax, numbers: dict[int, dict[int, int]]) -> _Place | None:
    """Return the place at which a function is given; None where no type is wanted."""
    value, around, name = node, node.parent, ""
    while around is not None:
        kind = around.type
        if kind in HOLD_ARGUMENTS:
            return _argument_place(value, around, name, numbers)
        if kind in _RETURNS and (declared := _result_type(around)):
            return _Place(None, "", f":{declared}")
        if (declared_type := around.child_by_field_name("type")) is not None:
            is_value = declared_type.end_byte <= value.start_byte
            return _Place(None, "", f":{type_text(declared_type)}") if is_value else None
        if kind in _ASSIGNMENTS:
            left = around.child_by_field_name("left")
            chain = chain_of(left, syntax) if left is not None and left.end_byte <= value.start_byte else ""
            return _Place(None, "", chain) if chain.rpartition(".")[2] not in (UNKNOWN, "") else None
        if kind not in _WRAPPERS:
            return None
        label = around.child_by_field_name("name")
        if label is not None and kind in ("argument", "keyword_argument"):
            name = text_of(label)
        elif kind == "value_argument" and any(child.type == "=" for child in around.children):
            name = text_of(around.named_children[0])
        value, around = around, around.parent
    return None


def _argument_place(
    value: Node, arguments: Node, name: str, numbers: dict[int, dict[int, int]]
) -> _Place | None:
    by_byte = numbers.get(arguments.start_byte)
    if by_byte is None:
        listed = (child for child in arguments.named_children if not child.is_extra)
        by_byte = numbers[arguments.start_byte] = {child.start_byte: at for at, child in enumerate(listed)}
    call, number = arguments.parent, by_byte.get(value.start_byte, -1)
    return None if call is None or number < 0 else _Place(call, name or str(number))


def _result_type(returned: Node) -> str:
    """Return the declared result of the function around; "" without one."""
    function: Node | None = returned
    while function is not None and function.type not in _FUNCTIONS:
        function = function.parent
    fields = (function.child_by_field_name(name) for name in _RESULTS) if function is not None else ()
    declared = next((field for field in fields if field is not None), None)
    return type_text(declared) if declared is not None else ""
