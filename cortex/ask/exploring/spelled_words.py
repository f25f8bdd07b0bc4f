"""Words of a question in the spelling of the code: `colorscheme` is `colorScheme` there, and the
index holds its parts.
"""

import re
from collections.abc import Sequence

from cortex.ask.query_context import Turn
from cortex.ask.references.word_lines import lines_of
from ipc.messages import ExactHits, ExactSearch, Filters

#: letters of a word that may be two, words that are looked up, and lines that are read for one
LETTERS_MIN, WORDS_MAX, LINES_MAX = 6, 2, 20
#: chunks that are searched
_CODE = Filters(chunk_types=("code",))
#: where a word of code begins inside of a name
_INSIDE = re.compile(r"[a-z][A-Z]|[A-Za-z]_[A-Za-z]")


async def respell(turn: Turn, query: str, unknown: Sequence[str]) -> str:
    """Return a query with those of its `unknown` words as the code writes them that are names of
    several parts there. Raises NotReady.
    """
    words = [word for word in unknown if len(word) >= LETTERS_MIN and word.isalpha() and word.isascii()]
    for word in words[:WORDS_MAX]:
        if written := await _find_spelling(turn, word):
            query = re.sub(rf"(?<!\w){word}(?!\w)", written, query)
    return query


async def _find_spelling(turn: Turn, word: str) -> str:
    """Return a word as the first line of code with it writes it, in several parts; "" for none."""
    request = ExactSearch(
        f"(?i){word}",
        "regex",
        limit=LINES_MAX,
        filters=turn.context.scope_filters(_CODE),
        detail="location",
        generation=turn.generation.number,
        lines=LINES_MAX,
    )
    hits = await turn.lane("text", request, ExactHits, ours=True)
    for _, line in lines_of(hits) if hits is not None else ():
        if written := find_spelling(line.text, word):
            return written
    return ""


def find_spelling(text: str, word: str) -> str:
    """Return a word as a text writes it, in whole parts of a name; "" for none."""
    for match in re.finditer(word, text, re.IGNORECASE):
        before, after = text[: match.start()][-1:], text[match.end() :][:1]
        begins = not before.isalpha() or (match[0][0].isupper() and not before.isupper())
        if begins and not after.islower() and _INSIDE.search(match[0]):
            return match[0]
    return ""
