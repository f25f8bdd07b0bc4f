"""Every use of a definition: its callers, callees, implementations or the users of a type, place by
place, and the places that name it without a resolved use.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

from cortex.ask.functions import ask_graph
from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.questions import TOKEN_BYTES
from cortex.query.check import check_text
from cortex.system.errors import BadRequest
from cortex.terms.bounds import clamp
from cortex.terms.ids import strip_overload
from cortex.terms.inline_tests import is_test_code
from cortex.terms.kinds import TYPE_KINDS, WHOLE_KINDS
from cortex.terms.spelling import read_symbol
from ipc.messages import ExactHits, ExactSearch, Filters, GraphHits, GraphOperation, GraphSearch

Direction = Literal["callers", "callees", "implementations", "types"]

#: tokens of the answer, its bounds, and the largest number of steps
TOKENS, TOKENS_MIN, TOKENS_MAX, DEPTH_MAX = 1_200, 200, 20_000, 3
#: meanings of an ambiguous name that are answered together
MEANINGS_MAX = 3
#: results of one request to the graph, and requests for one target
PAGE, PAGES_MAX = 500, 8
#: lines that are searched for the name, their bytes, and places without a resolved use that are shown
LINES_MAX, LINES_BYTES, UNRESOLVED_SHOWN = 5_000, 2_000_000, 5
#: characters of a line of code in the answer
LINE_CHARS = 140
#: share of the tokens that code may take where places alone follow
_IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|(?:pub(?:\([^)]*\))?\s+)?use\s|using\s|#\s*include\b|require\b)"
)
_COMMENT = re.compile(r"\s*(?:#(?!\[|include|define|if)|//|/\*|\*(?:\s|/|$)|--\s|;;|<!--|%\s|\"\"\")")


@dataclass(frozen=True, slots=True)
class Uses:
    """A question for the uses of `symbol`, as people write it."""

    symbol: str
    direction: Direction = "callers"
    depth: int = 1
    offset: int = 0
    max_tokens: int = TOKENS

    def checked(self) -> Uses:
        if not self.symbol.strip():
            raise BadRequest("The symbol is empty; pass the name of a function, method or type.")
        check_text(self.symbol, "symbol")
        return replace(
            self,
            depth=clamp(self.depth, 1, DEPTH_MAX),
            offset=max(0, self.offset),
            max_tokens=clamp(self.max_tokens, TOKENS_MIN, TOKENS_MAX),
        )


@dataclass(frozen=True, slots=True)
class Meaning:
    """A definition that a symbol means. `remark`: how an uncertain symbol was read."""

    id: str
    kind: str
    file: str
    start: int
    end: int
    remark: str = ""

    @property
    def name(self) -> str:
        return short_name(self.id)


@dataclass(frozen=True, slots=True)
class Site:
    """A place that uses a definition. `name`: the definition around it."""

    file: str
    line: int
    name: str
    text: str = ""
    unsure: bool = False

    @property
    def place(self) -> tuple[str, int]:
        return self.file, self.line

    @property
    def is_test(self) -> bool:
        return is_test_code(self.file, self.name)

    def render(self, *, with_code: bool) -> dict[str, Any]:
        named: dict[str, Any] = {"line": self.line, "name": self.name} if self.name else {"line": self.line}
        return named | ({"text": self.text} if self.text else {}) if with_code else {"line": self.line}


@dataclass(slots=True)
class Found:
    """The uses of one meaning. `further`: (file, name) of users of its users."""

    sites: list[Site] = field(default_factory=list)
    further: list[tuple[str, str]] = field(default_factory=list)
    further_total: int = 0
    truncated: bool = False


async def uses(context: QueryContext, question: Uses) -> dict[str, Any]:
    """Answer cortex_uses. Raises BadRequest, Unavailable."""
    question = question.checked()

    async def make(turn: Turn) -> dict[str, Any]:
        answer = await find_uses(
            turn,
            question.symbol,
            question.direction,
            question.depth,
            offset=question.offset,
            max_tokens=question.max_tokens,
        )
        return answer | {"index": turn.index()}

    turn, answer = await context.attempt(make)
    if answer is not None:
        return answer
    return {"sites": [], "suggestion": turn.explain_nothing(), "index": turn.index()}


async def find_uses(
    turn: Turn,
    symbol: str,
    direction: Direction = "callers",
    depth: int = 1,
    *,
    offset: int = 0,
    max_tokens: int = TOKENS,
) -> dict[str, Any]:
    """Return the uses of each meaning of `symbol` as `sites`, `notes`, and a `suggestion` if nothing
    is found. Raises NotReady, BadRequest.
    """
    meanings, suggestion = await find_meanings(turn, symbol)
    share = max_tokens // max(1, len(meanings))
    blocks = []
    for meaning in meanings:
        found = await _find_sites(turn, meaning, direction, depth)
        unresolved = {}
        if direction in ("callers", "types"):
            unresolved = await _find_unresolved(turn, meaning.name, [meaning], found)
        blocks.append(_render(meaning, direction, found, unresolved, offset, share * TOKEN_BYTES))
    notes = list(dict.fromkeys(filter(None, (meaning.remark for meaning in meanings))))
    if len(meanings) > 1:
        notes.append(f"{symbol!r} has {len(meanings)} meanings; each is answered.")
    if not meanings and direction in ("callers", "types"):
        name = (read_symbol(symbol) or (symbol,))[0].rpartition(".")[2]
        if unresolved := await _find_unresolved(turn, name, [], Found()):
            blocks.append({"of": name, "total": 0, "files": [], "unresolved": unresolved})
    return {"sites": blocks, "notes": notes, "suggestion": suggestion}


async def find_meanings(turn: Turn, symbol: str) -> tuple[list[Meaning], str]:
    """Return the definitions that `symbol` means, and a sentence where it means none or too many."""
    # the path from a name to itself is the definition that it means
    (hits,) = await ask_graph(turn, [GraphSearch("path", symbol, to=symbol)])
    if hits is None:
        return [], ""
    if hits.results:
        return [_meaning(hits)], ""
    if not 1 < len(hits.candidates) <= MEANINGS_MAX or not hits.suggestion.count("may be any"):
        return [], hits.suggestion
    searches = [GraphSearch("path", name, to=name) for name in hits.candidates]
    answers = await ask_graph(turn, searches)
    return [_meaning(answer) for answer in answers if answer is not None and answer.results], ""


def _meaning(hits: GraphHits) -> Meaning:
    node = orjson.loads(hits.results[0])["node"]
    return Meaning(
        node["id"],
        node["kind"],
        node.get("file", ""),
        node.get("start_line", 0),
        node.get("end_line", 0),
        hits.suggestion,
    )


def _operations(meaning: Meaning, direction: Direction) -> tuple[GraphOperation, ...]:
    """The operations of the graph that answer `direction` for a definition of this kind."""
    match direction:
        case "callees":
            return ("callees",)
        case "implementations":
            return ("implementations",)
        case "types":
            return ("type_usages",)
    if meaning.kind in WHOLE_KINDS:
        return ("dependents",)
    return ("callers", "type_usages") if meaning.kind in TYPE_KINDS else ("callers",)


async def _find_sites(turn: Turn, meaning: Meaning, direction: Direction, depth: int) -> Found:
    """Return all places, each once, in the order of the answer."""
    found = Found()
    sites: dict[tuple[str, int], Site] = {}
    further: dict[tuple[str, str], None] = {}
    for operation in _operations(meaning, direction):
        steps = depth if operation in ("callers", "callees") else 1
        async for row in _rows(turn, operation, meaning.id, steps, found):
            name = short_name(row["node"]["id"])
            if row["depth"] > 1:
                further.setdefault((row["node"].get("file", ""), name))
                continue
            for site in _sites_of(row, name, operation):
                sites.setdefault(site.place, site)
    stale = turn.stale({file for file, _ in sites})
    kept = (replace(site, text="") if site.file in stale else site for site in sites.values())
    found.sites = sorted(
        kept,
        key=lambda site: (site.is_test, site.unsure, site.file != meaning.file, site.file, site.line),
    )
    found.further = list(further)
    return found


async def _rows(
    turn: Turn, operation: GraphOperation, target: str, depth: int, found: Found
) -> AsyncIterator[dict[str, Any]]:
    """Yield the rows of all pages of the graph's answer."""
    offset = 0
    for _ in range(PAGES_MAX):
        request = GraphSearch(
            operation,
            target,
            context_lines=0,
            depth=depth,
            max_results=PAGE,
            max_per_level=PAGE,
            generation=turn.generation.number,
            offset=offset,
        )
        hits = await turn.lane("graph", request, GraphHits, ours=True)
        if hits is None:
            return
        for raw in hits.results:
            yield orjson.loads(raw)
        offset = hits.next_offset
        if not offset:
            found.further_total += hits.total_found if depth > 1 else 0
            return
    found.truncated = True


