"""Handlers for chunks by key and place, the same for every engine with local rows."""

from __future__ import annotations

from functools import partial

from cortex.engines.chunks.answer_lines import ShowHandler
from cortex.engines.chunks.fetch import fetch
from cortex.engines.chunks.locate import locate
from cortex.engines.chunks.source_lines import source_lines
from cortex.engines.protocol import Handlers
from cortex.generation.read import Rows
from ipc.messages import Fetch, Locate, Show, SourceLines

#: the messages that `chunk_handlers` answers
ANSWERS = (Fetch, Locate, Show, SourceLines)


def chunk_handlers(rows: Rows) -> Handlers:
    return {
        Fetch: partial(fetch, rows),
        Locate: partial(locate, rows),
        Show: ShowHandler(rows).show,
        SourceLines: partial(source_lines, rows),
    }
