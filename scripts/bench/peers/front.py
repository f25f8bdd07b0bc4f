"""`cortex` with the ranking changed for an experiment: front.py [--switch FILE] [--candidates
WORDS,VECTORS] -- ARGUMENTS.

Only the front ranks, so the index and the workers are those of the product. FILE names the signals
whose weight is 0, read for every query; `model` leaves the vectors out, `words` the text worker's
lanes.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

from cortex.ask import search
from cortex.front.cli.main import main as cortex
from cortex.ranking.weights import Weights

#: lanes that may be left out besides signals
LANES = ("model", "words")


def drop_signals(switch: Path) -> None:
    """Give the signals in the file `switch` the weight 0."""
    weigh, rank = search.weigh, search.rank

    def weigh_less(*, vectors: bool, bm25_weight: float) -> Weights:
        names = switch.read_text().split()
        weights = weigh(vectors=vectors and "model" not in names, bm25_weight=bm25_weight)
        return dataclasses.replace(weights, **{name: 0.0 for name in names if name not in LANES})

    def rank_less(question, text, vector, *more, **keywords):
        names = switch.read_text().split()
        return rank(
            question,
            None if "words" in names else text,
            None if "model" in names else vector,
            *more,
            **keywords,
        )

    search.weigh, search.rank = weigh_less, rank_less


def set_candidates(words: int, vectors: int) -> None:
    """Let each lane return so many candidates, whatever the limit of the answer."""
    search.TEXT_CANDIDATES, search.VECTOR_CANDIDATES = words, vectors
    search.TEXT_CANDIDATES_PER_HIT = search.VECTOR_CANDIDATES_PER_HIT = 0


def main() -> int:
    at = sys.argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--switch", type=Path)
    parser.add_argument("--candidates", default="")
    options = parser.parse_args(sys.argv[1:at])
    if options.switch:
        drop_signals(options.switch)
    if options.candidates:
        words, vectors = map(int, options.candidates.split(","))
        set_candidates(words, vectors)
    return cortex(sys.argv[at + 1 :])


if __name__ == "__main__":
    sys.exit(main())
