"""Edit distances from one word to many: letters removed, added or replaced, and swaps of neighbours
(no letter is edited twice).
"""

from collections.abc import Sequence

import numpy as np

from cortex.system.arrays import Array

#: letters of a word that fit a machine word as bits; longer words use Python's integers
_BITS = 64


def edits(word: str, others: Sequence[str]) -> Array:
    """Return the distance from `word` to each of `others`, int64 [len(others)].

    A column of the distance table is two integers, with a bit for each row, and all other words
    advance by a letter at once (Hyyrö 2003, "A bit-vector algorithm for computing Levenshtein and
    Damerau edit distances").
    """
    sizes = np.array([len(other) for other in others], np.int64)
    width = max(int(sizes.max(initial=0)), 1)
    letters = np.array(others, f"U{width}").view(np.uint32).reshape(len(sizes), width)
    return edits_of(word, letters, sizes)


def edits_of(word: str, letters: Array, sizes: Array) -> Array:
    """As `edits`, for words of `sizes` letters [n] with code points in the rows of `letters` [n,
    length of the longest]; values behind a word's end are ignored.
    """
    if not word or not len(sizes) or not sizes.any():
        return np.maximum(sizes, len(word))
    kind = np.dtype(np.uint64 if len(word) <= _BITS else object)
    unit, last = kind.type(1) if len(word) <= _BITS else 1, len(word) - 1
    where = _bits(word, kind)
    other = min(len(where) - 1, np.iinfo(letters.dtype).max)  # any code point that `word` does not contain
    columns = where[np.minimum(letters, other).T]
    distances = np.full(len(sizes), len(word), np.int64)
    more = np.full(len(sizes), (1 << len(word)) - 1, kind)
    less, same, before = (np.zeros(len(sizes), kind) for _ in range(3))
    for at, mask in enumerate(columns):
        swapped = ((~same & mask) << unit) & before
        same = (((mask & more) + more) ^ more) | mask | less | swapped
        up, down = less | ~(same | more), same & more
        step = (up >> last & unit).astype(np.int64) - (down >> last & unit).astype(np.int64)
        distances += np.where(at < sizes, step, 0)
        up, down = (up << unit) | unit, down << unit
        more, less, before = down | ~(same | up), up & same, mask
    return distances


def _bits(word: str, kind: np.dtype) -> Array:
    """Return for each code point, up to the word's highest plus one, its positions as bits."""
    where = np.zeros(max(map(ord, word)) + 2, kind)
    for at, letter in enumerate(word):
        where[ord(letter)] |= kind.type(1 << at) if kind.kind == "u" else 1 << at
    return where
