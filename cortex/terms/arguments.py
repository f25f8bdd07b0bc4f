"""A typed function's arguments as a struct that validates input, and msgspec's error messages
parsed. Pure.
"""

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints

import msgspec

_WHERE = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
_FIELD_FAULTS = {
    "missing": re.compile(r"^Object missing required field `(?P<name>[^`]+)`$"),
    "unknown": re.compile(r"^Object contains unknown field `(?P<name>[^`]+)`$"),
}


def struct_of(
    function: Callable[..., Any],
    name: str,
    *,
    excluded: Collection[str] = (),
    defaults: Mapping[str, Any] | None = None,
    more: Collection[tuple[str, type, Any]] = (),
) -> type[msgspec.Struct]:
    """Return a struct of a function's arguments without its first and the `excluded`, with other
    `defaults`, and with `more` fields: (name, type, default).
    """
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for argument, parameter in list(inspect.signature(function).parameters.items())[1:]:
        if argument in excluded:
            continue
        default = (defaults or {}).get(argument, parameter.default)
        has_default = default is not inspect.Parameter.empty
        fields.append((argument, hints[argument], default) if has_default else (argument, hints[argument]))
    return msgspec.defstruct(f"{name}_arguments", [*fields, *more], frozen=True, forbid_unknown_fields=True)


@dataclass(frozen=True, slots=True)
class ArgumentFault:
    """A fault: argument `name` is missing or unknown, or the value at `path` is wrong: `why`."""

    what: Literal["missing", "unknown", "wrong"]
    path: str
    name: str = ""
    why: str = ""


def parse_fault(problem: str) -> ArgumentFault:
    """Parse the message of a msgspec.ValidationError."""
    where = _WHERE.search(problem)
    path = where["path"] if where else ""
    problem = problem[: where.start()] if where else problem
    for what, pattern in _FIELD_FAULTS.items():
        if match := pattern.match(problem):
            return ArgumentFault(what, path, match["name"])  # type: ignore[arg-type] # of the table's keys
    return ArgumentFault("wrong", path, why=f"{problem[:1].lower()}{problem[1:]}")
