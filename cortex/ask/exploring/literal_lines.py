"""Lines that hold a text of the question word for word: a pasted message, an option of a command
(`--keep-going`), or another name with hyphens, which code has as a literal alone.

By single words such a line seldom wins: other functions have them in their names.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from cortex.ask.query_context import Turn
from cortex.ask.references.use_sites import Place
from cortex.ask.references.word_lines import NO_LINES, search_lines
from cortex.ranking import literal_texts
from cortex.terms.paths import is_test, names_english
from cortex.terms.tokens import STOP_WORDS, WORD
from ipc.messages import ExactHits, ExactSearch, Filters

#: words side by side that are searched (of a text of three words all), and that count as held; runs
#: that are searched, lines that are read, and lines above which a text is too common to tell much
SEARCHED, RUN, RUNS_MAX, LINES_MAX, COMMON = 4, 3, 24, 60, 16
#: words with a meaning in a run; share of the text that a line holds at least
TELLING_MIN, SHARE_MIN = 2, 0.5


class LiteralLine(NamedTuple):
    """A line with a text of the question word for word: with all of it (`share` 1) or a part."""

    text: str
    share: float


#: kinds of chunks that hold messages: a list of changes with the text only tells of it
TYPES = ("code", "data")

#: names of a question that are searched; words above which it is a pasted text, with many options
NAMES_MAX, NAMES_WORDS_MAX = 4, 24
_QUOTE = "[\"'`]"
#: an option, or a name with hyphens inside
_HYPHENED = re.compile(r"(?<![\w./@:-])(--)?([A-Za-z]\w+(?:-\w+)*)(?![\w/@-]|\.\w)")


async def find_literals(turn: Turn, query: str, filters: Filters) -> dict[Place, LiteralLine]:
    """Return the lines that hold SHARE_MIN or more of a text of the question, or a name with
    hyphens in it as a literal; none for a question without such a text. Raises NotReady.
    """
    texts, names = await asyncio.gather(_find_texts(turn, query, filters), _find_names(turn, query, filters))
    return texts | names


async def _find_names(turn: Turn, query: str, filters: Filters) -> dict[Place, LiteralLine]:
    """Return the lines of code that hold an option of the question anywhere, or another name with
    hyphens as a whole string: words of prose, as `read-only`, stand in longer ones.
    """
    names = list(dict.fromkeys(map(re.escape, _names_of(query))))
    if not names:
        return {}
    patterns = [rf"{name}\b" if name[0] == "\\" else f"{_QUOTE}{name}{_QUOTE}" for name in names]
    of_code = replace(filters, chunk_types=filters.chunk_types or ("code",))
    holding = await search_lines(turn, "|".join(patterns), LINES_MAX, of_code) or NO_LINES
    exact = re.compile(
        "|".join(rf"(?<![\w-]){pattern}(?!-)" if pattern[0] == "\\" else pattern for pattern in patterns)
    )
    literals = {
        place: LiteralLine(line.text.strip(), 1.0)
        for place, line in holding.lines.items()
        if line.kind != "comment" and exact.search(line.text)
    }
    shipped = sum(not is_test(path) for path, _ in literals)
    return literals if shipped <= COMMON else {}


def _names_of(query: str) -> list[str]:
    """Return the options of a short question, and its names with hyphens."""
    if len(query.split()) > NAMES_WORDS_MAX:
        return []
    matches = _HYPHENED.finditer(query)
    return [match[0] for match in matches if match[1] or "-" in match[2]][:NAMES_MAX]


async def _find_texts(turn: Turn, query: str, filters: Filters) -> dict[Place, LiteralLine]:
    texts = [words for text in literal_texts(query) if len(words := _words(text)) >= RUN]
    runs = list(dict.fromkeys(run for words in texts for run in _runs(words)))[:RUNS_MAX]
    if not runs:
        return {}
    query = " OR ".join(f'"{" ".join(run)}"' for run in runs)
    filters = replace(filters, chunk_types=filters.chunk_types or TYPES)
    request = ExactSearch(
        query,
        limit=1,
        filters=turn.context.scope_filters(filters),
        detail="location",
        generation=turn.generation.number,
        bare=True,
    )
    hits = await turn.lane("text", request, ExactHits, ours=True)
    if hits is None or not hits.total_found:  # most questions: half the work of an answer with lines
        return {}
    holding = await search_lines(turn, query, LINES_MAX, filters, match_type=None) or NO_LINES
    literals: dict[Place, LiteralLine] = {}
    for place, line in holding.lines.items():
        if line.kind == "comment":
            continue
        line_words = _words(line.text)
        share = max(_share(words, line_words) for words in texts)
        if share >= (1.0 if is_test(place[0]) else SHARE_MIN):  # the title of a test tells of the subject
            literals[place] = LiteralLine(line.text.strip(), share)
    return _choose_telling(literals)


def _choose_telling(literals: dict[Place, LiteralLine]) -> dict[Place, LiteralLine]:
    """Return the lines, of too many those with all of the text, of still too many those of English
    pages and translations; none where these are too many as well.
    """
    if len(literals) > COMMON:
        literals = {place: line for place, line in literals.items() if line.share == 1.0}
    if len(literals) > COMMON:
        literals = {place: line for place, line in literals.items() if names_english(place[0])}
    return literals if len(literals) <= COMMON else {}


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in WORD.findall(text))


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the runs of SEARCHED words, TELLING_MIN of them with a meaning."""
    length = min(len(words), SEARCHED)
    for at in range(len(words) - length + 1):
        run = tuple(words[at : at + length])
        if sum(word not in STOP_WORDS and not word.isdecimal() for word in run) >= TELLING_MIN:
            yield run


def _share(words: Sequence[str], line: Sequence[str]) -> float:
    """Return the share of `words` that `line` holds in runs of RUN or more."""
    line_runs = {tuple(line[at : at + RUN]) for at in range(len(line) - RUN + 1)}
    covered = {
        at + step
        for at in range(len(words) - RUN + 1)
        if tuple(words[at : at + RUN]) in line_runs
        for step in range(RUN)
    }
    return len(covered) / len(words)
