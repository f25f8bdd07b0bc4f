"""Other spellings of the words of a question that the index lacks: names of definitions that are
almost the same, and names of code with the word in several parts, `colorScheme` for `colorscheme`.
"""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

from cortex.ask.exploring.functions import look_up
from cortex.ask.exploring.query_symbols import names_in
from cortex.ask.query_context import Turn
from cortex.ask.reading.meanings import UNKNOWN, short_name
from cortex.ask.references.word_lines import NO_LINES, search_lines
from ipc.messages import Filters

#: words that are looked up, their letters, and how like a name is (difflib's ratio)
WORDS_MAX, LETTERS_MIN, LIKE_MIN = 4, 5, 0.8
#: letters of a word that may be two, words that are looked up, and lines that are read for one
PARTED_LETTERS_MIN, PARTED_MAX, LINES_MAX = 6, 2, 20
_WORD = re.compile(r"[^\W\d]\w*")
#: where a word of code begins inside of a name
_INSIDE = re.compile(r"[a-z][A-Z]|[A-Za-z]_[A-Za-z]")


async def find_spellings(turn: Turn, query: str, unknown: Iterable[str]) -> dict[str, str]:
    """Return misspelled word → the name of the definition that is most like it, for the names of
    code in a query and its words that the index lacks. Raises NotReady.
    """
    names = [word for name in names_in(query) for word in _WORD.findall(name)]
    words = [word for word in dict.fromkeys((*names, *unknown)) if len(word) >= LETTERS_MIN][:WORDS_MAX]
    spellings: dict[str, str] = {}
    for word, answer in zip(words, await look_up(turn, words), strict=True):
        if answer is None or answer.results or not answer.suggestion.startswith(UNKNOWN):
            continue
        likeness = {name: _likeness(word, name) for name in map(_last_name, answer.candidates)}
        best = max(likeness, key=lambda name: likeness[name], default="")
        if best and best.lower() != word.lower() and likeness[best] >= LIKE_MIN:
            spellings[word] = best
    return spellings


async def find_parted(turn: Turn, unknown: Sequence[str]) -> dict[str, str]:
    """Return unknown word → the name of several parts as which code writes it: the index holds the
    parts. Raises NotReady.
    """
    words = [
        word for word in unknown if len(word) >= PARTED_LETTERS_MIN and word.isalpha() and word.isascii()
    ]
    spellings: dict[str, str] = {}
    for word in words[:PARTED_MAX]:
        filters = Filters(chunk_types=("code",))
        holding = await search_lines(turn, f"(?i){word}", LINES_MAX, filters) or NO_LINES
        written = (part_word(line.text, word) for line in holding.lines.values())
        spellings[word] = next(filter(None, written), word)
    return spellings


def spell(query: str, spellings: Mapping[str, str]) -> str:
    """Return a query with the words in their other spellings."""
    return re.sub(r"\w+", lambda match: spellings.get(match[0], match[0]), query)


def part_word(text: str, word: str) -> str:
    """Return a word as a text writes it, in whole parts of a name; "" for none."""
    for match in re.finditer(word, text, re.IGNORECASE):
        before, after = text[: match.start()][-1:], text[match.end() :][:1]
        begins = not before.isalpha() or (match[0][0].isupper() and not before.isupper())
        if begins and not after.islower() and _INSIDE.search(match[0]):
            return match[0]
    return ""


def _last_name(identity: str) -> str:
    return short_name(identity).rpartition(".")[2]


def _likeness(word: str, name: str) -> float:
    return difflib.SequenceMatcher(None, word.lower(), name.lower()).ratio()
