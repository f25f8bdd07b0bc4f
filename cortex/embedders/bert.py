"""BERT in numpy: small models of language whose weights are int8 files in the package.

scripts/train/bert.py writes the files; `Bert` computes the mean state of the tokens of each text.
"""

import functools
import itertools
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import orjson

from cortex.system.arrays import Array
from cortex.system.errors import Damaged

#: letters of the longest word that is cut into pieces
WORD_LETTERS_MAX = 100
#: numbers of a token in one head of attention
HEAD = 32
#: least variance that a row is divided by
_EPSILON = np.float32(1e-12)
#: categories of emoji and the like
_SYMBOLS = ("So", "Sk")
#: of the approximation of GELU by tanh
_GELU = np.float32(0.7978845608)
#: faults of files of arrays and JSON that are cut or changed
_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


class WordPieces:
    """The vocabulary of BERT: words in lower case without accents, unknown ones in pieces."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.rows = {piece: row for row, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces), default=0)
        self._cached = functools.lru_cache(20_000)(self._cut)

    def read(self, text: str, most: int | None = None) -> list[int]:
        """The rows of the pieces of a text, of the first `most`."""
        return list(itertools.islice((row for word in _words(text) for row in self._cached(word)), most))

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
    """The words, and each mark of punctuation. An emoji says nothing, and ends a word."""
    word = ""
    for letter in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(letter)
        is_mark = category[0] == "P" or (letter.isascii() and category[0] == "S")
        if category[0] in "CZ" or is_mark or category in _SYMBOLS:
            if word:
                yield word
            word = ""
            if is_mark:
                yield letter
        elif category != "Mn":
            word += letter
    if word:
        yield word


class Bert:
    """The model in a folder, for one thread."""

    def __init__(self, folder: Path) -> None:
        """Raises Damaged when a file is missing or wrong."""
        try:
            self._pieces = WordPieces(orjson.loads((folder / "vocab.json").read_bytes()))
            self._rows = np.load(folder / "words8.npy", mmap_mode="r")
            with np.load(folder / "weights.npz") as stored:
                self._weights = {name: _restored(stored, name) for name in stored if ":" not in name}
            self._layers = sum(name.endswith(".attention") for name in self._weights)
            self._begin, self._end = self._pieces.rows["[CLS]"], self._pieces.rows["[SEP]"]
        except _UNREADABLE as error:
            raise Damaged(f"The model in {folder} cannot be read ({error}); install Cortex again.") from error

    def encode(self, texts: Sequence[Sequence[str]], tokens_max: int) -> Array:
        """float32 [texts, width]: the mean of the last layer, for one text or more. A text is a
        sentence, or two that are read side by side, `tokens_max` tokens of each. The tokens of all
        texts are rows of one matrix; a text's attend to each other only.
        """
        parts = [[[*self._pieces.read(part, tokens_max), self._end] for part in text] for text in texts]
        rows = [[self._begin, *itertools.chain.from_iterable(text)] for text in parts]
        kinds = [[0, *(kind for kind, part in enumerate(text) for _ in part)] for text in parts]
        places = np.concatenate([np.arange(len(row)) for row in rows])
        tokens, kinds_of = (
            np.fromiter(itertools.chain.from_iterable(part), np.int64) for part in (rows, kinds)
        )
        bounds = np.cumsum([0, *map(len, rows)])
        weights = self._weights
        state = self._rows[tokens] * weights["words.scale"][tokens, None] + weights["places"][places]
        state = self._normed(state + weights["kinds"][kinds_of], "norm")
        for layer in range(self._layers):
            state = self._attend(state, bounds, f"{layer}.")
        return np.add.reduceat(state, bounds[:-1]) / np.diff(bounds)[:, None].astype(np.float32)

    def _attend(self, state: Array, bounds: Array, layer: str) -> Array:
        """float32 [tokens, width] after one layer."""
        parts = self.linear(state, layer + "attention").reshape(len(state), 3, -1, HEAD).transpose(1, 2, 0, 3)
        mixed = np.empty_like(state)
        for first, last in itertools.pairwise(bounds.tolist()):
            query, key, value = parts[:, :, first:last]
            shares = query @ key.transpose(0, 2, 1)
            shares *= np.float32(HEAD**-0.5)
            shares -= np.maximum.reduce(shares, axis=2, keepdims=True)
            np.exp(shares, out=shares)
            shares /= np.add.reduce(shares, axis=2, keepdims=True)
            mixed[first:last] = (shares @ value).transpose(1, 0, 2).reshape(last - first, -1)
        state = self._normed(state + self.linear(mixed, layer + "mixed"), layer + "norm")
        inner = _gelu(self.linear(state, layer + "inner"))
        return self._normed(state + self.linear(inner, layer + "outer"), layer + "outer_norm")

    def linear(self, state: Array, name: str) -> Array:
        """The product with a matrix of the model, and its bias."""
        product: Array = state @ self._weights[name]
        product += self._weights[name + ".bias"]
        return product

    def _normed(self, state: Array, name: str) -> Array:
        share = np.float32(1 / state.shape[1])
        normed: Array = state - np.add.reduce(state, axis=1, keepdims=True) * share
        normed /= np.sqrt(np.einsum("ij,ij->i", normed, normed)[:, None] * share + _EPSILON)
        normed *= self._weights[name]
        normed += self._weights[name + ".bias"]
        return normed


def _gelu(values: Array) -> Array:
    """GELU by its approximation with tanh, as values / (1 + exp(−2 …)): half the time."""
    exponents = values * values
    exponents *= np.float32(-2 * 0.044715) * _GELU
    exponents -= 2 * _GELU
    exponents *= values
    with np.errstate(over="ignore"):  # of −∞: 0
        np.exp(exponents, out=exponents)
    exponents += 1
    activated: Array = values / exponents
    return activated


def _restored(stored: Mapping[str, Array], name: str) -> Array:
    """The float32 array of a name; int8 rows with their scale, transposed for a product."""
    array = stored[name]
    if array.dtype != np.int8:
        return array.astype(np.float32)
    scale = stored[f"{name}:scale"].astype(np.float32)
    return np.ascontiguousarray((array.astype(np.float32) * scale[:, None]).T)
