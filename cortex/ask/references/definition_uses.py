"""The uses of definitions: every place from the graph, and the places that name one without a
resolved use.

A name without edges in the graph (a constant, a field) is searched in the text.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import orjson

from cortex.ask.lines.code_words import names_in_code, only_code, word_pattern
from cortex.ask.lines.current_lines import CurrentSpan, Span, read_spans, read_texts
from cortex.ask.lines.declared_names import find_local_lines
from cortex.ask.lines.line_directives import find_source, point_at_sources, span_above
from cortex.ask.query_context import Turn
from cortex.ask.reading.meanings import (
    Meaning,
    choose_overload,
    find_overloads,
    short_name,
)
from cortex.ask.references.decorators import find_decorators, head_of
from cortex.ask.references.module_lines import LANGUAGES as MODULE_LANGUAGES
from cortex.ask.references.module_lines import find_module_lines, is_module, keep_called
from cortex.ask.references.other_mentions import describe_mentions
from cortex.ask.references.owners import find_owner, keep_nearest
from cortex.ask.references.use_sites import (
    LINE_CHARS,
    OVERLOADS_SHOWN,
    TESTS,
    UNRESOLVED_SHOWN,
    Place,
    Site,
    Uses,
    cut,
    render,
    size_of,
)
from cortex.ask.references.word_lines import HEAD_LINES, find_lines, list_others, search_text
from cortex.system.errors import Unavailable
from cortex.terms.budget import TOKEN_BYTES
from cortex.terms.ids import strip_overload
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS, WHOLE_KINDS
from cortex.terms.languages import language_of
from ipc.messages import GraphHits, GraphOperation, GraphSearch

Direction = Literal["callers", "callees", "implementations", "types"]

#: tokens of the answer
TOKENS = 1_200
#: fewest bytes of a site with its code
SITE_BYTES = 25
#: results of one request to the graph, and requests for one operation
PAGE, PAGES_MAX = 500, 8
#: names of functions that a language calls itself: lines with them are about other types
_CALLED_BY_LANGUAGE = re.compile(r"__\w+__|constructor")
#: begin a line above a definition, in all languages
_ANNOTATIONS = ("@", "#[", "[")
_PROPERTY = re.compile(r"\s*@(?:[\w.]*property|reify)\b")


async def find_uses_of(
    turn: Turn,
    meanings: Sequence[Meaning],
    direction: Direction = "callers",
    depth: int = 1,
    *,
    offset: int = 0,
    max_tokens: int = TOKENS,
    word: str = "",
) -> dict[str, Any]:
    """Return the uses of each of the meanings as `sites`, the other lines with their name as
    `elsewhere`, and `notes`. `word`: the name of files, as it is written. Raises NotReady.
    """
    words = {word_of(meaning) for meaning in meanings if meaning.kind not in WHOLE_KINDS} or {word}
    word = words.pop() if len(words) == 1 and direction == "callers" and not offset else ""
    if _CALLED_BY_LANGUAGE.fullmatch(word):
        word = ""
    max_bytes = max_tokens // max(1, len(meanings)) * TOKEN_BYTES
    uses = await _list_uses(turn, meanings, (direction, depth), offset, max_bytes)
    blocks, places, definitions, remarks, is_routed = uses
    answer: dict[str, Any] = {"sites": blocks}
    following = [block["next_offset"] for block in blocks if "next_offset" in block]
    for block in (block for block in blocks if "next_offset" in block):
        block["next_offset"] = min(following)
    # a full answer has no room for other lines
    if not following and (lines := await find_lines(turn, word)) is not None:
        left = None if is_routed else max_tokens * TOKEN_BYTES - sum(map(size_of, blocks))
        answer["elsewhere"] = await asyncio.to_thread(list_others, word, lines, places, definitions, left)
    return answer | {"notes": list(dict.fromkeys(filter(None, remarks)))}


async def _list_uses(
    turn: Turn, meanings: Sequence[Meaning], step: tuple[Direction, int], offset: int, max_bytes: int
) -> tuple[list[dict[str, Any]], set[Place], set[Place], list[str], bool]:
    """Return (the uses of each meaning, their places, those of the definitions, remarks, whether
    all are routed).
    """
    direction, depth = step
    blocks: list[dict[str, Any]] = []
    unresolved: list[dict[str, Any]] = []
    remarks = [meaning.remark for meaning in meanings]
    places, definitions = set[Place](), set[Place]()
    is_routed = bool(meanings)
    for meaning in meanings:
        overloads = await find_overloads(turn, meaning)
        selected = choose_overload(meaning, overloads)
        of_all = replace(meaning, id=overloads[0].id) if len(overloads) > 1 else meaning
        usage = await _find_uses_of(turn, of_all, direction, depth)
        local_places = await _find_locals(turn, meaning, direction, usage.sites)
        usage.sites = [site for site in usage.sites if site.place not in local_places]
        places.update(local_places)
        is_routed &= usage.routed
        if direction == "callers" and not (usage.sites or usage.unresolved):
            nothing = GraphHits(target=meaning.id)
            remarks.append(await describe_mentions(turn, GraphSearch("dependents", meaning.id), nothing))
        head: dict[str, Any] = {
            "of": meaning.name,
            "at": (selected or overloads[0]).place,
            "direction": direction,
        }
        if meaning.file.startswith(f"{meaning.id}/"):
            del head["at"]
        definitions.update((overload.file, overload.start) for overload in overloads)
        places.update(site.place for site in usage.sites)  # with those of other overloads
        if len(overloads) > 1 and direction == "callers":
            head |= _split_by_overload(usage, overloads, selected)
        if usage.unresolved in unresolved or offset:  # another meaning has the same name
            usage.unresolved = {}
        unresolved.append(usage.unresolved)
        usage.unresolved = _drop_sites(usage)
        await _read_code(turn, usage, meaning, direction, slice(offset, offset + max_bytes // SITE_BYTES))
        places.update(usage.places)
        if usage.moved:
            remarks.append(
                f"{usage.moved} place{'s' * (usage.moved > 1)} moved: names are being linked; ask again."
            )
        head |= {"decorators": usage.decorators} if usage.decorators and not offset else {}
        blocks.append(render(usage, offset, max_bytes, head))
    return blocks, places, definitions, remarks, is_routed


def _drop_sites(usage: Uses) -> dict[str, Any]:
    """Return the unresolved uses that are no sites: a request's receiver is of unknown type, and
    its path still leads to the definition.
    """
    listed = usage.unresolved.get("places", [])
    sites = {site.place for site in usage.sites}
    places = [place for place in listed if tuple(place) not in sites]
    total = usage.unresolved.get("total", 0) - len(listed) + len(places)
    return usage.unresolved | {"total": total, "places": places} if total else {}


def _split_by_overload(usage: Uses, overloads: Sequence[Meaning], selected: Meaning | None) -> dict[str, Any]:
    """Mark each site with the line of the overload that it uses, where the graph knows it; of one
    overload that is `selected` keep its sites alone. Return the places of the overloads for the
    heading, and the numbers of the sites of the others.
    """
    starts = {overload.id: overload for overload in overloads}
    for at, site in enumerate(usage.sites):
        targets = [starts[end] for end in site.ends if end in starts]
        line = targets[0].start if len(targets) == 1 and len(site.ends) == 1 else 0
        usage.sites[at] = replace(site, overload=0 if selected else line)
    if selected is None:
        places = [overload.place for overload in overloads[1:]]
        more = len(places) - OVERLOADS_SHOWN
        shown = {"overloads": places[:OVERLOADS_SHOWN]}
        return shown | ({"more_overloads": more} if more > 0 else {})
    others: dict[str, int] = {}
    for site in usage.sites:
        ends = [end for end in site.ends if end in starts]
        if ends and selected.id not in ends:
            others[ends[0]] = others.get(ends[0], 0) + 1
    usage.sites = [
        site
        for site in usage.sites
        if selected.id in site.ends or not any(end in starts for end in site.ends)
    ]
    return {"others": [{"at": starts[end].place, "total": total} for end, total in others.items()]}


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
    usage, sites = Uses(), dict[tuple[str, int], Site]()
    routes: dict[tuple[str, int], set[str]] = {}
    routed = set[Place]()
    own_places = set[Place]()  # of a type: they follow the others, as all builders return it
    for operation in _operations(meaning, direction):
        rows, unresolved = await _rows(turn, operation, meaning.id, depth, usage)
        for row in rows:
            name = row["node"].get("route") or short_name(row["node"]["id"])
            if row["depth"] > 1:
                usage.further.setdefault((row["node"].get("file", ""), name))
                usage.steps = max(usage.steps, row["depth"])
                continue
            for site in _sites_of(row, name, operation):
                same = sites.setdefault(site.place, site)
                if _is_own(site, row, meaning, operation):
                    own_places.add(site.place)
                names = routes.setdefault(site.place, {same.name})
                if "route" in row["node"]:
                    routed.add(site.place)
                if "route" in row["node"] and name not in names:
                    names.add(name)
                    sites[site.place] = replace(same, name=_join_routes(same.name, name))
        usage.unresolved = usage.unresolved or unresolved
    if direction in ("callers", "types") and meaning.kind not in WHOLE_KINDS:
        rows, _ = await _rows(turn, "dependents", meaning.id, 1, Uses())
        places = (row["location"] for row in rows if row.get("edge") == "imports")
        usage.imports = sorted({(place["file"], place["line"]) for place in places})
        if not sites and (not usage.unresolved or await _is_property(turn, meaning, usage)):
            usage.unresolved = {}
            excluded = dict.fromkeys((*usage.imports, (meaning.file, meaning.start)))
            owner = await find_owner(turn, meaning)
            is_member = "." in meaning.name
            text = await search_text(
                turn,
                word_of(meaning),
                excluded,
                owner,
                home="" if is_member else meaning.file,
                modules=_modules_of(meaning.file)
                if meaning.kind in CALLABLE_KINDS and not is_member
                else None,
            )
            imports = sorted({*usage.imports, *text.imports})
            keep = keep_called if language_of(meaning.file).name in MODULE_LANGUAGES else keep_nearest
            nearest = text.sites if owner else await keep(turn, meaning, text.sites)
            return replace(text, sites=nearest, imports=imports)
    if direction == "callers" and not sites and is_module(meaning):
        return await find_module_lines(turn, meaning)
    is_action = bool(routed) and meaning.kind == "method"
    usage.routed = is_action and all(
        site.place in routed or site.rank >= TESTS or site.file == meaning.file for site in sites.values()
    )
    usage.sites = sorted(
        sites.values(),
        key=lambda site: (
            site.rank,
            site.unsure,
            site.place in own_places,
            site.file != meaning.file,
            site.file,
            site.line,
        ),
    )
    return usage


def _is_own(site: Site, row: Mapping[str, Any], meaning: Meaning, operation: GraphOperation) -> bool:
    """Return True for a use of a type in its own methods, and in the heads of its `impl` blocks."""
    if meaning.kind not in TYPE_KINDS:
        return False
    is_head = operation == "type_usages" and site.file == meaning.file and ":" not in row["node"]["id"]
    return is_head or site.name.startswith(f"{meaning.name}.")


async def _find_locals(
    turn: Turn, meaning: Meaning, direction: Direction, sites: Sequence[Site]
) -> set[Place]:
    """Return the lines inside of a definition that hold its name as a variable alone."""
    is_called = direction == "callers" and meaning.kind not in (*WHOLE_KINDS, *TYPE_KINDS)
    inside = range(meaning.start + 1, meaning.end + 1)
    if not is_called or not any(site.file == meaning.file and site.line in inside for site in sites):
        return set()
    try:
        (span,) = await read_spans(turn, [Span(meaning.file, meaning.start, meaning.end)])
    except Unavailable:
        return set()
    if span.stale or span.start != meaning.start or not span.lines:
        return set()
    lines = dict(enumerate(span.lines, span.start))
    return {(meaning.file, line) for line in find_local_lines(meaning.file, lines, word_of(meaning))}


def _modules_of(path: str) -> frozenset[str]:
    """Return the names by which other files may call a module: that of its file and its folder."""
    folder, _, name = path.rpartition("/")
    return frozenset((name.partition(".")[0], folder.rpartition("/")[2]))


def _join_routes(names: str, name: str) -> str:
    """Return the names of routes of one line: `PUT, PATCH /orders`, else `GET /a, GET /b`."""
    methods, _, path = names.rpartition(" ")
    method, _, other_path = name.rpartition(" ")
    return f"{methods}, {method} {path}" if method and path == other_path else f"{names}, {name}"


async def _is_property(turn: Turn, meaning: Meaning, usage: Uses) -> bool:
    """Whether a function is read as an attribute, and its unresolved uses have no places."""
    if usage.unresolved.get("places"):
        return False
    try:
        (span,) = await read_spans(turn, [Span(meaning.file, meaning.start, meaning.start + 2)])
    except Unavailable:
        return False
    return any(map(_PROPERTY.match, span.lines))


async def _read_code(turn: Turn, usage: Uses, meaning: Meaning, direction: Direction, shown: slice) -> None:
    """Read the lines of code of the sites `shown`, and of the unresolved uses; numbers follow a
    file that has changed. Without a worker that has them the sites stay without code.
    """
    unresolved = [Site(file, line, "") for file, line in usage.unresolved.get("places", ())]
    sites = [] if usage.textual else usage.sites[shown]
    # an implementation begins with its annotations
    below = HEAD_LINES - 1 if direction == "implementations" else 0
    spans = [Span(site.file, site.line, site.line + below) for site in (*sites, *unresolved)]
    above = {at: span for at, site in enumerate(sites) if (span := span_above(site))}
    head = head_of(meaning) if direction == "callers" else None
    try:
        read = await read_spans(turn, [*([head] if head else []), *spans, *above.values()])
        if head:
            routes = {site.line for site in usage.sites if site.file == meaning.file}
            decorators = find_decorators(meaning, read.pop(0))
            usage.decorators = [row for row in decorators if row["line"] not in routes]
        code = [
            site if span.stale or not span.lines else _show_line(site, span)
            for site, span in zip((*sites, *unresolved), read, strict=False)
        ]
        directives = zip(above, map(find_source, read[len(spans) :]), strict=True)
        await point_at_sources(turn, code, {at: span for at, span in directives if span}, meaning.name)
    except Unavailable:
        return
    if unresolved:
        name, is_callable = usage.unresolved["name"], meaning.kind in CALLABLE_KINDS
        texts = [span.lines[0] if span.lines else "" for span in read[len(sites) : len(spans)]]
        named = [
            site
            for site, text in zip(code[len(sites) :], texts, strict=True)
            if not text or names_in_code(site.file, text, name, as_function=is_callable)
        ]
        total = usage.unresolved["total"] - len(unresolved) + len(named)
        places = [site.place for site in named]
        usage.unresolved = {"name": name, "total": total, "places": places} if total else {}
        usage.unresolved_shown = named[: 0 if usage.routed else UNRESOLVED_SHOWN]
    if sites:
        named = await _drop_moved(turn, meaning, direction, code[: len(sites)])
        usage.sites[shown], usage.moved = named, len(sites) - len(named)


async def _drop_moved(turn: Turn, meaning: Meaning, direction: Direction, sites: list[Site]) -> list[Site]:
    """Return the sites without those whose lines lack the name of the definition, and its other
    names in their file, while names are being linked: the places are those of the files before a
    change, and the lines of after it.
    """
    word = word_of(meaning).rstrip("!?=")
    is_written = direction in ("callers", "types") and meaning.kind not in WHOLE_KINDS
    is_written = is_written and word.isidentifier() and not _CALLED_BY_LANGUAGE.fullmatch(word)
    if not is_written or not turn.context.freshness.may_be_unlinked(turn.generation):
        return sites
    doubted = {site for site in sites if site.text and word not in site.text and "/" not in site.name}
    doubted = {site for site in doubted if len(site.text) <= LINE_CHARS}  # the name of others is a route
    texts = await read_texts(turn, sorted({site.file for site in doubted})) if doubted else {}
    alias = re.compile(rf"\b{word}\s*(?:\bas\b|:)\s*(\w+)|(?<!\w)(\w+)\s*=\s*(?:\w+\.)*{word}\b(?!\s*\()")
    names = {
        file: {name for pair in alias.findall(text) for name in pair if name} for file, text in texts.items()
    }
    return [
        site
        for site in sites
        if site not in doubted or any(name in site.text for name in names.get(site.file, ()))
    ]


def _show_line(site: Site, span: CurrentSpan) -> Site:
    """Return a site at the line of a span that names it, behind annotations; else at the first."""
    word = word_pattern(site.name.rpartition(".")[2], site.file)
    code = only_code(site.file, span.text).split("\n") if len(span.lines) > 1 else []
    naming = [at for at, line in enumerate(code) if word.search(line)]
    plain = (at for at in naming if not code[at].lstrip().startswith(_ANNOTATIONS))
    at = next(plain, naming[0] if naming else 0)
    return replace(site, line=span.start + at, text=cut(span.lines[at]))


async def _rows(
    turn: Turn, operation: GraphOperation, target: str, depth: int, usage: Uses
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return (all pages' rows, unresolved uses); `usage` learns whether rows are missing."""
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
            ends=True,
        )
        hits = await turn.lane("graph", request, GraphHits, ours=True)
        if hits is None:
            return rows, unresolved
        rows += map(orjson.loads, hits.results)
        offset, unresolved = hits.next_offset, hits.unresolved
        if not offset:
            return rows, unresolved
    usage.truncated = True
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
    further = [(site, site.get("unsure", False)) for site in row.get("sites", ())]
    for spot, unsure in ((place | {"ends": row.get("ends", ())}, _is_unsure(row)), *further):
        yield Site(spot["file"], spot["line"], name, unsure=unsure, ends=tuple(spot.get("ends", ())))


def _is_unsure(row: Mapping[str, Any]) -> bool:
    candidates = {strip_overload(name) for name in row.get("candidates", ())}
    return len(candidates) > 1 or (len(candidates) == 1 and row.get("confidence") == "name")


async def have_uses(turn: Turn, files: Sequence[Meaning]) -> bool:
    """Whether the graph has uses of one of the files."""
    for meaning in files:
        rows, _ = await _rows(turn, "dependents", meaning.id, 1, Uses())
        if rows:
            return True
    return False


def word_of(meaning: Meaning) -> str:
    return meaning.name.rpartition(".")[2]
