"""Answers about candidates, closed notes and past sessions, for people."""

from __future__ import annotations

import sys
import time
from typing import Any

from cortex.front.cli.rendering.paint import Screen
from cortex.front.text.lines import StyledLine
from cortex.front.text.notes import say_ago
from cortex.front.text.values import count
from cortex.system.terminal import print_text


def print_candidates(answer: dict[str, Any]) -> None:
    """Print the list, or the result of a change."""
    if "taken" in answer:
        for row in answer["taken"]:
            print_text(f"Noted as {row['number']}: {row['title']}")
    elif "dropped" in answer:
        print(f"{count(len(answer['dropped']), 'candidate')} dropped.")
    elif "restored" in answer:
        print(f"{count(answer['restored'], 'note')} active again.")
    else:
        _print_list(answer)


def _print_list(answer: dict[str, Any]) -> None:
    out, now = Screen(), time.time()
    for row in answer["candidates"]:
        line = StyledLine((f"{row['candidate']:>4}  ", "green"), (f"“{row['text']}”", "bold"))
        origin = [row["kind"], *([say_ago(row["at"], now)] if row["at"] else []), row["agent"]]
        session = f"session {row['session']}:{row['exchange']}" if row["session"] else ""
        line.append(f"  {', '.join(filter(None, (*origin, session)))}", "dim")
        out.print(line)
    if not answer["candidates"]:
        print("There are no candidates.", file=sys.stderr)
    else:
        print("Take some with --take NUMBER …, drop some with --drop NUMBER ….", file=sys.stderr)
    if following := answer.get("next_offset"):
        print(f"There are more: --offset {following}.", file=sys.stderr)


def print_waiting(answer: dict[str, Any]) -> None:
    """Print the notes that wait, or the number of accepted ones."""
    if "accepted" in answer:
        print(f"{count(answer['accepted'], 'note')} accepted.")
        return
    out = Screen()
    for row in answer["waiting"]:
        origin = "imported" if row["trust"] == "import" else f"from {row['from'] or 'another project'}"
        by = f" by {row['agent']}" if row["agent"] else ""
        line = StyledLine((f"{row['number']:>4}  ", "green"), (row["title"], "bold"))
        line.append(f"  {row['kind']}, {origin}{by}", "dim")
        out.print(line)
    if not answer["waiting"]:
        print("No note waits.", file=sys.stderr)
    if following := answer.get("next_offset"):
        print(f"There are more: --offset {following}.", file=sys.stderr)


def print_closed(answer: dict[str, Any]) -> None:
    """Print the closed notes, or the number of reopened ones."""
    if "reopened" in answer:
        print(f"{count(answer['reopened'], 'note')} active again.")
        return
    out, now = Screen(), time.time()
    for row in answer["closed"]:
        line = StyledLine((f"{row['number']:>4}  ", "green"), (row["title"], "bold"))
        line.append(f"  closed {say_ago(row['at'], now)} for note {row['by']}: {row['why']}", "dim")
        out.print(line)
    if answer["closed"]:
        print("Make all active again with --reopen.", file=sys.stderr)
    else:
        print("Upkeep closed no note.", file=sys.stderr)


def print_past_sessions(answer: dict[str, Any]) -> None:
    """Print the answer that was given, and the number of unread sessions."""
    verdict = {"yes": "are read", "no": "are not read"}.get(
        answer["past_sessions"], "are not read: nobody was asked"
    )
    print(f"Sessions from before memory was first used in a project {verdict}.")
    if answer["unread"]:
        print(f"{count(answer['unread'], 'session')} of this project wait.")
