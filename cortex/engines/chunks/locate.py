"""Places of the source in one generation (chunk ids, files, lines), resolved to chunks. Pure over
Rows.
"""

import functools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import orjson

from cortex.generation.read import Rows
from cortex.system.arrays import Array
from cortex.terms.units import is_definition
from ipc.messages import Hit, Locate, Located, Place, Spot

#: matches of one path in an answer: a path with more is too vague
FILES_MAX = 8
#: components at the end of two paths that have to agree when neither path ends with the other
SHARED_MIN = 2
#: names of a spot
SYMBOLS_MAX = 40

#: kinds of definitions that cannot be called
_DATA = ("constant", "variable")
_NO_VECTOR = np.zeros(0, np.float32)


def locate(rows: Rows, request: Locate) -> Located:
    """The spots of each place, in the order of the places; spots of one place by path."""
    locator = _Locator(rows, rows.mask(request.filters), bare=request.bare)
    files = _find_files(locator, request.places)
    matches: list[tuple[int, tuple[int, ...], tuple[int, bool], int, tuple[str, ...]]] = []
    vectors: list[Array] = []
    for at, place in enumerate(request.places):
        if place.id:
            for ordinal in _rows_with_id(rows, place.id, locator.mask):
                count = len(locator.rows_of(int(rows.columns["path"][ordinal])))
                matches.append((at, (ordinal,), (0, True), count, locator.symbols((ordinal,))))
                vectors.append(locator.vector((ordinal,)))
        for file, shared in files.get(at, ()):
            file_rows = locator.rows_of(file)
            spot_rows = locator.at_line(file, place.line) if place.line else file_rows
            if spot_rows:
                matches.append(
                    (at, spot_rows, shared, len(file_rows), locator.symbols(spot_rows, place.line))
                )
                vectors.append(locator.vector(spot_rows))
    matrix = np.stack(vectors) if vectors and not request.bare else np.zeros((0, rows.dimensions), np.float32)
    spans = _spans(rows, dict.fromkeys(spot_rows for _, spot_rows, _, _, _ in matches))
    spots = (
        Spot(at, spans[spot_rows], *shared, count, names) for at, spot_rows, shared, count, names in matches
    )
    return Located(rows.generation, tuple(spots), rows.model, matrix)


class _Locator:
    """Rows within a mask, with caches: the places of a request often share files and chunks."""

    def __init__(self, rows: Rows, mask: Array, *, bare: bool) -> None:
        self.rows, self.mask, self._bare = rows, mask, bare
        self.rows_of = functools.cache(lambda file: _rows_of(rows, file, mask))
        #: file → its rows, and the first and last line of each
        self._line_bounds = functools.cache(lambda file: _line_bounds(rows, self.rows_of(file)))
        self.vector = functools.cache(lambda spot_rows: _NO_VECTOR if bare else _vector(rows, spot_rows))
        self._body = functools.cache(lambda at: orjson.loads(rows.chunk(at)).get("metadata") or {})

    def at_line(self, file: int, line: int) -> tuple[int, ...]:
        """The smallest chunk with `line`."""
        file_rows, first, last = self._line_bounds(file)
        holding = np.flatnonzero((first <= line) & (line <= last))
        return (int(file_rows[holding[np.argmin((last - first)[holding])]]),) if len(holding) else ()

    def symbols(self, spot_rows: Sequence[int], line: int = 0) -> tuple[str, ...]:
        return () if self._bare else _symbols([self._body(at) for at in spot_rows], line)


def _find_files(locator: _Locator, places: Sequence[Place]) -> dict[int, list[tuple[int, tuple[int, bool]]]]:
    """Index of a place → (ordinal of a path, (shared components, is complete)) of its best matching
    files, by path.
    """
    rows = locator.rows
    best: dict[int, list[tuple[int, tuple[int, bool]]]] = {}
    for path in dict.fromkeys(place.path for place in places):
        candidates = _matching_files(rows, path)
        most = max((shared for _, (shared, _) in candidates), default=0)
        same = [
            candidate for candidate in candidates if candidate[1][0] == most and locator.rows_of(candidate[0])
        ]
        exact = [candidate for candidate in same if rows.path_names[candidate[0]] == path]
        same = exact or sorted(same, key=lambda candidate: rows.path_names[candidate[0]])
        best |= {at: same[:FILES_MAX] for at, place in enumerate(places) if place.path == path}
    return best


