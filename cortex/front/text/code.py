"""Answers about code as text: hits, lines, call sites, outlines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from cortex.front.text.lines import (
    FAINT,
    GAP,
    NUMBER,
    STALE,
    STRONG,
    WARNING,
    Page,
    Span,
    head,
    numbered,
    place,
)
from cortex.front.text.memory import draw_row
from cortex.front.text.parts import Answer, Drawer, draw_site
from cortex.terms.ambiguous_candidates import candidates_of
from cortex.terms.paths import is_test
from cortex.terms.records import covers

#: a gap in the lines chosen for a question, followed by the number of the next line
_GOES_ON = re.compile(r"… line (\d+)")
#: a gap in a function of cortex_explore
_LEFT_OUT = re.compile(r"⋯ (\d+)-(\d+)")
_NUMBERED = re.compile(r"(\d+): ?(.*)")
#: last line of a cut text
_CUT = "…"
_WORD = re.compile(r"\w")
#: omission in an answer → its description
_OMITTED = {
    "a part": "lines that hold a part of the query",
    "alike": "lines like those shown",
    "same file": "further lines of files shown",
    "same text": "copies of code shown",
    "translations": "translations of documents shown",
    "records": "records of changes",
    "weak": "weak hits",
}
#: ways of resolving a reference that may be wrong → the remark about them
_DOUBT = {"name": "by its name alone", "dispatch": "by dispatch"}
#: operations forwards: a result has its definition's place, and the reference in `from`
_FORWARD = frozenset(("callees", "dependencies", "path"))
_OF_CALLS = frozenset(("callers", "callees", "path", "impact"))
#: candidates of an ambiguous call that are named
CANDIDATES_LISTED = 3
#: the kinds of results of find_related, in the order of the output
RELATED = ("similar", "callers", "tests", "documents")


def draw_results(page: Page, answer: Answer) -> None:
    """Draw the hits of cortex_search and cortex_exact: a place, or lines below it."""
    by_lines = all("kind" in metadata_of(row) for row in answer["results"] if "chunk" in row)
    if by_lines and "match_type" in answer:
        _draw_lines(page, answer["results"])
    else:
        for row in answer["results"]:
            if "chunk" in row:
                _draw_hit(page, row)
            else:
                draw_row(page, row)
    if more := answer.get("more"):
        page.add((f"more: {', '.join(more)}", FAINT))
    _note_omitted(page, answer)
    _note_cut(page, answer)


def metadata_of(row: Answer) -> Mapping[str, Any]:
    metadata: Mapping[str, Any] = row["chunk"].get("metadata") or {}
    return metadata


def chunk_place(row: Answer) -> list[Span]:
    """Return the place of a hit; its id where it belongs to no file."""
    metadata = metadata_of(row)
    path, first = metadata.get("file_path", ""), metadata.get("start_line") or 0
    spans = place(path or row["chunk"]["id"], first if path else 0, metadata.get("end_line") or 0)
    return [(f"{row['project']}:", "magenta"), *spans] if "project" in row else spans


def _draw_hit(page: Page, row: Answer) -> None:
    chunk, metadata = row["chunk"], metadata_of(row)
    text, stale = chunk.get("text") or "", bool(row.get("stale"))
    if text and not _WORD.search(text):
        return  # a lone bracket or the start of a comment
    head(page, chunk_place(row), _symbol(chunk), stale=stale)
    if explanation := row.get("explain"):
        page.add((f"    {_explain(explanation)}", FAINT))
    marked = row.get("highlight_lines") or ()
    first = 0 if stale else metadata.get("snippet_start_line") or metadata.get("start_line") or 0
    if "chunk_type" in chunk and not covers(chunk["chunk_type"]):
        first = 0  # a view, whose lines come from many places
    rows = list(_gapped(text, first)) if text else []
    numbered(page, rows, marked)
    if "chunk_type" in chunk and (not text or text.endswith(f"\n{_CUT}")):
        shown = {number for number, _ in rows if number}
        texts = row.get("highlights") or ()
        _draw_highlights(page, [(n, t) for n, t in zip(marked, texts, strict=False) if n not in shown])


def _symbol(chunk: Answer) -> str:
    """Return the name to show beside a hit's place: the symbol, or the title of a section."""
    metadata = chunk.get("metadata") or {}
    names = [row["name"] for row in metadata.get("definitions") or () if isinstance(row, Mapping)]
    scope = metadata.get("scope") or (names[0] if names else "")
    title = chunk.get("title", "") if chunk.get("chunk_type") == "documentation" else ""
    label: str = metadata.get("symbol") or title or scope
    return label


