"""Lines of the project with a word: the uses of a name that the graph does not list, and the lines
that an answer with resolved uses leaves out, so that nobody has to search the text after it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from cortex.ask.lines.code_words import Owner, names_in_code, word_pattern, words_in_code
from cortex.ask.lines.current_lines import read_texts
from cortex.ask.query_context import Turn
from cortex.ask.references.use_sites import TESTS, Place, Site, Uses, cut, render_others
from cortex.system.errors import Unavailable
from cortex.terms.languages import language_of
from ipc.messages import ExactHits, ExactSearch, Filters

#: lines that are searched for a name, their bytes, and the files that are read for it
LINES_MAX, LINES_BYTES, FILES_MAX = 5_000, 2_000_000, 500
#: lines that a definition begins with
HEAD_LINES = 12
#: share of the bytes that are left for other lines, and the bytes that they need
OTHERS_SHARE, OTHERS_BYTES_MIN = 0.5, 200
#: a string that is the name, or a path that ends with it: `"pkg.mod:name"`
_QUOTED = r"[\"'`.:/#]{}[\"'`]"
_IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|(?:pub(?:\([^)]*\))?\s+)?use\s|using\s|#\s*include\b|require\b)"
)


class TextLine(NamedTuple):
    """A line with a word: "definition", "import" or another kind, and its code."""

    kind: str
    text: str


class WordLines(NamedTuple):
    lines: dict[Place, TextLine]
    truncated: bool


async def find_lines(
    turn: Turn, word: str, types: tuple[str, ...] = ("code", "documentation")
) -> WordLines | None:
    """Return the lines with a word; None for no word and without an answer."""
    word = word.strip("!?$")
    if not word.isidentifier():
        return None
    request = ExactSearch(
        rf"\b{word}\b",  # an exact search finds longer names with this part, too: ten times as many
        "regex",
        limit=LINES_MAX,
        filters=turn.context.scope_filters(Filters(chunk_types=types)),
        detail="location",
        max_bytes=LINES_BYTES,
        generation=turn.generation.number,
        lines=LINES_MAX,
    )
    hits = await turn.lane("text", request, ExactHits, ours=True)
    return None if hits is None else WordLines(dict(lines_of(hits)), hits.truncated)


def lines_of(hits: ExactHits) -> Iterator[tuple[Place, TextLine]]:
    """Yield the lines of an answer by lines, with their places."""
    for hit, raw in zip(hits.hits, hits.chunks, strict=True):
        entry = orjson.loads(raw)
        for row in entry["text"].split("\n"):
            number, _, text = row.partition(": ")
            if number.isdecimal():
                yield (hit.path, int(number)), TextLine(entry["metadata"].get("kind", ""), text)


def list_others(
    word: str, holding: WordLines, uses: Collection[Place], definitions: Collection[Place], max_bytes: int
) -> dict[str, Any]:
    """Return the lines with a word that neither define it nor are `uses`, within `max_bytes`, and
    how many are in tests, in comments, other strings and documents. `definitions`: where they
    begin.
    """
    plain = word.strip("!?$")
    whole_word, quoted = word_pattern(plain), re.compile(_QUOTED.format(re.escape(plain)))
    # others have it in another case, or as a part of a longer name
    lines = {place: line for place, line in holding.lines.items() if whole_word.search(line.text)}
    code: list[Site] = []
    texts = 0
    for path, number in lines.keys() - uses - _naming_lines(plain, lines, definitions):
        line = lines[path, number]
        is_code = language_of(path).kind == "code" and line.kind != "comment"
        if is_code and (names_in_code(path, line.text, plain, as_function=False) or quoted.search(line.text)):
            code.append(Site(path, number, "", cut(line.text)))
        else:
            texts += 1
    shipped = sorted((site for site in code if site.rank < TESTS), key=lambda site: site.order)
    others = {"name": plain} | render_others(shipped, int(max(max_bytes, OTHERS_BYTES_MIN) * OTHERS_SHARE))
    others |= {"tests": len(code) - len(shipped), "texts": texts}
    return others | ({"at_least": True} if holding.truncated else {})


def _naming_lines(word: str, lines: Mapping[Place, TextLine], definitions: Iterable[Place]) -> set[Place]:
    """Return the line of each definition that names it: the first one, a few lines below others. A
    decorator may hold the word in a string.
    """
    naming: set[Place] = set()
    for file, start in definitions:
        below = [(file, number) for number in range(start, start + HEAD_LINES) if (file, number) in lines]
        named = [place for place in below if lines[place].kind in ("definition", "test")]
        in_code = [
            place for place in named if names_in_code(file, lines[place].text, word, as_function=False)
        ]
        naming.update(sorted(in_code or named, key=lambda place: lines[place].kind)[:1])
    return naming


async def search_text(
    turn: Turn, name: str, excluded: Mapping[tuple[str, int], None], owner: Owner | None = None
) -> Uses:
    """Return the lines whose code holds the word `name`, without imports, definitions and the
    places in `excluded`; accesses of an attribute first.
    """
    word = name.rpartition(".")[2].removesuffix("=")  # Ruby calls its setters without it
    holding = await find_lines(turn, word, ("code",))
    if holding is None:
        return Uses()
    lines, truncated = holding
    paths = [path for path in dict.fromkeys(path for path, _ in lines) if language_of(path).kind == "code"]
    usage = Uses(textual=True, truncated=truncated or len(paths) > FILES_MAX)
    try:
        texts = await read_texts(turn, paths[:FILES_MAX])
    except Unavailable:
        return Uses()
    for line, site in await asyncio.to_thread(_sites_in_code, texts, word, owner):
        kind = lines[site.place].kind if site.place in lines else ""
        if site.place in excluded or kind == "definition":
            continue
        if kind == "import" or _IMPORT.match(line):
            usage.imports.append(site.place)
        else:
            usage.sites.append(site)
    usage.imports = sorted(set(usage.imports))
    usage.sites.sort(key=lambda site: site.order)
    return usage if usage.sites or usage.imports else Uses()


def _sites_in_code(texts: Mapping[str, str], word: str, owner: Owner | None) -> list[tuple[str, Site]]:
    """Return (line, site) of the lines whose code holds a word."""
    sites = []
    for path, text in texts.items():
        lines = text.split("\n")
        for number, accessed in words_in_code(path, text, word, owner):
            line = lines[number - 1]
            sites.append((line, Site(path, number, "", cut(line), accessed=accessed)))
    return sites
