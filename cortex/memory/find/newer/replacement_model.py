"""The model that reads two notes and says how likely the newer one replaces the older one: a small
BERT whose weights are int8 files in the package. numpy only.

MODEL_CARD.md beside the weights describes it; scripts/train/replacement.py trains it.
"""

from __future__ import annotations

import functools
import itertools
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import orjson

from cortex.system.arrays import Array
from cortex.system.errors import Damaged

MODEL_DIR = Path(__file__).with_name("cortex_replacement")
#: tokens of one note that are read; letters of the longest word that is cut into pieces
NOTE_TOKENS, WORD_LETTERS_MAX = 60, 100
#: pairs read at once (some 10 ms each)
BATCH = 8
#: numbers of a token in one head of attention
HEAD = 32
#: least variance that a row is divided by
_EPSILON = np.float32(1e-12)
#: of the approximation of GELU by tanh
_GELU = np.float32(0.7978845608)


class WordPieces:
    """The vocabulary of BERT: words in lower case without accents, unknown ones in pieces."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.rows = {piece: row for row, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces), default=0)
        self._cached = functools.lru_cache(20_000)(self._cut)

    def read(self, text: str) -> list[int]:
        """The rows of the pieces of a text."""
        return [row for word in _words(text) for row in self._cached(word)]

    def _cut(self, word: str) -> tuple[int, ...]:
        rows, at = list[int](), 0
        while at < len(word) <= WORD_LETTERS_MAX:
            for end in range(min(len(word), at + self._longest), at, -1):
                row = self.rows.get(f"{'##' * bool(at)}{word[at:end]}")
                if row is not None:
                    rows.append(row)
                    at = end
                    break
            else:
                return (self.rows["[UNK]"],)
        return tuple(rows) if rows else (self.rows["[UNK]"],)


def _words(text: str) -> Iterator[str]:
    """The words, and each mark of punctuation."""
    word = ""
    for letter in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(letter)
        is_mark = category[0] == "P" or (letter.isascii() and category[0] == "S")
        if category[0] in "CZ" or is_mark:
            if word:
                yield word
            word = ""
            if is_mark:
                yield letter
        elif category != "Mn":
            word += letter
    if word:
        yield word


class ReplacementModel:
    """Use it in one thread."""

    def __init__(self, folder: Path = MODEL_DIR) -> None:
        """Raises Damaged when a file is missing or wrong."""
        try:
            self._pieces = WordPieces(orjson.loads((folder / "vocab.json").read_bytes()))
            self._rows = np.load(folder / "words8.npy", mmap_mode="r")
            with np.load(folder / "weights.npz") as stored:
                self._weights = {name: _restored(stored, name) for name in stored if ":" not in name}
            self._layers = sum(name.endswith(".attention") for name in self._weights)
        except (OSError, ValueError, KeyError) as error:
            raise Damaged(f"The model in {folder} cannot be read ({error}); install Cortex again.") from error

    def likelihoods(self, pairs: Sequence[tuple[str, str]]) -> Array:
        """float64 [pairs]: how likely the newer note of each (older, newer) replaces the older."""
        values = [self._read(pairs[at : at + BATCH]) for at in range(0, len(pairs), BATCH)]
        return np.concatenate(values) if values else np.zeros(0)

    def _read(self, pairs: Sequence[tuple[str, str]]) -> Array:
        """As `likelihoods`, of one batch. The tokens of all pairs are rows of one matrix; a pair's
        attend to each other only.
        """
        begin, end = self._pieces.rows["[CLS]"], self._pieces.rows["[SEP]"]
        texts = [[self._pieces.read(text)[:NOTE_TOKENS] for text in pair] for pair in pairs]
        rows = [[begin, *older, end, *newer, end] for older, newer in texts]
        of_newer = [[0] * (len(older) + 2) + [1] * (len(newer) + 1) for older, newer in texts]
        tokens, kinds = (
            np.fromiter(itertools.chain.from_iterable(part), np.int64) for part in (rows, of_newer)
        )
        places = np.concatenate([np.arange(len(row)) for row in rows])
        bounds = np.cumsum([0, *map(len, rows)])
        weights = self._weights
        state = self._rows[tokens] * weights["words.scale"][tokens, None] + weights["places"][places]
        state = self._normed(state + weights["kinds"][kinds], "norm")
        for layer in range(self._layers):
            state = self._attend(state, bounds, f"{layer}.")
        pooled = np.add.reduceat(state, bounds[:-1]) / np.diff(bounds)[:, None]
        scores = self._linear(pooled, "labels")
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        likelihoods: Array = (shares[:, 0] / shares.sum(axis=1)).astype(np.float64)
        return likelihoods

    def _attend(self, state: Array, bounds: Array, layer: str) -> Array:
        """float32 [tokens, 384] after one layer."""
        queries, keys, values = np.split(self._linear(state, layer + "attention"), 3, axis=1)
        mixed = np.empty_like(state)
        for first, last in itertools.pairwise(bounds.tolist()):
            query, key, value = (
                part[first:last].reshape(last - first, -1, HEAD).transpose(1, 0, 2)
                for part in (queries, keys, values)
            )
            shares = query @ key.transpose(0, 2, 1) / np.float32(HEAD**0.5)
            shares = np.exp(shares - shares.max(axis=2, keepdims=True))
            shares /= shares.sum(axis=2, keepdims=True)
            mixed[first:last] = (shares @ value).transpose(1, 0, 2).reshape(last - first, -1)
        state = self._normed(state + self._linear(mixed, layer + "mixed"), layer + "norm")
        inner = self._linear(state, layer + "inner")
        inner *= 0.5 * (1 + np.tanh(_GELU * (inner + np.float32(0.044715) * inner * inner * inner)))
        return self._normed(state + self._linear(inner, layer + "outer"), layer + "outer_norm")

    def _linear(self, state: Array, name: str) -> Array:
        product: Array = state @ self._weights[name]
        product += self._weights[name + ".bias"]
        return product

    def _normed(self, state: Array, name: str) -> Array:
        centred = state - state.mean(axis=1, keepdims=True)
        centred /= np.sqrt((centred * centred).mean(axis=1, keepdims=True) + _EPSILON)
        normed: Array = centred * self._weights[name] + self._weights[name + ".bias"]
        return normed


def read_identity(folder: Path = MODEL_DIR) -> str:
    """The name and hash of the model; "none" where its description cannot be read."""
    try:
        description = orjson.loads((folder / "model.json").read_bytes())
        return f"{description['name']}-{description['hash']}"
    except (OSError, ValueError, KeyError):
        return "none"


def _restored(stored: Mapping[str, Array], name: str) -> Array:
    """The float32 array of a name; int8 rows with their scale, transposed for a product."""
    array = stored[name]
    if array.dtype != np.int8:
        return array.astype(np.float32)
    scale = stored[f"{name}:scale"].astype(np.float32)
    return np.ascontiguousarray((array.astype(np.float32) * scale[:, None]).T)