def _gapped(text: str, number: int) -> Iterator[tuple[int, str]]:
    """Yield (number, line); `number` is that of the first line, 0 for unknown ones. A gap moves the
    number on, and is a line where there are no numbers. A line of code that looks like a gap names
    another number than the next.
    """
    for line in text.removesuffix("\n").split("\n"):
        following = 0
        if match := _GOES_ON.fullmatch(line):
            following = int(match[1]) if int(match[1]) > number else 0
        elif match := _LEFT_OUT.fullmatch(line):
            following = int(match[2]) + 1 if not number or int(match[1]) == number else 0
        if not following:
            yield 0 if line == _CUT else number, line
            number += number > 0
        elif number:
            number = following
        else:
            yield 0, GAP


def _draw_highlights(page: Page, rows: Iterable[tuple[int, str]]) -> None:
    for number, highlight in rows:
        label = f"{number}  " if number else ""
        spans: list[str | Span] = [(label, NUMBER)]
        for at, piece in enumerate(highlight.replace("</em>", "<em>").split("<em>")):
            spans.append((piece.replace("\n", "\n    "), "bold yellow" if at % 2 else ""))
        page.add(*spans)


def _explain(explanation: Answer) -> str:
    parts = [
        f"{name} {signal['value']:.2f}×{signal['weight']:g}"
        for name, signal in explanation["signals"].items()
        if signal["product"]
    ]
    return f"{' + '.join(parts)} = {explanation['sum']:.3f}"


def _draw_lines(page: Page, results: Iterable[Answer]) -> None:
    """Draw matching lines as grep prints them, those of one file below its path."""
    for spot, rows in groupby(
        results, key=lambda row: (row.get("project", ""), metadata_of(row)["file_path"])
    ):
        group = list(rows)
        lines = [line for row in group for line in row["chunk"]["text"].split("\n")]
        stale = any(row.get("stale") for row in group)
        prefix: list[Span] = [(f"{spot[0]}:", "magenta")] if spot[0] else []
        path = [*prefix, *place(spot[1] or group[0]["chunk"]["id"], 0)]
        if len(lines) == 1:
            page.add(*path, ":", *_grep_line(lines[0]), *_stale_mark(stale))
        else:
            page.add(*path, *_stale_mark(stale))
            for line in lines:
                page.add("  ", *_grep_line(line))


def _grep_line(line: str) -> list[str | Span]:
    match = _NUMBERED.match(line)
    return [(f"{match[1]}:", NUMBER), f" {match[2]}"] if match else [line]


def _stale_mark(stale: Any) -> list[Span]:
    return [(f"  {STALE}", WARNING)] if stale else []


def _note_omitted(page: Page, answer: Answer) -> None:
    counts = [
        f"{count} {_OMITTED.get(why, why)}"
        for why, count in (answer.get("omitted") or {}).items()
        if why != "weak" or not page.for_person
    ]
    if counts:
        page.note(f"Left out: {', '.join(counts)}.")


def _note_cut(page: Page, answer: Answer) -> None:
    """Note the total, and how to get the other hits."""
    total, returned = answer.get("total_found", 0), answer.get("total_returned", 0)
    if answer.get("suggestion") and not answer["results"]:
        return
    if total > returned:
        page.note(
            f"{returned} of {total} are shown; {page.option('limit')} and {page.option('max_tokens')} show more."
        )
    elif answer.get("truncated") and not answer.get("next"):
        page.note(
            f"There is more: raise {page.option('limit')} or {page.option('max_tokens')}, or narrow by "
            f"{page.option('paths')}."
        )
    elif total:
        page.note(f"{total} in all.")
    chunks = (row["chunk"] for row in answer["results"] if "chunk" in row)
    if any((chunk.get("metadata") or {}).get("text_truncated") for chunk in chunks):
        page.note(f"Some texts are cut; a larger {page.option('max_tokens')} shows more.")


