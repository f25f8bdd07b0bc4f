"""What lies at a place of the source in one generation: chunk ids, files and lines → chunks.

Pure over Rows.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import orjson

from cortex.generation.read import Rows
from cortex.system.arrays import Array
from ipc.messages import Hit, Locate, Located, Place, Spot

#: files that one path may be, in an answer; one that may be so many says nothing
FILES_MAX = 8
#: parts at the end of two paths that have to agree when neither is the end of the other
SHARED_MIN = 2
#: names of one spot
SYMBOLS_MAX = 40

#: kinds of definitions that nothing calls
_DATA = ("constant", "variable")
_NO_VECTOR = np.zeros(0, np.float32)


def locate(rows: Rows, request: Locate) -> Located:
    """The spots of each place, in the order of the places, those of one place by path."""
    look = _Look(rows, rows.mask(request.filters), bare=request.bare)
    files = _files(look, request.places)
    found: list[tuple[int, tuple[int, ...], tuple[int, bool], int, tuple[str, ...]]] = []
    vectors: list[Array] = []
    for at, place in enumerate(request.places):
        if place.id:
            for ordinal in _with_id(rows, place.id, look.mask):
                count = len(look.rows_of(int(rows.columns["path"][ordinal])))
                found.append((at, (ordinal,), (0, True), count, look.symbols((ordinal,))))
                vectors.append(look.vector((ordinal,)))
        for file, shared in files.get(at, ()):
            own = look.rows_of(file)
            chosen = look.at_line(file, place.line) if place.line else own
            if chosen:
                found.append((at, chosen, shared, len(own), look.symbols(chosen, place.line)))
                vectors.append(look.vector(chosen))
    matrix = np.stack(vectors) if vectors and not request.bare else np.zeros((0, rows.dimensions), np.float32)
    spans = _spans(rows, dict.fromkeys(chosen for _, chosen, _, _, _ in found))
    spots = (Spot(at, spans[chosen], *shared, count, names) for at, chosen, shared, count, names in found)
    return Located(rows.generation, tuple(spots), rows.model, matrix)


class _Look:
    """One look at rows within a mask: many places of a request lie in few files and chunks, and
    what is found out of those is kept.
    """

    def __init__(self, rows: Rows, mask: Array, *, bare: bool) -> None:
        self.rows, self.mask, self._bare = rows, mask, bare
        self.rows_of = functools.cache(lambda file: _rows_of(rows, file, mask))
        #: file → its rows, and the first and the last lines of each
        self._edges = functools.cache(lambda file: _edges(rows, self.rows_of(file)))
        self.vector = functools.cache(lambda chosen: _NO_VECTOR if bare else _vector(rows, chosen))
        self._body = functools.cache(lambda at: orjson.loads(rows.chunk(at)).get("metadata") or {})

    def at_line(self, file: int, line: int) -> tuple[int, ...]:
        """The smallest chunk that holds `line`."""
        own, first, last = self._edges(file)
        holding = np.flatnonzero((first <= line) & (line <= last))
        return (int(own[holding[np.argmin((last - first)[holding])]]),) if len(holding) else ()

    def symbols(self, chosen: Sequence[int], line: int = 0) -> tuple[str, ...]:
        return () if self._bare else _symbols([self._body(at) for at in chosen], line)


def _files(look: _Look, places: Sequence[Place]) -> dict[int, list[tuple[int, tuple[int, bool]]]]:
    """Place → (ordinal of a path, (shared parts, whole)) of the files that it names best,
    in order of their paths.
    """
    rows = look.rows
    best: dict[int, list[tuple[int, tuple[int, bool]]]] = {}
    for path in dict.fromkeys(place.path for place in places):
        candidates = _named(rows, path)
        most = max((shared for _, (shared, _) in candidates), default=0)
        same = [one for one in candidates if one[1][0] == most and look.rows_of(one[0])]
        exact = [one for one in same if rows.path_names[one[0]] == path]
        same = exact or sorted(same, key=lambda one: rows.path_names[one[0]])
        best |= {at: same[:FILES_MAX] for at, place in enumerate(places) if place.path == path}
    return best


def _named(rows: Rows, path: str) -> list[tuple[int, tuple[int, bool]]]:
    """The files that `path` names as it is written; when there are none, in any case."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    files = rows.files_called.get(parts[-1].lower(), ()) if parts else ()
    owns = [rows.path_names[file].split("/") for file in files]
    low = [part.lower() for part in parts]
    return _sharing(files, owns, parts) or _sharing(
        files, [[part.lower() for part in own] for own in owns], low
    )


