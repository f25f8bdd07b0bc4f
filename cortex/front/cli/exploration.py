"""The answer of cortex_explore for people: the chain of calls, the functions with their lines,
callers, tests and documents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cortex.front.cli.answers import print_notes
from cortex.front.cli.paint import Screen, StyledLine

#: kind of entry beside the functions → its description
_DESCRIBERS: dict[str, Callable[[dict[str, Any]], str]] = {
    "callers": lambda row: f"{row['symbol']}  {row['text']}",
    "may_break": lambda row: f"{row['symbol']}  {row['why']}, {row['severity']}",
    "tests": lambda row: ", ".join(row.get("tests", ())),
    "documents": lambda row: ", ".join(row["mentions"]),
}


def print_picture(answer: dict[str, Any]) -> None:
    """Print the chain of calls, the functions in its order, and a line for each further entry."""
    out = Screen()
    if path := answer.get("path"):
        out.print(StyledLine((path, "bold")))
    for row in answer["functions"]:
        _print_function(out, row, "")
        for twin in row.get("twins", ()):
            _print_function(out, twin, "like it: ")
    if "calls" in answer:
        out.print(StyledLine(("calls", "bold")))
    for row in answer.get("calls", ()):
        out.print(StyledLine(f"  {row}"))
    for kind, describe in _DESCRIBERS.items():
        if answer.get(kind):
            out.print(StyledLine((kind.replace("_", " "), "bold")))
        for row in answer.get(kind, ()):
            out.print(
                StyledLine(
                    "  ", (row["file"], "bold cyan"), (f":{row['line']}", "green"), f"  {describe(row)}"
                )
            )
    if paths := answer.get("not_indexed"):
        out.print(StyledLine((f"not indexed: {', '.join(paths)}", "yellow")))
    print_notes(answer, answer.get("note", ""))


def _print_function(out: Screen, function: dict[str, Any], before: str) -> None:
    head = StyledLine((before, "dim"), (function["file"], "bold cyan"))
    end = f"-{function['end_line']}" if function["end_line"] > function["start_line"] else ""
    head.append(f":{function['start_line']}{end}", "green")
    if not function["symbol"].startswith(f"{function['file']}:"):  # otherwise: lines outside of definitions
        head.append(f"  {function['symbol']}")
    if function.get("stale"):
        head.append("  changed since it was indexed", "yellow")
    if function.get("changed"):
        head.append(f"  {function['changed']}", "dim")
    out.print(head)
    for line in function["text"].splitlines():
        out.print(StyledLine(("    " + line, "dim" if line.startswith("⋯") else "")))
