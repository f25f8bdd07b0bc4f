"""Chooses the lines of a definition that an answer shows. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from cortex.ask.query_words import sought
from cortex.ranking.lines import COMMENT_SHARE, comments_of, weigh_lines, without_short_gaps

#: what a line is worth: a call of the next function of the flow, the first lines
CALL, HEAD = 6.0, 3.0
#: characters of a line that are shown
LINE_CHARS_MAX = 240


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Text with the left-out lines named by their numbers; `cut`: whether any are; `shown`: the
    numbers of those that are not.
    """

    text: str
    cut: bool
    shown: frozenset[int] = frozenset()


def choose(
    lines: Mapping[int, str], words: Mapping[str, float], calls: Collection[int], max_bytes: int
) -> Excerpt:
    """The lines of one definition that are worth most, in order, within about `max_bytes`.

    `words`: what a word of the question is worth; `calls`: lines that call what is shown next.
    """
    numbers = sorted(lines)
    sizes = {number: _size(text) for number, text in lines.items()}
    if sum(sizes.values()) <= max_bytes:
        return _excerpt(lines, numbers, numbers)
    values = _values(lines, numbers, words, calls)
    kept: set[int] = set()
    left = max_bytes
    for number in sorted(numbers, key=lambda one: (-values[one], one)):
        size = sizes[number]
        if values[number] <= 0 or (size > left and kept):
            continue
        kept.add(number)
        left -= size
    if not kept:
        kept.add(numbers[0])
    return _excerpt(lines, numbers, kept)


def around(lines: Mapping[int, str], asked: Sequence[int], max_bytes: int) -> Excerpt:
    """The definition whole, if it fits about `max_bytes`; else the lines `asked` (its beginning for
    none), its signature and as many lines next to them as fit, without the comment at its top.
    """
    numbers = sorted(lines)
    if sum(map(_size, lines.values())) <= max_bytes:
        return _excerpt(lines, numbers, numbers)
    head = head_of(lines, numbers)
    first = [number for number in asked if number in lines] or head
    rest = [number for number in numbers if number not in _top_comment(lines, head, first)]
    kept: set[int] = set()
    left = max_bytes
    for number in chain(first, head, _outwards(rest, first)):
        size = _size(lines[number])
        if number in kept:
            continue
        if size > left and kept:
            break
        kept.add(number)
        left -= size
    return _excerpt(lines, numbers, kept)


def parted(lines: Mapping[int, str], shown: Collection[int], asked: Collection[int]) -> tuple[str, str]:
    """(the text of those of the `asked` lines that are `shown`, that of the others)"""
    own = {number: lines[number] for number in sorted(asked) if number in lines}
    first = _render(own, list(own), [number for number in own if number in shown]) if own else ""
    others = [number for number in sorted(shown) if number not in asked]
    return first, _render(lines, sorted(lines), others) if others else ""


def telling(lines: Mapping[int, str], words: Mapping[str, float], most: int) -> Excerpt:
    """At most so many lines of a definition, those that hold most of the question's words."""
    told, comments = _told(lines, words), comments_of(lines)
    worth = {number: value * (COMMENT_SHARE if number in comments else 1.0) for number, value in told.items()}
    best = sorted((number for number in lines if worth[number] > 0), key=lambda one: -worth[one])[:most]
    text = _render(lines, sorted(lines), sorted(best)) if best else ""
    return Excerpt(text, len(best) < len(lines), frozenset(best))


def _told(lines: Mapping[int, str], words: Mapping[str, float]) -> dict[int, float]:
    """What the words of each line are worth, added up as they stand there: the order of a set would
    change the last bit from one process to the next.
    """
    wanted = sought(words)
    return {number: sum([words[word] for word in wanted.terms_in(text)]) for number, text in lines.items()}


def _outwards(numbers: Sequence[int], asked: Sequence[int]) -> Iterator[int]:
    """Those before and after the lines `asked`, in turn, the next ones first."""
    above = [number for number in numbers if number < asked[0]]
    below = [number for number in numbers if number > asked[-1]]
    for pair in zip_longest(below, reversed(above)):
        yield from (number for number in pair if number is not None)


def _top_comment(lines: Mapping[int, str], head: Sequence[int], asked: Sequence[int]) -> frozenset[int]:
    """The comment below a signature; none where a line of it is asked about."""
    comments, found = comments_of(lines), []
    for number in range(head[-1] + 1, max(lines) + 1):
        if number not in comments:
            break
        found.append(number)
    return frozenset(found) if set(asked).isdisjoint(found) else frozenset()


def _values(
    lines: Mapping[int, str], numbers: list[int], words: Mapping[str, float], calls: Collection[int]
) -> dict[int, float]:
    told = _told(lines, words)
    sure = dict.fromkeys(calls, CALL)
    sure[numbers[0]] = sure.get(numbers[0], 0.0) + HEAD
    values = weigh_lines({number: lines[number] for number in numbers}, told if words else {}, sure)
    for number in head_of(lines, numbers):
        values[number] = max(values[number], HEAD)
    return values


def head_of(lines: Mapping[int, str], numbers: Sequence[int]) -> list[int]:
    """Those of a definition's lines that are its signature: until its brackets are closed."""
    depth, head = 0, []
    for number in numbers[:8]:
        head.append(number)
        text = lines[number]
        depth += sum(map(text.count, "([")) - sum(map(text.count, ")]"))
        if depth <= 0 and not text.lstrip().startswith(("@", "#[")):
            break
    return head


def _excerpt(lines: Mapping[int, str], numbers: Sequence[int], kept: Collection[int]) -> Excerpt:
    if not numbers:
        return Excerpt("", cut=False)
    shown = [number for number in without_short_gaps(kept) if number in lines]
    return Excerpt(_render(lines, numbers, shown), len(shown) < len(numbers), frozenset(shown))


def _render(lines: Mapping[int, str], numbers: Sequence[int], shown: Sequence[int]) -> str:
    indents = [len(lines[one]) - len(lines[one].lstrip()) for one in shown if lines[one].strip()]
    common = min(indents, default=0)
    out: list[str] = []
    before = numbers[0] - 1
    for number in [*shown, numbers[-1] + 1]:
        if number - before > 1:
            out.append(f"⋯ {before + 1}-{number - 1}")
        if number in lines:
            out.append(lines[number][common : common + LINE_CHARS_MAX].rstrip())
        before = number
    return "\n".join(out).rstrip()


def _size(text: str) -> int:
    """Bytes of a line in JSON: its indentation is mostly cut, its end is two letters."""
    stripped = text.strip()
    return len(stripped.encode()) + stripped.count('"') + min(4, len(text) - len(stripped)) + 2