def _sharing(
    files: Sequence[int], owns: Sequence[list[str]], parts: Sequence[str]
) -> list[tuple[int, tuple[int, bool]]]:
    """Those whose paths `owns` end as `parts` does, with how much of them does."""
    found = []
    for file, own in zip(files, owns, strict=True):
        shared = _shared(own, parts)
        whole = shared == min(len(own), len(parts))
        if whole or shared >= SHARED_MIN:
            found.append((file, (shared, whole)))
    return found


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, its in zip(reversed(one), reversed(other), strict=False):
        if mine != its:
            break
        count += 1
    return count


def _rows_of(rows: Rows, file: int, mask: Array) -> tuple[int, ...]:
    """The rows of a file within the mask: the kinds that hold each line once, where it has any.

    In the order of their lines.
    """
    own = rows.lines_of(file)
    own = own[mask[own]]
    if not len(own):
        own = np.flatnonzero((rows.columns["path"] == file) & mask)
    order = np.lexsort((rows.columns["end_line"][own], rows.columns["start_line"][own]))
    return tuple(own[order].tolist())


def _edges(rows: Rows, own: Sequence[int]) -> tuple[Array, Array, Array]:
    at = np.array(own, np.int64)
    first, last = (rows.columns[name][at].astype(np.int64) for name in ("start_line", "end_line"))
    return at, first, last


def _with_id(rows: Rows, name: str, mask: Array) -> Iterable[int]:
    wanted = name.encode()
    for at, segment in enumerate(rows.segments):
        data, offsets = segment.arrays["id_bytes"].tobytes(), segment.arrays["id_offsets"]
        begin = data.find(wanted)
        while begin >= 0:
            row = int(np.searchsorted(offsets, begin, side="right")) - 1
            ordinal = int(rows.starts[at]) + row
            if (offsets[row], offsets[row + 1]) == (begin, begin + len(wanted)) and mask[ordinal]:
                yield ordinal
            begin = data.find(wanted, begin + 1)


def _spans(rows: Rows, all_chosen: Collection[tuple[int, ...]]) -> dict[tuple[int, ...], Hit]:
    """Of each the first chunk, with the lines of all of them; the chunks are looked up at once."""
    hits = rows.hits(np.array([chosen[0] for chosen in all_chosen], np.int64))
    ends = rows.columns["end_line"]
    return {
        chosen: hit if len(chosen) == 1 else replace(hit, end_line=int(ends[list(chosen)].max()))
        for chosen, hit in zip(all_chosen, hits, strict=True)
    }


def _symbols(bodies: Sequence[dict[str, Any]], line: int = 0) -> tuple[str, ...]:
    """The names that chunks define, `Scope.name`: types and functions before data, outer before
    inner. Of those around `line`, if there are any, only the innermost.
    """
    found = [one for body in bodies for one in body.get("definitions") or () if _is_definition(one)]
    around = [one for one in found if line and one["start_line"] <= line <= one["end_line"]]
    if around:
        return (_qualified(min(around, key=lambda one: int(one["end_line"]) - int(one["start_line"]))),)
    found.sort(key=lambda one: (one.get("kind") in _DATA, str(one.get("scope") or "").count(".")))
    names = [_qualified(one) for one in found]
    if not names:
        names = [str(name) for body in bodies for name in body.get("symbols") or ()]
    if not names:  # a later part of a long definition
        names = [str(body["scope"]) for body in bodies if body.get("scope")]
    return tuple(dict.fromkeys(names))[:SYMBOLS_MAX]


def _is_definition(one: object) -> bool:
    return (
        isinstance(one, dict)
        and isinstance(one.get("name"), str)
        and isinstance(one.get("start_line"), int)
        and isinstance(one.get("end_line"), int)
    )


def _qualified(one: dict[str, Any]) -> str:
    return f"{one['scope']}.{one['name']}" if one.get("scope") else str(one["name"])


def _vector(rows: Rows, chosen: Sequence[int]) -> Array:
    """Of unit length, or 0 where none of the chunks has a vector."""
    total = rows.vectors(np.array(chosen, np.int64)).sum(axis=0, dtype=np.float32)
    norm = float(np.linalg.norm(total))
    return np.asarray(total / norm if norm else total, np.float32)
