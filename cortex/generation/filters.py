"""Which rows the filters of a question keep: by kind, language, tag and path.

Remembered, because an agent repeats few.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import get_args

import numpy as np

from cortex.generation.segment import Segment
from cortex.system.arrays import Array
from cortex.system.errors import BadRequest
from cortex.terms.globs import matching_paths
from cortex.terms.languages import canonical, expand_language, nearest_language
from cortex.terms.records import ChunkType
from cortex.terms.spelling import same_tags
from cortex.terms.suggestions import hint
from ipc.messages import Filters

#: the kinds that our indexer makes
KINDS: tuple[str, ...] = get_args(ChunkType)
#: filters whose masks one snapshot remembers
MASKS_MAX = 64


@dataclass(frozen=True)
class Masks:
    """The filters of one generation. Its fields are those of `Rows`."""

    segments: tuple[Segment, ...]
    starts: Array
    live: Array
    path_names: list[str]
    columns: Mapping[str, Array]
    names: Mapping[str, list[str]]
    _kept: dict[Filters, Array] = field(default_factory=dict)

    def mask(self, filters: Filters) -> Array:
        """See `Rows.mask`."""
        known = self._kept.get(filters)
        if known is None:
            known = self._make_mask(filters)
            known.flags.writeable = False
            if len(self._kept) >= MASKS_MAX:
                self._kept.clear()
            self._kept[filters] = known
        return known

    def paths(self, filters: Filters) -> list[str] | None:
        """See `Rows.paths`."""
        exact = self._split_tags(filters)[1]
        if not (filters.paths or filters.exclude_paths or filters.within or exact):
            return None
        kept = [path for path in self.path_names if not exact or path in exact]
        if filters.within:
            kept = [path for path in kept if path.startswith(f"{filters.within}/")]
        if filters.paths:
            wanted = matching_paths(kept, filters.paths)
            kept = [path for path in kept if path in wanted]
        if filters.exclude_paths:
            unwanted = matching_paths(self.path_names, filters.exclude_paths)
            kept = [path for path in kept if path not in unwanted]
        return kept

    def _make_mask(self, filters: Filters) -> Array:
        mask = self.live.copy()
        if filters.chunk_types:
            mask &= self._in(self.kinds(filters.chunk_types), "type")
        if filters.language:
            mask &= self._in(self.languages(filters.language), "language")
        for tag in self._split_tags(filters)[0]:
            mask &= tagged(self.segments, self.starts, same_tags(tag))
        paths = self.paths(filters)
        if paths is not None:
            wanted = set(paths)
            table = np.array([name in wanted for name in self.path_names], bool)
            mask &= table[self.columns["path"]] if len(table) else False
        return mask

    def kinds(self, wanted: Sequence[str]) -> list[str]:
        """What the rows call the kinds of chunks in `wanted`, in any case, singular or plural.

        Raises BadRequest for one that neither the rows nor we have.
        """
        known = sorted({*KINDS, *self.names["type"]})
        found = {name: [one for one in known if _folded(one) == _folded(name)] for name in wanted}
        if strange := [name for name, ones in found.items() if not ones]:
            listed = ", ".join(known)
            raise BadRequest(f"There are no chunks of the kind {strange[0]!r} in the index; it has {listed}.")
        return [one for ones in found.values() for one in ones]

    def languages(self, name: str) -> list[str]:
        """What the rows call the language `name`; none when no row is in it.

        Raises BadRequest for a name that neither the rows nor we know.
        """
        wanted = expand_language(name)
        found = [one for one in self.names["language"] if one and (canonical(one) or one) in wanted]
        if not found and not canonical(name):
            raise BadRequest(f"There is no language {name!r} in the index{hint(nearest_language(name))}.")
        return found

    def _in(self, values: Iterable[str], column: str) -> Array:
        names = self.names[column]
        wanted = [names.index(value) for value in values if value in names]
        return np.isin(self.columns[column], wanted)

    def _split_tags(self, filters: Filters) -> tuple[list[str], set[str]]:
        """(real tags, lower-cased; tags that are file paths)"""
        files = {tag for tag in filters.tags if ("/" in tag or "." in tag) and tag in self._files}
        return [tag.lower() for tag in filters.tags if tag not in files], files

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(self.path_names)


def _folded(kind: str) -> str:
    return kind.strip().lower().rstrip("s")


def tagged(segments: Sequence[Segment], starts: Array, tags: Iterable[str]) -> Array:
    """Bool [rows]: which rows have any of `tags`; `starts` i64 [segments + 1] as in Rows."""
    out = np.zeros(int(starts[-1]), bool)
    for start, segment in zip(starts, segments, strict=False):
        names = segment.meta["tag_names"]
        wanted = [names.index(tag) for tag in tags if tag in names]
        if wanted:
            uses = np.flatnonzero(np.isin(segment.arrays["tags"], wanted))
            out[np.searchsorted(segment.arrays["tag_offsets"], uses, side="right") - 1 + start] = True
    return out
