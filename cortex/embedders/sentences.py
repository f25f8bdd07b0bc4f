"""The embedder of notes: a small BERT for sentences, in numpy. cortex_sentences/MODEL_CARD.md
describes the model. Its weights take memory from the first text on until `rest`.
"""

import re
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cortex.embedders.bert import Bert
from cortex.embedders.protocol import estimate_tokens
from cortex.embedders.shipped import identify, read_description
from cortex.settings.config import Config
from cortex.system.arrays import Array
from cortex.system.process import allocator
from ipc.messages import Mode

MODEL_DIR = Path(__file__).with_name("cortex_sentences")
#: tokens of a text that are read; texts in one batch
TOKENS, BATCH = 120, 8
#: seconds without a text after which `rest` drops the weights
REST_S = 300.0
#: words in Latin letters, and pairs of other letters, which are words of an unknown language
_LATIN, _OTHER = re.compile("[A-Za-zÀ-ɏ]+"), re.compile(r"[^\W\d_A-Za-zÀ-ɏ]{1,2}")


class Sentences:
    """See `protocol.Embedder`; for one thread."""

    #: an estimate, as of the model for code: no note is cut by it
    count_tokens = staticmethod(estimate_tokens)

    def __init__(self, folder: Path = MODEL_DIR) -> None:
        """Raises Damaged when the description of the model cannot be read."""
        self.identity, self.dimensions = identify(read_description(folder), 0)
        self._folder = folder
        self._bert: Bert | None = None
        self._used_at = 0.0

    def embed(self, texts: Sequence[str], mode: Mode = "passage") -> Array:  # noqa: ARG002 - one space for both
        """See the protocol. Raises Damaged when a file of the model is missing or wrong."""
        self.wake()
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        at = [row for row, text in enumerate(texts) if _is_readable(text)]
        for first in range(0, len(at), BATCH):
            rows = at[first : first + BATCH]
            means = self._opened().encode([(texts[row],) for row in rows], TOKENS)
            vectors[rows] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return vectors

    @property
    def is_open(self) -> bool:
        """Whether the weights are in memory."""
        return self._bert is not None

    def _opened(self) -> Bert:
        self._bert = self._bert or Bert(self._folder)
        return self._bert

    def wake(self) -> None:
        self._used_at = time.monotonic()

    def rest(self) -> None:
        """Drop the weights if nothing was embedded for a while."""
        if self.is_open and time.monotonic() - self._used_at > REST_S:
            self._bert = None
            allocator.trim()


def _is_readable(text: str) -> bool:
    """Whether most words are in letters that the model knows: all unknown words are one to it, so
    that all notes in Chinese would be near to each question in Chinese.
    """
    return len(_LATIN.findall(text)) > len(_OTHER.findall(text))


def open_sentences(_config: Config) -> Sentences:
    """Return the model in the package. Raises Damaged."""
    return Sentences()