def _sites_of(row: Mapping[str, Any], name: str, operation: GraphOperation) -> Iterator[Site]:
    """Yield the places of a row: of an implementation and of a callee its definition."""
    node, text = row["node"], "".join(line["text"] for line in row.get("context") or ())
    if operation == "implementations":
        if node.get("file"):
            yield Site(node["file"], node["start_line"], name, _cut(text))
        return
    place = row.get("location")
    if place is None:
        return
    yield Site(place["file"], place["line"], name, _cut(text), _is_unsure(row))
    for site in row.get("sites", ()):
        yield Site(site["file"], site["line"], name, _cut(site.get("text", "")), site.get("unsure", False))


def _is_unsure(row: Mapping[str, Any]) -> bool:
    return len({strip_overload(name) for name in row.get("candidates", ())}) > 1


async def _find_unresolved(
    turn: Turn, name: str, meanings: Sequence[Meaning], found: Found
) -> dict[str, Any]:
    """Return the lines of code that hold the word `name` and are no site and no definition: `total`,
    the first `places`, and `imports`; {} for none.
    """
    word = name.rpartition(".")[2].removesuffix("=")
    plain = word.strip("!?$")
    if not plain.isidentifier():
        return {}
    request = ExactSearch(
        plain,
        "exact",
        limit=LINES_MAX,
        filters=turn.context.scope_filters(Filters(chunk_types=("code",))),
        detail="location",
        max_bytes=LINES_BYTES,
        generation=turn.generation.number,
        lines=LINES_MAX,
    )
    hits = await turn.lane("text", request, ExactHits, ours=True)
    if hits is None:
        return {}
    known = {site.place for site in found.sites}
    own = {(meaning.file, meaning.start) for meaning in meanings}
    places: dict[tuple[str, int], Site] = {}
    imports = 0
    for kind, site in _lines_with(word, hits):
        if site.place in known or site.place in own or site.place in places:
            continue
        if kind == "definition" or _COMMENT.match(site.text):
            continue
        if kind == "import" or _IMPORT.match(site.text):
            imports += 1
            continue
        places[site.place] = site
    if not places and not imports:
        return {}
    ordered = sorted(places.values(), key=lambda site: (site.is_test, site.file, site.line))
    shown = [
        {"file": site.file, "line": site.line, "text": _cut(site.text)} for site in ordered[:UNRESOLVED_SHOWN]
    ]
    unresolved: dict[str, Any] = {"total": len(places), "places": shown}
    if imports:
        unresolved["imports"] = imports
    return unresolved | ({"at_least": True} if hits.truncated else {})


