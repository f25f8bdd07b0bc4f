"""Tables of lists that stay sorted, whatever the order of additions."""

import bisect
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def add_sorted(table: dict[K, list[V]], key: K, value: V) -> None:
    """Add to one of the lists."""
    values = table.get(key)
    if values is None:
        table[key] = [value]
    elif value > values[-1]:  # type: ignore[operator]  # paths and refs have an order
        values.append(value)
    else:
        bisect.insort(values, value)  # type: ignore[call-overload]


def remove_sorted(table: dict[K, list[V]], key: K, value: V) -> None:
    """Remove from one of the lists; drop it when it is empty."""
    values = table[key]
    values.remove(value)
    if not values:
        del table[key]


def remove_nested(
    table: dict[tuple[str, str], dict[str, list[V]]], key: tuple[str, str], name: str, value: V
) -> None:
    """Remove from a list of an inner table; drop the table when it is empty."""
    remove_sorted(table[key], name, value)
    if not table[key]:
        del table[key]
