"""The text engine: a tantivy index. Its token is the generation's folder in `text/`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from cortex.engines.chunks.handlers import ANSWERS, chunk_handlers
from cortex.engines.protocol import Change, Feature, Handlers
from cortex.engines.text.checksums import IntegrityChecker
from cortex.engines.text.snapshot import TextSnapshot, open_text
from cortex.engines.text.writer import WRITER, TextWriter, list_committed_files
from cortex.generation.current import PRUNE_AFTER_S, Generation, prune_folder
from cortex.generation.read import Published
from cortex.settings.config import Config
from cortex.terms import tokens
from ipc.messages import CountWords, ExactSearch, TextSignals


class TextEngine:
    """See `protocol.Engine`. Lacks nothing."""

    answers = (ExactSearch, TextSignals, CountWords, *ANSWERS)
    lacks: frozenset[Feature] = frozenset()

    def __init__(self, config: Config) -> None:
        self._folder = config.index_dir / "text"
        self._writer: TextWriter | None = None
        self._checker = IntegrityChecker()
        self._token = ""
        self._opened: TextSnapshot | None = None

    def resume(self, token: str) -> None:
        self.close()
        self._writer = TextWriter(self._folder, token)
        self._token = token

    def files(self, token: str) -> tuple[Path, ...]:
        return list_committed_files(self._folder / token) if token else ()

    def build(self, change: Change) -> str:
        if change.added or change.deleted:
            assert self._writer is not None, "resume comes first"
            rows = ((row.key, row.chunk) for row in change.added)
            self._token = self._writer.build(change.number, rows, change.deleted)
        return self._token

    def upkeep(self, published: Published) -> str:
        if self._writer is not None and self._token:
            self._token = self._writer.publish_merged(published.generation.number + 1)
        return self._token

    def open(self, token: str, published: Published) -> Handlers:
        rows = published.rows
        if token:
            self._checker.check(self._folder / token)
        snapshot = self._opened = open_text(self._folder / token, rows, reuse=self._opened)
        return {
            ExactSearch: snapshot.search,
            TextSignals: snapshot.signals,
            CountWords: snapshot.count_words,
            **chunk_handlers(rows),
        }

    def prune(self, tokens: Collection[str], older_than_s: float = PRUNE_AFTER_S) -> list[str]:
        return prune_folder(self._folder, {*tokens, WRITER}, older_than_s)

    def status(self, token: str, generation: Generation) -> dict[str, Any]:  # noqa: ARG002
        return {"rows": generation.rows}

    def release(self) -> None:
        tokens.forget()
        if self._writer is not None:
            self._writer.release_if_idle()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
