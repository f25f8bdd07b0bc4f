"""Rust: items inside the braces of a macro, `cfg_rt! { pub mod task; }`, as if the macro were not
around them. Pure text.

To a grammar the inside of a macro is a list of tokens; where it reads as items it nearly always is,
and whole modules are declared so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_OPEN = re.compile(r"([ \t]*)[a-z_]\w*(?:::\w+)*![ \t]*\{[ \t]*")
_ITEM = re.compile(
    r"[ \t]*(?:#!?\[|//|/\*|pub\b|mod\b|use\b|impl\b|fn\b|async\b|unsafe\b|const\b|static\b|struct\b|enum\b|trait\b|type\b|extern\b"
    r"|\w+!)"
)


def uncover(lines: Sequence[str], reads: Callable[[Sequence[str]], bool]) -> list[str]:
    """`lines` with the macros' own lines blanked whose inside `reads` (as items, without an error).
    As many lines as before.

    A macro is one that begins and ends on lines of its own with the same indentation, as rustfmt
    writes them.
    """
    found = list(lines)
    for at, line in enumerate(lines):
        opened = _OPEN.fullmatch(line)
        if opened is None or at + 1 >= len(lines) or not _ITEM.match(lines[at + 1]):
            continue
        closing = f"{opened[1]}}}"
        end = next((n for n in range(at + 1, len(lines)) if lines[n].rstrip() == closing), -1)
        if end > at and reads(lines[at + 1 : end]):
            found[at] = found[end] = ""
    return found
