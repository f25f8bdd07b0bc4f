"""Results of a ranking: hits, their scores, and the signals behind them, for explanations."""

from dataclasses import dataclass
from typing import Any, Literal

from ipc.messages import Hit

Source = Literal["lex", "vec", "both"]


@dataclass(frozen=True, slots=True)
class Term:
    """One signal of an explained hit; `value × weight` is added up."""

    name: str
    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A hit, its score (0-1, higher is better, falling along the list) and its signals: `names`,
    with their `values` and `weights`.

    `place` is 1 for the best chunk of its file, 2 for the next; from 2 on the score is `factor` ×
    the lowest score of a first place. `total` is the sum of `terms`.
    """

    hit: Hit
    score: float
    source: Source
    names: tuple[str, ...]
    values: tuple[float, ...]
    weights: tuple[float, ...]
    total: float
    place: int = 1
    factor: float = 1.0
    #: the score of a sum of 0
    base: float = 0.0

    @property
    def terms(self) -> tuple[Term, ...]:
        return tuple(map(Term, self.names, self.values, self.weights))

    def explanation(self) -> dict[str, Any]:
        """Return each signal with its value, weight and product. The products add up to `sum`; the
        points and `base` (the score of a file without any signal) add up to `score`.
        """
        base = self.base * self.factor
        slope = (self.score - base) / self.total if self.total else 0.0
        return {
            "signals": {
                term.name: {
                    "value": term.value,
                    "weight": term.weight,
                    "product": term.value * term.weight,
                    "points": term.value * term.weight * slope,
                }
                for term in self.terms
            },
            "sum": self.total,
            "base": base if self.total else self.score,
            "score": self.score,
            "place_in_file": self.place,
            "factor": self.factor,
            "source": self.source,
        }
