"""Budgets of answers: the rule that says which entries fit. Pure.

A size counts bytes, or another unit of which an answer has a limited number.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

#: bytes that count as one token; characters in a briefing
TOKEN_BYTES = 4
#: tries of `fit_estimate`
_FITTINGS = 4


@dataclass
class Budget:
    """`left`: what no entry has taken yet; `full`: whether an entry did not fit."""

    left: int
    full: bool = False

    def take(self, size: int, *, sure: bool = False) -> bool:
        """Take `size` for an entry; False, and nothing taken, if it is too much. `sure`: always."""
        if size > self.left and not sure:
            self.full = True
            return False
        self.left -= size
        return True


def first_fitting(entries: Iterable[T], size: Callable[[T], int], most: int, *, least: int = 0) -> list[T]:
    """Return the leading entries that fit `most` together; the first `least` in any case."""
    budget, fitting = Budget(most), list[T]()
    for entry in entries:
        if not budget.take(size(entry), sure=len(fitting) < least):
            break
        fitting.append(entry)
    return fitting


def fit_estimate(make: Callable[[int], T], size: Callable[[T], int], most: int) -> T:
    """Return `make` of a budget, with a `size` of at most `most`, for a `make` that only estimates
    sizes: it is called again with less, a few times.
    """
    room = most
    for _ in range(_FITTINGS):
        entry = make(room)
        excess = size(entry) - most
        if excess <= 0:
            break
        room -= excess
    return entry
