"""Posting lists: sorted lists of rows, one for each code, compactly encoded. The tables of trigrams
and of words consist of them. Pure functions.

Rows are numbered within their segment and grouped into blocks. Each block has its codes in
ascending order, and for each code its rows, as gaps less one: under 128 in one byte, else in two
(128 + high 7 bits, low 7 bits).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cortex.system.arrays import Array

#: bits of a row within its block; a gap between two rows takes one byte or two
ROW_BITS = 14
#: bytes of lists that a merge unpacks at a time: each byte takes eight in memory, several times
#: over
PART_BYTES = 1 << 20
#: rows of a block
BLOCK = 1 << ROW_BITS


@dataclass(frozen=True, slots=True)
class Block:
    """A block: `codes` u32 [n], ascending; `starts` u32 or u64 [n + 1]: of each list in `data`."""

    first_row: int
    codes: Array
    starts: Array
    data: Array

    def places(self, wanted: Array) -> Array:
        """Return the places of the codes `wanted` (ascending) in `codes`, without absent ones."""
        if len(wanted) > 2 and int(wanted[-1]) - int(wanted[0]) + 1 == len(wanted):
            return np.arange(
                *np.searchsorted(self.codes, wanted[[0, -1]].astype(np.uint32) + np.array([0, 1], np.uint32))
            )
        wanted = wanted.astype(np.uint32)  # else searchsorted converts all codes
        at = np.searchsorted(self.codes, wanted)
        at[at == len(self.codes)] = 0
        return at[self.codes[at] == wanted] if len(self.codes) else at[:0]

    def rows(self, place: int) -> Array:
        """Return i32, ascending: the rows of one code, numbered within the block."""
        return _decode(self.data[int(self.starts[place]) : int(self.starts[place + 1])])

    def rows_of(self, places: Array) -> Array:
        """Return i32: the rows of the codes at `places` (ascending), in the block, by list."""
        if len(places) < 2:
            return self.rows(int(places[0])) if len(places) else np.zeros(0, np.int32)
        begins = self.starts[places].astype(np.int64)
        sizes = self.starts[places + 1].astype(np.int64) - begins
        ends = np.cumsum(sizes)
        if int(places[-1]) - int(places[0]) + 1 == len(places):
            data = self.data[int(begins[0]) : int(begins[0] + ends[-1])]
        else:
            data = self.data[np.repeat(begins - (ends - sizes), sizes) + np.arange(ends[-1])]
        return _decode(data, ends[:-1])

    def pairs(self) -> tuple[Array, Array]:
        """Return (u64: codes; i32: rows, numbered within the block) of all lists, concatenated."""
        data = self.data[int(self.starts[0]) : int(self.starts[-1])]
        if not len(self.codes):
            return np.zeros(0, np.uint64), np.zeros(0, np.int32)
        edges = (self.starts[:-1] - self.starts[0]).astype(np.int64)
        lengths = np.add.reduceat(data < 128, edges, dtype=np.int64)
        return np.repeat(self.codes.astype(np.uint64), lengths), _decode(data, edges[1:])


@dataclass(frozen=True, slots=True)
class MergeSource:
    """A table to merge into another: row i becomes `rows[i]` (i64; -1: left out), code j `codes[j]`
    (None: stays j).
    """

    sections: Mapping[str, Array]
    rows: Array
    codes: Array | None = None


def ends_of(sizes: Array) -> Array:
    """Return [n + 1]: starts of parts of these sizes, and the end; u32 if enough, else u64."""
    ends = np.zeros(len(sizes) + 1, np.uint64)
    np.cumsum(sizes, out=ends[1:])
    return ends if int(ends[-1]) >> 32 else ends.astype("<u4")


def merge(prefix: str, sources: Sequence[MergeSource], count: int) -> dict[str, Array]:
    """Return the sections of one table with `count` rows, merged from `sources`: block by block and
    a range of codes at a time, to save memory.
    """
    return pack(prefix, (_merge_block(prefix, sources, first) for first in range(0, count, BLOCK)))


def _merge_block(prefix: str, sources: Sequence[MergeSource], first: int) -> Iterator[Array]:
    parts = []
    for source in sources:
        for block in blocks_of(prefix, source.sections):
            place = source.rows[block.first_row : block.first_row + BLOCK] - first
            if ((place >= 0) & (place < BLOCK)).any() and len(block.codes):
                parts.append((block, place, source.codes))
    if any(codes is not None for _, _, codes in parts):  # the result may order them differently
        yield _merge_codes(parts)
        return
    size = sum(int(block.starts[-1] - block.starts[0]) for block, _, _ in parts)
    largest = max(parts, key=lambda entry: len(entry[0].codes), default=None)
    if largest is None:
        return
    codes = largest[0].codes
    cuts = codes[np.arange(1, -(-size // PART_BYTES)) * len(codes) // -(-size // PART_BYTES)].tolist()
    for low, high in pairwise([0, *sorted(set(cuts) - {0}), 1 << 32]):
        yield _merge_codes([(_between(block, low, high), place, None) for block, place, _ in parts])


def _between(block: Block, low: int, high: int) -> Block:
    """Return the codes of a block from `low` up to, but without, `high`."""
    first, end = (int(np.searchsorted(block.codes, code)) for code in (low, high))
    return Block(block.first_row, block.codes[first:end], block.starts[first : end + 1], block.data)


def _merge_codes(parts: Sequence[tuple[Block, Array, Array | None]]) -> Array:
    out = [np.zeros(0, np.uint64)]
    for block, place, names in parts:
        codes, rows = block.pairs()
        inside = ((place >= 0) & (place < BLOCK))[rows]
        codes, rows = codes[inside], rows[inside]
        if names is not None:
            codes = names[codes]
        out.append(codes << np.uint64(ROW_BITS) | place[rows].astype(np.uint64))
    pairs = np.concatenate(out)
    pairs.sort()
    return pairs


def pack(prefix: str, blocks: Iterable[Iterable[Array]]) -> dict[str, Array]:
    """Return the sections of a table. `blocks` yields for each block its pairs `code << ROW_BITS |
    row` (u64, ascending, distinct), in arrays that share no code.
    """
    codes: list[Array] = []
    sizes: list[Array] = []
    lists: list[Array] = []
    ends = [0]
    for block in blocks:
        ends.append(ends[-1])
        for pairs in block:
            every = (pairs >> np.uint64(ROW_BITS)).astype("<u4")
            first = np.flatnonzero(np.concatenate([[True], every[1:] != every[:-1]])) if len(every) else pairs
            first = first.astype(np.int64)
            data, lengths = _encode(pairs.astype(np.uint16) & np.uint16(BLOCK - 1), first)
            codes.append(every[first])
            sizes.append(lengths)
            lists.append(data)
            ends[-1] += len(first)
    return {
        f"{prefix}_blocks": np.array(ends, "<u4"),
        f"{prefix}_codes": np.concatenate(codes) if codes else np.zeros(0, "<u4"),
        f"{prefix}_starts": ends_of(np.concatenate(sizes) if sizes else np.zeros(0, np.int64)),
        f"{prefix}_rows": np.concatenate(lists) if lists else np.zeros(0, "|u1"),
    }


def blocks_of(prefix: str, sections: Mapping[str, Array]) -> Iterator[Block]:
    """Yield the blocks of a table from `pack`."""
    edges, codes = sections[f"{prefix}_blocks"].tolist(), sections[f"{prefix}_codes"]
    starts, data = sections[f"{prefix}_starts"], sections[f"{prefix}_rows"]
    for number in range(len(edges) - 1):
        low, high = edges[number], edges[number + 1]
        yield Block(number * BLOCK, codes[low:high], starts[low : high + 1], data)


def _encode(rows: Array, first: Array) -> tuple[Array, Array]:
    """Return (u8: gaps between `rows`, u16; i64: bytes of each list, begun at `first`)."""
    if not len(rows):
        return np.zeros(0, np.uint8), np.zeros(0, np.int64)
    gaps = rows.copy()
    gaps[1:] -= rows[:-1] + np.uint16(1)
    gaps[first] = rows[first]
    large = gaps >= 128
    pairs = np.empty((len(rows), 2), np.uint8)
    pairs[:, 0] = (gaps >> np.uint16(7)) | np.uint16(128)
    pairs[:, 1] = gaps & np.uint16(127)
    used = np.ones((len(rows), 2), bool)
    used[:, 0] = large
    lengths = np.diff(np.append(first, len(rows))) + np.add.reduceat(large.astype(np.int64), first)
    return pairs[used], lengths


def _decode(data: Array, edges: Array | None = None) -> Array:
    """Return i32: the rows of lists; `edges`: the first bytes of all lists but the first."""
    gaps = data.astype(np.int32)
    if len(data) and data.max() >= 128:
        high = data >= 128
        at = np.flatnonzero(~high)
        gaps = gaps[at]
        wide = np.flatnonzero(high[at - 1])
        gaps[wide] |= (data[at[wide] - 1].astype(np.int32) & 127) << 7
        edges = None if edges is None else np.searchsorted(at, edges)
    gaps += 1
    if edges is not None:  # each list starts at zero: subtract the sum of the list before it
        gaps[edges] -= np.add.reduceat(gaps, np.concatenate([[0], edges]))[:-1]
    np.cumsum(gaps, out=gaps)
    gaps -= 1
    return gaps
