"""Answers about code as text: hits, lines, call sites, outlines."""

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
    Answer,
    Page,
    Span,
    head,
    numbered,
    place,
)
from cortex.front.text.notes import draw_row, note_newer, note_unsure
from cortex.front.text.parts import Drawer, Spot, draw_spots
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
}
#: omissions that other sentences name
_IN_NOTES = frozenset(("weak", "copies", "places", "other words", "inside words"))
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
        note_newer(page, answer["results"])
        note_unsure(page, answer["results"])
    if not answer["results"]:
        page.note(answer.get("message", ""))
    if more := answer.get("more"):
        page.add((f"more: {', '.join(more)}", FAINT))
    _draw_places(page, answer.get("places") or ())
    _note_omitted(page, answer)
    _note_cut(page, answer)
    _note_inside_words(page, answer)


def _draw_places(page: Page, rows: Iterable[Answer]) -> None:
    """Draw the numbers of lines without their code, a file a line: `path: 12, 40, 77`."""
    for at, row in enumerate(rows):
        if not at:
            page.add(("also:", FAINT))
        prefix: list[Span] = [(f"{row['project']}:", "magenta")] if row.get("project") else []
        numbers = ", ".join(map(str, row["lines"]))
        page.add(*prefix, *place(row["file"], 0), ": ", (numbers, NUMBER))


def metadata_of(row: Answer) -> Mapping[str, Any]:
    return row["chunk"].get("metadata") or {}


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
        drawn_numbers = {number for number, _ in rows if number}
        texts = row.get("highlights") or ()
        _draw_highlights(
            page, [pair for pair in zip(marked, texts, strict=False) if pair[0] not in drawn_numbers]
        )


def _symbol(chunk: Answer) -> str:
    """Return the name to show beside a hit's place: the symbol, or the title of a section."""
    metadata = chunk.get("metadata") or {}
    names = [row["name"] for row in metadata.get("definitions") or () if isinstance(row, Mapping)]
    scope = metadata.get("scope") or (names[0] if names else "")
    title = chunk.get("title", "") if chunk.get("chunk_type") == "documentation" else ""
    return metadata.get("symbol") or title or scope


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
        if why not in _IN_NOTES
    ]
    if counts:
        page.note(f"Left out: {', '.join(counts)}.")


def _note_next(page: Page, answer: Answer, omitted: Answer) -> None:
    """Note how many matching lines have neither code nor a number, and how to get them."""
    total, offset = answer["total_found"], f"{page.option('offset')} {answer['next_offset']}"
    if others := omitted.get("other words", 0):
        total -= others
        further = "" if omitted.get("places") else f": {offset} shows them"
        page.note(f"{total} in all; {others} more hold it in other words{further}.")
    if left := omitted.get("places", 0):
        page.note(
            f"{left} of {total} lines are left out: {offset} goes on, and a larger "
            f"{page.option('max_tokens')} shows more."
        )


def _note_inside_words(page: Page, answer: Answer) -> None:
    if count := (answer.get("omitted") or {}).get("inside words", 0):
        lines = "more hold" if answer["results"] else "lines hold"
        page.note(
            f"{count} {lines} it inside longer words: {page.option('match_type')} substring shows them."
        )


def _note_cut(page: Page, answer: Answer) -> None:
    """Note the total, and how to get the other hits."""
    total, returned = answer.get("total_found", 0), answer.get("total_returned", 0)
    if answer.get("suggestion") and not answer["results"]:
        return
    omitted = answer.get("omitted") or {}
    if "next_offset" in answer and "operation" not in answer:
        _note_next(page, answer, omitted)
    elif total > returned:
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


def draw_outline(page: Page, answer: Answer) -> None:
    """Draw the entry points; then each file with its symbols: lines, signature, number of
    references.
    """
    if entries := answer.get("entry_points"):
        more = answer["entry_points_total"] - len(entries)
        page.add(("Entry points", STRONG), f"{f' (and {more} more)' if more else ''}")
        for entry in entries:
            handler = f" → {entry['handler']}" if entry["handler"] else ""
            page.add("  ", f"{entry['route']}{handler}", (f"  {entry['at']}", FAINT))
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
    single = [row for row in answer["results"] if "\n" not in row["text"]]
    draw_spots(page, [Spot(row["file"], row["start_line"], code=row["text"]) for row in single])
    for row in answer["results"]:
        if "\n" in row["text"]:
            page.add(*_span_of(row))
            numbered(page, enumerate(row["text"].split("\n"), row["start_line"]))
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
        rows = answer[kind]
        if rows:
            page.add((kind, STRONG))
        if kind == "callers":
            draw_spots(page, map(_caller_of, rows), "  ")
            continue
        for row in rows:
            if kind == "tests":
                spot, words = place(row["file"], row["line"]), ", ".join((*row["why"], *row["tests"]))
            elif kind == "similar":
                spot, words = chunk_place(row), _first_line(row) or _symbol(row["chunk"])
            else:
                spot, words = chunk_place(row), ", ".join(row["mentions"])
            page.add("  ", *spot, f"  {words}", *_stale_mark(row.get("stale")))
    if answer.get("truncated"):
        page.note(f"There are more: raise {page.option('limit')}.")


def _caller_of(row: Answer) -> Spot:
    remarks = [STALE] if row.get("stale") else []
    return Spot(row["file"], row["line"], row["id"].rpartition(":")[2], row.get("text", ""), remarks)


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
    if callers := answer.get("callers"):
        page.add(("callers", STRONG))
        draw_spots(
            page, [Spot(row["file"], row["line"], row["symbol"], row["text"]) for row in callers], "  "
        )
    if broken := answer.get("may_break"):
        page.add(("may break", STRONG))
        spots = [
            Spot(row["file"], row["line"], row["symbol"], "", [f"{row['why']}, {row['severity']}"])
            for row in broken
        ]
        draw_spots(page, spots, "  ")
    if documents := answer.get("documents"):
        page.add(("documents", STRONG))
        draw_spots(
            page, [Spot(row["file"], row["line"], ", ".join(row["mentions"])) for row in documents], "  "
        )
    if paths := answer.get("not_indexed"):
        page.note(f"Not indexed: {', '.join(paths)}.")


def _span_of(row: Answer) -> list[Span]:
    return place(row["file"], row["start_line"], row["end_line"])


def _draw_function(page: Page, row: Answer, before: str) -> None:
    symbol = "" if row["symbol"].startswith(f"{row['file']}:") else row["symbol"]
    spans: list[Span] = [(before, FAINT)] if before else []
    spans += _span_of(row)
    head(page, spans, symbol, row.get("changed", ""), stale=row.get("stale", False))
    numbered(page, _gapped(row["text"], 0 if row.get("stale") else row["start_line"]))


#: the hits of cortex_search and cortex_exact
RESULTS = Drawer(
    draw_results,
    frozenset(
        "results total total_found total_returned query match_type more omitted places next_offset".split()
    ),
    needs=("results",),
)
