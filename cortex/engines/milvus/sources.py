"""Sources of a project that is not on this machine, assembled from its chunks."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

from cortex.engines.chunks.source import read_source
from cortex.engines.graph.sources import FILES_KEPT, LINE_CHARS_MAX, Sources
from cortex.engines.milvus.place import milvus_place
from cortex.engines.milvus.rows import Fetched, RemoteRows, make_remote_rows
from cortex.engines.milvus.storage.collection import Collection
from cortex.generation.read import Published
from cortex.settings.config import Config


class RemoteSources:
    """Sources of one generation, as `Sources`: local files are read here, others are assembled from
    the chunks that cover each of their lines once.
    """

    def __init__(self, published: Published, fetched: Fetched, local_sources: Sources) -> None:
        self._published, self._fetched, self._local = published, fetched, local_sources
        self._texts: OrderedDict[str, str] = OrderedDict()

    @cached_property
    def _rows(self) -> RemoteRows:
        return make_remote_rows(self._published.rows, self._fetched, self._fetched.project)

    @cached_property
    def _files(self) -> dict[str, int]:
        return {path: file for file, path in enumerate(self._rows.path_names)}

    def begin(self) -> None:
        self._local.begin()

    def lines(self, path: str, line: int, around: int) -> list[dict[str, Any]]:
        """See `Sources`. Raises NotReady, Unavailable."""
        text = self.text(path)
        text_lines = text.split("\n") if text else []
        first, last = max(1, line - around), min(len(text_lines), line + around)
        return [{"line": n, "text": text_lines[n - 1][:LINE_CHARS_MAX]} for n in range(first, last + 1)]

    def text(self, path: str) -> str:
        """See `Sources`. Raises NotReady, Unavailable."""
        if text := self._local.text(path):
            return text
        if path not in self._texts:
            self._texts[path] = self._assemble_text(path)
            if len(self._texts) > FILES_KEPT:
                self._texts.popitem(last=False)
        return self._texts[path]

    def _assemble_text(self, path: str) -> str:
        file = self._files.get(path)
        if file is None or not len(self._rows.lines_of(file)):
            return ""
        lines = read_source(self._rows, file).lines
        return "\n" * (lines.first - 1) + lines.text


def source_opener(config: Config, local: Sources) -> Callable[[Published], RemoteSources]:
    """Return a function that opens the sources of a generation."""

    @cache
    def fetched() -> Fetched:
        return Fetched(Collection(milvus_place(config)))

    return lambda published: RemoteSources(published, fetched(), local)
