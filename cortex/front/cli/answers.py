"""Tool answers for people: one function for each shape of answer.

Programs read JSON instead.
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
#: last line of a cut text
CUT = "…"
#: the kinds of results of find_related, in the order of the output
RELATED = ("similar", "callers", "tests", "documents")


def print_json(answer: dict[str, Any]) -> None:
    """Print any answer, indented."""
    print(orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode())


def place_of(result: dict[str, Any]) -> tuple[str, int, int, float]:
    """Return (file, first line, last line, score) of a result of either search tool."""
    metadata = result["chunk"].get("metadata") or {}
    score = result.get("combined_score", result.get("score", 0.0))
    return (
        metadata.get("file_path", ""),
        metadata.get("start_line") or 1,
        metadata.get("end_line") or metadata.get("start_line") or 1,
        score,
    )


def print_jsonl(answer: dict[str, Any]) -> None:
    """Print the places of results as JSON lines; notes have no place."""
    for result in (result for result in answer["results"] if "chunk" in result):
        file, start, end, score = place_of(result)
        project = {"project": result["project"]} if "project" in result else {}
        print(orjson.dumps(project | {"file": file, "start": start, "end": end, "score": score}).decode())


def print_answer(answer: dict[str, Any]) -> None:
    """Print results with `path:line` and their lines; hints go to standard error."""
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
    """Return the prefix of a place in a question to several projects."""
    return f"{result['project']}:" if "project" in result else ""


def print_graph(answer: dict[str, Any]) -> None:
    """Print each result with its place, its edge and confidence, and the source line."""
    out = Screen()
    for result in answer["results"]:
        title, place, margin = _place_in_graph(result, answer["operation"])
        head = StyledLine((margin, ""), (title, "bold cyan"))
        head.append(f"  {place['file']}:{place['line']}", "green")
        details = [result.get(name, "") for name in ("edge", "confidence", "impact_type", "severity")]
        head.append("  " + " ".join(filter(None, details)), "dim")
        if candidates := candidates_of(result, answer["results"]):
            head.append(f"  receiver's type unknown: {len(candidates)} definitions have the name", "yellow")
        if result.get("stale"):
            head.append("  changed since it was indexed", "yellow")
        out.print(head)
        for text in _context_lines(result.get("context") or (), place["line"], f"{margin}    "):
            out.print(text)
        for line in result.get("text", "").splitlines():
            out.print(StyledLine((f"{margin}    {line}", "dim")))
    print_notes(answer, "")  # the suggestion describes the cut and the way to the other results


def _place_in_graph(result: dict[str, Any], operation: str) -> tuple[str, dict[str, Any], str]:
    """Return (title, {"file", "line"}, indentation by depth) of a result in either form."""
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
    """Yield source lines as one block without common indentation. Several lines get their numbers,
    and the `marked` one a `>`.
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
    """Print each file with its symbols: lines, kind, signature and number of references."""
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
    """Print each match with its place and text."""
    out = Screen()
    for result in answer["results"]:
        out.print(StyledLine((result["file"], "bold cyan"), (f":{result['start_line']}", "green")))
        for line in result["text"].splitlines():
            out.print(StyledLine("    " + line))
    print_notes(answer, f"The first {answer['total_returned']} matches are shown.")


def print_context(answer: dict[str, Any]) -> None:
    """Print each hit of code_context with its place, score, source and excerpt."""
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
    """Print each kind under a heading, one line for each result."""
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
    """Return the text of a chunk of one line; "" for a longer one."""
    metadata = result["chunk"].get("metadata") or {}
    text: str = result["chunk"].get("text") or ""
    return text if metadata.get("start_line") == metadata.get("end_line") else ""


def _line_of(kind: str, result: dict[str, Any]) -> tuple[str, int, str]:
    """Return (file, line, description)."""
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
    """Yield all lines of a result. For a chunk without text, or cut before them, the matching
    lines.
    """
    chunk, matched = result["chunk"], result.get("highlight_lines") or ()
    text, last = chunk.get("text") or "", 0
    if "chunk_type" not in chunk:  # lines chosen for the question, cut to a budget
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
    """Return the number of a chunk's first line; 0 for a view, whose lines come from many
    places.
    """
    metadata = chunk.get("metadata") or {}
    if not covers(chunk["chunk_type"]):
        return 0
    number: int = metadata.get("snippet_start_line") or metadata.get("start_line") or 0
    return number


def _highlight_lines(highlights: Sequence[str], numbers: Sequence[int]) -> Iterable[StyledLine]:
    """Yield highlights with their line numbers, and the matches in colour."""
    for at, highlight in enumerate(highlights):
        text = StyledLine(f"    {numbers[at]}: " if at < len(numbers) and numbers[at] else "    ")
        for piece_at, piece in enumerate(highlight.replace("</em>", "<em>").split("<em>")):
            text.append(piece.replace("\n", "\n    "), "bold yellow" if piece_at % 2 else "")
        yield text


def _label(chunk: dict[str, Any]) -> str:
    """Return a label: the symbol or kind of use of chosen lines, or the kind of a chunk."""
    metadata = chunk.get("metadata") or {}
    label: str = chunk.get("chunk_type") or metadata.get("symbol") or metadata.get("kind") or ""
    return label


def _lines_of(text: str) -> Iterable[StyledLine]:
    """Yield the first lines that are not blank."""
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
    """Return a sentence on the omissions of a cut answer, and the option that shows more."""
    chunks = (result["chunk"] for result in answer.get("results", ()) if "chunk" in result)
    if any((chunk.get("metadata") or {}).get("text_truncated") for chunk in chunks):
        return "Some texts were cut; a larger --max-tokens shows more."
    returned, total = answer.get("total_returned", 0), answer.get("total_found", 0)
    if total > returned:
        return f"{returned} of {total} are shown; --limit and --max-tokens say how many."
    return answer.get("next") or "There is more: raise --limit or --max-tokens, or narrow by --paths."


def print_notes(answer: dict[str, Any], cut: str = "There is more.") -> None:
    """Print the notes about places, and hints to standard error; `cut` is the hint of a cut
    answer.
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
