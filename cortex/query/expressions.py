"""Trigrams that every match of a regular expression must hold, after Russ Cox's codesearch. Pure.

RE2 has accepted the expression. Parts that this parser does not understand set no condition, so
that the filter never loses a match, only selects less. Trigrams are those of cortex/query/needs.py:
bytes in lower case.
"""

import re
from dataclasses import dataclass
from itertools import groupby

from cortex.query.needs import ANYTHING, Either, Every, Needs, fold

#: trigrams of one run of literal text; more of them hardly select better
_RUN_TRIGRAMS_MAX = 24
#: literal texts that a piece of an expression expands to: (a|b)[xy]? has six
_VARIANTS_MAX = 24
#: characters of a class that are expanded
_CLASS_MAX = 8
#: nested groups that are parsed
_DEPTH_MAX = 40

_QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d{1,9})(?:,\d*)?\})\??")
_GROUP = re.compile(r"\((?:\?(?:P?<\w+>|([a-zA-Z]*)(?:-[a-zA-Z]+)?:))?(?!\?)")
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-[a-zA-Z]+)?\)")
_CLASS = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
_PROPERTY = re.compile(r"\\[pP](?:\{[^}]*\}|.)")
_NUMBER = re.compile(r"\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|([0-7]{1,3}))")
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|$)", re.DOTALL)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
#: matches expressions that name a line's end, the file's beginning or end, or switch off that ^ and
#: $ match at lines
_WHOLE_FILE = re.compile(
    r"\\n|\n|\\x\{?0*[aA]\b|\\x0[aA]|\\012|\\C|\\A|\\z|\(\?[a-zA-Z]*s|\(\?[a-zA-Z]*-[a-zA-Z]*m"
)
_BACKSLASH = re.compile(r"\\\\")
_ZERO_WIDTH = frozenset("bBAz")


@dataclass(frozen=True, slots=True)
class Analysis:
    """`needs`: the condition on a matching text; `multiline`: the expression names a line's end."""

    needs: Needs
    multiline: bool


class _NotUnderstoodError(Exception):
    pass


