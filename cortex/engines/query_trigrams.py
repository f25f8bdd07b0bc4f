"""Which trigrams every match of a regular expression must hold, after Russ Cox's codesearch. Pure.

The expression is RE2's and has been accepted by RE2. What is not understood here asks for nothing, so that the answer
is never wrong, only less of a filter. Trigrams are those of cortex/trigrams.py: bytes in lower case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

from cortex.trigrams import ANYTHING, Either, Every, Needs, fold

#: trigrams asked for by one run of literal text; more of them hardly select better
_RUN_TRIGRAMS_MAX = 24
#: nested groups looked into
_DEPTH_MAX = 40

_QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d+)(?:,\d*)?\})\??")
_GROUP = re.compile(r"\((?:\?(?:P?<\w+>|([a-zA-Z]*)(?:-[a-zA-Z]+)?:))?(?!\?)")
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-[a-zA-Z]+)?\)")
_CLASS = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
_PROPERTY = re.compile(r"\\[pP](?:\{[^}]*\}|.)")
_NUMBER = re.compile(r"\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|([0-7]{1,3}))")
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|$)", re.DOTALL)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
#: names a line's end, the file's beginning or end, or turns off that ^ and $ mean lines
_WHOLE_FILE = re.compile(
    r"\\n|\n|\\x\{?0*[aA]\b|\\x0[aA]|\\012|\\C|\\A|\\z|\(\?[a-zA-Z]*s|\(\?[a-zA-Z]*-[a-zA-Z]*m"
)
_BACKSLASH = re.compile(r"\\\\")
_ZERO_WIDTH = frozenset("bBAz")


@dataclass(frozen=True, slots=True)
class Analysis:
    """`needs` is what a match must hold; `multiline` whether the expression names a line's end."""

    needs: Needs
    multiline: bool


class _NotUnderstoodError(Exception):
    pass


def analyse(pattern: str) -> Analysis:
    """What a match of `pattern` needs."""
    multiline = _WHOLE_FILE.search(_BACKSLASH.sub("", pattern)) is not None
    try:
        reader = _Reader(pattern)
        needs = reader.alternatives(0)
        if reader.at != len(pattern):
            return Analysis(ANYTHING, multiline)
    except (_NotUnderstoodError, IndexError, RecursionError):
        return Analysis(ANYTHING, multiline)
    return Analysis(needs, multiline)


class _Reader:
    """One pass over the expression. A sequence is runs of literal characters and what stands between them."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def alternatives(self, depth: int) -> Needs:
        if depth > _DEPTH_MAX:
            raise _NotUnderstoodError
        branches = [self.sequence(depth)]
        while self.at < len(self.pattern) and self.pattern[self.at] == "|":
            self.at += 1
            branches.append(self.sequence(depth))
        if len(branches) == 1:
            return branches[0]
        return ANYTHING if ANYTHING in branches else Either(tuple(branches))

    def sequence(self, depth: int) -> Needs:
        runs: list[str] = [""]
        parts: list[Needs] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            literal, needs = self.atom(depth)
            least, repeated = self.quantifier()
            if literal is None:  # a class, a group: the run ends
                runs.append("")
                if least and needs != ANYTHING:
                    parts.append(needs)
            elif not repeated:
                runs[-1] += literal
            elif least:  # a+, a{2,}: an `a` ends this run, and another begins the next
                runs[-1] += literal * min(least, 3)
                runs.append(literal)
            else:
                runs.append("")
        trigrams = tuple(dict.fromkeys(gram for run in runs for gram in _trigrams(run)))
        if not trigrams and len(parts) == 1:
            return parts[0]
        return Every(trigrams, tuple(parts))

    def atom(self, depth: int) -> tuple[str | None, Needs]:
        """(the literal text or None, what the atom needs when it is no literal)"""
        pattern, at = self.pattern, self.at
        character = pattern[at]
        if character == "(":
            return self.group(depth)
        if character == "[":
            found = _CLASS.match(pattern, at)
            if found is None:
                raise _NotUnderstoodError
            self.at = found.end()
            inside = found[0][1:-1]
            return (inside, ANYTHING) if len(inside) == 1 and inside not in "^\\" else (None, ANYTHING)
        if character == "\\":
            return self.escape()
        self.at += 1
        if character in "^$":
            return "", ANYTHING
        return (None if character == "." else character), ANYTHING

    def group(self, depth: int) -> tuple[str | None, Needs]:
        if flags := _FLAGS.match(self.pattern, self.at):
            self.at = flags.end()
            return "", ANYTHING
        opening = _GROUP.match(self.pattern, self.at)
        if opening is None:
            raise _NotUnderstoodError
        self.at = opening.end()
        needs = self.alternatives(depth + 1)
        if self.pattern[self.at] != ")":
            raise _NotUnderstoodError
        self.at += 1
        return None, needs

    def escape(self) -> tuple[str | None, Needs]:
        pattern, at = self.pattern, self.at
        following = pattern[at + 1]
        if quoted := _QUOTED.match(pattern, at):
            # \Qab\E* repeats the b only: nobody writes it, so the run just ends.
            self.at = quoted.end()
            return None, Every(tuple(_trigrams(quoted[1])))
        if property_ := _PROPERTY.match(pattern, at):
            self.at = property_.end()
            return None, ANYTHING
        if number := _NUMBER.match(pattern, at):
            self.at = number.end()
            code = int(number[1] or number[2] or "0", 16) if number[3] is None else int(number[3], 8)
            return (chr(code) if code <= 0x10FFFF else None), ANYTHING
        self.at += 2
        if following in _CONTROLS:
            return _CONTROLS[following], ANYTHING
        if following in _ZERO_WIDTH:
            return "", ANYTHING
        return (None if following.isalnum() else following), ANYTHING

    def quantifier(self) -> tuple[int, bool]:
        """(least number of times, is there a quantifier at all?)"""
        least, repeated = 1, False
        while found := _QUANTIFIER.match(self.pattern, self.at):
            self.at = found.end()
            repeated = True
            least *= int(found[1]) if found[1] is not None else (found[0][0] == "+")
        return least, repeated


def _trigrams(run: str) -> list[bytes]:
    """The trigrams of a run, but none over a line's end (a match may span two chunks)."""
    found: list[bytes] = []
    for simple, characters in groupby(run, _is_simple):
        if simple:
            raw = "".join(characters).encode()
            begin, end = not raw[:1].isspace(), None if raw[-1:].isspace() else -1
            text = fold(raw)[begin:end]
            found += [text[at : at + 3] for at in range(len(text) - 2)]
    return found[:_RUN_TRIGRAMS_MAX]


def _is_simple(character: str) -> bool:
    """Whether upper and lower case are the same everywhere: \u03a3 has two lower cases, and Python and RE2 differ."""
    if character == "\n" or "\ud800" <= character <= "\udfff":
        return False
    return character.isascii() or character == character.lower() == character.upper()
