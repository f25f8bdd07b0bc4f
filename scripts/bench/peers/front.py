"""`cortex`, with the ranking changed for an experiment: front.py [--without SIGNAL …] [--candidates WORDS,VECTORS] -- ARGUMENTS.

Only the front ranks, so the index and the workers are those of the product. `--without model` leaves the vectors out.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys

from cortex import dispatch
from cortex.front.cli import main as cortex
from cortex.ranking.weights import Weights

SIGNALS = tuple(field.name for field in dataclasses.fields(Weights))


def leave_out(names: list[str]) -> None:
    """Give the signals in `names` the weight 0."""
    weigh, rank = dispatch.weigh, dispatch.rank
    gone = {name: 0.0 for name in names if name != "model"}
    model = "model" not in names

    def weigh_less(*, vectors: bool, bm25_weight: float) -> Weights:
        return dataclasses.replace(weigh(vectors=vectors and model, bm25_weight=bm25_weight), **gone)

    def rank_less(question, text, vector, *more, **named):
        return rank(question, text, vector if model else None, *more, **named)

    dispatch.weigh, dispatch.rank = weigh_less, rank_less


def ask_for(words: int, vectors: int) -> None:
    """Let each lane return so many candidates, whatever the limit of the answer."""
    dispatch.TEXT_CANDIDATES, dispatch.VECTOR_CANDIDATES = words, vectors
    dispatch.TEXT_CANDIDATES_PER_HIT = dispatch.VECTOR_CANDIDATES_PER_HIT = 0


def main() -> int:
    at = sys.argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--without", action="append", default=[], choices=[*SIGNALS, "model"])
    parser.add_argument("--candidates", default="")
    options = parser.parse_args(sys.argv[1:at])
    leave_out(options.without)
    if options.candidates:
        words, vectors = map(int, options.candidates.split(","))
        ask_for(words, vectors)
    return cortex(sys.argv[at + 1 :])


if __name__ == "__main__":
    sys.exit(main())
