"""Filters of one generation, compiled to tantivy queries."""

from __future__ import annotations

from dataclasses import replace

import tantivy

from cortex.engines.text.matches.compile import Target, compile_filters
from cortex.generation.filters import MASKS_MAX
from cortex.generation.read import Rows
from ipc.messages import Filters


class FilterQueries:
    """A cache of compiled filters. It has no reference to its snapshot: a cycle would keep the
    files of an old generation open until the garbage collector runs.
    """

    def __init__(self, rows: Rows, schema: tantivy.Schema) -> None:
        self._rows, self._schema = rows, schema
        self._paths = frozenset(rows.path_names)
        self._queries: dict[Filters, tantivy.Query | None] = {}

    def query(self, filters: Filters) -> tantivy.Query | None:
        """The query of `filters`, None when they keep all rows. Raises BadRequest as
        `Rows.mask`.
        """
        if filters not in self._queries:
            if len(self._queries) >= MASKS_MAX:
                self._queries.clear()
            # As in Rows.paths: a tag that equals a file's path is a path.
            tags = [t.lower() for t in filters.tags if not (("/" in t or "." in t) and t in self._paths)]
            paths = self._rows.paths(filters)
            languages = self._rows.languages(filters.language) if filters.language else []
            meant = replace(filters, chunk_types=tuple(self._rows.kinds(filters.chunk_types)))
            self._queries[filters] = compile_filters(meant, paths, tags, languages, Target(self._schema))
        return self._queries[filters]
