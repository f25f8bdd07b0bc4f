"""Keys of answers that have no line in the text, each with the reason."""

from __future__ import annotations

#: key of an answer of any tool → reason
EVERYWHERE = {
    "metadata": "time and source of the answer: for measurements",
    "truncated": "a sentence or the totals say it",
}
