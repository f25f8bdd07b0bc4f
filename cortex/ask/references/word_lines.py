"""Lines of the project with a word: the uses of a name that the graph does not list, and the lines
that an answer with resolved uses leaves out, so that nobody has to search the text after it.
"""

import asyncio
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import orjson

from cortex.ask.lines.code_words import is_prose, names_in_code, word_pattern, words_in_code
from cortex.ask.lines.current_lines import read_texts
from cortex.ask.lines.receivers import Owner
from cortex.ask.query_context import Turn
from cortex.ask.questions import NO_FILTERS
from cortex.ask.references.use_sites import TESTS, Place, Site, Uses, cut, render_others
from cortex.system.errors import Unavailable
from cortex.terms.languages import language_of
from cortex.terms.text.copies import find_copies, may_be_copy
from ipc.messages import ExactHits, ExactSearch, Filters, MatchType

#: lines that are searched for a name, their bytes, and the files that are read for it
LINES_MAX, LINES_BYTES, FILES_MAX = 5_000, 2_000_000, 500
#: bytes of the lines of another search
SEARCH_BYTES = 80_000
#: lines that a definition begins with
HEAD_LINES = 12
#: other definitions of the name that are listed: of more, as of each job's `perform`, the number
NAMESAKES_MAX = 4
#: share of the bytes that are left for other lines, and the bytes that they need
OTHERS_SHARE, OTHERS_BYTES_MIN = 0.5, 200
#: a string that is the name, or a path that ends with it: `"pkg.mod:name"`
_QUOTED, _QUOTED_IN_PYTHON = r"[\"'`.:/#]{}[\"'`]", r"[\"'.:/#]{}[\"']"
#: the same in a file of data, where a value may be a word without quotes
#: and a variable or an anchor has a mark
_IN_DATA = r"(?:^|[-\"'`.:/#=\[{{(,@]) *{0}(?= *(?:$|[\"'`.:/#=\]}}),]))|(?<!\\)[$&*]{0}\b"
#: the same in files whose lines are commands: a whole word
_IN_COMMANDS = r"(?<![\w-]){}(?![\w-])"
_COMMANDS = frozenset(("makefile", "dockerfile"))
_COMMENT = re.compile(r"\s*(?:#|//|;)")
#: a line of Qt's translations: XML in files that end like TypeScript
_TRANSLATED = re.compile(
    r"\s*<(?:source|oldsource|translation|numerusform|name|comment|extracomment)\b[^<>]*>[^<>]*(?:<|$)"
)
#: a name that no prose has: of several parts, `answer_tokens` or `sendMail`
_JOINED = re.compile(r"[^\W_][-_.:/]+\w|[a-z\dA-Z][A-Z]")
#: languages whose files name a definition of another file alone after an import of it
_NEED_IMPORTS = frozenset(("python", "typescript", "tsx"))
#: what is searched for as one name, `celery.chord_unlock` or `--limit` among them
_NAME = re.compile(r"[-@#:./$]*\w[-@#:./$\w]*")
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


NO_LINES = WordLines({}, truncated=False)


async def search_lines(
    turn: Turn,
    query: str,
    most: int,
    filters: Filters = NO_FILTERS,
    *,
    match_type: MatchType | None = "regex",
    max_bytes: int = SEARCH_BYTES,
) -> WordLines | None:
    """Return the lines that match, at most `most`, in the folder of the question; None without an
    answer. Raises NotReady.
    """
    request = ExactSearch(
        query,
        match_type,
        limit=most,
        filters=turn.context.scope_filters(filters),
        detail="location",
        max_bytes=max_bytes,
        generation=turn.generation.number,
        lines=most,
    )
    hits = await turn.lane("text", request, ExactHits, ours=True)
    return WordLines(dict(_lines_of(hits)), hits.truncated) if hits is not None else None


async def find_lines(
    turn: Turn, word: str, types: tuple[str, ...] = ("code", "documentation")
) -> WordLines | None:
    """Return the lines with a word, or with a name of a program such as `env-updated`; None for
    anything else and without an answer.
    """
    marked, word = word.strip(), word.strip(" !?$")
    if not _NAME.fullmatch(word):
        return None
    before, after = (r"\b" * bool(re.match(r"\w", end)) for end in (word[0], word[-1]))
    # an exact search finds longer names with this part, too: ten times as many
    pattern = f"{before}{re.escape(word)}{after}"
    holding = await search_lines(turn, pattern, LINES_MAX, Filters(chunk_types=types), max_bytes=LINES_BYTES)
    if holding is None:
        return None
    lines = _mark_translations(holding.lines)
    if marked[-1] in "!?":  # `border?` is another name than `border`, and `println!` a macro of Rust
        with_mark = re.compile(rf"(?<![\w$]){re.escape(marked)}")
        lines = {
            place: line
            for place, line in lines.items()
            if language_of(place[0]).name == "rust" or with_mark.search(line.text)
        }
    return WordLines(lines, holding.truncated)


