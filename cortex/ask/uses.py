"""The answer of cortex_uses: every place that uses a definition, from the graph, and the places
that name it without a resolved use.

A name without edges in the graph (a constant, a field, an unknown word) is searched in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

from cortex.ask.current_lines import Span, read_spans
from cortex.ask.functions import ask_graph
from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.questions import TOKEN_BYTES
from cortex.ask.use_sites import UNRESOLVED_SHOWN, Site, Uses, cut, render
from cortex.query.check import check_text
from cortex.ranking.traces import looks_like_path
from cortex.system.errors import BadRequest, Unavailable
from cortex.terms.bounds import clamp
from cortex.terms.ids import strip_overload
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS, WHOLE_KINDS
from cortex.terms.languages import language_of
from cortex.terms.paths import is_test, is_unshipped
from cortex.terms.spelling import read_symbol
from ipc.messages import ExactHits, ExactSearch, Filters, GraphHits, GraphOperation, GraphSearch

Direction = Literal["callers", "callees", "implementations", "types"]

#: tokens of the answer, their bounds, and the largest number of steps
TOKENS, TOKENS_MIN, TOKENS_MAX, DEPTH_MAX = 1_200, 200, 20_000, 3
#: fewest bytes of a site with its code
SITE_BYTES = 25
#: meanings of an ambiguous name that are answered together
MEANINGS_MAX = 3
#: results of one request to the graph, and requests for one operation
PAGE, PAGES_MAX = 500, 8
#: lines that are searched for a name, and their bytes
LINES_MAX, LINES_BYTES = 5_000, 2_000_000
_IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|(?:pub(?:\([^)]*\))?\s+)?use\s|using\s|#\s*include\b|require\b)"
)
_COMMENT = re.compile(r"\s*(?:#(?!\[|include|define|if)|//|/\*|\*(?:\s|/|$)|--\s|;;|<!--|%\s|\"\"\")")


@dataclass(frozen=True, slots=True)
class UsesQuestion:
    """A question for the uses of `symbol`, as people write it."""

    symbol: str
    direction: Direction = "callers"
    depth: int = 1
    offset: int = 0
    max_tokens: int = TOKENS

    def checked(self) -> UsesQuestion:
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
        return short_name(self.id) or self.id


async def uses(context: QueryContext, question: UsesQuestion) -> dict[str, Any]:
    """Answer cortex_uses. Raises BadRequest, and Unavailable when the graph worker is silent."""
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
    """Return the uses of each meaning of `symbol` as `sites`, `notes`, and a `suggestion` if the
    symbol is unknown. Raises NotReady, BadRequest.
    """
    meanings, suggestion = await find_meanings(turn, symbol)
    max_bytes = max_tokens // max(1, len(meanings)) * TOKEN_BYTES
    blocks = []
    for meaning in meanings:
        found = await _find_uses_of(turn, meaning, direction, depth)
        await _read_code(turn, found, slice(offset, offset + max_bytes // SITE_BYTES))
        head = {"of": meaning.name, "at": f"{meaning.file}:{meaning.start}", "direction": direction}
        blocks.append(head | render(found, offset, max_bytes))
    following = [block["next_offset"] for block in blocks if "next_offset" in block]
    for block in (block for block in blocks if "next_offset" in block):
        block["next_offset"] = min(following)
    notes = list(dict.fromkeys(filter(None, (meaning.remark for meaning in meanings))))
    if not meanings and direction in ("callers", "types") and not looks_like_path(symbol):
        name = (read_symbol(symbol) or (symbol,))[0].rpartition(".")[2]
        found = await _search_text(turn, name, {})
        if found.textual:
            blocks.append({"of": name, "direction": direction} | render(found, offset, max_bytes))
    return {"sites": blocks, "notes": notes, "suggestion": suggestion}


async def find_meanings(turn: Turn, symbol: str) -> tuple[list[Meaning], str]:
    """Return the definitions that `symbol` means, and a sentence where it means none or more than
    MEANINGS_MAX. Raises NotReady.
    """
    # the path from a name to itself is the definition that it means
    (hits,) = await ask_graph(turn, [GraphSearch("path", symbol, to=symbol)])
    if hits is None:
        return [], ""
    if hits.results:
        return [_meaning(hits)], ""
    candidates = _likely(symbol, hits.candidates) if hits.ambiguous else ()
    if not 0 < len(candidates) <= MEANINGS_MAX:
        return [], hits.suggestion
    answers = await ask_graph(turn, [GraphSearch("path", name, to=name) for name in candidates])
    meanings = [_meaning(answer) for answer in answers if answer is not None and answer.results]
    # a constant of the same name mostly exports the function: `const { save } = require("./save")`
    named = [meaning for meaning in meanings if meaning.kind in CALLABLE_KINDS | TYPE_KINDS]
    meanings = named or meanings
    return meanings, "" if meanings else hits.suggestion


def _likely(symbol: str, candidates: Sequence[str]) -> Sequence[str]:
    """Return the candidates that the symbol means rather than the others: shipped sources before
    tests and built files; those in the folder that is named before the name, as in `tokio::spawn`.
    """
    paths = {name: name.partition(":")[0] for name in candidates}
    shipped = [name for name, path in paths.items() if not (is_unshipped(path) or is_test(path))]
    owners = set((read_symbol(symbol) or ("",))[0].split(".")[:-1])
    inside = [
        name
        for name in shipped or candidates
        if owners.intersection(paths[name].split("/")) and "." not in short_name(name)
    ]
    return inside or shipped or candidates


def _meaning(hits: GraphHits) -> Meaning:
    node = orjson.loads(hits.results[0])["node"]
    lines = node.get("start_line", 0), node.get("end_line", 0)
    return Meaning(node["id"], node["kind"], node.get("file", ""), *lines, hits.suggestion)


def _operations(meaning: Meaning, direction: Direction) -> tuple[GraphOperation, ...]:
    """Return the operations of the graph that answer `direction` for a definition of this kind."""
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


async def _find_uses_of(turn: Turn, meaning: Meaning, direction: Direction, depth: int) -> Uses:
    """Return the uses of a definition: each place once, in the order of the answer."""
    found, sites = Uses(), dict[tuple[str, int], Site]()
    for operation in _operations(meaning, direction):
        rows, unresolved = await _rows(turn, operation, meaning.id, depth, found)
        for row in rows:
            name = short_name(row["node"]["id"])
            if row["depth"] > 1:
                found.further.setdefault((row["node"].get("file", ""), name))
                continue
            for site in _sites_of(row, name, operation):
                sites.setdefault(site.place, site)
        found.unresolved = found.unresolved or unresolved
    if direction in ("callers", "types") and meaning.kind not in WHOLE_KINDS:
        rows, _ = await _rows(turn, "dependents", meaning.id, 1, Uses())
        places = (row["location"] for row in rows if row.get("edge") == "imports")
        found.imports = sorted({(place["file"], place["line"]) for place in places})
        if not sites and not found.unresolved:
            known = dict.fromkeys((*found.imports, (meaning.file, meaning.start)))
            text = await _search_text(turn, meaning.name, known)
            return replace(text, imports=sorted({*found.imports, *text.imports}))
    found.sites = sorted(
        sites.values(),
        key=lambda site: (site.rank, site.unsure, site.file != meaning.file, site.file, site.line),
    )
    return found


async def _read_code(turn: Turn, found: Uses, shown: slice) -> None:
    """Read the lines of code of the sites `shown`, and of the first unresolved uses; numbers follow
    a file that has changed. Without a worker that has them the sites stay without code.
    """
    unresolved = [Site(file, line, "") for file, line in found.unresolved.get("places", ())]
    first = unresolved[:UNRESOLVED_SHOWN]
    sites = [] if found.textual else found.sites[shown]
    spans = [Span(site.file, site.line, site.line) for site in (*sites, *first)]
    try:
        read = await read_spans(turn, spans)
    except Unavailable:
        return
    code = [
        site if span.stale or not span.lines else replace(site, line=span.start, text=cut(span.lines[0]))
        for site, span in zip((*sites, *first), read, strict=True)
    ]
    found.unresolved_shown = code[len(sites) :]
    if sites:
        found.sites[shown] = code[: len(sites)]


async def _rows(
    turn: Turn, operation: GraphOperation, target: str, depth: int, found: Uses
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return (the rows of all pages of the graph's answer, the unresolved uses). `found` learns
    whether rows are missing.
    """
    rows: list[dict[str, Any]] = []
    unresolved: dict[str, Any] = {}
    offset = 0
    for _ in range(PAGES_MAX):
        request = GraphSearch(
            operation,
            target,
            include_context=False,
            depth=depth if operation in ("callers", "callees") else 1,
            max_results=PAGE,
            max_per_level=PAGE,
            generation=turn.generation.number,
            offset=offset,
            recursive=operation == "callers",
        )
        hits = await turn.lane("graph", request, GraphHits, ours=True)
        if hits is None:
            return rows, unresolved
        rows += map(orjson.loads, hits.results)
        offset, unresolved = hits.next_offset, hits.unresolved
        if not offset:
            return rows, unresolved
    found.truncated = True
    return rows, unresolved


