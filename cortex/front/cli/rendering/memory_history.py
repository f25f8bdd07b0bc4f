"""The history of notes, and recorded sessions, for people."""

from __future__ import annotations

import sys
import time
from typing import Any

from cortex.front.cli.rendering.paint import Screen
from cortex.front.text.lines import StyledLine
from cortex.front.text.notes import OPERATION_WORDS, say_ago
from cortex.system.terminal import print_text

#: characters of a field's value in a list of changes
HELD_CHARS = 100


def print_history(answer: dict[str, Any]) -> None:
    """Print revisions and edges of a note, then the operations that can be undone, by number."""
    out, now = Screen(), time.time()
    if "revisions" in answer:
        out.print(StyledLine((f"{answer['number']}  ", "green"), (answer["title"], "bold")))
    for entry in answer.get("revisions", ()):
        out.print(StyledLine((f"    changed {say_ago(entry['until'], now)}", "dim")))
        for field, (before, after) in entry["changed"].items():
            out.print(StyledLine(f"      {field}: {_short(before)} → {_short(after)}"))
    for edge in answer.get("edges", ()):
        why = ", ".join(filter(None, (edge["detection"], edge["reason"])))
        out.print(StyledLine(f"    {edge['relation']}: {edge['other']['title']} ", (f"({why})", "dim")))
    for entry in answer["operations"]:
        titles = ", ".join(f"{node['number']} {node['title']}" for node in entry["nodes"])
        more = f" and {entry['more']} more" if entry["more"] else ""
        line = StyledLine(
            (f"{entry['id']}  ", "green"),
            f"{OPERATION_WORDS.get(entry['what'], entry['what'])}, {say_ago(entry['at'], now)}  ",
        )
        line.append(f"{titles}{more}", "dim")
        out.print(line)
    if not answer["operations"]:
        print("There is nothing to undo; operations are kept for 7 days.", file=sys.stderr)


def print_session(answer: dict[str, Any]) -> None:
    """Print each question of a session with its answer and files."""
    out = Screen()
    branch = f" on {answer['git_branch']}" if answer["git_branch"] else ""
    out.print(
        StyledLine((f"{answer['id']}  ", "green"), f"{answer['kind']}{branch}, {answer['last_msg_at']}")
    )
    for exchange in answer["exchanges"]:
        out.print(StyledLine((f"{exchange['exchange']:>4}  {exchange['at'][:16].replace('T', ' ')}", "dim")))
        for mark, text in (("> ", exchange["asked"]), ("  ", exchange["said"])):
            for line in text.splitlines():
                out.print(StyledLine(f"    {mark}{line}"))
        files = [path for paths in exchange["files"].values() for path in paths]
        if files:
            out.print(StyledLine((f"      {', '.join(files)}", "cyan")))
    for note in answer["notes"]:
        print_text(f"noted: {note['number']}  {note['title']}")
    if following := answer.get("next_offset"):
        print(f"There is more: --offset {following}.", file=sys.stderr)


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    text = " ".join(text.split())
    return f"{text[:HELD_CHARS]}…" if len(text) > HELD_CHARS else text or "nothing"
