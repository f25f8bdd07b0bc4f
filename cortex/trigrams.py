"""Which rows of a segment hold which three bytes in a row: how the table is made, and how it is asked. Pure.

Rows are numbered within their segment and put into blocks. For each block there is a sorted table of trigrams, and for
each trigram the rows that hold it, as gaps. Texts are folded first (`fold`), so that one table serves both cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ipc.messages import Array

#: rows of a block: a gap between two of them is less than 2^14, and takes one byte (under 128) or two
BLOCK = 1 << 14
#: texts that are sorted at a time: a trigram and the number of its text are one u32
_BATCH = 256
#: a list longer than so many bytes for each row that is left costs more to read than it can save
_WORTH = 400
_LOWER = bytes(range(256)).lower()
#: the one letter that a search in any case finds and that has no ASCII letter as its lower case (KELVIN SIGN has)
_LONG_S = "\u017f".encode()


@dataclass(frozen=True, slots=True)
class Every:
    """All of `trigrams` (three bytes each) and every one of `parts`. Without either: no condition."""

    trigrams: tuple[bytes, ...] = ()
    parts: tuple[Needs, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of `parts`."""

    parts: tuple[Needs, ...]


Needs = Every | Either
ANYTHING = Every()


def fold(text: bytes) -> bytes:
    """UTF-8 `text` as its trigrams are made: in lower case, each run of white space one space, and one at either end.

    A quarter of the code is indentation: without it there is a quarter less to index.
    """
    if text.isascii():
        text = text.translate(_LOWER)
    else:
        text = text.decode(errors="replace").lower().encode().replace(_LONG_S, b"s")
    return b" %b " % b" ".join(text.split())


def make_sections(texts: Sequence[bytes | None]) -> dict[str, Array]:
    """The sections of a segment whose row i has the text `texts[i]` (None: not searched by trigrams)."""
    codes: list[Array] = []
    sizes: list[Array] = []
    postings: list[Array] = []
    ends = [0]
    for start in range(0, len(texts), BLOCK):
        pairs = _pairs(texts[start : start + BLOCK])
        grams = (pairs >> np.uint64(14)).astype("<u4")
        first = np.flatnonzero(np.concatenate([[True], grams[1:] != grams[:-1]])) if len(grams) else pairs
        data, lengths = _encode(pairs.astype(np.uint16) & np.uint16(BLOCK - 1), first)
        codes.append(grams[first])
        sizes.append(lengths)
        postings.append(data)
        ends.append(ends[-1] + len(first))
    starts = np.zeros(ends[-1] + 1, "<u8")
    if sizes:
        np.cumsum(np.concatenate(sizes), out=starts[1:])
    return {
        "gram_blocks": np.array(ends, "<u4"),
        "gram_codes": np.concatenate(codes) if codes else np.zeros(0, "<u4"),
        "gram_starts": starts,
        "gram_rows": np.concatenate(postings) if postings else np.zeros(0, "|u1"),
    }


def _pairs(texts: Sequence[bytes | None]) -> Array:
    """u64 [p], ascending: trigram << 14 | row, each pair once."""
    parts = [_sorted_pairs(batch, rows) for batch, rows in _batches(texts)]
    if len(parts) == 1:
        return parts[0]
    pairs = np.concatenate(parts) if parts else np.zeros(0, np.uint64)
    pairs.sort()  # a row is in one batch only, so no pair is there twice
    return pairs


def _batches(texts: Sequence[bytes | None]) -> Iterator[tuple[list[bytes], list[int]]]:
    """Folded texts, _BATCH of them together, and their rows."""
    wanted = [(fold(text), row) for row, text in enumerate(texts) if text is not None]
    for start in range(0, len(wanted), _BATCH):
        some = wanted[start : start + _BATCH]
        yield [text for text, _ in some], [row for _, row in some]


