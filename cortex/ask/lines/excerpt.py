"""The lines of a definition that an answer shows, chosen by their worth. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from cortex.ask.exploring.query_words import get_term_finder
from cortex.ranking.lines import COMMENT_SHARE, comments_of, fill_short_gaps, weigh_lines
from cortex.terms.budget import Budget, first_fitting

#: worth of a line: one that calls the next function of the flow; one of the signature
CALL, HEAD = 6.0, 3.0
#: characters of a line; longer ones are cut
LINE_CHARS_MAX = 240


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Text in which `⋯ 3-9` replaces left-out lines. `cut`: whether any are left out;
    `line_numbers`: the numbers of the shown lines.
    """

    text: str
    cut: bool
    line_numbers: frozenset[int] = frozenset()


def choose_lines(
    lines: Mapping[int, str], words: Mapping[str, float], calls: Collection[int], max_bytes: int
) -> Excerpt:
    """Return the lines of one definition that are worth most, in order, within about `max_bytes`.

    `words`: word of the question → its worth; `calls`: lines that call the other shown functions.
    """
    numbers = sorted(lines)
    sizes = {number: _size(text) for number, text in lines.items()}
    if sum(sizes.values()) <= max_bytes:
        return _make_excerpt(lines, numbers, numbers)
    values = _values(lines, numbers, words, calls)
    selected, budget = set[int](), Budget(max_bytes)
    for number in sorted(numbers, key=lambda line: (-values[line], line)):
        if values[number] > 0 and budget.take(sizes[number], sure=not selected):
            selected.add(number)
    if not selected:
        selected.add(numbers[0])
    return _make_excerpt(lines, numbers, selected)


def choose_around(lines: Mapping[int, str], focus: Sequence[int], max_bytes: int) -> Excerpt:
    """Return the whole definition if it fits about `max_bytes`; otherwise the lines `focus` (its
    signature if that is empty), its signature and as many lines next to them as fit, without the
    comment at its top.
    """
    numbers = sorted(lines)
    if sum(map(_size, lines.values())) <= max_bytes:
        return _make_excerpt(lines, numbers, numbers)
    head = head_of(lines, numbers)
    first = [number for number in focus if number in lines] or head
    remaining = [number for number in numbers if number not in _top_comment(lines, head, first)]
    order = dict.fromkeys(chain(first, head, _outwards(remaining, first)))
    selected = first_fitting(order, lambda number: _size(lines[number]), max_bytes, least=1)
    return _make_excerpt(lines, numbers, selected)


def split_text(lines: Mapping[int, str], visible: Collection[int], focus: Collection[int]) -> tuple[str, str]:
    """Return (the text of the `visible` lines in `focus`, that of the other `visible` lines)."""
    focus_lines = {number: lines[number] for number in sorted(focus) if number in lines}
    first = (
        _render(focus_lines, list(focus_lines), [number for number in focus_lines if number in visible])
        if focus_lines
        else ""
    )
    others = [number for number in sorted(visible) if number not in focus]
    return first, _render(lines, sorted(lines), others) if others else ""


def choose_telling(lines: Mapping[int, str], words: Mapping[str, float], most: int) -> Excerpt:
    """Return at most `most` lines of a definition: those with most of the question's words."""
    scores, comments = _score_lines(lines, words), comments_of(lines)
    worth = {
        number: value * (COMMENT_SHARE if number in comments else 1.0) for number, value in scores.items()
    }
    best = sorted((number for number in lines if worth[number] > 0), key=lambda line: -worth[line])[:most]
    text = _render(lines, sorted(lines), sorted(best)) if best else ""
    return Excerpt(text, len(best) < len(lines), frozenset(best))


def _score_lines(lines: Mapping[int, str], words: Mapping[str, float]) -> dict[int, float]:
    """Return line number → summed worth of its words, added in the order of the line: the order of
    a set would change the last bit from one process to the next.
    """
    wanted = get_term_finder(words)
    return {number: sum([words[word] for word in wanted.terms_in(text)]) for number, text in lines.items()}


def _outwards(numbers: Sequence[int], focus: Sequence[int]) -> Iterator[int]:
    """Yield the lines below and above `focus` in turn, the nearest first."""
    above = [number for number in numbers if number < focus[0]]
    below = [number for number in numbers if number > focus[-1]]
    for pair in zip_longest(below, reversed(above)):
        yield from (number for number in pair if number is not None)


def _top_comment(lines: Mapping[int, str], head: Sequence[int], focus: Sequence[int]) -> frozenset[int]:
    """Return the comment below a signature; nothing where `focus` has a line of it."""
    comments, numbers = comments_of(lines), []
    for number in range(head[-1] + 1, max(lines) + 1):
        if number not in comments:
            break
        numbers.append(number)
    return frozenset(numbers) if set(focus).isdisjoint(numbers) else frozenset()


def _values(
    lines: Mapping[int, str], numbers: list[int], words: Mapping[str, float], calls: Collection[int]
) -> dict[int, float]:
    scores = _score_lines(lines, words)
    sure = dict.fromkeys(calls, CALL)
    sure[numbers[0]] = sure.get(numbers[0], 0.0) + HEAD
    values = weigh_lines({number: lines[number] for number in numbers}, scores if words else {}, sure)
    for number in head_of(lines, numbers):
        values[number] = max(values[number], HEAD)
    return values


def head_of(lines: Mapping[int, str], numbers: Sequence[int]) -> list[int]:
    """Return the lines of a definition's signature: up to the line that closes its brackets."""
    depth, head = 0, []
    for number in numbers[:8]:
        head.append(number)
        text = lines[number]
        depth += sum(map(text.count, "([")) - sum(map(text.count, ")]"))
        if depth <= 0 and not text.lstrip().startswith(("@", "#[")):
            break
    return head


def _make_excerpt(lines: Mapping[int, str], numbers: Sequence[int], selected: Collection[int]) -> Excerpt:
    if not numbers:
        return Excerpt("", cut=False)
    visible = [number for number in fill_short_gaps(selected) if number in lines]
    return Excerpt(_render(lines, numbers, visible), len(visible) < len(numbers), frozenset(visible))


def _render(lines: Mapping[int, str], numbers: Sequence[int], visible: Sequence[int]) -> str:
    indents = [len(lines[at]) - len(lines[at].lstrip()) for at in visible if lines[at].strip()]
    common = min(indents, default=0)
    out: list[str] = []
    before = numbers[0] - 1
    for number in [*visible, numbers[-1] + 1]:
        if number - before > 1:
            out.append(f"⋯ {before + 1}-{number - 1}")
        if number in lines:
            out.append(lines[number][common : common + LINE_CHARS_MAX].rstrip())
        before = number
    return "\n".join(out).rstrip()


def _size(text: str) -> int:
    """Bytes of a line in JSON: most of its indentation is cut, its line end takes two letters."""
    stripped = text.strip()
    return len(stripped.encode()) + stripped.count('"') + min(4, len(text) - len(stripped)) + 2
