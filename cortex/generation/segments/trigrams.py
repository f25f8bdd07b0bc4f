"""The trigram table of a segment, three bytes in a row → rows: building and querying. Pure
functions.

Texts are folded first (`fold`), so that one table (postings.py) serves both cases.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cortex.generation.segments.postings import BLOCK, ROW_BITS, blocks_of, pack
from cortex.query.needs import Either, Needs, fold
from cortex.system.arrays import Array

#: texts sorted at a time: a trigram and the number of its text fit into one u32
_BATCH = 256
#: pairs of trigram and row that are joined at a time: 8 bytes each, several times over
RANGE_PAIRS = 1 << 19
#: bytes per remaining row: reading a longer list costs more than it can save
_WORTH = 400
#: with this few rows left, search them instead of reading another list
_FEW = 16


def make_sections(texts: Sequence[bytes | None]) -> dict[str, Array]:
    """Return the sections of a segment; row i has `texts[i]` (None: not searched by trigrams)."""
    return pack("gram", (_pairs(texts[start : start + BLOCK]) for start in range(0, len(texts), BLOCK)))


def _pairs(texts: Sequence[bytes | None]) -> Iterator[Array]:
    """Yield u64 [p], ascending: trigram << ROW_BITS | row, distinct pairs; a range of trigrams at a
    time, to save memory and because short arrays are sorted within the cache.
    """
    parts = [(_sorted_pairs(batch), np.array(rows, np.uint64)) for batch, rows in _batches(texts)]
    largest = max((pairs for pairs, _ in parts), key=len, default=np.zeros(0, np.uint32))
    ranges = sum(len(pairs) for pairs, _ in parts) // RANGE_PAIRS + 1
    cuts = np.unique(largest[np.arange(1, ranges) * len(largest) // ranges] & ~np.uint32(_BATCH - 1))
    edges = [[0, *np.searchsorted(pairs, cuts).tolist(), len(pairs)] for pairs, _ in parts]
    for at in range(len(cuts) + 1):
        some = [np.zeros(0, np.uint64)]
        for (pairs, rows), ends in zip(parts, edges, strict=True):
            inside = pairs[ends[at] : ends[at + 1]]
            codes = (inside >> np.uint32(8)).astype(np.uint64) << np.uint64(ROW_BITS)
            some.append(codes | rows[inside & np.uint32(_BATCH - 1)])
        joined = np.concatenate(some)
        joined.sort()  # a row is in one batch only, so all pairs are distinct
        yield joined


def _batches(texts: Sequence[bytes | None]) -> Iterator[tuple[list[bytes], list[int]]]:
    """Yield folded texts, _BATCH at a time, and their rows."""
    wanted = [(fold(text), row) for row, text in enumerate(texts) if text is not None]
    for start in range(0, len(wanted), _BATCH):
        some = wanted[start : start + _BATCH]
        yield [text for text, _ in some], [row for _, row in some]


def _sorted_pairs(batch: list[bytes]) -> Array:
    """Return u32, ascending: trigram << 8 | number of the text in `batch`, distinct pairs."""
    # The line feed between two texts belongs to no folded text, so no query has a trigram that
    # spans two texts.
    data = np.frombuffer(b"\n".join(batch), np.uint8)
    owners = np.repeat(np.arange(len(batch), dtype=np.uint8), [len(text) + 1 for text in batch])
    pairs = data[:-2].astype(np.uint32)
    for follower in (data[1:-1], data[2:], owners[: max(len(data) - 2, 0)]):
        pairs <<= np.uint32(8)
        pairs |= follower
    pairs.sort()
    return pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])] if len(pairs) else pairs


def find_rows(sections: Mapping[str, Array], needs: Needs) -> Array | None:
    """Return i64, ascending: rows that satisfy `needs`, perhaps a few more; None: all."""
    if isinstance(needs, Either):
        row_sets = [find_rows(sections, need) for need in needs.parts]
        limited = [rows for rows in row_sets if rows is not None]
        return np.flatnonzero(_mask(np.concatenate(limited))) if len(limited) == len(row_sets) else None
    out = _rows_of_all(sections, needs.trigrams) if needs.trigrams else None
    for need in needs.parts:
        if out is not None and not len(out):
            break
        rows = find_rows(sections, need)
        if rows is not None:
            out = rows if out is None else out[_mask(rows, int(out[-1]))[out]]
    return out


def _mask(rows: Array, last: int = -1) -> Array:
    """Return bool: whether each row is in `rows`, up to the highest and at least `last`."""
    mask = np.zeros(max(int(rows.max(initial=-1)), last) + 1, bool)
    mask[rows] = True
    return mask


def _rows_of_all(sections: Mapping[str, Array], trigrams: Sequence[bytes]) -> Array:
    wanted = np.array([int.from_bytes(gram, "big") for gram in trigrams], np.uint32)
    out: list[Array] = []
    for block in blocks_of("gram", sections):
        at = np.searchsorted(block.codes, wanted)
        if not len(block.codes) or at.max() == len(block.codes) or (block.codes[at] != wanted).any():
            continue
        sizes = (block.starts[at + 1] - block.starts[at]).astype(np.int64)
        rows: Array | None = None
        for index in np.argsort(sizes).tolist():
            if rows is not None and (len(rows) < _FEW or sizes[index] > _WORTH * len(rows)):
                break
            matching = block.rows(int(at[index]))
            if rows is not None:
                mask = np.zeros(BLOCK, bool)
                mask[matching] = True
                matching = rows[mask[rows]]
            rows = matching
        if rows is not None and len(rows):
            out.append(rows + block.first_row)
    return np.concatenate(out) if out else np.zeros(0, np.int64)
