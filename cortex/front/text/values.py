"""Single values of answers in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Answer = Mapping[str, Any]


def count(number: int, name: str) -> str:
    """Return `1 note`, `2 notes`."""
    return f"{number} {name}{'' if number == 1 else 's'}"


def is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list, tuple, Mapping)) and not value)


def flat(value: Any) -> str:
    """Return a value in one line, as `key value, key value`."""
    if isinstance(value, Mapping):
        present = ((name, inner) for name, inner in value.items() if not is_empty(inner))
        return ", ".join(f"{str(name).replace('_', ' ')} {flat(inner)}" for name, inner in present)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(flat, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("\n", " ")