def _matching_files(rows: Rows, path: str) -> list[tuple[int, tuple[int, bool]]]:
    """The files that `path` matches as written; without any, ignoring case."""
    parts = [component for component in path.split("/") if component not in ("", ".")]
    files = rows.files_by_name.get(parts[-1].lower(), ()) if parts else ()
    file_parts = [rows.path_names[file].split("/") for file in files]
    low = [component.lower() for component in parts]
    return _files_sharing_end(files, file_parts, parts) or _files_sharing_end(
        files, [[component.lower() for component in components] for components in file_parts], low
    )


def _files_sharing_end(
    files: Sequence[int], file_parts: Sequence[list[str]], parts: Sequence[str]
) -> list[tuple[int, tuple[int, bool]]]:
    """The files whose paths end as `parts` does, with the number of shared components."""
    matches = []
    for file, components in zip(files, file_parts, strict=True):
        shared = _count_shared(components, parts)
        is_complete = shared == min(len(components), len(parts))
        if is_complete or shared >= SHARED_MIN:
            matches.append((file, (shared, is_complete)))
    return matches


def _count_shared(components: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for left, right in zip(reversed(components), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count


def _rows_of(rows: Rows, file: int, mask: Array) -> tuple[int, ...]:
    """The rows of a file within the mask, ordered by line: the kinds that cover each line once, if
    the file has any.
    """
    file_rows = rows.lines_of(file)
    file_rows = file_rows[mask[file_rows]]
    if not len(file_rows):
        file_rows = np.flatnonzero((rows.columns["path"] == file) & mask)
    order = np.lexsort((rows.columns["end_line"][file_rows], rows.columns["start_line"][file_rows]))
    return tuple(file_rows[order].tolist())


def _line_bounds(rows: Rows, file_rows: Sequence[int]) -> tuple[Array, Array, Array]:
    at = np.array(file_rows, np.int64)
    first, last = (rows.columns[name][at].astype(np.int64) for name in ("start_line", "end_line"))
    return at, first, last


def _rows_with_id(rows: Rows, name: str, mask: Array) -> Iterable[int]:
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


def _spans(rows: Rows, all_spot_rows: Collection[tuple[int, ...]]) -> dict[tuple[int, ...], Hit]:
    """The first chunk of each group of rows, extended to the last line of the group. One lookup
    serves all.
    """
    hits = rows.hits(np.array([spot_rows[0] for spot_rows in all_spot_rows], np.int64))
    ends = rows.columns["end_line"]
    return {
        spot_rows: hit if len(spot_rows) == 1 else replace(hit, end_line=int(ends[list(spot_rows)].max()))
        for spot_rows, hit in zip(all_spot_rows, hits, strict=True)
    }


def _symbols(bodies: Sequence[dict[str, Any]], line: int = 0) -> tuple[str, ...]:
    """The names that chunks define, `Scope.name`: types and functions before data, outer before
    inner. If definitions enclose `line`, only the innermost.
    """
    definitions = [
        definition
        for body in bodies
        for definition in body.get("definitions") or ()
        if is_definition(definition)
    ]
    around = [
        definition
        for definition in definitions
        if line and definition["start_line"] <= line <= definition["end_line"]
    ]
    if around:
        return (
            _qualified_name(
                min(
                    around, key=lambda definition: int(definition["end_line"]) - int(definition["start_line"])
                )
            ),
        )
    definitions.sort(
        key=lambda definition: (
            definition.get("kind") in _DATA,
            str(definition.get("scope") or "").count("."),
        )
    )
    names = [_qualified_name(definition) for definition in definitions]
    if not names:
        names = [str(name) for body in bodies for name in body.get("symbols") or ()]
    if not names:  # a later part of a long definition
        names = [str(body["scope"]) for body in bodies if body.get("scope")]
    return tuple(dict.fromkeys(names))[:SYMBOLS_MAX]


def _qualified_name(definition: dict[str, Any]) -> str:
    return (
        f"{definition['scope']}.{definition['name']}" if definition.get("scope") else str(definition["name"])
    )


def _vector(rows: Rows, spot_rows: Sequence[int]) -> Array:
    """The mean direction of the chunks' vectors, of unit length; 0 if none has a vector."""
    total = rows.vectors(np.array(spot_rows, np.int64)).sum(axis=0, dtype=np.float32)
    norm = float(np.linalg.norm(total))
    return np.asarray(total / norm if norm else total, np.float32)
