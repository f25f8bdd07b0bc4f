"""The globs of a file like .gitignore, or of a setting, compiled: within bounds, and matched in
linear time. Opens no file; globs of a query are in globs.py.

wildmatch translates each glob as git reads it, RE2 matches all of them at once, globs without
wildcards are looked up. A line that matches nothing or is too costly is reported with its number: a
file goes on without it, a setting is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cortex.system.errors import Misconfigured
from cortex.terms.selection.wildmatch import (
    FOLDER,
    Glob,
    MatchlessError,
    UnclosedError,
    doubt,
    lookup_keys,
    parse,
    reversed_range,
)

if TYPE_CHECKING:  # a slow import, and most processes read no glob
    import re2

#: characters of one glob; the longest path of most systems has 4 096
GLOB_CHARS_MAX = 1_024
#: globs of one list with wildcards: each takes memory of RE2, and every path is matched against all
#: of them
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
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \t", "digit": "0-9", "lower": "a-z",
    "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_CLASS = re.compile(r"\[:(\w+):\]")
_BRACKETS = re.compile(r"\\.|\[[!^]?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)


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
class Match:
    """The last glob that matches a path: its line (1-based), and whether it ignores the path."""

    line: int
    ignores: bool


@dataclass(frozen=True, slots=True)
class Ignores:
    """Compiled globs; `faults` lists the lines that were left out. The last matching
    glob decides.

    A path is relative to the folder of the list, and a folder ends in `/`. A glob that matches a
    folder says nothing of the files below it: a walk does not enter that folder.
    """

    #: glob without wildcards (see `wildmatch.lookup_keys`) → its position in `matches`
    names: Mapping[bytes, int] = field(default_factory=dict)
    #: sets of expressions, each with the positions of its expressions
    sets: tuple[tuple[re2.Set, tuple[int, ...]], ...] = ()
    #: the result of each glob
    matches: tuple[Match, ...] = ()
    #: whether case does not count
    folds: bool = False
    faults: tuple[GlobFault, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.matches)

    def last(self, path: str) -> Match | None:
        """Return the last glob that matches `path`; None for none."""
        at = self._last_position(path)
        return self.matches[at] if at >= 0 else None

    def decide(self, path: str) -> bool | None:
        """Return True for an ignored `path`, False if a `!` glob includes it again, else None."""
        at = self._last_position(path)
        return self.matches[at].ignores if at >= 0 else None

    def match(self, path: str) -> bool:
        return bool(self.decide(path))

    def covers(self, path: str) -> bool:
        """Whether the last glob that matches `path`, or a folder above it, is without `!`."""
        if not self.matches:
            return False
        ends = (at + 1 for at, letter in enumerate(path[:-1]) if letter == "/")
        at = max(self._last_position(path), *(self._last_position(path[:end]) for end in ends), -1)
        return at >= 0 and self.matches[at].ignores

    def _last_position(self, path: str) -> int:
        if not self.matches:
            return -1
        raw = path.encode("utf-8", "surrogateescape")
        if raw.endswith(b"/"):
            raw = raw[:-1] + FOLDER
        if self.folds:
            raw = raw.lower()
        at = max((self.names.get(key, -1) for key in lookup_keys(raw)), default=-1) if self.names else -1
        for expressions, positions in self.sets:
            if positions[-1] > at and (positions_matched := expressions.Match(raw)):
                at = max(at, positions[max(positions_matched)])
        return at


def read_lines(text: str | bytes, *, folds: bool = False) -> Ignores:
    """Compile the globs of a file like .gitignore as git does; `folds`: case is ignored."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    lines = raw.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return _compile(enumerate((line.removesuffix(b"\r") for line in lines), 1), folds=folds)


def read_setting(globs: Sequence[str], name: str) -> Ignores:
    """Compile the globs of the setting `name`. Raises Misconfigured for an invalid one."""
    ignores = _compile((number, _encode(glob)) for number, glob in enumerate(globs, 1))
    for fault in ignores.faults:
        raise Misconfigured(f"The glob {fault.quoted} of {name} {fault.why}; write it as in .gitignore.")
    return ignores


def glob_fault(glob: str) -> GlobFault | None:
    """Return the fault of a query's glob; None if valid. `[` without `]` means itself."""
    raw = _encode(glob)
    why = _line_fault(raw, 1, len(raw))
    if not why and raw.strip(b" ") and not raw.startswith(b"#"):
        try:
            with_ranges(glob)
            parse(_trim(raw))
        except UnclosedError:
            pass
        except ValueError as error:
            why = str(error)
        if not why and (characters := reversed_range(raw)):
            why = f"cannot be read (bad character range {characters})"
    return GlobFault(1, glob, why) if why else None


def _encode(glob: str) -> bytes:
    return glob.encode("utf-8", "surrogatepass")