def _sites_of(row: Mapping[str, Any], name: str, operation: GraphOperation) -> Iterator[Site]:
    """Yield the places of a row; of an implementation its definition."""
    node = row["node"]
    if operation == "implementations":
        if node.get("file"):
            yield Site(node["file"], node["start_line"], name)
        return
    place = row.get("location")
    if place is None:
        return
    if operation == "callees" and node.get("file"):
        name = f"{name} ({node['file']}:{node['start_line']})"
    yield Site(place["file"], place["line"], name, unsure=_is_unsure(row))
    for site in row.get("sites", ()):
        yield Site(site["file"], site["line"], name, unsure=site.get("unsure", False))


def _is_unsure(row: Mapping[str, Any]) -> bool:
    return len({strip_overload(name) for name in row.get("candidates", ())}) > 1


async def _search_text(turn: Turn, name: str, known: Mapping[tuple[str, int], None]) -> Uses:
    """Return the lines of code that hold the word `name`, without comments, imports, definitions
    and the places in `known`.
    """
    word = name.rpartition(".")[2].removesuffix("=")  # Ruby calls its setters without it
    plain = word.strip("!?$")
    found = Uses(textual=True)
    if not plain.isidentifier():
        return Uses()
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
        return Uses()
    sites: dict[tuple[str, int], Site] = {}
    for kind, site in _lines_with(word, hits):
        is_code = language_of(site.file).kind == "code" and not _COMMENT.match(site.text)
        if site.place in known or kind == "definition" or not is_code:
            continue
        if kind == "import" or _IMPORT.match(site.text):
            found.imports.append(site.place)
        else:
            sites.setdefault(site.place, replace(site, text=cut(site.text)))
    found.imports = sorted(set(found.imports))
    found.sites = sorted(sites.values(), key=lambda site: site.order)
    found.truncated = hits.truncated
    return found if sites or found.imports else Uses()


def _lines_with(word: str, hits: ExactHits) -> Iterator[tuple[str, Site]]:
    """Yield (kind, line) of the lines that hold the word itself, and not another spelling of it."""
    pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    for hit, raw in zip(hits.hits, hits.chunks, strict=True):
        entry = orjson.loads(raw)
        for row in entry["text"].split("\n"):
            number, _, text = row.partition(": ")
            if number.isdecimal() and pattern.search(text):
                yield entry["metadata"]["kind"], Site(hit.path, int(number), "", text)


def short_name(identity: str) -> str:
    """Return the name inside its file as people write it: `Router.dispatch`; "" for a file."""
    return strip_overload(identity).partition(":")[2]
