"""The one form in which a word is suggested in place of a mistyped one. Chooses among words that
are given; which those are, is known elsewhere.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

#: how alike two words are that are taken for one, of 1
ALIKE = 0.6


def hint(near: str) -> str:
    """What follows the mistyped word in a sentence; nothing for no word."""
    return f" (did you mean {near!r}?)" if near else ""


def hint_for(word: str, choices: Iterable[str], alike: float = ALIKE) -> str:
    """`hint` of the word that is nearest, if one of `known` is near."""
    matches = difflib.get_close_matches(word, list(choices), n=1, cutoff=alike)
    return hint(matches[0] if matches else "")
