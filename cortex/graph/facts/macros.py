"""What a grammar leaves as text: items inside the braces of a Rust macro, `cfg_rt! { mod task; }`,
as if the macro were not around them; calls in the text of a C macro. Pure text.

To a grammar the inside of a Rust macro is a list of tokens; where it reads as items it nearly
always is, and whole modules are declared so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

_OPEN = re.compile(r"([ \t]*)[a-z_]\w*(?:::\w+)*![ \t]*\{[ \t]*")
_ITEM = re.compile(
    r"[ \t]*(?:#!?\[|//|/\*|pub\b|mod\b|use\b|impl\b|fn\b|async\b|unsafe\b|const\b|static\b|struct\b|enum\b|trait\b|type\b|extern\b"
    r"|\w+!)"
)
#: in the text of a C macro: what is no call, or a name before a parenthesis
_CALL = re.compile(
    r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/|//[^\n]*|(?:\.|->|\#)\s*\w+'
    r"|((?:[A-Za-z_]\w*\s*::\s*)*[A-Za-z_]\w*)\s*\(",
    re.DOTALL,
)
_NO_CALLS = frozenset(
    "if while for switch return sizeof defined typeof __typeof__ __attribute__ __extension__ alignof _Alignof "
    "_Static_assert static_assert decltype catch void int char long asm __asm__ __declspec".split()
)


def calls(text: str) -> Iterator[tuple[str, int, int]]:
    """(chain, line, column) of each plain call in a C macro's text; lines count from 0, columns in
    characters from the line's beginning.
    """
    for found in _CALL.finditer(text):
        if found[1] and found[1] not in _NO_CALLS:
            at = found.start(1)
            chain = "".join(found[1].split()).replace("::", ".")
            yield chain, text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1


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