def analyse(pattern: str) -> Analysis:
    """Return the condition of a match of `pattern`."""
    multiline = _WHOLE_FILE.search(_BACKSLASH.sub("", pattern)) is not None
    try:
        reader = _ExpressionParser(pattern, multiline=multiline)
        needs = reader.alternatives(0).needs
        if reader.at != len(pattern):
            return Analysis(ANYTHING, multiline)
    except (_NotUnderstoodError, IndexError, RecursionError):
        return Analysis(ANYTHING, multiline)
    return Analysis(needs, multiline)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of an expression: its literal texts if they are few, else its condition."""

    variants: tuple[str, ...] | None
    other: Needs = ANYTHING

    @property
    def needs(self) -> Needs:
        return self.other if self.variants is None else _needs_of(self.variants)


_EMPTY, _UNKNOWN, _SPACE = _Piece(("",)), _Piece(None), _Piece((" ",))


class _ExpressionParser:
    """A pass over an expression: runs of literal text in a few variants, and the rest."""

    def __init__(self, pattern: str, *, multiline: bool) -> None:
        self.pattern = pattern
        self.at = 0
        self.multiline = multiline

    def alternatives(self, depth: int) -> _Piece:
        if depth > _DEPTH_MAX:
            raise _NotUnderstoodError
        branches = [self.sequence(depth)]
        while self.at < len(self.pattern) and self.pattern[self.at] == "|":
            self.at += 1
            branches.append(self.sequence(depth))
        if len(branches) == 1:
            return branches[0]
        variant_lists = [branch.variants for branch in branches if branch.variants is not None]
        variants = tuple(dict.fromkeys(text for texts in variant_lists for text in texts))
        if len(variant_lists) == len(branches) and len(variants) <= _VARIANTS_MAX:
            return _Piece(variants)
        every = tuple(branch.needs for branch in branches)
        return _UNKNOWN if ANYTHING in every else _Piece(None, Either(every))

    def sequence(self, depth: int) -> _Piece:
        run: tuple[str, ...] = ("",)
        is_literal = True
        needs: list[Needs] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            atom = self.atom(depth)
            least, most = self.quantifier()
            if atom == _SPACE:  # the table has one space for a run of white space
                most = 1
            if atom.variants is None:  # the run ends
                needs += [_needs_of(run)] + [atom.needs] * bool(least)
                run, is_literal = ("",), False
                continue
            times = atom.variants if least else ("", *atom.variants)
            if most > 1:  # a+, a{2,}: an `a` ends this run, and another begins the next
                if not least:
                    times = ("",)
                for _ in range(min(least, 3)):
                    run = _extend_run(run, times, needs)
                needs.append(_needs_of(run))
                run, is_literal = times, False
                continue
            before = len(needs)
            run = _extend_run(run, times, needs)
            is_literal = is_literal and len(needs) == before
        return _Piece(run) if is_literal else _Piece(None, _all_of([*needs, _needs_of(run)]))

    def atom(self, depth: int) -> _Piece:
        pattern, at = self.pattern, self.at
        character = pattern[at]
        if character == "(":
            return self.group(depth)
        if character == "[":
            class_match = _CLASS.match(pattern, at)
            if class_match is None:
                raise _NotUnderstoodError
            self.at = class_match.end()
            inside = class_match[0][1:-1]
            plain = not set("\\-[^") & set(inside)
            return _Piece(tuple(dict.fromkeys(inside))) if plain and len(inside) <= _CLASS_MAX else _UNKNOWN
        if character == "\\":
            return self.escape()
        self.at += 1
        if character in "^$":
            return _EMPTY
        return _UNKNOWN if character == "." else _Piece((character,))

    def group(self, depth: int) -> _Piece:
        if flags := _FLAGS.match(self.pattern, self.at):
            self.at = flags.end()
            return _EMPTY
        opening = _GROUP.match(self.pattern, self.at)
        if opening is None:
            raise _NotUnderstoodError
        self.at = opening.end()
        inside = self.alternatives(depth + 1)
        if self.pattern[self.at] != ")":
            raise _NotUnderstoodError
        self.at += 1
        return inside

    def escape(self) -> _Piece:
        pattern, at = self.pattern, self.at
        following = pattern[at + 1]
        if quoted := _QUOTED.match(pattern, at):
            # \Qab\E* repeats the b only: nobody writes it, so the run just ends.
            self.at = quoted.end()
            return _Piece(None, Every(tuple(_trigrams(quoted[1]))))
        if property_ := _PROPERTY.match(pattern, at):
            self.at = property_.end()
            return _UNKNOWN
        if number := _NUMBER.match(pattern, at):
            self.at = number.end()
            code = int(number[1] or number[2] or "0", 16) if number[3] is None else int(number[3], 8)
            return _Piece((chr(code),)) if code <= 0x10FFFF else _UNKNOWN
        self.at += 2
        if following in _CONTROLS:
            return _Piece((_CONTROLS[following],))
        if following in _ZERO_WIDTH:
            return _EMPTY
        if (
            following == "s" and not self.multiline
        ):  # with multiline it may be the line feed between two chunks
            return _SPACE
        return _UNKNOWN if following.isalnum() else _Piece((following,))

    def quantifier(self) -> tuple[int, int]:
        """Return (the least number of repetitions, the most: 1, or 2 for any higher number)."""
        least, most = 1, 1
        while suffix := _QUANTIFIER.match(self.pattern, self.at):
            self.at = suffix.end()
            least *= int(suffix[1]) if suffix[1] is not None else (suffix[0][0] == "+")
            most = most if suffix[0][0] == "?" else 2
        return least, most


def _extend_run(run: tuple[str, ...], following: tuple[str, ...], needs: list[Needs]) -> tuple[str, ...]:
    """Return every text of `run` followed by each of `following`. If those are too many, the
    condition of `run` goes to `needs`, and only the ends of its texts remain, or nothing.
    """
    if len(run) * len(following) > _VARIANTS_MAX:
        needs.append(_needs_of(run))
        run = tuple(dict.fromkeys(text[-2:] for text in run))
        if len(run) * len(following) > _VARIANTS_MAX:
            run = ("",)
    return tuple(dict.fromkeys(text + after for text in run for after in following))


def _all_of(needs: list[Needs]) -> Needs:
    """Return a condition that joins all of `needs`."""
    grams: list[bytes] = []
    parts: list[Needs] = []
    for need in needs:
        if isinstance(need, Every):
            grams += need.trigrams
            parts += need.parts
        else:
            parts.append(need)
    if not grams and len(parts) == 1:
        return parts[0]
    return Every(tuple(dict.fromkeys(grams)), tuple(parts))


def _needs_of(variants: tuple[str, ...]) -> Needs:
    """Return the condition of a match with one of the texts."""
    return _any_of([tuple(dict.fromkeys(_trigrams(text))) for text in variants])


def _any_of(gram_lists: list[tuple[bytes, ...]]) -> Needs:
    """Return the trigrams that all of `gram_lists` share, joined with alternatives for the others;
    lists with the same first trigram share it.
    """
    common = tuple(gram for gram in gram_lists[0] if all(gram in grams for grams in gram_lists))
    rests = dict.fromkeys(tuple(gram for gram in grams if gram not in common) for grams in gram_lists)
    if () in rests:
        return Every(common)
    groups: dict[bytes, list[tuple[bytes, ...]]] = {}
    for grams in rests:
        groups.setdefault(grams[0], []).append(grams)
    either = Either(tuple(_any_of(group) for group in groups.values()))
    return Every(common, (either,)) if common else either


def _trigrams(run: str) -> list[bytes]:
    """Return the trigrams of a run, none across lines: a match may span two chunks."""
    grams: list[bytes] = []
    for simple, characters in groupby(run, _is_simple):
        if simple:
            raw = "".join(characters).encode()
            begin, end = not raw[:1].isspace(), None if raw[-1:].isspace() else -1
            text = fold(raw)[begin:end]
            grams += [text[at : at + 3] for at in range(len(text) - 2)]
    return grams[:_RUN_TRIGRAMS_MAX]


def _is_simple(character: str) -> bool:
    r"""Whether upper and lower case agree everywhere: \u03a3 has two, and Python and RE2 differ."""
    if character == "\n" or "\ud800" <= character <= "\udfff":
        return False
    return character.isascii() or character == character.lower() == character.upper()
