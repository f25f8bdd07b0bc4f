"""Code, documents and notes in one order. Pure.

Their scores cannot be compared, so each counts as its share of the best of its own source. What is
left is how far a whole source may be trusted to have an answer: there always is a best piece of
code, and its score says little; the best note's says how much of the question some note holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: the score from which the best note counts as much as the best code, and below which all notes
#: count the less. Measured by scripts/bench/code_notes.py, mean of 1 / rank: 0.505; one of each in
#: turn 0.501, the shares alone 0.504, 0.8 0.476; a best note before the best code 0.486 at most
STRONG = 0.5

Row = Mapping[str, Any]


def merge_order(
    code: Sequence[float], notes: Sequence[float], strong: float = STRONG
) -> list[tuple[bool, int]]:
    """(whether it is a note, its place in its own list) of all, the best first; of equals code.

    `code` and `notes`: scores of each list, the best first.
    """
    trusted = min(1.0, notes[0] / strong) if notes and strong else 1.0
    worth = [(-share, False, at) for at, share in enumerate(_shares(code))]
    worth += [(-share * trusted, True, at) for at, share in enumerate(_shares(notes))]
    return [(is_note, at) for _, is_note, at in sorted(worth)]


def merge_rows(code: Sequence[Row], notes: Sequence[Row]) -> list[Row]:
    """The rows of both in one order; notes say `"source": "memory"`."""
    places = merge_order([row["combined_score"] for row in code], [row["score"] for row in notes])
    return [{**notes[at], "source": "memory"} if is_note else code[at] for is_note, at in places]


def _shares(scores: Sequence[float]) -> list[float]:
    """Of the best; never more than that of the one before, so that each list keeps its order."""
    best, least, shares = max(scores, default=0.0), 1.0, list[float]()
    for score in scores:
        least = min(least, score / best if best > 0 else 0.0)
        shares.append(least)
    return shares
