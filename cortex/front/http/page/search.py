"""The view of search: four query types, and the reasons for each result's rank."""

import asyncio
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cortex.ask.questions import TOKENS_MAX
from cortex.front.http.page.frame import Action, View, Visit, text_of
from cortex.front.http.page.parts import code, sources
from cortex.front.http.page.parts.query_filters import (
    KINDS,
    SWITCHES,
    FilteredQuery,
    complete,
    filtered_files,
    narrow,
    read_filters,
)
from cortex.front.text.lines import count
from cortex.query.leaf import whole_words
from cortex.system.errors import BadRequest

#: maxima of shown results: at first, and after "Show more"
RESULTS_MAX, MORE_MAX = 20, 100
#: query type → an example
WAYS = {
    "meaning": "how are expired sessions removed",
    "words": "refresh AND token NOT test",
    "expression": r"def \w+_token\(",
    "structure": "rotate($TOKEN)",
}
#: results that define the name of a query and come first
DEFINITIONS_MAX = 3
#: query types with `case:yes`, `word:yes` and facets
EXACT_WAYS = ("words", "expression")
#: signal of the ranking → its name on the page
SIGNALS = {
    "ctop3": "words in the text",
    "path": "words in the path",
    "sshare": "name of the file",
    "folders": "names of folders",
    "defs": "names it defines",
    "comments": "words in comments",
    "defx": "defines the queried name",
    "smax": "meaning",
    "refs": "references",
    "test": "is a test",
    "example": "is an example",
    "foreign": "not written by hand",
    "superseded": "has a successor",
    "cited": "named in the question",
}
#: stop words of a question
_EMPTY = frozenset(
    "the and for are how does what where when which who why with from into that this not".split()
)
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"(?:sym(?:bols?)?:)?([^\W\d]\w{2,})")
#: a word that is nowhere, and the nearest one
_NEAREST = re.compile(r"`([^`]+)` \(did you mean `([^`]+)`")
_MARK = re.compile(r"</?em>")


@dataclass(frozen=True, slots=True)
class Bar:
    """One reason for a rank; `share`: -1 to 1, relative to the largest among the results."""

    name: str
    value: str
    share: float


@dataclass(frozen=True, slots=True)
class ResultRow:
    file: str
    line: int
    title: str
    chips: tuple[str, ...]
    score: str
    lines: list[code.CodeLine]
    why: list[Bar]
    stale: bool


async def show(visit: Visit) -> dict[str, Any]:
    return {
        "ways": WAYS,
        "kinds": KINDS,
        "switches": SWITCHES,
        "languages": await sources.languages(visit.hosted.config),
        "root": str(visit.hosted.config.root) if visit.is_local else "",
    }


#: fields of every answer
_NOTHING: dict[str, Any] = {
    "found": [],
    "files": [],
    "facets": [],
    "total": 0,
    "took_ms": 0,
    "suggestion": "",
    "nearest": "",
    "fault": "",
    "filtered": False,
    "more": False,
}


async def find(visit: Visit, body: dict[str, Any]) -> dict[str, Any]:
    """Return {"query", "found", "total", "took_ms", "suggestion", "fault", "filtered", "more"}, for
    filters alone "files", and for words and expressions "facets".

    `body["more"]` asks for MORE_MAX results; "more": there may be further ones. "fault" explains an
    invalid query: a person is still typing it, so it is no error. Raises BadRequest, and the tools'
    errors.
    """
    way, query = text_of(body, "way", "meaning"), text_of(body, "query").strip()
    if way not in WAYS:
        raise BadRequest(f"`way` must be one of: {', '.join(WAYS)}.")
    nothing = _NOTHING | {"query": query}
    if not query:
        return nothing
    try:
        filtered = read_filters(query, await sources.languages(visit.hosted.config))
        if not filtered.text:
            entries = (await asyncio.to_thread(sources.listing, visit.hosted.config)).files
            shown = [path for path, entry in entries.items() if not entry.skipped]
            files = await asyncio.to_thread(filtered_files, filtered, shown)
            return nothing | {"filtered": True, "files": files[:MORE_MAX], "total": len(files)}
    except BadRequest as error:
        return nothing | {"fault": str(error)}
    switches = filtered.switches | {name for name in SWITCHES if body.get(name) == "yes"}
    if switches and way not in EXACT_WAYS:
        return nothing | {"fault": f"{min(switches)}:yes is for Words and Expression."}
    query = filtered.text
    tool, arguments = _question(way, filtered, switches, body)
    if way == "structure" and not arguments["language"]:
        return nothing | {"fault": "Choose a language: structure is a matter of its grammar."}
    name = _NAME.fullmatch(query) if way == "words" and not switches else None
    try:
        answer, rows = await asyncio.gather(
            visit.call(tool, arguments),
            _definitions(visit, name[1], arguments) if name else asyncio.sleep(0, []),
        )
    except BadRequest as error:
        return nothing | {"fault": str(error)}
    first = {row["chunk"]["id"] for row in rows}
    rows += [row for row in answer["results"] if not first or row["chunk"]["id"] not in first]
    rows = rows[: arguments["limit"]]
    results = _structure_rows(rows, arguments["language"]) if way == "structure" else _chunk_rows(rows, query)
    return nothing | {
        "found": _group_by_file(results),
        "total": answer.get("total_found", len(results)),
        "facets": _facets(answer.get("facets", {}), text_of(body, "query")),
        "took_ms": answer.get("metadata", {}).get("took_ms", 0),
        "suggestion": answer.get("suggestion", ""),
        "nearest": _with_nearest(answer.get("suggestion", ""), text_of(body, "query")),
        "more": len(results) == arguments["limit"] < MORE_MAX,
    }