def draw_graph(page: Page, answer: Answer) -> None:
    """Draw a line for each result, tests last; then the results several steps away, by name."""
    operation = answer["operation"]
    rows = [_row_of(row, operation) for row in answer["results"]]
    if rows:
        target, file = answer.get("target", ""), answer.get("file", "")
        total = answer.get("total_found", len(rows))
        page.add(
            (f"{operation} of {target}: {total}{f' ({file})' if file and file not in target else ''}", STRONG)
        )
    if summary := answer.get("summary"):
        _draw_summary(page, summary)
    if operation != "path":
        rows.sort(key=lambda row: (row["depth"], is_test(row["path"])))
    for depth, level in groupby(rows, key=lambda row: row["depth"]):
        if depth > 1:
            page.add((f"{depth} steps away", STRONG))
            _draw_names(page, level, answer)
            continue
        for row in level:
            _draw_reference(page, row, answer)
    suggestion = answer.get("suggestion") or ""
    if unnamed := [name for name in answer.get("candidates", ()) if name not in suggestion]:
        page.note(f"Or: {', '.join(unnamed)}.")
    if answer.get("truncated") and not suggestion:
        more = answer.get("next_offset")
        page.note(f"There are more: {page.option('offset')} {more}." if more else "There are more.")


def _draw_summary(page: Page, summary: Answer) -> None:
    counts = ", ".join(f"{count} {name}" for name, count in summary.get("by_type", {}).items())
    severe = ", ".join(f"{count} {name}" for name, count in summary.get("by_severity", {}).items())
    page.add((f"{summary['affected']} in {summary['files']} files: {counts}; {severe}", FAINT))


def _row_of(row: Answer, operation: str) -> dict[str, Any]:
    """Return a result of either form as {"path", "line", "name", "texts": number → line, "from",
    "depth", "result"}; `from` leads forwards to the result.
    """
    if "node" in row:
        node, location = row["node"], row.get("location")
        defined = {"file": node.get("file", ""), "line": node.get("start_line", 0)}
        forward = operation in _FORWARD and location is not None
        at = defined if forward or operation == "implementations" or location is None else location
        path, line = at["file"], at["line"]
        identity = str(node["id"])
        is_file = node["kind"] == "module" and node.get("file")
        name = "" if is_file else identity.rpartition(":")[2] or identity
        texts = {each["line"]: each["text"] for each in row.get("context") or ()}
        origin: Any = f"{location['file']}:{location['line']}" if forward and location else ""
    else:
        path, _, number = row.get("at", "").rpartition(":")
        line, name, origin = int(number or 0), row.get("name", ""), row.get("from", "")
        matches = [_NUMBERED.match(each) for each in row.get("text", "").split("\n")]
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


def _draw_reference(page: Page, row: dict[str, Any], answer: Answer) -> None:
    texts, origin = row["texts"], row["from"]
    line = _line_of(origin) or row["line"]
    code = texts.get(line, "").strip()
    wants_lines = "context_lines" in page.arguments or page.arguments.get("detail") == "full"
    block = texts if wants_lines and len(texts) > 1 else {}
    remarks = list(_remarks(row, answer))
    if signature := row["result"].get("node", {}).get("signature"):
        remarks += [signature] * wants_lines
    if origin:
        remarks.insert(0, f"from {origin}" if block or not code else f"from {origin}: {code}")
    code = "" if block or origin else code
    draw_site(page, row["path"], row["line"], row["name"], code, *remarks)
    numbered(page, sorted(block.items()), {line}, margin="    ")


