"""Handlers for chunks and lines by key and place, the same for every engine with local rows. Pure
over Rows.
"""

from functools import partial

import numpy as np

from cortex.engines.chunks.answer_lines import ShowHandler
from cortex.engines.chunks.fetch import fetch
from cortex.engines.chunks.locate import locate
from cortex.engines.protocol import Handlers
from cortex.generation.read import Rows
from cortex.system.arrays import Array
from ipc.messages import Fetch, Locate, Show, SourceLines, SourceTexts

#: the messages that `chunk_handlers` answers
ANSWERS = (Fetch, Locate, Show, SourceLines)


def chunk_handlers(rows: Rows) -> Handlers:
    return {
        Fetch: partial(fetch, rows),
        Locate: partial(locate, rows),
        Show: ShowHandler(rows).show,
        SourceLines: partial(source_lines, rows),
    }


def source_lines(rows: Rows, request: SourceLines) -> SourceTexts:
    """The texts of the spans of `request`; only the chunks that hold their lines are read."""
    span_rows = [_rows_of_span(rows, *span) for span in request.spans]
    wanted = np.unique(np.concatenate([np.zeros(0, np.int64), *span_rows]))
    texts = dict(zip(wanted.tolist(), rows.cuts("text", wanted), strict=True))
    starts = rows.columns["start_line"]
    blobs = []
    for (_, first, last), ordinals in zip(request.spans, span_rows, strict=True):
        pieces = [(max(1, int(starts[at])), texts[at]) for at in ordinals.tolist()]
        blobs.append(_join_lines(pieces, max(1, first), last))
    return SourceTexts(rows.generation, tuple(blobs))


def _rows_of_span(rows: Rows, path: str, first: int, last: int) -> Array:
    """i64: the rows with lines of the span, in the order of lines."""
    files = rows.files_by_name.get(path.rpartition("/")[2].lower(), ())
    file = next((file for file in files if rows.path_names[file] == path), None)
    if file is None:
        return np.zeros(0, np.int64)
    ordinals = rows.lines_of(file)
    begins, ends = rows.columns["start_line"][ordinals], rows.columns["end_line"][ordinals]
    return np.asarray(ordinals[(begins <= last) & (ends >= first)], np.int64)


def _join_lines(pieces: list[tuple[int, bytes]], first: int, last: int) -> bytes:
    """The lines `first` to `last` of `pieces`: (first line, text and a line feed) each, without
    blank lines at the end. Where two pieces overlap, as those of other programs may, the earlier
    one counts.
    """
    lines: list[bytes] = []
    for begin, raw in pieces:
        piece = raw.rstrip(b"\n").split(b"\n")
        following = first + len(lines)
        if begin > following:
            lines += [b""] * (min(begin, last + 1) - following)
            following = begin
        lines += piece[max(0, following - begin) : max(0, last + 1 - begin)]
    return b"\n".join(lines).rstrip(b"\n")
