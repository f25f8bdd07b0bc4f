"""The lines in which a keyword query matches, grouped: definitions, uses by kind, tests. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from cortex.terms.paths import is_test
from ipc.messages import Hit

Kind = Literal["definition", "call", "import", "type", "text", "test"]

#: the order of the groups
KINDS: tuple[Kind, ...] = ("definition", "call", "import", "type", "text", "test")
#: chunks whose lines are looked at; of a query that matches more, only those of the best are shown
CHUNKS_MAX = 2_000
#: characters of a line that are shown; a longer one (minified code) is cut
LINE_CHARS = 200
#: lines below the beginning of a definition in which its name may stand
HEAD_LINES = 6
#: bytes of an entry beside its lines and its path, which stands in it twice
ENTRY_BYTES = 130

_IMPORT = re.compile(
    r"\s*(?:import|from|#\s*include|using|use|require(?:_relative)?|export\s.*\bfrom|@import)\b|.*\brequire\("
)
_COMMENT = re.compile(r"\s*(?://|/\*|\*|#(?!\w)|--|\"\"\"|;;)")
_CALLED = re.compile(r"\s*(?:<[^<>()]*>|::<[^<>()]*>|!)?\(")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chunk's file in which the query matches."""

    hit: Hit
    score: float
    number: int
    text: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Group:
    """Lines of one kind in one file, in their order."""

    kind: Kind
    lines: tuple[Line, ...]

    @property
    def hit(self) -> Hit:
        return self.lines[0].hit

    @property
    def score(self) -> float:
        return max(line.score for line in self.lines)

    def chunk(self) -> bytes:
        """The JSON of the entry: each line with its number."""
        text = "\n".join(f"{line.number}: {line.text.strip()[:LINE_CHARS]}" for line in self.lines)
        metadata = {
            "file_path": self.hit.path,
            "start_line": self.lines[0].number,
            "end_line": self.lines[-1].number,
            "kind": self.kind,
        }
        return orjson.dumps({"id": self.hit.id, "text": text, "metadata": metadata})


def kind_of(hit: Hit, text: str, start: int, end: int, *, defined: bool) -> Kind:
    """What the match at `start` to `end` of a line is; `defined`: its definition begins here."""
    if is_test(hit.path):
        return "test"
    if defined:
        return "definition"
    if hit.chunk_type == "documentation" or _COMMENT.match(text):
        return "text"
    if _IMPORT.match(text):
        return "import"
    if _CALLED.match(text, end):
        return "call"
    return "type" if text[start:end][:1].isupper() else "text"


def defined_lines(definitions: Iterable[Any]) -> dict[int, set[str]]:
    """Line → the names whose definition begins there or a few lines above."""
    out: dict[int, set[str]] = {}
    for one in definitions:
        if isinstance(one, dict) and isinstance(one.get("start_line"), int):
            for number in range(one["start_line"], one["start_line"] + HEAD_LINES):
                out.setdefault(number, set()).add(str(one.get("name")))
    return out


def group(lines: Iterable[Line]) -> list[Group]:
    """Each line of a file once; by kind, then by the best score of a file."""
    once: dict[tuple[str, int], Line] = {}
    for line in lines:
        once.setdefault((line.hit.path, line.number), line)
    groups: dict[tuple[Kind, str], list[Line]] = {}
    for line in once.values():
        groups.setdefault((line.kind, line.hit.path), []).append(line)
    made = [
        Group(kind, tuple(sorted(own, key=lambda line: line.number))) for (kind, _), own in groups.items()
    ]
    return sorted(made, key=lambda one: (KINDS.index(one.kind), -one.score, one.hit.path))


def fitting(groups: Sequence[Group], offset: int, limit: int, max_bytes: int) -> list[Group]:
    """The groups without their first `offset` lines, with at most `limit` in all, as they fit."""
    out: list[Group] = []
    used = 0
    for one in groups:
        skipped = min(offset, len(one.lines))
        offset -= skipped
        kept: list[Line] = []
        size = ENTRY_BYTES + 2 * len(one.hit.path)
        for line in one.lines[skipped:]:
            size += min(len(line.text.strip()), LINE_CHARS) + len(str(line.number)) + 4
            if len(kept) == limit or (used + size > max_bytes and (out or kept)):
                break
            kept.append(line)
        if kept:
            out.append(Group(one.kind, tuple(kept)))
            limit -= len(kept)
        if len(kept) < len(one.lines) - skipped:
            break
        used += size
    return out
