"""A shopping cart, small enough to read at once."""

from __future__ import annotations

import enum
from dataclasses import dataclass

#: the most lines that one cart may hold
LINES_MAX = 100
_rates = {"books": 0.07, "food": 0.07, "other": 0.19}


class State(enum.Enum):
    """Where a cart is on its way."""

    OPEN = "open"
    PAID = "paid"


@dataclass(frozen=True)
class Line:
    # what is bought
    article: str
    count: int
    price: float

    @property
    def total(self) -> float:
        return self.count * self.price


class Cart:
    """Lines and what they cost."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.state = State.OPEN

    # Raises ValueError when the cart is full.
    def add(self, line: Line) -> None:
        if len(self.lines) >= LINES_MAX:
            raise ValueError("the cart is full")
        self.lines.append(line)

    def total(
        self,
        *,
        tax: str = "other",
    ) -> float:
        """The sum with tax."""

        def taxed(amount: float) -> float:
            return amount * (1 + _rates[tax])

        return sum(taxed(line.total) for line in self.lines)


def parse_line(text: str) -> Line:
    """Read "3 x Book @ 9.99"."""
    count, _, rest = text.partition(" x ")
    article, _, price = rest.partition(" @ ")
    return Line(article, int(count), float(price))