def _lines_with(word: str, hits: ExactHits) -> Iterator[tuple[str, Site]]:
    """Yield (kind, line) of the lines that hold the word itself, and not another spelling of it."""
    pattern = re.compile(rf"(?<![\w]){re.escape(word)}(?!\w)")
    for hit, raw in zip(hits.hits, hits.chunks, strict=True):
        entry = orjson.loads(raw)
        for row in entry["text"].split("\n"):
            number, _, text = row.partition(": ")
            if number.isdecimal() and pattern.search(text):
                yield entry["metadata"]["kind"], Site(hit.path, int(number), "", text)


def _render(
    meaning: Meaning,
    direction: Direction,
    found: Found,
    unresolved: dict[str, Any],
    offset: int,
    max_bytes: int,
) -> dict[str, Any]:
    """Return the block of one meaning: as many sites with their code as fit together with the
    places of the others; else places, then numbers by file.
    """
    sites = found.sites[offset:]
    left = max_bytes - len(orjson.dumps(unresolved))
    with_code, with_place = _count_fitting(sites, left)
    block: dict[str, Any] = {
        "of": meaning.name,
        "at": f"{meaning.file}:{meaning.start}",
        "direction": direction,
        "total": len(found.sites),
        "files": _group(sites, with_code, with_place),
    }
    if counts := _count_by_file(sites[with_place:]):
        block["counts"] = counts
    if with_code < len(sites):
        block["next_offset"] = offset + max(with_code, 1)
    if found.truncated:
        block["at_least"] = True
    if unresolved:
        block["unresolved"] = unresolved
    if found.further:
        block["further"] = _further(found)
    return block


