"""Chooses the lines of a definition that an answer shows. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from cortex.terms import tokens

#: what a line is worth: a call of the next function of the flow, its neighbours, the first lines
CALL, BESIDE, HEAD = 6.0, 0.55, 3.0
#: what a comment, and the text of a docstring, is worth of what its words give
COMMENT_SHARE = 0.2
#: what a statement that decides is worth: where values come from and go to
DECIDES = 0.05
#: lines between two shown ones that are shown too, rather than named as left out
GAP_MAX = 2
#: characters of a line that are shown
LINE_CHARS_MAX = 240

_COMMENT = re.compile(r"^\s*(?:#(?!\[|include|define|if|endif)|//|/\*|\*(?:\s|/|$)|--\s|;;|%%)")
_DECIDES = re.compile(
    r"\b(?:return|raise|throw|yield|await|if|for|while|switch|match|case|catch|except|rescue)\b.*\w\W*$"
)
_TRIPLE = re.compile(r'"""|\'\'\'')


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Text with the left-out lines named by their numbers; `cut`: whether any are."""

    text: str
    cut: bool


def choose(
    lines: Mapping[int, str], words: Mapping[str, float], calls: Collection[int], max_bytes: int
) -> Excerpt:
    """The lines of one definition that are worth most, in order, within about `max_bytes`.

    `words`: what a word of the question is worth; `calls`: lines that call what is shown next.
    """
    numbers = sorted(lines)
    if not numbers:
        return Excerpt("", cut=False)
    if sum(map(_size, lines.values())) <= max_bytes:
        return Excerpt(_render(lines, numbers, numbers), cut=False)
    values = _values(lines, numbers, words, calls)
    kept: set[int] = set()
    left = max_bytes
    for number in sorted(numbers, key=lambda one: (-values[one], one)):
        size = _size(lines[number])
        if values[number] <= 0 or (size > left and kept):
            continue
        kept.add(number)
        left -= size
    if not kept:
        kept.add(numbers[0])
    shown = _joined(numbers, kept)
    return Excerpt(_render(lines, numbers, shown), cut=len(shown) < len(numbers))


def _values(
    lines: Mapping[int, str], numbers: list[int], words: Mapping[str, float], calls: Collection[int]
) -> dict[int, float]:
    comments = _comments(lines, numbers)
    own: dict[int, float] = {}
    for number in numbers:
        text = lines[number]
        value = sum(words.get(word, 0.0) for word in set(tokens.lane_words(text))) if words else 0.0
        value += DECIDES if _DECIDES.search(text) else 0.0
        if number in comments:
            value *= COMMENT_SHARE
        if number in calls:
            value += CALL
        own[number] = value if text.strip() else 0.0
    own[numbers[0]] += HEAD
    values = {}
    for number in numbers:
        near = max(own.get(number - 1, 0.0), own.get(number + 1, 0.0))
        far = max(own.get(number - 2, 0.0), own.get(number + 2, 0.0))
        beside = BESIDE * near + BESIDE**2 * far
        values[number] = own[number] + (beside if lines[number].strip() else 0.0)
    for number in _head(lines, numbers):
        values[number] = max(values[number], HEAD)
    return values


def _head(lines: Mapping[int, str], numbers: list[int]) -> list[int]:
    """The lines of the signature: until its brackets are closed."""
    depth, head = 0, []
    for number in numbers[:8]:
        head.append(number)
        text = lines[number]
        depth += sum(map(text.count, "([")) - sum(map(text.count, ")]"))
        if depth <= 0 and not text.lstrip().startswith(("@", "#[")):
            break
    return head


def _comments(lines: Mapping[int, str], numbers: list[int]) -> set[int]:
    found, inside = set(), False
    for number in numbers:
        text = lines[number]
        marks = len(_TRIPLE.findall(text))
        if inside or _COMMENT.match(text) or (marks and text.lstrip().startswith(('"""', "'''", 'r"""'))):
            found.add(number)
        if marks % 2:
            inside = not inside
    return found


def _joined(numbers: list[int], kept: set[int]) -> list[int]:
    """`kept` with the lines of short gaps."""
    shown: list[int] = []
    chosen = sorted(kept)
    for at, number in enumerate(chosen):
        if at and 1 < number - chosen[at - 1] <= GAP_MAX + 1:
            shown += range(chosen[at - 1] + 1, number)
        shown.append(number)
    known = set(numbers)
    return [number for number in shown if number in known]


def _render(lines: Mapping[int, str], numbers: list[int], shown: list[int]) -> str:
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
