"""The answer of cortex_explore for people: the path, the functions with their lines, the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cortex.front.cli.answers import print_notes
from cortex.front.cli.paint import Line, Screen

#: kind of what is beside the functions → what is said of each
_BESIDE: dict[str, Callable[[dict[str, Any]], str]] = {
    "callers": lambda one: f"{one['symbol']}  {one['text']}",
    "may_break": lambda one: f"{one['symbol']}  {one['why']}, {one['severity']}",
    "tests": lambda one: ", ".join(one.get("tests", ())),
    "documents": lambda one: ", ".join(one["mentions"]),
}


def print_picture(answer: dict[str, Any]) -> None:
    """The chain of calls, the functions in its order, and one line for each thing beside them."""
    out = Screen()
    if path := answer.get("path"):
        out.print(Line((path, "bold")))
    for one in answer["functions"]:
        _print_function(out, one, "")
        for twin in one.get("twins", ()):
            _print_function(out, twin, "like it: ")
    if "calls" in answer:
        out.print(Line(("calls", "bold")))
    for one in answer.get("calls", ()):
        out.print(Line(f"  {one}"))
    for kind, told in _BESIDE.items():
        if answer.get(kind):
            out.print(Line((kind.replace("_", " "), "bold")))
        for one in answer.get(kind, ()):
            out.print(Line("  ", (one["file"], "bold cyan"), (f":{one['line']}", "green"), f"  {told(one)}"))
    if paths := answer.get("not_indexed"):
        out.print(Line((f"not indexed: {', '.join(paths)}", "yellow")))
    print_notes(answer, answer.get("note", ""))


def _print_function(out: Screen, one: dict[str, Any], before: str) -> None:
    head = Line((before, "dim"), (one["file"], "bold cyan"))
    end = f"-{one['end_line']}" if one["end_line"] > one["start_line"] else ""
    head.append(f":{one['start_line']}{end}", "green")
    if not one["symbol"].startswith(f"{one['file']}:"):  # lines that no definition holds
        head.append(f"  {one['symbol']}")
    if one.get("stale"):
        head.append("  changed since it was indexed", "yellow")
    if one.get("changed"):
        head.append(f"  {one['changed']}", "dim")
    out.print(head)
    for line in one["text"].splitlines():
        out.print(Line(("    " + line, "dim" if line.startswith("⋯") else "")))
