"""`cortex` with the ranking changed for an experiment: front.py FILE ARGUMENTS.

Only the front ranks, so the index and the workers are those of the product. FILE names the signals
whose weight is 0, read for every query; `model` leaves the vectors out, `words` the text worker's
lanes.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from cortex.ask import lanes
from cortex.front.cli.main import main as cortex
from cortex.ranking.weights import Weights

#: lanes that may be left out besides signals
LANES = ("model", "words")


def drop_signals(switch: Path) -> None:
    """Give the signals in the file `switch` the weight 0."""
    weigh, rank = lanes.weigh, lanes.rank

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

    lanes.weigh, lanes.rank = weigh_less, rank_less


if __name__ == "__main__":
    drop_signals(Path(sys.argv[1]))
    sys.exit(cortex(sys.argv[2:]))
