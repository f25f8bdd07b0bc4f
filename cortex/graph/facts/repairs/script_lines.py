"""Repairs of TypeScript lines that the grammar misreads, so that a whole file falls into pieces.

It takes the type parameters at the beginning of a signature, `<T>(x: T): T`, as type arguments of
the line above. Pure text; lines and columns of all other code stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_OPENS = re.compile(r"\s+<(?:\s*$|(?:const\s+)?[A-Za-z_$])")
#: ends of lines that continue
_GOES_ON = re.compile(r"(?:[{(\[<;,:=|&?.]|=>|\b(?:extends|implements|keyof|typeof|infer|is|new))$")
_COMMENT = re.compile(r"\s*(?://|/?\*)|.*\*/$")
#: characters of the longest line that is read
LINE_CHARS_MAX = 1_000
#: lines of comments between two signatures
COMMENTS_MAX = 80


def end_signatures(lines: Sequence[str]) -> list[str]:
    """Return `lines` with a semicolon before each such signature; their number stays the same."""
    output = list(lines)
    for at, line in enumerate(lines):
        if "<" not in line or len(line) > LINE_CHARS_MAX or not _OPENS.match(line):
            continue
        above = next(
            (
                lines[number]
                for number in range(at - 1, max(-1, at - 2 - COMMENTS_MAX), -1)
                if lines[number].strip() and not _COMMENT.match(lines[number])
            ),
            "{",
        )
        if len(above) <= LINE_CHARS_MAX and not _GOES_ON.search(above.partition(" //")[0].rstrip()):
            column = line.index("<")
            output[at] = f"{line[: column - 1]};{line[column:]}"
    return output