def _remarks(row: dict[str, Any], answer: Answer) -> Iterator[str]:
    """Yield what a line says beside the code: an unusual kind of reference, and doubts."""
    result = row["result"]
    edge = result.get("edge", "")
    if edge and edge != "calls" and answer["operation"] in _OF_CALLS:
        yield edge
    if sites := result.get("sites"):
        yield f"also at {', '.join(_further_places(row['path'], sites))}"
    if "more_sites" in result:
        yield f"and {result['more_sites']} further places"
    if "defined" in result:
        yield f"defined at {result['defined']}"
    if "via" in result and row["depth"] == 1:
        yield f"via {result['via']}"
    if remark := _DOUBT.get(result.get("confidence", "")):
        yield remark
    if result.get("impact_type") in ("override", "implementation"):
        yield result["impact_type"]
    if candidates := candidates_of(result, answer["results"]):
        number = len(candidates) + result.get("more_candidates", 0)
        listed = "candidates_of" not in result and number <= CANDIDATES_LISTED
        names = f": {', '.join(candidates)}" if listed else ""
        yield f"receiver's type unknown: {number} definitions have the name{names}"
    if result.get("stale"):
        yield STALE


def _further_places(path: str, sites: Iterable[Any]) -> Iterator[str]:
    """Yield the further places of a caller in `path`: a line, or `path:line` of another file."""
    for site in sites:
        if isinstance(site, Mapping):
            other = site["file"] != path
            yield f"{site['file']}:{site['line']}" if other else str(site["line"])
        else:
            yield str(site)


def _draw_names(page: Page, rows: Iterable[dict[str, Any]], answer: Answer) -> None:
    """Draw the results further away: a line for each file with the names and lines in it."""
    by_file: dict[str, list[str]] = {}
    for row in rows:
        doubt = "?" if candidates_of(row["result"], answer["results"]) else ""
        by_file.setdefault(row["path"], []).append(f"{row['name']}:{row['line']}".lstrip(":") + doubt)
    for path, names in by_file.items():
        page.add("  ", *place(path, 0), f": {', '.join(names)}")


def draw_outline(page: Page, answer: Answer) -> None:
    """Draw each file with its symbols: lines, signature, number of references."""
    for row in answer["results"]:
        head(page, place(row["file"], 0), stale=row.get("stale", False))
        for symbol in row["symbols"]:
            first, last = symbol["lines"]
            lines = f"{first}-{last}" if last > first else f"{first}"
            kind, name = symbol["kind"], symbol.get("signature") or symbol["name"]
            owner = symbol["name"].rpartition(".")[0]
            label = (
                f"{kind} {name}"
                if kind in _TYPES
                else f"{owner}.{name}"
                if owner and not name.startswith(owner)
                else name
            )
            references = symbol.get("references")
            page.add(
                "  ", (lines, NUMBER), f"  {label}", *([(f"  {references} ×", FAINT)] * bool(references))
            )
    if answer.get("truncated") and not answer.get("suggestion"):
        page.note(f"There are more symbols: {answer['total_found']} in all.")


_TYPES = frozenset(
    ("class", "interface", "struct", "enum", "trait", "type", "module", "namespace", "protocol")
)


def draw_pattern(page: Page, answer: Answer) -> None:
    for row in answer["results"]:
        lines = row["text"].split("\n")
        if len(lines) == 1:
            draw_site(page, row["file"], row["start_line"], "", lines[0])
        else:
            page.add(*place(row["file"], row["start_line"], row["end_line"]))
            numbered(page, enumerate(lines, row["start_line"]))
    if answer.get("truncated") and len(answer["results"]) < answer.get("total_found", 0):
        page.note(f"{len(answer['results'])} of {answer['total_found']} are shown.")


def draw_context(page: Page, answer: Answer) -> None:
    for hit in answer["hits"]:
        prefix: list[Span] = [(f"{hit['project']}:", "magenta")] if "project" in hit else []
        head(page, [*prefix, *place(hit["file"], hit["lno"])], stale=hit.get("stale", False))
        lines = list(enumerate(hit["text"].rstrip("\n").split("\n"), hit["lno"]))
        numbered(page, [(0 if hit.get("stale") else number, text) for number, text in lines])
    if answer.get("truncated"):
        page.note("There is more.")