def _count_fitting(sites: Sequence[Site], max_bytes: int) -> tuple[int, int]:
    """Return (number of leading sites shown with code, number shown at all)."""
    code = [len(site.file) + len(site.name) + len(site.text) + 12 for site in sites]
    place = [
        6 + (len(site.file) if at == 0 or sites[at - 1].file != site.file else 0)
        for at, site in enumerate(sites)
    ]
    if sum(code) <= max_bytes:
        return len(sites), len(sites)
    used = sum(place)
    if used > max_bytes:
        shown = 0
        left = max_bytes - sum(len(file) + 6 for file in {site.file for site in sites})
        while shown < len(sites) and left >= place[shown]:
            left -= place[shown]
            shown += 1
        return 0, shown
    shown = 0
    while used + code[shown] - place[shown] <= max_bytes:
        used += code[shown] - place[shown]
        shown += 1
    return shown, len(sites)


def _group(sites: Sequence[Site], with_code: int, with_place: int) -> list[dict[str, Any]]:
    """Return the sites by file, in their order."""
    files: list[dict[str, Any]] = []
    before: tuple[str, bool, bool] | None = None
    for at, site in enumerate(sites[:with_place]):
        key = (site.file, site.is_test, site.unsure)
        if key != before:
            marks = {"test": True} if site.is_test else {}
            marks |= {"unsure": True} if site.unsure else {}
            files.append({"file": site.file, "sites": [], **marks})
            before = key
        files[-1]["sites"].append(site.render(with_code=at < with_code))
    return files


def _count_by_file(sites: Iterable[Site]) -> list[dict[str, Any]]:
    counts: dict[str, int] = {}
    for site in sites:
        counts[site.file] = counts.get(site.file, 0) + 1
    return [{"file": file, "count": count} for file, count in counts.items()]


def _further(found: Found) -> dict[str, Any]:
    """Return the names of the users of the users, by file."""
    files: dict[str, list[str]] = {}
    for file, name in found.further:
        files.setdefault(file, []).append(name)
    return {
        "total": len(found.further),
        "files": [{"file": file, "names": names} for file, names in files.items()],
    }


def short_name(identity: str) -> str:
    """Return the name inside its file as people write it: `Router.dispatch`; "" for a file."""
    return strip_overload(identity).partition(":")[2]


def _cut(text: str) -> str:
    text = text.strip()
    return text if len(text) <= LINE_CHARS else f"{text[:LINE_CHARS]}…"
