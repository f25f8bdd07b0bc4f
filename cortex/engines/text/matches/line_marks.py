"""Marks of a query in the texts of chunks that are shown by line. Pure."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from cortex.engines.text.matches.highlight import Needle, find_in_all, find_spans
from cortex.engines.text.matches.line_matches import BORDER, join_texts
from cortex.engines.text.matches.lines import PORTION
from cortex.engines.text.matches.scan import MARKS_MAX, mark_matches
from cortex.engines.text.matches.verify import Expression, Span, all_matches
from cortex.system.arrays import Array


def mark_texts(
    raws: Sequence[bytes],
    expressions: Sequence[Expression],
    needles: list[list[Needle]],
    known_spans: Mapping[int, list[Span]],
    until: float,
) -> tuple[list[str], list[list[Span]]]:
    """Mark matches in chunks until the time `until`, in the first chunk at least.

    Returns (texts of the marked chunks; for each of `expressions`, none of them excluded, and then
    of `needles` its spans in those texts, joined by `join_texts`). `raws`: the texts as stored;
    `known_spans`: index of a chunk → spans in its bytes that its text alone does not show.
    """
    marks: list[list[Span]] = [[] for _ in range(len(expressions) + len(needles))]
    texts: list[str] = []
    place = 0
    in_words = not expressions and all(needle.source for leaf_needles in needles for needle in leaf_needles)
    in_lines = not (needles or known_spans) and all(expression.by_lines for expression in expressions)
    while len(texts) < len(raws) and (not texts or time.monotonic() < until):
        done = len(texts)
        size = max(1, min(done, PORTION)) if in_words or in_lines else 1
        some = raws[done : done + size]
        new_texts = [raw[:-1].decode() for raw in some]
        if in_lines:
            new_marks = _mark_lines(some, expressions)
        elif in_words:
            joined = join_texts(new_texts)
            new_marks = find_in_all(joined.text, needles, joined.chunks_at, len(new_texts))
        else:
            new_marks = _mark_text(new_texts[0], expressions, needles, known_spans.get(done, []))
        for spans, more in zip(marks, new_marks, strict=True):
            spans += [(place + begin, place + end) for begin, end in more]
        texts += new_texts
        place += sum(map(len, new_texts)) + len(new_texts) * len(BORDER)
    return texts, marks


def _mark_text(
    text: str, expressions: Sequence[Expression], needles: list[list[Needle]], known_spans: list[Span]
) -> list[list[Span]]:
    marks = mark_matches(text, expressions, known_spans)
    over = marks[len(expressions) :]  # matches that cross the end of a chunk, of any expression
    marks = [
        [*leaf_marks, *(span for extra in over for span in extra)] for leaf_marks in marks[: len(expressions)]
    ]
    return marks + find_spans(text, needles, alone=False)


def _mark_lines(raws: Sequence[bytes], expressions: Sequence[Expression]) -> list[list[Span]]:
    """For each expression its spans in texts that are searched side by side."""
    data = b"".join(raws)
    ends = np.cumsum([len(raw) for raw in raws], dtype=np.int64)
    before = np.zeros(len(data) + 1, np.int64)  # characters before each byte
    np.cumsum(np.frombuffer(data, np.uint8) & 0xC0 != 0x80, out=before[1:])
    # in the joined text each text loses a line feed and gains a border
    shift = np.arange(len(raws)) * (len(BORDER) - 1)
    out: list[list[Span]] = []
    for expression in expressions:
        spans: Array = all_matches(expression, data, ends, MARKS_MAX)
        rows = np.searchsorted(ends, spans[:, 0], side="right")
        out.append(list(map(tuple, (before[spans] + shift[rows, None]).tolist())))
    return out
