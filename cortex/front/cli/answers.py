"""The answers of tools for people: one function for each shape of answer.

What programs read is JSON.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from cortex.front.cli import memory
from cortex.front.cli.paint import Screen, StyledLine
from cortex.system.terminal import escape_controls
from cortex.terms.ambiguous_candidates import candidates_of
from cortex.terms.records import covers

#: lines of the excerpt below a place of code_context
EXCERPT_LINES = 6
#: the last line of a text that was cut
CUT = "…"
#: the kinds of what find_related finds, in the order in which they are shown
RELATED = ("similar", "callers", "tests", "documents")


def print_json(answer: dict[str, Any]) -> None:
    """Any answer, indented."""
    print(orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode())


def place_of(result: dict[str, Any]) -> tuple[str, int, int, float]:
    """(file, first line, last line, score) of a result of either search tool."""
    metadata = result["chunk"].get("metadata") or {}
    score = result.get("combined_score", result.get("score", 0.0))
    return (
        metadata.get("file_path", ""),
        metadata.get("start_line") or 1,
        metadata.get("end_line") or metadata.get("start_line") or 1,
        score,
    )


def print_jsonl(answer: dict[str, Any]) -> None:
    """The places; notes have none."""
    for result in (result for result in answer["results"] if "chunk" in result):
        file, start, end, score = place_of(result)
        project = {"project": result["project"]} if "project" in result else {}
        print(orjson.dumps(project | {"file": file, "start": start, "end": end, "score": score}).decode())


def print_answer(answer: dict[str, Any]) -> None:
    """Results with `path:line` and their lines; what is amiss goes to standard error."""
    out = Screen()
    for result in answer["results"]:
        if "chunk" not in result:
            memory.print_row(result)
            continue
        metadata = result["chunk"].get("metadata") or {}
        file, start, _, score = place_of(result)
        lines = [number for number in result.get("highlight_lines") or () if number]
        matched = lines or [metadata.get("snippet_start_line") or start]
        line = matched[0]
        head = StyledLine((_project_prefix(result), "magenta"), (file, "bold cyan"), (f":{line}", "green"))
        head.append(f"  {_label(result['chunk'])}  ")
        head.append(f"{score:.2f}", "dim")
        if result.get("stale"):
            head.append("  changed since it was indexed", "yellow")
        out.print(head)
        if explanation := result.get("explain"):
            out.print(StyledLine(("    " + _explain(explanation), "dim")))
        for text in _excerpt(result):
            out.print(text)
    print_notes(answer, _say_cut(answer))


def _project_prefix(result: dict[str, Any]) -> str:
    """What stands before a place where several projects were asked."""
    return f"{result['project']}:" if "project" in result else ""


def print_graph(answer: dict[str, Any]) -> None:
    """Each result with its place, how it was resolved, and the source line."""
    out = Screen()
    for result in answer["results"]:
        title, place, margin = _place_in_graph(result, answer["operation"])
        head = StyledLine((margin, ""), (title, "bold cyan"))
        head.append(f"  {place['file']}:{place['line']}", "green")
        details = [result.get(name, "") for name in ("edge", "confidence", "impact_type", "severity")]
        head.append("  " + " ".join(filter(None, details)), "dim")
        if candidates := candidates_of(result, answer["results"]):
            head.append(f"  one of {len(candidates)} that it may mean", "yellow")
        if result.get("stale"):
            head.append("  changed since it was indexed", "yellow")
        out.print(head)
        for text in _context_lines(result.get("context") or (), place["line"], f"{margin}    "):
            out.print(text)
        for line in result.get("text", "").splitlines():
            out.print(StyledLine((f"{margin}    {line}", "dim")))
    print_notes(answer, "")  # the suggestion says what was cut, and how the rest is shown


def _place_in_graph(result: dict[str, Any], operation: str) -> tuple[str, dict[str, Any], str]:
    """(title, {"file", "line"}, margin of its depth) of a result in either form."""
    if "node" not in result:
        file, _, line = result.get("at", "").rpartition(":")
        name = result.get("name") or file
        return name, {"file": file, "line": line}, "  " * (result.get("depth", 1) - 1)
    node = result["node"]
    place = {"file": node.get("file", ""), "line": node.get("start_line", 0)}
    if operation != "implementations":
        place = result.get("location", place)
    return str(node["id"]), place, "  " * (result["depth"] - 1)


def _context_lines(lines: Sequence[dict[str, Any]], marked: int, margin: str) -> Iterable[StyledLine]:
    """Source lines as one block: its common indentation is cut, each line has its number, and the
    one that is meant, among others, a mark.
    """
    texts = textwrap.dedent("\n".join(line["text"] for line in lines)).split("\n")
    width = max((len(str(line["line"])) for line in lines), default=0)
    for line, text in zip(lines, texts, strict=False):
        if len(lines) == 1:
            yield StyledLine((margin + text, "dim"))
        else:
            is_target = line["line"] == marked
            numbered_line = f"{margin}{'>' if is_target else ' '} {line['line']:>{width}}: {text}"
            yield StyledLine((numbered_line.rstrip(), "" if is_target else "dim"))


def print_outline(answer: dict[str, Any]) -> None:
    """Each file with its symbols: their lines, the kind, the signature, how often others refer to
    it.
    """
    out = Screen()
    for result in answer["results"]:
        head = StyledLine((result["file"], "bold cyan"))
        if result.get("stale"):
            head.append("  changed since it was indexed", "yellow")
        out.print(head)
        for symbol in result["symbols"]:
            first, last = symbol["lines"]
            lines = f"{first}-{last}" if last > first else f"{first}"
            text = StyledLine((f"{lines:>10}  ", "green"), (f"{symbol['kind']}  ", "dim"))
            text.append(symbol.get("signature") or symbol["name"])
            if references := symbol.get("references"):
                text.append(f"  {references} ×", "dim")
            out.print(text)
    print_notes(answer, "")


def print_pattern(answer: dict[str, Any]) -> None:
    """Each match with its place and text."""
    out = Screen()
    for result in answer["results"]:
        out.print(StyledLine((result["file"], "bold cyan"), (f":{result['start_line']}", "green")))
        for line in result["text"].splitlines():
            out.print(StyledLine("    " + line))
    print_notes(answer, f"The first {answer['total_returned']} matches are shown.")


def print_context(answer: dict[str, Any]) -> None:
    """Each hit of code_context with its place, its score, what found it, and the excerpt."""
    out = Screen()
    for hit in answer["hits"]:
        head = StyledLine(
            (_project_prefix(hit), "magenta"), (hit["file"], "bold cyan"), (f":{hit['lno']}", "green")
        )
        head.append(f"  {hit['score']:.2f} {hit['source']}", "dim")
        if hit.get("stale"):
            head.append("  changed since it was indexed", "yellow")
        out.print(head)
        for text in _lines_of(hit["text"]):
            out.print(text)
    print_notes(answer)


def print_related(answer: dict[str, Any]) -> None:
    """Each kind under a heading, one line for each result."""
    out = Screen()
    if changed := (answer.get("target") or {}).get("changed"):
        out.print(StyledLine((f"last changed: {changed}", "dim")))
    for kind in RELATED:
        if answer[kind]:
            out.print(StyledLine((kind, "bold")))
        for result in answer[kind]:
            file, line, note = _line_of(kind, result)
            text = StyledLine("  ", (file, "bold cyan"), (f":{line}", "green"))
            text.append(f"  {note}", "dim")
            if result.get("stale"):
                text.append("  changed since it was indexed", "yellow")
            out.print(text)
    print_notes(answer | {"truncated": False})


def _first_line(result: dict[str, Any]) -> str:
    """What is shown of a chunk that is one line."""
    metadata = result["chunk"].get("metadata") or {}
    text: str = result["chunk"].get("text") or ""
    return text if metadata.get("start_line") == metadata.get("end_line") else ""


def _line_of(kind: str, result: dict[str, Any]) -> tuple[str, int, str]:
    """(file, line, what is said of it)."""
    match kind:
        case "similar":
            file, line, _, score = place_of(result)
            return file, line, f"{score:.2f}  {_first_line(result)}".rstrip()
        case "callers":
            return result["file"], result["line"], f"{result['id']} calls {result['calls']}"
        case "tests":
            return result["file"], result["line"], ", ".join((*result["why"], *result["tests"][:3]))
        case _:
            file, line, _, _ = place_of(result)
            return file, line, ", ".join(result["mentions"])


def has_related(answer: dict[str, Any]) -> bool:
    return any(answer[kind] for kind in RELATED)


def _excerpt(result: dict[str, Any]) -> Iterable[StyledLine]:
    """All lines that came; of a chunk without any, or that was cut before them, those that
    match.
    """
    chunk, matched = result["chunk"], result.get("highlight_lines") or ()
    text, last = chunk.get("text") or "", 0
    if "chunk_type" not in chunk:  # chosen for the question and cut to a budget
        for line in text.splitlines():
            yield StyledLine(f"    {line}" if line else "")
    elif text:
        lines, first = text.removesuffix("\n").split("\n"), _first_number(chunk)
        for number, line in enumerate(lines, first):
            numbered_line = f"    {number}: {line}" if first and line != CUT else f"    {line}"
            yield StyledLine((numbered_line.rstrip(), "bold yellow" if first and number in matched else ""))
        last = first + len(lines) - 1 - (lines[-1] == CUT)
    if "chunk_type" in chunk and (not text or text.endswith(f"\n{CUT}")):
        omitted = [at for at, number in enumerate(matched) if number > last or not text]
        highlights = result.get("highlights") or ()
        yield from _highlight_lines([highlights[at] for at in omitted], [matched[at] for at in omitted])


def _first_number(chunk: dict[str, Any]) -> int:
    """The line in the file of a chunk's text; 0 for a view, whose lines are from many places."""
    metadata = chunk.get("metadata") or {}
    if not covers(chunk["chunk_type"]):
        return 0
    number: int = metadata.get("snippet_start_line") or metadata.get("start_line") or 0
    return number