def _lines_of(hits: ExactHits) -> Iterator[tuple[Place, TextLine]]:
    """Yield the lines of an answer by lines, with their places."""
    for hit, raw in zip(hits.hits, hits.chunks, strict=True):
        entry = orjson.loads(raw)
        for row in entry["text"].split("\n"):
            number, _, text = row.partition(": ")
            if number.isdecimal():
                yield (hit.path, int(number)), TextLine(entry["metadata"].get("kind", ""), text)


def _mark_translations(lines: dict[Place, TextLine]) -> dict[Place, TextLine]:
    """Return the lines, those of Qt's translations as comments: they end like TypeScript. Such
    files stand together, and not each line shows it.
    """
    folders = {
        path.rpartition("/")[0]
        for (path, _), line in lines.items()
        if path.endswith(".ts") and _TRANSLATED.match(line.text)
    }
    if not folders:
        return lines
    return {
        place: line._replace(kind="comment")
        if place[0].endswith(".ts") and place[0].rpartition("/")[0] in folders
        else line
        for place, line in lines.items()
    }


def list_others(
    word: str,
    holding: WordLines,
    uses: Collection[Place],
    definitions: Collection[Place] = (),
    max_bytes: int | None = 0,
) -> dict[str, Any]:
    """Return the lines with a word that neither define it nor are `uses`, within `max_bytes` (None:
    their number alone), and how many are in tests, in comments, other strings and documents.
    `definitions`: where they begin; many others of the name are `namesakes`, their number.
    """
    name, word = word, word.strip("!?$")
    # others have it in another case, or as a part of a longer name
    lines = {
        place: line for place, line in holding.lines.items() if word_pattern(word, place[0]).search(line.text)
    }
    naming = _naming_lines(word, lines, definitions)
    namesakes = _lines_of_namesakes(word, lines) - naming if definitions else set()
    named = naming | (namesakes if len(namesakes) > NAMESAKES_MAX else set())
    others = {place: lines[place] for place in lines.keys() - uses - named}
    code = _sites_with_name(word, others)
    shipped = sorted((site for site in code if site.rank < TESTS), key=lambda site: site.order)
    if max_bytes is None:
        answer: dict[str, Any] = {"name": name, "files": []}
    else:
        room = int(max(max_bytes, OTHERS_BYTES_MIN) * OTHERS_SHARE)
        answer = {"name": name} | render_others(_drop_copies(word, shipped), room)
    answer |= {"total": len(shipped), "tests": len(code) - len(shipped), "texts": len(others) - len(code)}
    answer |= {"namesakes": len(namesakes)} if len(namesakes) > NAMESAKES_MAX else {}
    return answer | ({"at_least": True} if holding.truncated else {})


def _sites_with_name(word: str, lines: Mapping[Place, TextLine], *, in_code: bool = True) -> list[Site]:
    """Return the lines that hold a word in a string that ends with it, in a file of data, or
    `in_code`. Data alone hold a plain word, `run`, as a part of a path, `pkg.mod:run`, unless all
    lines with the word are wanted: not `in_code`.
    """
    patterns = (_QUOTED, _QUOTED_IN_PYTHON, _IN_DATA, _IN_COMMANDS)
    quoted, in_python, in_data, in_commands = (
        re.compile(pattern.format(re.escape(word))) for pattern in patterns
    )
    is_plain = in_code and not _JOINED.search(word)

    def names(path: str, text: str) -> bool:
        if language_of(path).kind == "data":
            if not is_plain and language_of(path).name in _COMMANDS and in_commands.search(text):
                return True
            matches = (match[0] for match in in_data.finditer(text))
            return any(not is_plain or (match[0] in ".:/#$&*" and match[1:] == word) for match in matches)
        is_quoted = (in_python if language_of(path).name == "python" else quoted).search(text) is not None
        return is_quoted or (in_code and names_in_code(path, text, word, as_function=False))

    return [
        Site(path, number, "", cut(line.text), accessed=False)
        for (path, number), line in lines.items()
        if language_of(path).kind in ("code", "data")
        and line.kind != "comment"
        and not (_COMMENT.match(line.text) and language_of(path).kind == "data")
        and names(path, line.text)
        and not is_prose(path, line.text)
    ]


def _drop_copies(word: str, sites: Sequence[Site]) -> list[Site]:
    """Keep one of the lines that files of data or resources with almost the same path have in
    common.
    """
    copies = find_copies(
        (
            at,
            site.file,
            site.text[: match.end()]
            if (match := word_pattern(word, site.file).search(site.text))
            else site.text,
        )
        for at, site in enumerate(sites)
        if may_be_copy(site.file)
    )
    left_out = {at for others, _ in copies.values() for at in others}
    return [
        replace(site, text=site.text + copies[at][1]) if at in copies else site
        for at, site in enumerate(sites)
        if at not in left_out
    ]


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


