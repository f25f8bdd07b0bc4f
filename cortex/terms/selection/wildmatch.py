"""Git's globs as regular expressions: the same matches as its wildmatch, byte by byte.

Pure. A path is bytes without a NUL; a NUL behind it marks a folder, and no wildcard matches it.
Git compares bytes, so `?` and a class match one byte of a letter that has two.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

#: the mark behind the path of a folder
FOLDER = b"\0"
_ANY, _IN_FOLDER, _LETTER = b"[^\\x00]*", b"[^/\\x00]*", b"[^/\\x00]"
_SLASH, _BACKSLASH, _STAR, _OPEN, _CLOSE = b"/"[0], b"\\"[0], b"*"[0], b"["[0], b"]"[0]
_SPECIAL = frozenset(b"*?[\\")
#: a class of one range
_RANGE = re.compile(rb"\[([^\]\\!^])-([^\]\\])\]")
#: the characters of a class, and a range among them
_CLASS, _RANGE_INSIDE = re.compile(rb"(?<!\\)\[[!^]?(\]?[^\]]*)\]"), re.compile(rb"([^\\-])-([^\\\]])")
_UPPER, _LOWER = range(0x41, 0x5B), range(0x61, 0x7B)
_DIGITS = range(0x30, 0x3A)


def _is_alnum(byte: int) -> bool:
    return byte in _UPPER or byte in _LOWER or byte in _DIGITS


def _is_punctuation(byte: int) -> bool:
    return 0x21 <= byte <= 0x7E and not _is_alnum(byte)


#: the named classes of characters, all of ASCII; white space is git's, without \v and \f
CLASSES: dict[str, Callable[[int], bool]] = {
    "alnum": _is_alnum,
    "alpha": lambda byte: byte in _UPPER or byte in _LOWER,
    "blank": lambda byte: byte in b" \t",
    "cntrl": lambda byte: byte < 0x20 or byte == 0x7F,
    "digit": lambda byte: byte in _DIGITS,
    "graph": lambda byte: 0x21 <= byte <= 0x7E,
    "lower": lambda byte: byte in _LOWER,
    "print": lambda byte: 0x20 <= byte <= 0x7E,
    "punct": _is_punctuation,
    "space": lambda byte: byte in b" \t\n\r",
    "upper": lambda byte: byte in _UPPER,
    "xdigit": lambda byte: byte in b"0123456789abcdefABCDEF",
}


class MatchlessError(ValueError):
    """A glob that matches no path, with the reason."""


def reversed_range(glob: bytes) -> str:
    """Return the first range that ends before it begins, in any class of a glob; "" without one. A
    class like `[user-id]` is a name, and no class that anybody means.
    """
    for characters in _CLASS.finditer(glob):
        for match in _RANGE_INSIDE.finditer(characters[1]):
            if match[1] > match[2]:
                return match[0].decode("utf-8", "replace")
    return ""


def doubt(glob: bytes) -> str:
    """Return the reason why a glob cannot mean its letters: a range that ends before it begins. Git
    reads its first letter alone.
    """
    for match in _RANGE.finditer(glob):
        if match[1] > match[2]:
            return f"cannot be read (bad character range {match[0].decode('utf-8', 'replace')[1:-1]})"
    return ""


class UnclosedError(MatchlessError):
    """A `[` without its `]`."""


@dataclass(frozen=True, slots=True)
class Glob:
    """One glob. `name` is the key of a glob without wildcards (see `lookup_keys`), `expression`
    matches a whole path of any other.
    """

    includes: bool
    name: bytes = b""
    expression: bytes = b""


def parse(glob: bytes, *, folds: bool = False) -> Glob:
    """Parse a glob of a file like .gitignore, without the blanks at its end.

    `folds`: case does not count, and the paths to compare are lower case. Raises MatchlessError.
    """
    is_negated = glob.startswith(b"!")
    body = glob[1:] if is_negated else glob
    literal = next((at for at, byte in enumerate(body) if byte in _SPECIAL), len(body))
    is_folder = body.endswith(b"/")
    body = body.removesuffix(b"/")
    literal = min(literal, len(body))
    mark = FOLDER if is_folder else b""
    if not body or body == b"/":
        raise MatchlessError("cannot be read (nothing to match)")
    is_path = b"/" in body
    if body.startswith(b"/"):
        body, literal = body[1:], literal - 1
    if literal == len(body):
        name = body.lower() if folds else body
        return Glob(is_negated, name=(b"/" if is_path else b"") + name + mark)
    # git compares the beginning without wildcards by itself: stars behind it begin a glob
    beginning = body[:literal] if is_path else b""
    rest = _translate(body[len(beginning) :], folds=folds)
    prefix = b"" if is_path else b"(?:[^\\x00]*/)?"
    expression = prefix + _escape(beginning.lower() if folds else beginning) + rest
    return Glob(is_negated, expression=expression + (b"\\x00" if is_folder else b"\\x00?"))


def lookup_keys(path: bytes) -> tuple[bytes, ...]:
    """Return the names (`Glob.name`) of the globs without wildcards that match a path."""
    plain = path.removesuffix(FOLDER)
    name = plain.rpartition(b"/")[2]
    if len(plain) == len(path):
        return name, b"/" + plain
    return name, b"/" + plain, name + FOLDER, b"/" + path


def _escape(literal: bytes) -> bytes:
    return b"".join(map(_escape_byte, literal))


def _escape_byte(byte: int) -> bytes:
    return bytes((byte,)) if _is_alnum(byte) or byte in b"/_" else b"\\x%02x" % byte


def _translate(glob: bytes, *, folds: bool) -> bytes:
    """Return the expression of a glob in which `*` stays in a folder. Raises MatchlessError."""
    parts: list[bytes] = []
    at = 0
    while at < len(glob):
        byte = glob[at]
        if byte == _STAR:
            part, at = _stars(glob, at)
        elif byte == _OPEN:
            part, at = _bracket(glob, at, folds=folds)
        elif byte == _BACKSLASH:
            if at + 1 == len(glob):
                raise MatchlessError("cannot be read (a backslash at its end)")
            part, at = _escape(glob[at + 1 : at + 2]), at + 2
        else:
            literal = glob[at : at + 1]
            part, at = (
                (_LETTER if byte == b"?"[0] else _escape(literal.lower() if folds else literal)),
                at + 1,
            )
        parts.append(part)
    return b"".join(parts)


def _stars(glob: bytes, start: int) -> tuple[bytes, int]:
    """Return the expression of the stars at `start`, and the offset behind it."""
    end = start
    while glob[end : end + 1] == b"*":
        end += 1
    is_segment = (start == 0 or glob[start - 1] == _SLASH) and (
        end == len(glob) or glob[end] == _SLASH or glob.startswith(b"\\/", end)
    )
    if end - start == 1 or not is_segment:
        return _IN_FOLDER, end
    if glob[end : end + 1] == b"/":
        return b"(?:[^\\x00]*/)?", end + 1
    return _ANY, end


def _bracket(glob: bytes, start: int, *, folds: bool) -> tuple[bytes, int]:
    """Return the class's expression and the offset behind. Raises MatchlessError if git cannot."""
    at = start + 1
    is_negated = glob[at : at + 1] in (b"!", b"^")
    at += is_negated
    members: set[int] = set()
    previous, is_first = 0, True
    while is_first or glob[at : at + 1] != b"]":
        is_first = False
        if at >= len(glob):
            raise UnclosedError("cannot be read ([ without ])")
        byte = glob[at]
        if byte == _BACKSLASH:
            at += 1
            previous = _byte_at(glob, at)
            members.add(previous)
        elif byte == b"-"[0] and previous and glob[at + 1 : at + 2] not in (b"", b"]"):
            at += 1
            if glob[at] == _BACKSLASH:
                at += 1
            last = _byte_at(glob, at)
            members |= _range(previous, last, folds=folds)
            previous = 0
        elif byte == _OPEN and glob[at + 1 : at + 2] == b":":
            end = glob.find(b"]", at + 2)
            if end < 0:
                raise UnclosedError("cannot be read ([ without ])")
            if end > at + 2 and glob[end - 1] == b":"[0]:
                members |= _named(glob[at + 2 : end - 1], folds=folds)
                previous, at = 0, end
            else:
                members.add(_OPEN)
                previous = _OPEN
        else:
            members.add(byte)
            previous = byte
        at += 1
    chosen = (set(range(256)) - members if is_negated else members) - {0, _SLASH}
    if not chosen:
        raise MatchlessError("cannot be read (a class without a character)")
    return _as_expression(chosen), at + 1


def _byte_at(glob: bytes, at: int) -> int:
    if at >= len(glob):
        raise UnclosedError("cannot be read ([ without ])")
    return glob[at]


def _range(first: int, last: int, *, folds: bool) -> set[int]:
    members = set(range(first, last + 1))
    return members | {byte + 0x20 for byte in members if byte in _UPPER} if folds else members


def _named(name: bytes, *, folds: bool) -> set[int]:
    text = name.decode("latin-1")
    if text not in CLASSES:
        raise MatchlessError(f"holds the unknown class [:{text}:]; known ones are {', '.join(CLASSES)}")
    members = {byte for byte in range(256) if CLASSES[text](byte)}
    return members | set(_LOWER) if folds and text == "upper" else members


def _as_expression(members: set[int]) -> bytes:
    """Return the class of those bytes."""
    ranges: list[list[int]] = []
    for byte in sorted(members):
        if ranges and ranges[-1][1] == byte - 1:
            ranges[-1][1] = byte
        else:
            ranges.append([byte, byte])
    return b"[" + b"".join(b"\\x%02x-\\x%02x" % (first, last) for first, last in ranges) + b"]"
