"""The model that reads two notes and says how likely the newer one replaces the older one.

MODEL_CARD.md beside the weights describes it; scripts/train/replacement.py trains it.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import orjson

from cortex.embedders.bert import Bert
from cortex.system.arrays import Array

MODEL_DIR = Path(__file__).with_name("cortex_replacement")
#: tokens of one note that are read
NOTE_TOKENS = 60
#: pairs read at once (some 10 ms each)
BATCH = 8
#: columns of the labels that are used
REPLACES, REPEATS = 0, 3


class ReplacementModel:
    """Use it in one thread."""

    def __init__(self, folder: Path = MODEL_DIR) -> None:
        """Raises Damaged when a file is missing or wrong."""
        self._bert = Bert(folder)

    def read(self, pairs: Sequence[tuple[str, str]]) -> Array:
        """float64 [pairs, labels]: how likely the newer note of each (older, newer) replaces the
        older, repeats it, and so on: REPLACES and REPEATS are columns.
        """
        values = [self._read_batch(pairs[at : at + BATCH]) for at in range(0, len(pairs), BATCH)]
        return np.concatenate(values) if values else np.zeros((0, REPEATS + 1))

    def _read_batch(self, pairs: Sequence[tuple[str, str]]) -> Array:
        scores = self._bert.linear(self._bert.encode(pairs, NOTE_TOKENS), "labels")
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        likelihoods: Array = (shares / shares.sum(axis=1, keepdims=True)).astype(np.float64)
        return likelihoods


def read_identity(folder: Path = MODEL_DIR) -> str:
    """The name and hash of the model; "none" where its description cannot be read."""
    try:
        description = orjson.loads((folder / "model.json").read_bytes())
        return f"{description['name']}-{description['hash']}"
    except (OSError, ValueError, KeyError):
        return "none"