def draw_related(page: Page, answer: Answer) -> None:
    """Draw each kind under a heading, a line for each result."""
    if target := answer.get("target"):
        symbols = ", ".join(target.get("symbols") or ())
        head(page, _span_of(target), symbols, target.get("changed", ""))
    for kind in RELATED:
        if answer[kind]:
            page.add((kind, STRONG))
        for row in answer[kind]:
            if kind in ("similar", "documents"):
                text = _first_line(row) or _symbol(row["chunk"])
                words = text if kind == "similar" else ", ".join(row["mentions"])
                page.add("  ", *chunk_place(row), f"  {words}", *_stale_mark(row.get("stale")))
            elif kind == "callers":
                name = row["id"].rpartition(":")[2]
                draw_site(
                    page,
                    row["file"],
                    row["line"],
                    name,
                    row.get("text", ""),
                    *[STALE] * bool(row.get("stale")),
                    margin="  ",
                )
            else:
                words = ", ".join((*row["why"], *row["tests"]))
                page.add("  ", *place(row["file"], row["line"]), f"  {words}", *_stale_mark(row.get("stale")))
    if answer.get("truncated"):
        page.note(f"There are more: raise {page.option('limit')}.")


def _first_line(row: Answer) -> str:
    """Return the text of a chunk of one line; "" for a longer one."""
    metadata, text = metadata_of(row), row["chunk"].get("text") or ""
    return text.strip() if metadata.get("start_line") == metadata.get("end_line") else ""


def draw_picture(page: Page, answer: Answer) -> None:
    """Draw the chain of calls, the functions with their lines, a line for each further entry."""
    if path := answer.get("path"):
        page.add((path, STRONG))
    for row in answer["functions"]:
        _draw_function(page, row, "")
        for twin in row.get("twins", ()):
            _draw_function(page, twin, "like it: ")
    for kind in ("callers", "may_break", "documents"):
        if rows := answer.get(kind):
            page.add((kind.replace("_", " "), STRONG))
            for row in rows:
                if kind == "callers":
                    draw_site(page, row["file"], row["line"], row["symbol"], row["text"], margin="  ")
                elif kind == "may_break":
                    draw_site(
                        page,
                        row["file"],
                        row["line"],
                        row["symbol"],
                        "",
                        f"{row['why']}, {row['severity']}",
                        margin="  ",
                    )
                else:
                    page.add("  ", *place(row["file"], row["line"]), f"  {', '.join(row['mentions'])}")
    if paths := answer.get("not_indexed"):
        page.note(f"Not indexed: {', '.join(paths)}.")


def _span_of(row: Answer) -> list[Span]:
    return place(row["file"], row["start_line"], row["end_line"])


def _draw_function(page: Page, row: Answer, before: str) -> None:
    named = "" if row["symbol"].startswith(f"{row['file']}:") else row["symbol"]
    spans: list[Span] = [(before, FAINT)] if before else []
    spans += _span_of(row)
    head(page, spans, named, row.get("changed", ""), stale=row.get("stale", False))
    numbered(page, _gapped(row["text"], 0 if row.get("stale") else row["start_line"]))


_HITS = frozenset(
    ("results", "total", "total_found", "total_returned", "query", "match_type", "more", "omitted")
)
_GRAPH = frozenset(
    (
        "operation",
        "target",
        "file",
        "results",
        "total_found",
        "total_returned",
        "summary",
        "candidates",
        "next_offset",
    )
)
_OUTLINE = frozenset(("path", "results", "total_found", "total_returned", "symbols_shown"))
_PATTERN = frozenset(("pattern", "language", "results", "total_found", "total_returned", "files_searched"))
_PICTURE = frozenset(("path", "functions", "callers", "may_break", "documents", "not_indexed"))

DRAWERS: dict[str, Drawer] = {
    "cortex_search": Drawer(draw_results, _HITS, needs=("results",)),
    "cortex_exact": Drawer(draw_results, _HITS, needs=("results",)),
    "cortex_graph": Drawer(draw_graph, _GRAPH, needs=("results",)),
    "cortex_outline": Drawer(draw_outline, _OUTLINE, needs=("results",)),
    "cortex_pattern": Drawer(draw_pattern, _PATTERN, needs=("results",)),
    "cortex_explore": Drawer(draw_picture, _PICTURE, needs=("functions",)),
    "code_context": Drawer(draw_context, frozenset(("hits",)), needs=("hits",)),
    "find_related": Drawer(draw_related, frozenset(("target", *RELATED)), needs=("similar",)),
}
