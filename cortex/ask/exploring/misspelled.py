"""Names of a question that no definition has, and those of definitions that are almost the same."""

import difflib
import re
from collections.abc import Iterable, Mapping

from cortex.ask.exploring.functions import ask_graph
from cortex.ask.exploring.query_symbols import names_in
from cortex.ask.query_context import Turn
from cortex.ask.reading.meanings import UNKNOWN, short_name
from ipc.messages import GraphSearch

#: words that are looked up, their letters, and how like a name is (difflib's ratio)
WORDS_MAX, LETTERS_MIN, LIKE_MIN = 4, 5, 0.8
_WORD = re.compile(r"[^\W\d]\w*")


async def find_spellings(turn: Turn, query: str, unknown: Iterable[str]) -> dict[str, str]:
    """Return misspelled word → the name of the definition that is most like it, for the names of
    code in a query and its words that the index lacks. Raises NotReady.
    """
    names = [word for name in names_in(query) for word in _WORD.findall(name)]
    words = [word for word in dict.fromkeys((*names, *unknown)) if len(word) >= LETTERS_MIN][:WORDS_MAX]
    answers = await ask_graph(turn, [GraphSearch("path", word, to=word) for word in words]) if words else []
    spellings: dict[str, str] = {}
    for word, answer in zip(words, answers, strict=True):
        if answer is None or answer.results or not answer.suggestion.startswith(UNKNOWN):
            continue
        likeness = {name: _likeness(word, name) for name in map(_last_name, answer.candidates)}
        best = max(likeness, key=lambda name: likeness[name], default="")
        if best and best.lower() != word.lower() and likeness[best] >= LIKE_MIN:
            spellings[word] = best
    return spellings


def spell(query: str, spellings: Mapping[str, str]) -> str:
    """Return a query with the words in their other spellings."""
    return re.sub(r"\w+", lambda match: spellings.get(match[0], match[0]), query)


def _last_name(identity: str) -> str:
    return short_name(identity).rpartition(".")[2]


def _likeness(word: str, name: str) -> float:
    return difflib.SequenceMatcher(None, word.lower(), name.lower()).ratio()
