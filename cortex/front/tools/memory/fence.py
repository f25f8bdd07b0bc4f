"""The fence around note bodies in answers to agents, and the limit on their length. Pure functions.

A note is data, not instructions, whatever its author. `<note>` and `</note>` mark where a body
begins and ends; no body can contain the mark. Other fields of the row name the author and its
trust.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

OPEN, CLOSE = "<note>", "</note>"
#: characters of all bodies of one answer: about 5 000 tokens
BODIES_CHARS_MAX = 20_000
#: characters below which no body is cut
BODY_CHARS_MIN = 200
#: text in a body that looks like a mark of the fence
_LIKE = re.compile(r"<(?=\s*/?\s*note\b)", re.IGNORECASE)
_FENCED = re.compile(r"\s*<note>\n?(?P<text>.*?)\n?</note>\s*", re.DOTALL)


def fenced(text: str) -> str:
    return f"{OPEN}\n{_LIKE.sub('&lt;', text)}\n{CLOSE}"


def unmarked(text: str) -> str:
    """Return `text` on one line in which nothing reads as a mark of the fence: for titles in plain
    text, where nothing else ends them.
    """
    return _LIKE.sub("&lt;", " ".join(text.split()))


def unfenced(text: str) -> str:
    """Return `text` without the fence, if it has one: agents store recalled texts again."""
    match = _FENCED.fullmatch(text)
    return match["text"].replace("&lt;", "<") if match else text


def fence_rows(rows: Iterable[Mapping[str, Any]], chars_max: int = BODIES_CHARS_MAX) -> list[dict[str, Any]]:
    """Return copies of `rows` with fenced bodies. If the bodies have more than `chars_max`
    characters together, the longest are cut and their rows get "truncated".
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
    """Return the maximum of characters for each body so that all fit in `room` characters.

    Short bodies leave their share to the long ones; at least BODY_CHARS_MIN.
    """
    left = len(lengths)
    for length in sorted(lengths):
        if length * left > room:
            return max(BODY_CHARS_MIN, room // left)
        room -= length
        left -= 1
    return max(lengths, default=0)