def _lines_of_namesakes(word: str, lines: Mapping[Place, TextLine]) -> set[Place]:
    """Return the lines of code that define something of the name, `def perform` of each job."""
    names = re.compile(rf"[^(=]*(?:(?<![.\w$])|(?<=\bself\.)){re.escape(word)}\b")
    return {
        place
        for place, line in lines.items()
        if line.kind == "definition" and language_of(place[0]).kind == "code" and names.match(line.text)
    }


async def find_mentions(
    turn: Turn, name: str, owner: Owner | None = None, max_bytes: int = 0
) -> tuple[Uses, dict[str, Any]]:
    """Return the lines whose code or strings hold a name that no definition has, and the others
    within `max_bytes`, with the number of those in comments and documents.
    """
    word = name = name.removesuffix("=")  # Ruby calls its setters without it
    holding = await find_lines(turn, name)
    quoted = _sites_with_name(name, holding.lines, in_code=False) if holding is not None else []
    if not quoted and "." in name:  # `conf.limit`: its last word, with any receiver
        word = name.rpartition(".")[2]
        holding = await find_lines(turn, word)
        quoted = _sites_with_name(word, holding.lines, in_code=False) if holding is not None else []
    if holding is None:
        return Uses(), {}
    usage = await search_text(turn, word, {}, owner, holding=holding)
    # a string does not tell the type of a field
    sites = {} if owner else {site.place: site for site in quoted}
    sites |= {site.place: site for site in usage.sites}
    others = [sites[place] for place in sites.keys() - set(usage.imports)]
    others = _drop_copies(word, sorted(others, key=lambda site: site.order))
    usage = replace(usage, sites=others, textual=True)
    usage.truncated = usage.truncated or holding.truncated
    listed = {*sites, *usage.places}
    return usage, await asyncio.to_thread(list_others, word, holding, listed, (), max_bytes)


async def search_text(
    turn: Turn,
    word: str,
    excluded: Mapping[tuple[str, int], None],
    owner: Owner | None = None,
    *,
    home: str = "",
    modules: Collection[str] | None = None,
    holding: WordLines | None = None,
) -> Uses:
    """Return the lines whose code holds a whole word, without imports, definitions and the
    places in `excluded`; accesses of an attribute first. `home`: the file of a definition that is
    no member, `modules`: the receivers of such a function; `holding`: lines with the word, if they
    are known.
    """
    word = word.removesuffix("=")  # Ruby calls its setters without it
    holding = holding or await find_lines(turn, word, ("code",))
    if holding is None:
        return Uses()
    lines, truncated = holding
    # a template of Elixir is a string, which counts as a comment
    in_code = (
        path
        for (path, _), line in lines.items()
        if line.kind != "comment" or language_of(path).name == "elixir"
    )
    paths = [path for path in dict.fromkeys(in_code) if language_of(path).kind == "code"]
    usage = Uses(textual=True, truncated=truncated or len(paths) > FILES_MAX)
    try:
        texts = await read_texts(turn, paths[:FILES_MAX])
    except Unavailable:
        return Uses()
    for line, site in await asyncio.to_thread(_sites_in_code, texts, word, owner, modules):
        kind = lines[site.place].kind if site.place in lines else ""
        # a definition in one line may use the member of another type
        if site.place in excluded or (kind == "definition" and not (owner and site.accessed)):
            continue
        if kind == "import" or _IMPORT.match(line):
            usage.imports.append(site.place)
        else:
            usage.sites.append(site)
    usage.imports = sorted(set(usage.imports))
    if home and language_of(home).name in _NEED_IMPORTS:
        importing = {home, *(path for path, _ in usage.imports)}
        importing |= {path for path, text in texts.items() if "import *" in text}
        usage.sites = [site for site in usage.sites if site.accessed or site.file in importing]
    if modules is not None:  # an object may have the name of the module
        usage.sites = [replace(site, unsure=site.accessed) for site in usage.sites]
    usage.sites.sort(key=lambda site: site.order)
    return usage if usage.sites or usage.imports else Uses()


def _sites_in_code(
    texts: Mapping[str, str], word: str, owner: Owner | None, modules: Collection[str] | None
) -> list[tuple[str, Site]]:
    """Return (line, site) of the lines whose code holds a word."""
    sites = []
    for path, text in texts.items():
        lines = text.split("\n")
        for number, accessed, unsure in words_in_code(path, text, word, owner, modules):
            line = lines[number - 1]
            sites.append((line, Site(path, number, "", cut(line), unsure, accessed=accessed)))
    return sites