def _highlight_lines(highlights: Sequence[str], numbers: Sequence[int]) -> Iterable[StyledLine]:
    """Highlights with the numbers of their lines, what matched in colour."""
    for at, highlight in enumerate(highlights):
        text = StyledLine(f"    {numbers[at]}: " if at < len(numbers) and numbers[at] else "    ")
        for piece_at, piece in enumerate(highlight.replace("</em>", "<em>").split("<em>")):
            text.append(piece.replace("\n", "\n    "), "bold yellow" if piece_at % 2 else "")
        yield text


def _label(chunk: dict[str, Any]) -> str:
    """What it is: the symbol or the kind of use of chosen lines, the kind of a chunk."""
    metadata = chunk.get("metadata") or {}
    label: str = chunk.get("chunk_type") or metadata.get("symbol") or metadata.get("kind") or ""
    return label


def _lines_of(text: str) -> Iterable[StyledLine]:
    """The first lines that hold anything."""
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines[:EXCERPT_LINES]:
        yield StyledLine("    " + line)


def _explain(explanation: dict[str, Any]) -> str:
    parts = [
        f"{name} {signal['value']:.2f}×{signal['weight']:g}"
        for name, signal in explanation["signals"].items()
        if signal["product"]
    ]
    return f"{' + '.join(parts)} = {explanation['sum']:.3f}"


