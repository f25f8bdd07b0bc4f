"""Prepares a keyword query for luqum: code punctuation is escaped, so that only real operators are left. Pure.

luqum speaks Lucene's language, in which `std::vector`, `foo()` and `->next` are errors. `prepare` finds out which
characters are operators and puts a backslash before the others; `Prepared.offsets` leads back to the query.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field

from cortex.query.tree import FIELDS
from ipc.errors import BadRequest

#: groups inside groups; parsing and compiling recurse, so the depth is bounded
DEPTH_MAX = 50

_FIELD = re.compile(r"([^\W\d]\w*):(?!:)")
_RANGE = re.compile(r"[\[{]\s*[^\s\[\]{}]+\s+TO\s+[^\s\[\]{}]+\s*[\]}]")
_COMPARE = re.compile(r"[<>]=?(?=\d)")
_END = r"(?=[\s)]|$)"
_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
_BOOST = re.compile(rf"\^{_NUMBER}" + _END)
_SUFFIX = re.compile(rf"(?:~(?:{_NUMBER})?)?(?:\^{_NUMBER})?" + _END)
_REGEX = re.compile(r"/((?:[^/\\]|\\.)+)/" + _END, re.DOTALL)
#: characters that luqum gives a meaning somewhere
_SPECIAL = frozenset("\"'+-<>/:^~()[]{}\\")


@dataclass(slots=True)
class Prepared:
    """`text` for luqum; `offsets[i]` is where its character i comes from."""

    text: str = ""
    offsets: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Scanner:
    query: str
    at: int = 0
    out: list[str] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    #: open parentheses: (position, is a group); the others belong to words: foo(
    open: list[tuple[int, bool]] = field(default_factory=list)

    def emit(self, text: str, at: int) -> None:
        self.out.append(text)
        self.offsets.extend([at] * len(text))

    def copy(self, end: int) -> None:
        self.out.append(self.query[self.at : end])
        self.offsets.extend(range(self.at, end))
        self.at = end


def prepare(query: str) -> Prepared:
    """Raises BadRequest, with the position, for an open quote or parenthesis and for an unknown field."""
    scan = _Scanner(query)
    literal_names = "::" in query
    while scan.at < len(query):
        character = query[scan.at]
        if character.isspace():
            scan.copy(scan.at + 1)
        elif character == ")":
            _close(scan)
        else:
            _operand(scan, literal_names)
    for position, is_group in scan.open:
        if is_group:
            raise BadRequest(f"The parenthesis at position {position + 1} of the query is not closed.")
    return Prepared("".join(scan.out), scan.offsets)


def _close(scan: _Scanner) -> None:
    """A `)` outside a word: it closes a group, or the parenthesis of an earlier word (`foo(a b)`)."""
    if not scan.open:
        raise BadRequest(
            f"The parenthesis at position {scan.at + 1} of the query closes nothing; write \\) for the character."
        )
    _, is_group = scan.open.pop()
    if is_group:
        scan.copy(scan.at + 1)
        if suffix := _BOOST.match(scan.query, scan.at):
            scan.copy(suffix.end())
        _part(scan)
    else:
        scan.emit("\\)", scan.at)
        scan.at += 1
        _word(scan)


def _operand(scan: _Scanner, literal_names: bool) -> None:
    query = scan.query
    following = query[scan.at + 1 : scan.at + 2]
    if query[scan.at] in "+-" and following and not following.isspace() and following not in "+->=":
        scan.copy(scan.at + 1)
        if scan.at < len(query) and query[scan.at] == ")":
            raise BadRequest(f"Nothing follows the operator at position {scan.at} of the query.")
    found = _FIELD.match(query, scan.at)
    if found and not literal_names:
        name = found[1]
        if name not in FIELDS:
            raise BadRequest(_unknown_field(name, scan.at))
        scan.copy(found.end())
        if scan.at >= len(query) or query[scan.at].isspace() or query[scan.at] == ")":
            raise BadRequest(f"Nothing follows `{name}:` at position {found.start() + 1} of the query.")
        if limits := _RANGE.match(query, scan.at) or _COMPARE.match(query, scan.at):
            scan.copy(limits.end())
            if limits[0][0] in "[{":
                _part(scan)
                return
    elif found and literal_names and found[1] in FIELDS:
        scan.copy(found.end())
    _value(scan)


def _value(scan: _Scanner) -> None:
    query, at = scan.query, scan.at
    if at >= len(query) or query[at].isspace() or query[at] == ")":
        return
    if query[at] == '"':
        _quoted(scan)
    elif query[at] == "(":
        if sum(is_group for _, is_group in scan.open) >= DEPTH_MAX:
            raise BadRequest(
                f"The query has more than {DEPTH_MAX} groups inside each other (position {at + 1})."
            )
        scan.open.append((at, True))
        scan.copy(at + 1)
    elif expression := _REGEX.match(query, at):
        scan.copy(expression.end())
    else:
        _word(scan)


def _quoted(scan: _Scanner) -> None:
    start = scan.at
    end = start + 1
    while end < len(scan.query) and scan.query[end] != '"':
        end += 2 if scan.query[end] == "\\" else 1
    if end >= len(scan.query):
        raise BadRequest(
            f'The quote at position {start + 1} of the query is not closed; write \\" for the character.'
        )
    scan.copy(end + 1)
    if (suffix := _SUFFIX.match(scan.query, scan.at)) and suffix[0]:
        scan.copy(suffix.end())
    _part(scan)


def _word(scan: _Scanner) -> None:
    """Everything up to a space, a quote or the end of a group. Wildcards, ~ and ^ at the end keep their meaning."""
    query = scan.query
    while scan.at < len(query):
        character = query[scan.at]
        if character.isspace() or character == '"':
            break
        if character in "~^" and (suffix := _SUFFIX.match(query, scan.at)) and suffix[0]:
            scan.copy(suffix.end())
            break
        if character == "(":
            scan.open.append((scan.at, False))
        elif character == ")":
            if not scan.open or scan.open[-1][1]:
                break
            scan.open.pop()
        elif character == "\\" and scan.at + 1 < len(query):
            scan.copy(scan.at + 2)
            continue
        if character in _SPECIAL:
            scan.emit("\\", scan.at)
        scan.copy(scan.at + 1)
    _part(scan)


def _part(scan: _Scanner) -> None:
    """A space where another operand follows without one, so that luqum does not read both as one."""
    if scan.at < len(scan.query) and not scan.query[scan.at].isspace() and scan.query[scan.at] != ")":
        scan.emit(" ", scan.at)


def _unknown_field(name: str, at: int) -> str:
    close = difflib.get_close_matches(name, FIELDS, n=1)
    hint = f" (did you mean `{close[0]}:`?)" if close else ""
    return (
        f"`{name}:` at position {at + 1} of the query is no field{hint}; the fields are {', '.join(FIELDS)}. "
        f"Put the text in quotes to search for it literally."
    )
