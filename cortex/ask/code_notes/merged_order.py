"""One order for code, documents and notes. Pure.

Scores of different sources cannot be compared, so each score counts as its share of the best of its
source. A source as a whole also needs a weight. There always is a best piece of code, and its score
says little; the score of the best note says how much of the question a note covers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

#: score from which the best note counts as much as the best code; below it all notes count less.
#: Measured once, mean of 1 / rank: 0.505; one of each in turn 0.501, the
#: shares alone 0.504, 0.8 0.476; a best note before the best code 0.486 at most
STRONG = 0.5

Row = Mapping[str, Any]


def merge_order(
    code: Sequence[float], notes: Sequence[float], strong: float = STRONG
) -> list[tuple[bool, int]]:
    """Return (whether it is a note, its place in its list) of all rows, best first; of equals code.

    `code` and `notes`: scores of each list, best first.
    """
    trusted = min(1.0, notes[0] / strong) if notes and strong else 1.0
    worth = [(-share, False, at) for at, share in enumerate(_shares(code))]
    worth += [(-share * trusted, True, at) for at, share in enumerate(_shares(notes))]
    return [(is_note, at) for _, is_note, at in sorted(worth)]


def merge_rows(code: Sequence[Row], notes: Sequence[Row]) -> list[Row]:
    """Return the rows of both in one order; notes get `"source": "memory"`."""
    places = merge_order([row["combined_score"] for row in code], [row["score"] for row in notes])
    return [{**notes[at], "source": "memory"} if is_note else code[at] for is_note, at in places]


def _shares(scores: Sequence[float]) -> list[float]:
    """Return scores as shares of the best, never rising, so that each list keeps its order."""
    best, least, shares = max(scores, default=0.0), 1.0, list[float]()
    for score in scores:
        least = min(least, score / best if best > 0 else 0.0)
        shares.append(least)
    return shares
