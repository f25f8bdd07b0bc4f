"""Masks of the rows that match a query's filters: kind, language, tag and path.

Masks are cached, because an agent repeats a few filters.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import get_args

import numpy as np

from cortex.generation.segments.segment import Segment
from cortex.system.arrays import Array
from cortex.system.errors import BadRequest
from cortex.terms.languages import canonical, expand_language, nearest_language
from cortex.terms.records import ChunkType
from cortex.terms.selection.globs import matching_paths
from cortex.terms.text.spelling import same_tags
from cortex.terms.text.suggestions import hint
from ipc.messages import Filters

#: the kinds of chunks that the indexer creates
KINDS: tuple[str, ...] = get_args(ChunkType)
#: masks that a snapshot caches
MASKS_MAX = 64


@dataclass(frozen=True)
class Masks:
    """The filter masks of one generation. The fields are those of `Rows`."""

    segments: tuple[Segment, ...]
    starts: Array
    live: Array
    path_names: list[str]
    columns: Mapping[str, Array]
    names: Mapping[str, list[str]]
    _cache: dict[Filters, Array] = field(default_factory=dict)

    def mask(self, filters: Filters) -> Array:
        """See `Rows.mask`."""
        mask = self._cache.get(filters)
        if mask is None:
            mask = self._make_mask(filters)
            mask.flags.writeable = False
            if len(self._cache) >= MASKS_MAX:
                self._cache.clear()
            self._cache[filters] = mask
        return mask

    def paths(self, filters: Filters) -> list[str] | None:
        """Return the files that match the path filters (globs as in .gitignore), or None when no
        path filter is set.

        A tag that equals a file's path acts as a path.
        """
        exact = self._split_tags(filters)[1]
        if not (filters.paths or filters.exclude_paths or filters.within or exact):
            return None
        paths = [path for path in self.path_names if not exact or path in exact]
        if filters.within:
            paths = [path for path in paths if path.startswith(f"{filters.within}/")]
        if filters.paths:
            wanted = matching_paths(paths, filters.paths)
            paths = [path for path in paths if path in wanted]
        if filters.exclude_paths:
            unwanted = matching_paths(self.path_names, filters.exclude_paths)
            paths = [path for path in paths if path not in unwanted]
        return paths

    def _make_mask(self, filters: Filters) -> Array:
        mask = self.live.copy()
        if filters.chunk_types:
            mask &= self._rows_with(self.kinds(filters.chunk_types), "type")
        if filters.language:
            mask &= self._rows_with(self.languages(filters.language), "language")
        for tag in self._split_tags(filters)[0]:
            mask &= rows_with_tags(self.segments, self.starts, same_tags(tag))
        if (paths := self.paths(filters)) is not None:
            wanted = set(paths)
            table = np.array([name in wanted for name in self.path_names], bool)
            mask &= table[self.columns["path"]] if len(table) else False
        return mask

    def kinds(self, wanted: Sequence[str]) -> list[str]:
        """Return the rows' spellings of the chunk kinds in `wanted`, which may be in any case,
        singular or plural.

        Raises BadRequest for a kind that is neither in KINDS nor in the rows.
        """
        known_kinds = sorted({*KINDS, *self.names["type"]})
        matches = {
            name: [kind for kind in known_kinds if _fold_kind(kind) == _fold_kind(name)] for name in wanted
        }
        if strange := [name for name, ones in matches.items() if not ones]:
            listed = ", ".join(known_kinds)
            raise BadRequest(f"There are no chunks of the kind {strange[0]!r} in the index; it has {listed}.")
        return [kind for ones in matches.values() for kind in ones]

    def languages(self, name: str) -> list[str]:
        """Return the rows' spellings of the language `name`; none when no row is in it.

        Raises BadRequest for a name that is neither in the rows nor in the table of languages.
        """
        wanted = expand_language(name)
        names = [
            language
            for language in self.names["language"]
            if language and (canonical(language) or language) in wanted
        ]
        if not names and not canonical(name):
            raise BadRequest(f"There is no language {name!r} in the index{hint(nearest_language(name))}.")
        return names

    def _rows_with(self, values: Iterable[str], column: str) -> Array:
        names = self.names[column]
        wanted = [names.index(value) for value in values if value in names]
        return np.isin(self.columns[column], wanted)

    def _split_tags(self, filters: Filters) -> tuple[list[str], set[str]]:
        """Return (real tags, lower-cased; tags that are file paths)."""
        files = {tag for tag in filters.tags if ("/" in tag or "." in tag) and tag in self._files}
        return [tag.lower() for tag in filters.tags if tag not in files], files

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(self.path_names)


def _fold_kind(kind: str) -> str:
    return kind.strip().lower().rstrip("s")


def rows_with_tags(segments: Sequence[Segment], starts: Array, tags: Iterable[str]) -> Array:
    """Return bool [rows]: whether a row has any of `tags`; `starts` as in Rows."""
    out = np.zeros(int(starts[-1]), bool)
    for start, segment in zip(starts, segments, strict=False):
        names = segment.meta["tag_names"]
        if wanted := [names.index(tag) for tag in tags if tag in names]:
            uses = np.flatnonzero(np.isin(segment.arrays["tags"], wanted))
            out[np.searchsorted(segment.arrays["tag_offsets"], uses, side="right") - 1 + start] = True
    return out
