"""Places that mention a definition without a resolved use: syntax does not resolve every call, and
the code must not look unused.
"""

import re
from collections.abc import Iterator

import orjson

from cortex.ask.query_context import Turn
from cortex.terms.ids import strip_overload
from cortex.terms.paths import EMPTY_STEMS
from ipc.messages import ExactHits, ExactSearch, GraphHits, GraphSearch

#: operations with an empty answer that would read as "unused"
_USED = frozenset({"callers", "dependents", "impact", "type_usages"})
#: lines that are read, and places that are named
LINES_MAX, PLACES_MAX = 120, 6
#: characters of a line; a longer one was cut and may hold the word further on
LINE_CHARS = 200
#: the name of an operator, a conversion, or what an element calls, behind its type:
#: `Money.operator-`, `Disk.<=>`, `Disk.operator bool`, `Disk.this`
_OPERATOR = re.compile(r"(?:^|(?<=\.))(?:(?:operator ?)?[^\w\s.]+|operator .+|(?:this|subscript)=?)$")
#: operators with uses that nothing writes
_IMPLICIT = re.compile(r"operator (?!bool)|.*->")
_UNSEEN_OPERATORS = "Uses on values of unknown type are not found"


async def describe_mentions(turn: Turn, question: GraphSearch, hits: GraphHits) -> str:
    """Return a sentence on the other files that hold the word, or that none does, and on the lines
    in its own file; of an unknown name on the lines that hold it. "" when the question has results
    or is narrowed, or the text worker is silent.

    Raises NotReady, unless the turn is final.
    """
    narrowed = question.scope or question.exclude_patterns
    if hits.total_found or narrowed or question.operation not in _USED:
        return ""
    if not hits.target:
        return await _describe_unknown(turn, question, hits)
    what = "call" if question.operation == "callers" else "use"
    stem, _, name = strip_overload(hits.target).partition(":")
    if operator := _OPERATOR.search(name):
        implicit = ", nor implicit ones" if _IMPLICIT.match(operator[0]) else ""
        return f"No {what} of {operator[0]} is resolved. {_UNSEEN_OPERATORS}{implicit}."
    word = name.rpartition(".")[2].removesuffix("=")  # Ruby calls its setters without it
    word = word or _module_word(stem)
    plain = word.strip("!?$")
    if not (plain.isidentifier() if name else re.search(r"\w", plain)):
        return ""
    exact_hits = await _find_lines(turn, plain)
    if exact_hits is None:
        return ""
    places: dict[str, str] = {}
    own_lines: set[int] = set()
    for path, line in _lines_with(word, exact_hits):
        if path == stem or path.startswith((f"{stem}.", f"{stem}/")):
            own_lines.add(line)
        else:
            places.setdefault(path, f"{path}:{line}")
    subject, called = (word, "the word") if name else (stem, f"the word {word}")
    ending = _describe_places(places, own_lines if name else set(), called, more=exact_hits.truncated)
    return f"No {what} of {subject} is resolved{ending}"


def _module_word(stem: str) -> str:
    """Return the name of a file or folder in other files: for an index file that of its folder."""
    folder, _, last = stem.rpartition("/")
    word = last.partition(".")[0] or last
    return folder.rpartition("/")[2] if word in EMPTY_STEMS and folder else word


async def _describe_unknown(turn: Turn, question: GraphSearch, hits: GraphHits) -> str:
    """Return a sentence on the lines that hold a name that no definition has."""
    word = question.target.strip().removesuffix("()").rpartition(".")[2]
    if hits.ambiguous or not word.isidentifier():
        return ""
    exact_hits = await _find_lines(turn, word)
    if exact_hits is None:
        return ""
    files: dict[str, list[str]] = {}
    for path, line in _lines_with(word, exact_hits):
        files.setdefault(path, []).append(str(line))
    if not files:
        return ""
    more = "at least " if exact_hits.truncated else ""
    listed = [f"{path}:{', '.join(lines[:PLACES_MAX])}" for path, lines in list(files.items())[:PLACES_MAX]]
    count = f"{more}{len(files)} file{'s' * (len(files) > 1)}"
    return f"The word {word} is in {count}: {'; '.join(listed)}."


async def _find_lines(turn: Turn, word: str) -> ExactHits | None:
    """Return the hits of the word; None if the text worker is silent."""
    request = ExactSearch(
        word, "exact", limit=LINES_MAX, detail="location", generation=turn.generation.number, lines=LINES_MAX
    )
    return await turn.lane("text", request, ExactHits, ours=True)


def _lines_with(word: str, exact_hits: ExactHits) -> Iterator[tuple[str, int]]:
    """Yield (path, line) of the lines that hold the word itself: the text lane also returns other
    spellings (`deref_mut`, `deref mut`, `derefMut`).
    """
    word_pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    for hit, raw in zip(exact_hits.hits, exact_hits.chunks, strict=True):
        for text in orjson.loads(raw)["text"].split("\n"):
            number = text.partition(": ")[0]
            if len(text) >= LINE_CHARS or word_pattern.search(text):
                yield hit.path, int(number) if number.isdecimal() else hit.start_line


def _describe_places(places: dict[str, str], own_lines: set[int], called: str, *, more: bool) -> str:
    """Return the end of the sentence. `called`: the word in it; `more`: not all lines were read."""
    inside = sorted(own_lines)[:PLACES_MAX]
    also = f" In its own file it is on lines {', '.join(map(str, inside))}." if len(inside) > 1 else ""
    if places:
        count = f"{'at least ' if more else ''}{len(places)} other file{'s' * (len(places) > 1)}"
        return f"; {called} occurs in {count}: {', '.join(list(places.values())[:PLACES_MAX])}.{also}"
    if more:
        return f"; not all lines were read, so ask cortex_exact where {called} occurs.{also}"
    return f", and {called} occurs in no other file of the index.{also}"
