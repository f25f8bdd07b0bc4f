"""What is recalled, as an agent gets it: bodies in a fence that no body can end, within the room of
an answer. Pure.

A note is data, whoever wrote it. The fence says where it begins and ends; who wrote it, and how far
that may be trusted, stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

OPEN, CLOSE = "<note>", "</note>"
#: characters of all bodies of one answer: about 5 000 tokens
BODIES_CHARS_MAX = 20_000
#: characters below which no body is cut
BODY_CHARS_MIN = 200
#: what in a body could be taken for the fence
_LIKE = re.compile(r"<(?=\s*/?\s*note\b)", re.IGNORECASE)
_FENCED = re.compile(r"\s*<note>\n?(?P<text>.*?)\n?</note>\s*", re.DOTALL)


def fenced(text: str) -> str:
    return f"{OPEN}\n{_LIKE.sub('&lt;', text)}\n{CLOSE}"


def unfenced(text: str) -> str:
    """A text that was recalled and comes back to be stored, as it was written."""
    match = _FENCED.fullmatch(text)
    return match["text"].replace("&lt;", "<") if match else text


def fence_rows(rows: Iterable[Mapping[str, Any]], chars_max: int = BODIES_CHARS_MAX) -> list[dict[str, Any]]:
    """The rows with their bodies fenced; when they are too long together the longest are cut, and
    say `truncated`.
    """
    fenced_rows = [dict(row) for row in rows]
    most = _body_length_max([len(row.get("body") or "") for row in fenced_rows], chars_max)
    for row in fenced_rows:
        body = row.get("body") or ""
        if len(body) > most:
            row |= {"truncated": True}
            body = f"{body[:most].rstrip()}…"
        if body:
            row["body"] = fenced(body)
    return fenced_rows


def _body_length_max(lengths: list[int], room: int) -> int:
    """The length that each may have so that all fit: the short ones leave theirs to the long."""
    left = len(lengths)
    for length in sorted(lengths):
        if length * left > room:
            return max(BODY_CHARS_MIN, room // left)
        room -= length
        left -= 1
    return max(lengths, default=0)
