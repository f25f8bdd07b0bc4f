"""Relevance of each line of a definition to a question, for excerpts. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping

#: share of a line's score that its neighbours get; the lines next to those get its square
NEIGHBOUR_SHARE = 0.55
#: share of the score of words in a comment or docstring
COMMENT_SHARE = 0.2
#: score of a control statement: it tells where values come from and go to
DECIDES = 0.05
#: largest gap between two selected lines that is filled, not reported as left out
GAP_MAX = 2

_COMMENT = re.compile(r"^\s*(?:#(?!\[|include|define|if|endif)|//|/\*|\*(?:\s|/|$)|--\s|;;|%%)")
_DECIDES = re.compile(
    r"\b(?:return|raise|throw|yield|await|if|for|while|switch|match|case|catch|except|rescue)\b.*\w\W*$"
)
_TRIPLE = re.compile(r'"""|\'\'\'')


def weigh_lines(
    lines: Mapping[int, str], words: Mapping[int, float], sure: Mapping[int, float]
) -> dict[int, float]:
    """Return number → score of each of `lines` (by number, in order), with shares of its
    neighbours. `words` is the score of a line's words, of 1 for all of the question; `sure` is
    added to it.
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
    """Yield the numbers in order, and those in gaps of at most GAP_MAX."""
    before = None
    for number in sorted(numbers):
        if before is not None and number - before <= GAP_MAX + 1:
            yield from range(before + 1, number)
        yield number
        before = number


def comments_of(lines: Mapping[int, str]) -> set[int]:
    comments, inside = set(), False
    for number, text in lines.items():
        marks = len(_TRIPLE.findall(text)) if '""' in text or "''" in text else 0
        if inside or _COMMENT.match(text) or (marks and text.lstrip().startswith(('"""', "'''", 'r"""'))):
            comments.add(number)
        if marks % 2:
            inside = not inside
    return comments