def _sorted_pairs(batch: list[bytes], rows: list[int]) -> Array:
    # The line feed between two texts belongs to no folded text, so no trigram of both is ever asked for.
    data = np.frombuffer(b"\n".join(batch), np.uint8)
    owners = np.repeat(np.arange(len(batch), dtype=np.uint8), [len(text) + 1 for text in batch])
    pairs = data[:-2].astype(np.uint32)
    for follower in (data[1:-1], data[2:], owners[: max(len(data) - 2, 0)]):
        pairs <<= np.uint32(8)
        pairs |= follower
    pairs.sort()
    if len(pairs):
        pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])]
    out = (pairs >> np.uint32(8)).astype(np.uint64) << np.uint64(14)
    out |= np.array(rows, np.uint64)[pairs & np.uint32(_BATCH - 1)]
    return out


def _encode(rows: Array, first: Array) -> tuple[Array, Array]:
    """(u8: for each trigram the gaps between its `rows`, u16; i64: how many bytes they are). A trigram begins at each
    of `first`.
    """
    if not len(rows):
        return np.zeros(0, np.uint8), np.zeros(0, np.int64)
    gaps = rows.copy()
    gaps[1:] -= rows[:-1] + np.uint16(1)
    gaps[first] = rows[first]
    large = gaps >= 128
    pairs = np.empty((len(rows), 2), np.uint8)
    pairs[:, 0] = (gaps >> np.uint16(7)) | np.uint16(128)
    pairs[:, 1] = gaps & np.uint16(127)
    kept = np.ones((len(rows), 2), bool)
    kept[:, 0] = large
    lengths = np.diff(np.append(first, len(rows))) + np.add.reduceat(large.astype(np.int64), first)
    return pairs[kept], lengths


def _decode(data: Array) -> Array:
    """The rows (i64, ascending) of one trigram."""
    high = data >= 128
    at = np.flatnonzero(~high)
    gaps = data[at].astype(np.int64)
    if len(at) < len(data):
        wide = np.flatnonzero(high[at - 1])
        gaps[wide] |= (data[at[wide] - 1].astype(np.int64) & 127) << 7
    gaps += 1
    return np.cumsum(gaps, out=gaps) - 1


def find_rows(sections: Mapping[str, Array], needs: Needs) -> Array | None:
    """I64, ascending: the rows of a segment that hold what `needs` asks for, and perhaps a few more; None: all rows."""
    if isinstance(needs, Either):
        found = [find_rows(sections, part) for part in needs.parts]
        kept = [rows for rows in found if rows is not None]
        return np.unique(np.concatenate(kept)) if len(kept) == len(found) else None
    out = _rows_of_all(sections, needs.trigrams) if needs.trigrams else None
    for part in needs.parts:
        if out is not None and not len(out):
            break
        rows = find_rows(sections, part)
        if rows is not None:
            out = rows if out is None else np.intersect1d(out, rows, assume_unique=True)
    return out


def _rows_of_all(sections: Mapping[str, Array], trigrams: Sequence[bytes]) -> Array:
    wanted = np.array([int.from_bytes(gram, "big") for gram in trigrams], np.uint32)
    blocks, codes = sections["gram_blocks"].tolist(), sections["gram_codes"]
    starts, data = sections["gram_starts"], sections["gram_rows"]
    out: list[Array] = []
    for number in range(len(blocks) - 1):
        low, high = blocks[number], blocks[number + 1]
        table = codes[low:high]
        at = np.searchsorted(table, wanted)
        if high == low or at.max() == len(table) or (table[at] != wanted).any():
            continue
        begins, ends = starts[low + at].astype(np.int64), starts[low + at + 1].astype(np.int64)
        rows: Array | None = None
        for one in np.argsort(ends - begins).tolist():
            if rows is not None and ends[one] - begins[one] > _WORTH * len(rows):
                break
            found = _decode(data[begins[one] : ends[one]])
            if rows is not None:
                held = np.zeros(BLOCK, bool)
                held[found] = True
                found = rows[held[rows]]
            rows = found
        if rows is not None and len(rows):
            out.append(rows + number * BLOCK)
    return np.concatenate(out) if out else np.zeros(0, np.int64)
