"""Fingerprints of the lines that a note is about, and the lines that changed since. Pure.

A fingerprint is `hash of all lines` + `:` + four letters for each line: enough to find the lines
again when they have moved, and to tell which of them are different.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

#: lines of a place with a mark each; a longer place has only the hash of all its lines
LINES_MAX = 2_000
#: bytes of the hash of all lines, and letters of a line's mark: one of 65 536 changed lines has the
#: same mark, and the hash of all detects it
WHOLE_BYTES, LINE_LETTERS = 8, 4


@dataclass(frozen=True)
class TextLines:
    """The lines of a file, without line ends and trailing white space."""

    lines: tuple[bytes, ...]

    @classmethod
    def of(cls, raw: bytes) -> TextLines:
        return cls(tuple(line.rstrip() for line in raw.splitlines()))

    @cached_property
    def marks(self) -> str:
        """LINE_LETTERS for each line."""
        return "".join(_digest(line, LINE_LETTERS // 2) for line in self.lines)

    def fingerprint(self, first: int, last: int) -> str:
        """Return the fingerprint of the lines `first` to `last` (1-based, inclusive)."""
        lines = self.lines[first - 1 : last]
        digest = _digest(b"\n".join(lines), WHOLE_BYTES)
        if len(lines) > LINES_MAX:
            return digest
        marks = self.marks[(first - 1) * LINE_LETTERS : last * LINE_LETTERS]
        return f"{digest}:{marks}"

    def full_fingerprint(self) -> str:
        return self.fingerprint(1, len(self.lines))

    def find(self, fingerprint: str) -> tuple[int, int] | None:
        """Return (first, last) of the same lines in this file; None when it lacks them."""
        digest, _, marks = fingerprint.partition(":")
        count, at = len(marks) // LINE_LETTERS, -1
        while marks and (at := self.marks.find(marks, at + 1)) >= 0:
            if at % LINE_LETTERS == 0:
                first = at // LINE_LETTERS + 1
                if self.fingerprint(first, first + count - 1).partition(":")[0] == digest:
                    return first, first + count - 1
        return None

    def changed_span(self, fingerprint: str, first: int, last: int) -> tuple[int, int]:
        """Return the changed span within the lines; of mere removals the line at their place."""
        then = _split_marks(fingerprint.partition(":")[2])
        now = _split_marks(self.marks[(first - 1) * LINE_LETTERS : last * LINE_LETTERS])
        if not then:
            return first, last
        most = min(len(then), len(now))
        head = next((at for at in range(most) if then[at] != now[at]), most)
        left = most - head
        tail = next((at for at in range(left) if then[-1 - at] != now[-1 - at]), left)
        begin, end = first + head, last - tail
        return (begin, end) if begin <= end else (min(begin, last), min(begin, last))


def _split_marks(marks: str) -> list[str]:
    return [marks[at : at + LINE_LETTERS] for at in range(0, len(marks), LINE_LETTERS)]


def _digest(raw: bytes, size: int) -> str:
    return hashlib.blake2b(raw, digest_size=size).hexdigest()