def _say_cut(answer: dict[str, Any]) -> str:
    """What an answer that was cut leaves out, and which option shows it."""
    chunks = (result["chunk"] for result in answer.get("results", ()) if "chunk" in result)
    if any((chunk.get("metadata") or {}).get("text_truncated") for chunk in chunks):
        return "Some texts were cut; a larger --max-tokens shows more."
    returned, total = answer.get("total_returned", 0), answer.get("total_found", 0)
    if total > returned:
        return f"{returned} of {total} are shown; --limit and --max-tokens say how many."
    return answer.get("next") or "There is more: raise --limit or --max-tokens, or narrow by --paths."


def print_notes(answer: dict[str, Any], cut: str = "There is more.") -> None:
    """What was noted of the places, and to standard error what is amiss; `cut` is what an answer
    that was cut says.
    """
    memory.print_place_notes(answer)
    index = answer.get("index") or {"pending_count": 0, "degraded": []}
    notes = [answer.get("suggestion") or "", index.get("message", ""), answer.get("memory", "")]
    if answer.get("truncated"):
        notes.append(cut)
    if parts := (answer.get("omitted") or {}).get("a part"):
        notes.append(f"{parts} lines that hold a part of the query are left out; --limit shows each.")
    if index["pending_count"]:
        notes.append(
            f"{index['pending_count']} saved files are not in the index yet: {', '.join(index['pending'])}"
        )
    if index["degraded"]:
        notes.append(f"Without an answer from: {', '.join(index['degraded'])}.")
    for note in notes:
        if note:
            print(escape_controls(note), file=sys.stderr)
