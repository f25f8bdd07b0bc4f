"""The globs of a file like .gitignore, or of a setting, compiled: within bounds, and matched in
linear time. Opens no file; globs of a query are in globs.py.

pathspec translates each glob, RE2 matches all of them at once. An invalid or too costly line is
reported with its number: a file goes on without it, a setting is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cortex.system.errors import Misconfigured

if TYPE_CHECKING:  # a slow import, and most processes read no glob
    from pathspec import GitIgnoreSpec

#: characters of one glob; the longest path of most systems has 4 096
GLOB_CHARS_MAX = 1_024
#: globs of one list with wildcards, or in a list with `!`: each takes memory of RE2, and every path
#: is matched against all of them
GLOBS_MAX = 1_000
#: plain names of one list, which need a lookup only; and characters of the whole list
NAMES_MAX, CHARS_MAX = 200_000, 4_000_000
#: the beginning of the reason for an ignored line of a file
NO_GLOB = "no glob"
#: characters of a glob in a message
SHOWN_CHARS = 80
#: globs in one set of RE2, which has 8 MB; a set that is too large is halved
_SET_GLOBS = 250

#: bracket classes that git knows by name, as ranges
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \t",
    "digit": "0-9",
    "lower": "a-z",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_CLASS = re.compile(r"\[:(\w+):\]")
_BRACKETS = re.compile(r"\\.|\[[!^]?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
_SPECIAL = re.compile(r"[*?\[\\]")


@dataclass(frozen=True, slots=True)
class GlobFault:
    """A line (1-based) that is no valid glob, and the reason."""

    line: int
    text: str
    why: str

    @property
    def quoted(self) -> str:
        """The line, quoted for a message."""
        return repr(self.text[:SHOWN_CHARS] + "…" * (len(self.text) > SHOWN_CHARS))


@dataclass(frozen=True, slots=True)
class Ignores:
    """Compiled globs; `faults` lists the lines that were left out. The last matching
    glob decides.
    """

    #: plain names that match at any depth, and whole paths; only for a list without `!`
    names: frozenset[str] = frozenset()
    sets: tuple[GitIgnoreSpec, ...] = ()
    faults: tuple[GlobFault, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.names or self.sets)

    def decide(self, path: str) -> bool | None:
        """Return True if the globs ignore `path` (a folder ends in `/`), False if a `!` glob
        includes it again, None if no glob matches.
        """
        if self.names and self._matches_name(path):
            return True
        for spec in reversed(self.sets):
            decision = spec.check_file(path).include
            if decision is not None:
                return decision
        return None

    def match(self, path: str) -> bool:
        return bool(self.decide(path))

    def _matches_name(self, path: str) -> bool:
        """Whether the path, or a folder above it, has one of the names."""
        end = -1
        for segment in path.split("/"):
            start, end = end + 1, end + 1 + len(segment)
            prefix_and_name = path[:end], path[start:end]
            if f"/{prefix_and_name[0]}" in self.names or prefix_and_name[1] in self.names:
                return True
            if end < len(path) and (
                f"/{prefix_and_name[0]}/" in self.names or f"{prefix_and_name[1]}/" in self.names
            ):
                return True
        return False


def read_lines(text: str) -> Ignores:
    """Compile the globs of a file like .gitignore, as git reads it."""
    lines = text.removeprefix("\ufeff").split("\n")
    return _compile([(number, line.removesuffix("\r")) for number, line in enumerate(lines, 1)])


def read_setting(globs: Sequence[str], name: str) -> Ignores:
    """Compile the globs of the setting `name`. Raises Misconfigured for an invalid one."""
    ignores = _compile(enumerate(globs, 1))
    for fault in ignores.faults:
        raise Misconfigured(f"The glob {fault.quoted} of {name} {fault.why}; write it as in .gitignore.")
    return ignores


def glob_fault(glob: str) -> GlobFault | None:
    """Return the fault of one glob; None if it is valid."""
    ignores = _compile([(1, glob)])
    return ignores.faults[0] if ignores.faults else None


def _compile(lines: Iterable[tuple[int, str]]) -> Ignores:
    faults: list[GlobFault] = []
    good = list(_valid_lines(lines, faults))
    names: set[str] = set()
    if not any(line.startswith("!") for _, line in good):
        names = {_as_lookup(line) for _, line in good if _is_plain(line)}
        good = [entry for entry in good if not _is_plain(entry[1])]
    for number, line in good[GLOBS_MAX:]:
        faults.append(GlobFault(number, line, f"is one of more than {GLOBS_MAX} globs"))
    good = good[:GLOBS_MAX]
    sets: list[GitIgnoreSpec] = []
    for start in range(0, len(good), _SET_GLOBS):
        sets += _build_sets(good[start : start + _SET_GLOBS], faults)
    faults.sort(key=lambda fault: fault.line)
    return Ignores(frozenset(names), tuple(sets), tuple(faults))


def _valid_lines(lines: Iterable[tuple[int, str]], faults: list[GlobFault]) -> Iterator[tuple[int, str]]:
    """Yield the lines that may be globs, with classes that pathspec does not know rewritten."""
    count = size = 0
    for number, line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        count, size = count + 1, size + len(line)
        if why := _line_fault(line, count, size):
            faults.append(GlobFault(number, line[:GLOB_CHARS_MAX], why))
            continue
        try:
            yield number, with_ranges(line)
        except ValueError as error:
            faults.append(GlobFault(number, line, str(error)))


def _line_fault(line: str, count: int, size: int) -> str:
    if len(line) > GLOB_CHARS_MAX:
        return f"is longer than {GLOB_CHARS_MAX} characters"
    if "\0" in line:
        return "holds a NUL character"
    if "\ufffd" in line or any("\ud800" <= character <= "\udfff" for character in line):
        return "is not UTF-8"
    if count > NAMES_MAX or size > CHARS_MAX:
        return f"is one of more than {NAMES_MAX} globs, or after {CHARS_MAX} characters"
    return ""


def with_ranges(line: str) -> str:
    """Return the glob with `[[:digit:]]` written as `[0-9]`. Raises ValueError for an unknown
    class.
    """
    if "[:" not in line:
        return line

    def expand(match: re.Match[str]) -> str:
        return match[0] if match[0][0] == "\\" else _CLASS.sub(_class_range, match[0])

    return _BRACKETS.sub(expand, line)


def _class_range(match: re.Match[str]) -> str:
    if match[1] not in _CLASSES:
        raise ValueError(f"holds the unknown class {match[0]}; known ones are {', '.join(_CLASSES)}")
    return _CLASSES[match[1]]


def _is_plain(line: str) -> bool:
    """Whether a glob is a plain name, or a path below the root, without wildcards."""
    return not _SPECIAL.search(line) and line.strip() == line and "//" not in line and line.strip("/") != ""


def _as_lookup(line: str) -> str:
    """Return a plain glob as `Ignores.names` holds it: with a slash in front if it is a path."""
    return f"/{line.lstrip('/')}" if "/" in line.rstrip("/") else line


def _build_sets(lines: list[tuple[int, str]], faults: list[GlobFault]) -> list[GitIgnoreSpec]:
    """Return as few sets as hold all `lines`; a line that no set accepts is a fault."""
    if not lines:
        return []
    from pathspec import GitIgnoreSpec

    try:
        spec = GitIgnoreSpec.from_lines([line for _, line in lines], backend="re2")
        spec.check_file("a")  # RE2 builds the set at the first match
    except Exception as error:  # pathspec, re and RE2 raise errors without a common class
        if len(lines) == 1:
            number, line = lines[0]
            faults.append(GlobFault(number, line, f"cannot be read ({_reason(error)})"))
            return []
        half = len(lines) // 2
        return [*_build_sets(lines[:half], faults), *_build_sets(lines[half:], faults)]
    return [spec] if any(pattern.include is not None for pattern in spec.patterns) else []


def _reason(error: Exception) -> str:
    return str(error).partition(" at position")[0].rstrip(".") or type(error).__name__
