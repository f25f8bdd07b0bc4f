"""The tool cortex_graph: callers, implementations and dependencies of definitions and files."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Annotated, Any, Literal

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.ask.structure import graph
from cortex.front.form import Form, Word
from cortex.front.text.lines import FAINT, STALE, STRONG, Answer, Page, place
from cortex.front.text.parts import UNSURE, Drawer, Spot, draw_spots
from cortex.terms.code.ambiguous_candidates import candidates_of
from cortex.terms.kinds import OPEN_END
from cortex.terms.paths import is_test
from ipc.messages import GraphOperation, GraphSearch

_NUMBERED = re.compile(r"(\d+): ?(.*)")
#: ways of resolving a reference that may be wrong → the remark about them
_DOUBT = {"name": "by its name alone", "dispatch": "by dispatch"}
#: how a definition that is no type implements one → the remark about it
_FUNCTION_REMARKS = {"function": "given here as a function", "value": "gives an unnamed function or object"}
#: operations forwards: a result has its definition's place, and the reference in `from`
_FORWARD = frozenset(("callees", "dependencies", "path"))
_OF_CALLS = frozenset(("callers", "callees", "path", "impact"))
#: candidates of an ambiguous call that are named
CANDIDATES_LISTED = 3


def draw_graph(page: Page, answer: Answer) -> None:
    """Draw a line for each result, tests last; then the results several steps away, by name."""
    operation = answer["operation"]
    rows = [_row_of(row, operation) for row in answer["results"]]
    if rows:
        target, file = answer.get("target", ""), answer.get("file", "")
        total = answer.get("total_found", len(rows))
        page.add(
            (
                f"{operation}{f' of {target}' if target else ''}: {total}{f' ({file})' if file and file not in target else ''}",
                STRONG,
            )
        )
    if summary := answer.get("summary"):
        _draw_summary(page, summary)
    if operation == "impact":
        _draw_impact(page, rows, answer)
    else:
        _draw_rows(page, rows, answer)
    suggestion = answer.get("suggestion") or ""
    if unnamed := [name for name in answer.get("candidates", ()) if name not in suggestion]:
        page.note(f"Or: {', '.join(unnamed)}.")
    if answer.get("truncated") and not suggestion:
        more = answer.get("next_offset")
        page.note(f"There are more: {page.option('offset')} {more}." if more else "There are more.")


def _draw_rows(page: Page, rows: list[dict[str, Any]], answer: Answer) -> None:
    """Draw the results of the first level with their code, those further away by name."""
    if answer["operation"] != "path":
        rows.sort(key=lambda row: (row["depth"], is_test(row["path"])))
    for depth, level in groupby(rows, key=lambda row: row["depth"]):
        if depth > 1:
            page.add((f"{depth} steps away", STRONG))
            _draw_names(page, level, answer)
            continue
        draw_spots(page, [spot for row in level for spot in _spots_of(page, row, answer)])


def _draw_impact(page: Page, rows: list[dict[str, Any]], answer: Answer) -> None:
    """Draw shipped code, then tests, then what only imports the target."""
    groups = {"": list[dict[str, Any]](), "tests": [], "only import it": []}
    for row in rows:
        imports = row["result"].get("impact_type") == "importer"
        groups["only import it" if imports else "tests" if is_test(row["path"]) else ""].append(row)
    for heading, group in groups.items():
        if heading and group:
            page.add((heading, STRONG))
        if heading == "only import it":
            _draw_names(page, group, answer)
        else:
            _draw_rows(page, group, answer)


def _draw_summary(page: Page, summary: Answer) -> None:
    """Draw the counts of an impact: by kind and severity, by level, and by folder."""
    if not summary.get("affected"):
        return
    counts = ", ".join(f"{number} {name}" for name, number in summary.get("by_type", {}).items())
    severe = ", ".join(f"{number} {name}" for name, number in summary.get("by_severity", {}).items())
    tests = f"; {summary['tests']} in tests" if summary.get("tests") else ""
    page.add((f"{summary['affected']} in {summary['files']} files: {counts}; {severe}{tests}", FAINT))
    levels = summary.get("by_level", {})
    if len(levels) > 1:
        steps = ", ".join(f"{number} at {depth}" for depth, number in levels.items())
        page.add((f"by steps: {steps}", FAINT))
    folders = summary.get("by_folder", {})
    if len(folders) > 1:
        more = summary.get("folders", 0) - len(folders)
        listed = ", ".join(f"{folder} {number}" for folder, number in folders.items())
        page.add((f"by folder: {listed}{f' and {more} more' if more > 0 else ''}", FAINT))


def _row_of(row: Answer, operation: str) -> dict[str, Any]:
    """Return a result of either form as {"path", "line", "name", "texts": number → line, "from",
    "depth", "result"}; `from` leads forwards to the result.
    """
    if "node" in row:
        node, location = row["node"], row.get("location")
        defined = {"file": node.get("file", ""), "line": node.get("start_line", 0)}
        forward = operation in _FORWARD and location is not None
        by_definition = operation == "implementations" and "given" not in row
        at = defined if forward or by_definition or location is None else location
        path, line = at["file"], at["line"]
        identity = str(node["id"])
        is_file = node["kind"] == "module" and node.get("file")
        name = "" if is_file else node.get("route") or identity.rpartition(":")[2] or identity
        texts = {context["line"]: context["text"] for context in row.get("context") or ()}
        origin: Any = f"{location['file']}:{location['line']}" if forward and location else ""
    else:
        path, _, number = row.get("at", "").rpartition(":")
        line, name, origin = (
            int(number) if number.isdecimal() else 0,
            row.get("name", ""),
            row.get("from", ""),
        )
        matches = [_NUMBERED.match(text) for text in row.get("text", "").split("\n")]
        texts = {int(match[1]): match[2] for match in matches if match}
        if not texts and row.get("text"):
            texts = {_line_of(origin) or line: row["text"]}
    return {
        "path": path,
        "line": line,
        "name": name,
        "texts": texts,
        "from": origin,
        "depth": row.get("depth", 1) if operation != "path" else 1,
        "result": row,
    }


def _line_of(place: Any) -> int:
    """Return the line of `from`: a number, or `path:line`."""
    return place if isinstance(place, int) else int(place.rpartition(":")[2] or 0)


def _spot_of(page: Page, row: dict[str, Any], answer: Answer) -> Spot:
    texts, origin = row["texts"], row["from"]
    code = texts.get(_line_of(origin) or row["line"], "").strip()
    wants_lines = "context_lines" in page.arguments or page.arguments.get("detail") == "full"
    block = texts if wants_lines and len(texts) > 1 else {}
    remarks = list(_remarks(row, answer))
    if signature := row["result"].get("node", {}).get("signature"):
        remarks += [signature] * wants_lines
    if origin:
        remarks.insert(0, f"from {origin}" if block or not code else f"from {origin}: {code}")
    return Spot(row["path"], row["line"], row["name"], "" if block or origin else code, remarks, block)


def _spots_of(page: Page, row: dict[str, Any], answer: Answer) -> Iterator[Spot]:
    """Yield the place of a result, then the further ones that have their line of code."""
    yield _spot_of(page, row, answer)
    for site in row["result"].get("sites", ()):
        if isinstance(site, Mapping):
            doubts = [_DOUBT[site["confidence"]]] if site.get("confidence") in _DOUBT else []
            doubts += [UNSURE] if site.get("unsure") else []
            yield Spot(site["file"], site["line"], row["name"], site.get("text", ""), doubts)


def _remarks(row: dict[str, Any], answer: Answer) -> Iterator[str]:
    """Yield what a line says beside the code: an unusual kind of reference, and doubts."""
    result = row["result"]
    edge = result.get("edge", "")
    if edge and edge != "calls" and answer["operation"] in _OF_CALLS:
        yield f"{edge} {result.get('requests', '')}".rstrip()
    if meaning := result.get("of"):
        yield f"of {meaning}"
    if role := result.get("given"):
        yield _FUNCTION_REMARKS[role]
    if handlers := result.get("handlers"):
        yield f"→ {', '.join(handlers)}"
    if place := result.get("computed"):
        is_open = str(result.get("path", "")).endswith(OPEN_END)
        part = "further paths begin with it" if is_open else "the path goes on before it"
        yield f"{part}: computed at {place}"
    if result.get("mounted") is False:
        yield "no mount of its router is known"
    if "defined" in result:
        yield f"defined at {result['defined']}"
    if result.get("step") == "constructs":
        yield "constructs"
    if "via" in result and row["depth"] == 1:
        yield f"via {result['via']}"
    if remark := _DOUBT.get(result.get("confidence", "")):
        yield remark
    if result.get("impact_type") in ("override", "implementation"):
        yield result["impact_type"]
    if further := [str(site) for site in result.get("sites", ()) if not isinstance(site, Mapping)]:
        yield f"also {', '.join(further)}"
    if more := result.get("more_sites"):
        yield f"and {more} more places"
    if alternatives := result.get("alternatives"):
        yield f"one of {alternatives}, by what is built"
    if candidates := candidates_of(result, answer["results"]):
        more = " or more" if result.get("more_candidates") else ""
        listed = "candidates_of" not in result and len(candidates) <= CANDIDATES_LISTED
        names = f": {', '.join(candidates)}" if listed else ""
        having = (
            "perhaps a method of the platform"
            if len(candidates) == 1
            else f"{len(candidates)}{more} definitions have the name{names}"
        )
        yield f"receiver's type unknown: {having}"
    if result.get("stale"):
        yield STALE


def _draw_names(page: Page, rows: Iterable[dict[str, Any]], answer: Answer) -> None:
    """Draw the results further away: a line for each file with the names and lines in it."""
    by_file: dict[str, list[str]] = {}
    for row in rows:
        doubt = "?" if candidates_of(row["result"], answer["results"]) else ""
        by_file.setdefault(row["path"], []).append(f"{row['name']}:{row['line']}".lstrip(":") + doubt)
    for path, names in by_file.items():
        page.add("  ", *place(path, 0), f": {', '.join(names)}")


_SHOWN = frozenset(
    "operation target file results total_found total_returned summary candidates next_offset".split()
)
FORMS = {
    "cortex_graph": Form(
        text=Drawer(draw_graph, _SHOWN, needs=("results",)),
        words=(Word("operation", "operation"), Word("target", "target", spared_by="routes")),
        for_people={"context_lines": 0},
    )
}


async def cortex_graph(
    context: QueryContext,
    *,
    operation: Annotated[GraphOperation, Meta(description="Query type.")],
    target: Annotated[str, Meta(description="Symbol or path.")] = "",
    to: Annotated[str, Meta(description="Last symbol of `path`.")] = "",
    scope: Annotated[str, Meta(description="Path glob.")] = "",
    exclude_patterns: Annotated[tuple[str, ...], Meta(description="Globs.")] = (),
    include_context: Annotated[bool, Meta(description="Show lines.")] = True,
    context_lines: Annotated[int, Meta(description="Lines around, 0 to 20.")] = 2,
    depth: Annotated[int, Meta(description="Steps, 1 to 10.")] = 1,
    max_results: Annotated[int, Meta(description="Results, 1 to 500.")] = 100,
    max_per_level: Annotated[int, Meta(description="Per step, 1 to 100.")] = 50,
    offset: Annotated[int, Meta(description="Results to skip.")] = 0,
    detail: Annotated[Literal["compact", "full"], Meta(description="full shows text.")] = "compact",
) -> dict[str, Any]:
    """Find callers, implementations or dependents of a definition or file; no text search.

    callers / callees; implementations and overrides; dependencies / dependents; type_usages;
    path: shortest calls to `to`; impact: what a change may break (depth 2 or 3);
    routes: HTTP endpoints; target: part of a path.

    Example: {"operation": "callers", "target": "provider.Embed"}
    """
    return await graph(
        context,
        GraphSearch(
            operation=operation,
            target=target,
            to=to,
            scope=scope,
            exclude_patterns=exclude_patterns,
            include_context=include_context,
            context_lines=context_lines,
            depth=depth,
            max_results=max_results,
            max_per_level=max_per_level,
            offset=offset,
        ),
        detail,
    )
