"""The default embedder: a bag of code sub-words over a table of static vectors. numpy only, no
model server.

Vector = L2norm(Σ over distinct tokens of ln(1 + tf) · E[token]); E[i] = E8[i] * scale[i]. The table
stays a mapped int8 file: all processes share one copy of it in the page cache.
cortex_static_384/MODEL_CARD.md describes the model.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import orjson

from cortex.embedders.shipped import MODEL_DIR, Shipped, identify, read_description, unreadable
from cortex.settings.config import Config
from cortex.system.arrays import Array
from cortex.system.errors import Damaged
from ipc.messages import Mode

#: words with cached tokens; a large repository has about 200 000 distinct words, 100 bytes each
WORDS_MAX = 300_000
#: letters of the shortest piece of an unknown sub-word
PIECE_LETTERS_MIN = 3
#: letters of the longest word to cut into pieces: longer runs are encoded data, not language
WORD_LETTERS_MAX = 64
#: tokens to gather at once: 1 500 rows of float32 [384] stay in the second-level cache
GATHER_TOKENS = 1500

#: for bytes.translate: any byte that is no ASCII letter becomes a space; three times as fast as a
#: regular expression
_LETTERS_ONLY = bytes(byte if byte < 128 and chr(byte).isalpha() else 0x20 for byte in range(256))
_SUBWORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def open_configured(config: Config) -> StaticEmbedder:
    """Return the model in the package, with the configured dimensions. Raises as `open_static`."""
    return open_static(dimensions=config.embedding.dimensions)


@functools.cache
def open_static(folder: Path = MODEL_DIR, dimensions: int = 0) -> StaticEmbedder:
    """Return the model in `folder`, opened once for each process.

    With `dimensions` its vectors are cut to a prefix that it was trained for (Matryoshka); 0 or any
    other number leaves them whole. Raises Damaged when a file is missing or wrong.
    """
    description = read_description(folder)
    try:
        words = orjson.loads((folder / "vocab.json").read_bytes())
        table = np.load(folder / "E8.npy", mmap_mode="r")
        scale = np.load(folder / "scale.npy").astype(np.float32)
        if (
            table.dtype != np.int8
            or table.shape != (len(words), description["dimensions"])
            or len(scale) != len(words)
        ):
            raise Damaged(f"The model files in {folder} do not belong together; install Cortex again.")
    except (OSError, ValueError, EOFError) as error:  # numpy raises EOFError for an empty file
        raise unreadable(folder, error) from error
    identity, columns = identify(description, dimensions)
    return StaticEmbedder(identity, words, table[:, :columns], scale)


class _Cache(dict[bytes, tuple[int, ...]]):
    """word → the rows of its tokens."""

    def __init__(self, learn: Callable[[bytes], tuple[int, ...]]) -> None:
        self._learn = learn

    def __missing__(self, word: bytes) -> tuple[int, ...]:
        if len(self) >= WORDS_MAX:
            self.clear()
        self[word] = rows = self._learn(word)
        return rows


class StaticEmbedder(Shipped):
    """See `protocol.Embedder`. Do not share it between threads that embed at once: the word cache
    has no lock, although every race on it ends in the same value.
    """

    def __init__(self, identity: str, words: list[str], table: Array, scale: Array) -> None:
        super().__init__(identity, int(table.shape[1]))
        self._rows = {word: row for row, word in enumerate(words)}
        self._table = table.view(np.ndarray)  # indexing a memmap costs twice as much
        self._scale = scale
        self._longest = max(map(len, words), default=0)
        self._cache = _Cache(self._learn)

    def embed(self, texts: Sequence[str], mode: Mode = "passage") -> Array:  # noqa: ARG002 - one space for both
        result = np.zeros((len(texts), self.dimensions), np.float32)
        rows: list[int] = []
        ends: list[int] = []
        first = 0
        for at, text in enumerate(texts):
            rows.extend(self.tokens(text))
            ends.append(len(rows))
            if len(rows) >= GATHER_TOKENS or at + 1 == len(texts):
                self._sum(rows, ends, result[first : at + 1])
                rows, ends, first = [], [], at + 1
        norms = np.linalg.norm(result, axis=1, keepdims=True)
        np.divide(result, norms, out=result, where=norms > 0)
        return result

    def tokens(self, text: str) -> list[int]:
        """Return the rows of all tokens of `text`, in order, with repetitions."""
        words = text.encode("utf-8", "replace").translate(_LETTERS_ONLY).split()
        return list(chain.from_iterable(map(self._cache.__getitem__, words)))

    def _learn(self, word: bytes) -> tuple[int, ...]:
        return tuple(
            row for subword in _SUBWORD.findall(word.decode()) for row in self._pieces(subword.lower())
        )

    def _pieces(self, word: str) -> list[int]:
        """Return the row of `word`, or the rows of the longest vocabulary words into which it can
        be cut, from left to right.
        """
        row = self._rows.get(word)
        if row is not None:
            return [row]
        rows: list[int] = []
        start = 0
        stop = len(word) if len(word) <= WORD_LETTERS_MAX else 0
        while start + PIECE_LETTERS_MIN <= stop:
            for end in range(min(stop, start + self._longest), start + PIECE_LETTERS_MIN - 1, -1):
                row = self._rows.get(word[start:end])
                if row is not None:
                    rows.append(row)
                    start = end
                    break
            else:
                start += 1
        return rows

    def _sum(self, rows: list[int], ends: list[int], out: Array) -> None:
        """Set `out` [texts, dimensions] to weighted sums of distinct rows, ended by `ends`."""
        if not rows:
            return
        vocabulary = len(self._scale)
        texts = np.repeat(np.arange(len(ends)), np.diff(np.array(ends), prepend=0))
        pairs, counts = np.unique(texts * vocabulary + np.asarray(rows), return_counts=True)
        texts, distinct = np.divmod(pairs, vocabulary)
        weights = np.log1p(counts).astype(np.float32) * self._scale[distinct]
        bounds = np.searchsorted(texts, np.arange(len(ends) + 1))
        for at in range(len(ends)):
            low, high = bounds[at], bounds[at + 1]
            if low < high:
                np.matmul(
                    weights[low:high],
                    self._table.take(distinct[low:high], axis=0).astype(np.float32),
                    out=out[at],
                )