def _compile(lines: Iterable[tuple[int, bytes]], *, folds: bool = False) -> Ignores:
    faults: list[GlobFault] = []
    names: dict[bytes, int] = {}
    matches: list[Match] = []
    expressions: list[tuple[int, bytes, bytes]] = []
    for number, line, glob in _valid_lines(lines, faults, folds=folds):
        if glob.expression and len(expressions) >= GLOBS_MAX:
            faults.append(_fault(number, line, f"is one of more than {GLOBS_MAX} globs"))
            continue
        if glob.expression:
            expressions.append((len(matches), line, glob.expression))
        else:
            names[glob.name] = len(matches)
        matches.append(Match(number, not glob.includes))
    sets: list[tuple[re2.Set, tuple[int, ...]]] = []
    for start in range(0, len(expressions), _SET_GLOBS):
        sets += _build_sets(expressions[start : start + _SET_GLOBS], matches, faults)
    faults.sort(key=lambda fault: fault.line)
    return Ignores(names, tuple(reversed(sets)), tuple(matches), folds, tuple(faults))


def _valid_lines(
    lines: Iterable[tuple[int, bytes]], faults: list[GlobFault], *, folds: bool
) -> Iterator[tuple[int, bytes, Glob]]:
    """Yield (number, line, glob) of lines that may match; append the others to `faults`."""
    count = size = 0
    for number, line in lines:
        if not line.strip(b" ") or line.startswith(b"#"):
            continue
        count, size = count + 1, size + len(line)
        if why := _line_fault(line, count, size):
            faults.append(_fault(number, line[:GLOB_CHARS_MAX], why))
            if not why.startswith(_HARMLESS):
                continue
        try:
            yield number, line, parse(_trim(line.partition(b"\0")[0]), folds=folds)
        except MatchlessError as error:
            if not why:
                faults.append(_fault(number, line, str(error)))


#: faults of lines that git reads all the same: to their NUL, byte by byte, and the first letter of
#: a range
_NUL, _NO_UTF8 = "holds a NUL character", "is not UTF-8"
_HARMLESS = (_NUL, _NO_UTF8, "cannot be read (bad")


def _fault(number: int, line: bytes, why: str) -> GlobFault:
    return GlobFault(number, line.decode("utf-8", "replace"), why)


def _line_fault(line: bytes, count: int, size: int) -> str:
    if len(line) > GLOB_CHARS_MAX:
        return f"is longer than {GLOB_CHARS_MAX} characters"
    if count > NAMES_MAX or size > CHARS_MAX:
        return f"is one of more than {NAMES_MAX} globs, or after {CHARS_MAX} characters"
    if b"\0" in line:
        return _NUL
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return _NO_UTF8
    return _NO_UTF8 if "\ufffd" in text else doubt(line)


def _trim(line: bytes) -> bytes:
    """Remove the blanks at the end of a line; one behind a backslash stays."""
    end = at = 0
    while at < len(line):
        if line[at] == b"\\"[0]:
            at += 2
            end = at
        else:
            at += 1
            end = end if line[at - 1] == b" "[0] else at
    return line[:end]


def with_ranges(line: str) -> str:
    """Return the glob with `[0-9]` for `[[:digit:]]`. Raises ValueError for unknown classes."""
    if "[:" not in line:
        return line

    def expand(match: re.Match[str]) -> str:
        return match[0] if match[0][0] == "\\" else _CLASS.sub(_class_range, match[0])

    return _BRACKETS.sub(expand, line)


def _class_range(match: re.Match[str]) -> str:
    if match[1] not in _CLASSES:
        raise ValueError(f"holds the unknown class {match[0]}; known ones are {', '.join(_CLASSES)}")
    return _CLASSES[match[1]]


def _build_sets(
    expressions: list[tuple[int, bytes, bytes]], matches: Sequence[Match], faults: list[GlobFault]
) -> list[tuple[re2.Set, tuple[int, ...]]]:
    """Build as few sets as hold all (position, line, expression); a refused one is a fault."""
    if not expressions:
        return []
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.never_capture = True
    options.log_errors = False
    built = re2.Set.FullMatchSet(options)
    try:
        for _, _, expression in expressions:
            built.Add(expression)
        built.Compile()
        built.Match(b"a")  # RE2 builds the set at the first match
    except Exception as error:  # RE2 raises errors without a common class
        if len(expressions) == 1:
            position, line, _ = expressions[0]
            faults.append(_fault(matches[position].line, line, f"cannot be read ({error})"))
            return []
        half = len(expressions) // 2
        first = _build_sets(expressions[:half], matches, faults)
        return [*first, *_build_sets(expressions[half:], matches, faults)]
    return [(built, tuple(position for position, _, _ in expressions))]
