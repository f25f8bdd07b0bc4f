"""What each line of a definition is worth to a question, where not all of them are shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

#: what the lines next to one that is worth something are worth of it; those behind them, the square
NEIGHBOUR_SHARE = 0.55
#: what a comment, and the text of a docstring, is worth of what its words give
COMMENT_SHARE = 0.2
#: what a statement that decides is worth: where values come from and go to
DECIDES = 0.05
#: lines between two shown ones that are shown too, rather than named as left out
GAP_MAX = 2

_COMMENT = re.compile(r"^\s*(?:#(?!\[|include|define|if|endif)|//|/\*|\*(?:\s|/|$)|--\s|;;|%%)")
_DECIDES = re.compile(
    r"\b(?:return|raise|throw|yield|await|if|for|while|switch|match|case|catch|except|rescue)\b.*\w\W*$"
)
_TRIPLE = re.compile(r'"""|\'\'\'')


def weigh_lines(
    lines: Mapping[int, str], words: Mapping[int, float], sure: Mapping[int, float]
) -> dict[int, float]:
    """What each of the `lines` (by number, in order) is worth with its neighbours. `words`: what
    its words give, of 1 for all of the question; `sure`: what it is worth beside them.
    """
    comments = comments_of(lines)
    scores: dict[int, float] = {}
    for number, text in lines.items():
        if not text or text.isspace():
            continue
        value = words.get(number, 0.0) + (DECIDES if _DECIDES.search(text) else 0.0)
        value *= COMMENT_SHARE if number in comments else 1.0
        scores[number] = value + sure.get(number, 0.0)
    values = dict.fromkeys(lines, 0.0)
    worth = scores.get
    for number, value in scores.items():
        near = max(worth(number - 1, 0.0), worth(number + 1, 0.0))
        far = max(worth(number - 2, 0.0), worth(number + 2, 0.0))
        values[number] = value + (NEIGHBOUR_SHARE * near + NEIGHBOUR_SHARE**2 * far)
    return values


def fill_short_gaps(numbers: Collection[int]) -> Iterator[int]:
    """The numbers in order, with those of gaps of at most GAP_MAX."""
    before = None
    for number in sorted(numbers):
        if before is not None and number - before <= GAP_MAX + 1:
            yield from range(before + 1, number)
        yield number
        before = number


def comments_of(lines: Mapping[int, str]) -> set[int]:
    """The numbers of those that are comments, or the text of a docstring."""
    comments, inside = set(), False
    for number, text in lines.items():
        marks = len(_TRIPLE.findall(text)) if '""' in text or "''" in text else 0
        if inside or _COMMENT.match(text) or (marks and text.lstrip().startswith(('"""', "'''", 'r"""'))):
            comments.add(number)
        if marks % 2:
            inside = not inside
    return comments
