"""The suggestion of a similar word in place of a mistyped one, for all messages."""

import difflib
from collections.abc import Iterable

#: similarity from which on a word is suggested, of 1
ALIKE = 0.6
#: the end of a message about an unknown note; the command line has another
IDS_HINT = "ids are in the answers of searches"


def hint(near: str) -> str:
    """Return the text that follows a mistyped word in a sentence; "" if `near` is empty."""
    return f" (did you mean {near!r}?)" if near else ""


def hint_for(word: str, choices: Iterable[str], alike: float = ALIKE) -> str:
    """Return `hint` with the nearest of `choices`, "" if none is near."""
    return hint(nearest(word, choices, alike))


def nearest(word: str, choices: Iterable[str], alike: float = ALIKE) -> str:
    """Return the nearest of `choices`, "" if none is near."""
    matches = difflib.get_close_matches(word, list(choices), n=1, cutoff=alike)
    return matches[0] if matches else ""