async def completions(visit: Visit, body: dict[str, Any]) -> dict[str, Any]:
    """Return {"words"}: the words that the begun `body["word"]` of the query may become."""
    config = visit.hosted.config
    languages, listed = await asyncio.gather(
        sources.languages(config), asyncio.to_thread(sources.listing, config)
    )
    word = text_of(body, "word")
    return {"words": await asyncio.to_thread(complete, word, languages, listed.files)}


def _facets(
    counted: Mapping[str, Mapping[str, int]], query: str
) -> list[tuple[str, list[tuple[str, int, str]]]]:
    """Return (title, (name, results, query with the filter)) of each facet that parts them."""
    return [
        (title, [(name, count, narrow(query, filter_name, name)) for name, count in counts.items()])
        for title, filter_name in (("languages", "lang"), ("folders", "path"))
        if len(counts := counted.get(title, {})) > 1
    ]


def _with_nearest(suggestion: str, query: str) -> str:
    """Return the query with the nearest word in place of one that is nowhere; "" for none."""
    match = _NEAREST.search(suggestion)
    return query.replace(match[1], match[2]) if match and match[1] in query else ""


def _question(
    way: str, filtered: FilteredQuery, switches: frozenset[str], body: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the tool for a query type, and its arguments; filters in the query count first."""
    language, path, kind = (text_of(body, name).strip() for name in ("language", "path", "kind"))
    language, kind, query = filtered.language or language, filtered.kind or kind, filtered.text
    wanted = filtered.paths or ((path,) if path else ())
    paths: dict[str, Any] = {"paths": wanted} if wanted else {}
    if filtered.exclude_paths:
        paths["exclude_paths"] = filtered.exclude_paths
    common = paths | {"limit": MORE_MAX if body.get("more") is True else RESULTS_MAX}
    if way == "structure":
        return "cortex_pattern", {"pattern": query, "language": language} | common
    arguments: dict[str, Any] = {"query": query, "detail": "snippet", "max_tokens": TOKENS_MAX} | common
    if language:
        arguments["tags"] = [language]
    if kind:
        arguments["chunk_types"] = [kind]
    if way == "meaning":
        return "cortex_search", arguments | {"explain": True}
    arguments["facets"] = True
    if way == "expression":
        source = whole_words(query) if "word" in switches else query
        case = "(?-i)" if "case" in switches else ""
        return "cortex_exact", arguments | {"query": case + source, "match_type": "regex"}
    return "cortex_exact", arguments | {"query": " ".join([query, *(f"{name}:yes" for name in switches)])}


async def _definitions(visit: Visit, name: str, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return results that define a name, code before tests, as readers look for them first."""
    wanted = {"query": f"{name} symbols:{name}", "limit": RESULTS_MAX, "facets": False}
    rows = (await visit.call("cortex_exact", {**arguments, **wanted}))["results"]
    defining = [row for row in rows if name in row["chunk"]["metadata"].get("symbols", ())]
    defining.sort(key=lambda row: bool(row["chunk"]["metadata"].get("is_test")))
    return [{**row, "defines": True} for row in defining[:DEFINITIONS_MAX]]


def _group_by_file(rows: list[ResultRow]) -> list[ResultRow]:
    """Return each file's rows after its best; rows of "Show more" stay behind the first ones."""
    groups: dict[tuple[bool, str], list[ResultRow]] = {}
    for at, row in enumerate(rows):
        groups.setdefault((at >= RESULTS_MAX, row.file), []).append(row)
    return [row for group in groups.values() for row in group]


def _chunk_rows(rows: list[dict[str, Any]], query: str) -> list[ResultRow]:
    reasons = [_reasons(row, rows) for row in rows]
    most = max((abs(points) for row_reasons in reasons for _, points, _ in row_reasons), default=0.0) or 1.0
    return [
        _result_row(row, query, [Bar(name, written, points / most) for name, points, written in row_reasons])
        for row, row_reasons in zip(rows, reasons, strict=True)
    ]


def _result_row(row: Mapping[str, Any], query: str, why: list[Bar]) -> ResultRow:
    chunk = row["chunk"]
    metadata, defines = chunk["metadata"], "defines it" if row.get("defines") else ""
    text, first = chunk.get("text", ""), metadata.get("snippet_start_line", metadata.get("start_line", 1))
    lines = code.lines_of(text, metadata.get("language", ""), first, _marks(row, text, first, query))
    hit = next((line.number for line in lines if line.hit), first)
    return ResultRow(
        metadata.get("file_path", chunk.get("title", "")),
        hit,
        _location(chunk),
        tuple(filter(None, (chunk.get("chunk_type", ""), metadata.get("language", ""), defines))),
        f"{row.get('combined_score', row.get('score', 0.0)):.3f}",
        lines,
        why,
        bool(row.get("stale")),
    )


def _location(chunk: Mapping[str, Any]) -> str:
    """Return the scope or the heading of a chunk in its file."""
    metadata = chunk["metadata"]
    _, _, heading = chunk.get("title", "").partition(" › ")
    return str(metadata.get("scope") or heading)


def _marks(row: Mapping[str, Any], text: str, first: int, query: str) -> list[code.Span]:
    """Return the matched spans on the highlighted lines; for a query by meaning, its words."""
    if "highlights" not in row:
        question_words = (word for word in _WORD.findall(query.lower()) if word not in _EMPTY)
        return code.spans_of(text, question_words)
    spans: list[code.Span] = []
    begins = [0, *(match.end() for match in re.finditer("\n", text))]
    for marked, number in zip(row["highlights"], row["highlight_lines"], strict=True):
        if 0 <= number - first < len(begins):
            begin = begins[number - first]
            line = text[begin:].partition("\n")[0]
            spans += [(begin + start, begin + end) for start, end in _spans_in(line, marked)]
    return spans


def _spans_in(line: str, marked: str) -> list[code.Span]:
    """Return the spans between <em> and </em> of `marked`, the line or a part of it between two …;
    none for a line that holds such tags itself.
    """
    pieces = _MARK.split(marked)
    plain = "".join(pieces)
    start = line.find(plain.strip("…")) - (len(plain) - len(plain.lstrip("…")))
    if plain.strip("…") not in line:
        return []
    ends = list(itertools.accumulate(map(len, pieces), initial=start))
    return [(ends[at], ends[at + 1]) for at in range(1, len(pieces), 2)]


def _reasons(row: Mapping[str, Any], rows: list[dict[str, Any]]) -> list[tuple[str, float, str]]:
    """Return (name, points, points as text) of each reason, the largest first."""
    signals = row.get("explain", {}).get("signals", {})
    signal_reasons = [
        (SIGNALS.get(name, name), signal["points"], f"{signal['points']:+.3f}")
        for name, signal in signals.items()
        if abs(signal["points"]) >= 0.0005
    ]
    if signals:
        return sorted(signal_reasons, key=lambda reason: -abs(reason[1]))
    most = max((other.get("score", 0.0) for other in rows), default=0.0) or 1.0
    lines = len(row.get("highlight_lines", ()))
    reasons = [("words, by rarity", row.get("score", 0.0) / most, f"{row.get('score', 0.0):.3f}")]
    if lines:
        largest = max(len(other.get("highlight_lines", ())) for other in rows)
        reasons.append(("lines that match", lines / largest, str(lines)))
    return reasons


def _structure_rows(rows: list[dict[str, Any]], language: str) -> list[ResultRow]:
    return [
        ResultRow(
            row["file"],
            row["start_line"],
            "",
            (language, f"column {row['column']}"),
            "",
            code.lines_of(row["text"], language, row["start_line"], [(0, len(row["text"]))]),
            [
                Bar("matches the pattern", count(row["end_line"] - row["start_line"] + 1, "line"), 0.0),
                *(Bar(f"${name}", str(value), 0.0) for name, value in row.get("variables", {}).items()),
            ],
            bool(row.get("stale")),
        )
        for row in rows
    ]


VIEW = View(
    "search",
    "Search",
    show,
    {"find": Action(find, "results.html"), "complete": Action(completions)},
    styles=("graph.css",),
)
