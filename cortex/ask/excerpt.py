"""Chooses the lines of a definition that an answer shows. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from cortex.ranking.lines import weigh_lines, without_short_gaps
from cortex.terms import tokens

#: what a line is worth: a call of the next function of the flow, the first lines
CALL, HEAD = 6.0, 3.0
#: characters of a line that are shown
LINE_CHARS_MAX = 240


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
    shown = [number for number in without_short_gaps(kept) if number in lines]
    return Excerpt(_render(lines, numbers, shown), cut=len(shown) < len(numbers))


def _values(
    lines: Mapping[int, str], numbers: list[int], words: Mapping[str, float], calls: Collection[int]
) -> dict[int, float]:
    told = {
        number: sum(words.get(word, 0.0) for word in set(tokens.lane_words(text)))
        for number, text in lines.items()
    }
    sure = dict.fromkeys(calls, CALL)
    sure[numbers[0]] = sure.get(numbers[0], 0.0) + HEAD
    values = weigh_lines({number: lines[number] for number in numbers}, told if words else {}, sure)
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
