"""The lines that an answer shows, and the use of its bytes. Pure: text in, pieces and
counts out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

#: bytes of a token
TOKEN_BYTES = 4
#: lines that a definition may begin before its name: decorators, attributes, modifiers
HEAD_LINES = 6
#: key of Cortex's answers → the part it counts to; other keys count to "other"
PARTS = {
    "text": "text",
    "comment_text": "comment_text",
    "definitions": "definitions",
    "symbols": "symbols",
    "symbol": "symbols",
    "signature": "signature",
    "tags": "tags",
    "id": "ids",
    "parent": "ids",
    "chunk_id": "ids",
    "created_at": "times",
    "updated_at": "times",
    "imports_count": "counts",
    "types_count": "counts",
    "functions_count": "counts",
    "file_path": "place",
    "file": "place",
    "start_line": "place",
    "end_line": "place",
    "snippet_start_line": "place",
    "line": "place",
    "lines": "place",
    "location": "place",
    "title": "title",
    "scope": "title",
    "headings": "title",
    "language": "language",
    "source": "language",
    "package": "language",
    "chunk_type": "language",
    "is_test": "language",
    "highlights": "highlights",
    "highlight_lines": "highlights",
    "context": "context",
    "combined_score": "scores",
    "score": "scores",
    "index": "index",
    "suggestion": "suggestion",
}
#: keys whose values are counted by their own keys
NESTED = {
    "results",
    "chunk",
    "metadata",
    "node",
    "similar",
    "callers",
    "tests",
    "documents",
    "functions",
    "may_break",
    "target",
    "hits",
}


@dataclass(frozen=True)
class Piece:
    """Lines of a file in an answer: those from `start` to `end` with a stripped text in `lines`.

    All of them if `lines` is None; else also those that hold one of `names` as a word.
    """

    file: str
    start: int
    end: int
    lines: frozenset[str] | None = frozenset()
    names: tuple[str, ...] = ()

    def shows(self, file: str, number: int, text: str) -> bool:
        if file != self.file or not self.start <= number <= self.end:
            return False
        if self.lines is None or text.strip() in self.lines:
            return True
        return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in self.names)


def numbered(file: str, number: int) -> Piece:
    """Return a line that is shown with its number."""
    return Piece(file, number, number, None)


def block(file: str, start: int, end: int, text: str) -> Piece:
    """Return some lines of a range; their text selects them."""
    return Piece(file, start, end, frozenset(line.strip() for line in text.split("\n")))


def count_shown(
    needed: Sequence[tuple[str, int]], texts: dict[tuple[str, int], str], pieces: Sequence[Piece]
) -> int:
    """Return how many of the needed lines are shown."""
    return sum(any(piece.shows(*line, texts[line]) for piece in pieces) for line in needed)


def read_cortex(text: str) -> list[Piece]:
    """Read any tool's answer: chunks, graph nodes with the lines around a place, outlines, shapes,
    callers, tests.
    """
    try:
        answer = json.loads(text)
    except ValueError:
        return []
    return list(_pieces(answer))


def _pieces(value: Any) -> Iterator[Piece]:
    if isinstance(value, list):
        for element in value:
            yield from _pieces(element)
    elif isinstance(value, dict):
        yield from _row_pieces(value)
        for inner in value.values():
            yield from _pieces(inner)


def _row_pieces(row: dict[str, Any]) -> Iterator[Piece]:
    metadata, file = row.get("metadata"), row.get("file")
    if isinstance(metadata, dict) and "file_path" in metadata and row.get("text"):
        yield block(metadata["file_path"], metadata["start_line"], metadata["end_line"], row["text"])
        if "kind" in metadata:  # lines with their numbers
            for number in re.findall(r"^(\d+): ", row["text"], re.MULTILINE):
                yield numbered(metadata["file_path"], int(number))
    if "context" in row and isinstance(row.get("location"), dict):
        for line in row["context"] or ():
            yield numbered(row["location"]["file"], line["line"])
    if isinstance(at := row.get("at"), str) and row.get("text"):  # of a graph
        place, _, number = at.rpartition(":")
        line_numbers = re.findall(r"^(\d+): ", row["text"], re.MULTILINE) or [number]
        yield from (numbered(place, int(line_number)) for line_number in line_numbers)
    if not isinstance(file, str):
        return
    if "column" in row and "end_line" in row:  # a shape: its text may be a part of its first and last line
        yield Piece(file, row["start_line"], row["end_line"], None)
    elif isinstance(row.get("text"), str):
        start = row.get("start_line") or row.get("line") or row.get("lno") or 1
        yield block(file, start, row.get("end_line") or start + row["text"].count("\n"), row["text"])
    if row.get("signature") and "start_line" in row:
        name = re.split(r"[.:#~]", re.sub(r"~\d+$", "", row.get("id", "")))[-1]
        yield Piece(file, row["start_line"], row["start_line"] + HEAD_LINES, names=(name,))
    if isinstance(row.get("tests"), list):
        yield Piece(file, 1, 1 << 30, names=tuple(re.split(r"[.:#]", name)[-1] for name in row["tests"]))
    for symbol in row.get("symbols") or ():
        if isinstance(symbol, dict):
            first = symbol["lines"][0]
            yield Piece(file, first, first + HEAD_LINES, names=(re.split(r"[.:#]", symbol["name"])[-1],))


def parts_of(text: str) -> Counter[str]:
    """Return the bytes of a Cortex answer by part.

    "brackets" is the remainder: punctuation, and the keys of nested values.
    """
    counts: Counter[str] = Counter()
    try:
        _count(json.loads(text), counts)
    except ValueError:
        counts["text"] = len(text.encode())
    counts["brackets"] = max(len(text.encode()) - counts.total(), 0)
    return counts


def _count(value: Any, counts: Counter[str]) -> None:
    if isinstance(value, list):
        for element in value:
            _count(element, counts)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key in NESTED and _is_nested(inner):
                _count(inner, counts)
            else:
                counts[PARTS.get(key, "other")] += len(_dumps({key: inner})) - 2
    else:
        counts["other"] += len(_dumps(value))


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and all(isinstance(element, dict) for element in value)
    )


def _dumps(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def read_semble(text: str) -> list[Piece]:
    try:
        rows = json.loads(text).get("results", [])
    except (ValueError, AttributeError):
        return []
    return [
        block(row["file_path"], row["start_line"], row["end_line"], row.get("content") or "") for row in rows
    ]


_HEADING = re.compile(r"^\*\*`([^`]+)`\*\*")
_NUMBERED = re.compile(r"^(\d+)\t")
_NAME_AND_PLACE = re.compile(r"`?([\w.:#]+)`? \(([^():\s]+):(\d+)\)")


def read_codegraph(text: str) -> list[Piece]:
    """Read numbered lines below a file's heading, and names with their places."""
    pieces, file = [], ""
    for line in text.split("\n"):
        if heading := _HEADING.match(line):
            file = heading[1]
        elif file and (number := _NUMBERED.match(line)):
            pieces.append(numbered(file, int(number[1])))
        else:
            for name, path, at in _NAME_AND_PLACE.findall(line):
                last = re.split(r"[.:#]", name)[-1]
                pieces.append(Piece(path, int(at), int(at) + HEAD_LINES, names=(last,)))
    return pieces


_MATCH = re.compile(r"^([^:\n]+):(\d+):")


def read_ripgrep(text: str) -> list[Piece]:
    return [numbered(match[1], int(match[2])) for line in text.split("\n") if (match := _MATCH.match(line))]


Reader = Callable[[str], list[Piece]]
