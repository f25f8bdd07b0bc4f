"""Memory's answers for people: numbers that work as arguments, dates as people say them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from cortex.front.cli.rendering.paint import Screen
from cortex.front.text.lines import StyledLine
from cortex.front.text.notes import OPERATION_WORDS, say_ago
from cortex.front.text.values import count
from cortex.system.terminal import print_text


def print_node(answer: dict[str, Any]) -> None:
    """Print one whole note."""
    out, now = Screen(), time.time()
    head = StyledLine((f"{answer['number']}  ", "green"), (answer["title"], "bold"))
    out.print(head)
    details = [answer["kind"], *(f"#{tag}" for tag in answer["tags"]), f"importance {answer['importance']:g}"]
    details += [answer["state"]] if answer["state"] != "active" else []
    _dim("    " + "  ".join(details))
    by = f" by {answer['source_agent']}" if answer.get("source_agent") else ""
    _dim(f"    noted {say_ago(answer['created_at'], now)}{by} ({answer['trust']}), {answer['id']}")
    for line in answer["body"].splitlines() if answer["body"].strip() != answer["title"] else ():
        out.print(StyledLine(f"    {line}"))
    for fact in answer["facts"]:
        out.print(StyledLine(f"    • {fact}"))
    for path in answer["files"]:
        out.print(StyledLine((f"    {path}", "cyan")))
    titles = {note["id"]: note["title"] for note in answer["related"]}
    for edge in answer["edges"]:
        gone = edge["from"] == answer["id"]
        title = titles.get(edge["to"] if gone else edge["from"], "?")
        relation = f"{edge['relation']} → {title}" if gone else f"← {edge['relation']} {title}"
        out.print(StyledLine((f"    {relation}", "dim")))
    _say_places(answer)
    if flagged := answer.get("flagged"):
        print_text(f"This note {flagged}.", file=sys.stderr)


def _say_places(row: Mapping[str, Any]) -> None:
    """Print changed, gone and moved places of a note to standard error."""
    for what in ("changed", "gone", "moved"):
        if row.get(what):
            print_text(f"{what} since it was noted: {', '.join(row[what])}", file=sys.stderr)


def print_timeline(answer: dict[str, Any]) -> None:
    """Print notes in the order of their time; a mark shows the note in question."""
    out, now = Screen(), time.time()
    for row in answer["items"]:
        mark = "→" if row.get("anchor") else " "
        line = StyledLine(
            (f"{mark} {row['at'][:16].replace('T', ' ')}  ", "dim"), (f"{row['number']:>4}  ", "green")
        )
        line.append(row["title"], "bold")
        line.append(f"  {row['kind']}, {say_ago(row['at'], now)}", "dim")
        out.print(line)
    earlier, later = answer.get("earlier", 0), answer.get("later", 0)
    counts = [f"{count} {name}" for count, name in ((earlier, "earlier"), (later, "later")) if count]
    if counts:
        print(f"There are {' and '.join(counts)} ones: --before and --after show more.", file=sys.stderr)
    if following := answer.get("next_offset"):
        print(f"There are more: --offset {following}.", file=sys.stderr)
    if not answer["items"]:
        print_text(answer.get("message", "There are no notes from then."), file=sys.stderr)


def print_undone(answer: dict[str, Any]) -> None:
    """Print the removed and the restored notes; for none, the operation."""
    removed = [node for node in answer["nodes"] if node.get("state") == "deleted"]
    restored = [node for node in answer["nodes"] if node not in removed]
    for done, nodes in (("Removed", removed), ("Restored", restored)):
        if nodes:
            titles = ", ".join(f"{node['number']}  {node['title']}" for node in nodes)
            print_text(f"{done} note{'s' if len(nodes) > 1 else ''} {titles}")
    if not answer["nodes"]:
        operation = OPERATION_WORDS.get(answer["what"], answer["what"])
        print_text(f"Undone: {operation} (operation {answer['undone']}).")


def print_link(answer: dict[str, Any]) -> None:
    """Print the project whose notes this project shares, and all projects with notes."""
    project, home = answer["project"], answer["home"]
    moved = f"; {count(answer['moved'], 'note')} of its own joined them" if answer.get("moved") else ""
    store = "notes of its own" if any(row["project"] == project for row in answer["projects"]) else "no notes"
    description = f"has {store}" if project == home else f"has the notes of {home}{moved}"
    print_text(f"This project, {project}, {description}.")
    now = time.time()
    for row in answer["projects"]:
        mark = "→" if row["project"] == home else " "
        line = f"{mark} {count(row['notes'], 'note'):>12}  {row['project']}, the newest {say_ago(row['newest'], now)}"
        print_text(line)


def print_imported(answer: dict[str, Any]) -> None:
    """Print the numbers of an import; unusable lines go to standard error."""
    new = f"{count(answer['notes'], 'note')} and {count(answer['edges'], 'edge')} are new"
    others = (
        ("exchanges", f"exchanges of {count(answer['sessions'], 'session')} are new"),
        ("known", "known already"),
        ("merged", "merged with an existing note"),
        ("forgotten", "forgotten for good and left out"),
        ("proposed", "candidates, for another version is stored"),
    )
    print(", ".join((new, *(f"{answer[name]} {label}" for name, label in others if answer[name]))) + ".")
    for refusal in answer["refused"]:
        where = (
            f"{refusal['file']}, line {refusal['line']}" if refusal.get("file") else f"line {refusal['line']}"
        )
        print_text(f"{where}: {refusal['why']}", file=sys.stderr)
    if more := answer["refused_count"] - len(answer["refused"]):
        print(f"and {count(more, 'more line')} like these", file=sys.stderr)


def print_exported(answer: dict[str, Any]) -> None:
    """Print the file or the folder that was written."""
    if "folder" in answer:
        written = f"{count(answer['written'], 'file')} written to {answer['folder']}"
        print_text(f"{written}, {answer['unchanged']} unchanged")
        return
    place = "standard output" if answer["file"] == "-" else answer["file"]
    print_text(f"{count(answer['records'], 'record')} written to {place}")


def print_backed_up(answer: dict[str, Any]) -> None:
    print_text(f"Copied to {answer['file']}; {count(len(answer['back_ups']), 'back-up')} in all.")


def print_migrated(answer: dict[str, Any]) -> None:
    rows = answer["rows"]
    counts = ", ".join(count(rows[name], name) for name in ("note", "edge", "session"))
    where = (
        "memory.database to it"
        if "://" in answer["to"]
        else f"memory.data_dir to {os.path.dirname(answer['to'])}"
    )
    read = f"Copied to {answer['to']}, and compared with the source: {counts}."
    print_text(f"{read} Now set {where}, and run `cortex memory down` once.")


#: the warning when a damaged store does not list its forgotten notes
UNREAD = (
    "The store from before cannot be read to its end: a note forgotten for good after the back-up may be back. "
    "Check, and forget it again."
)


def print_restored(answer: dict[str, Any]) -> None:
    age = say_ago(answer["written_at"], time.time())
    print_text(f"{answer['file']}, made {age}, is in place: {count(answer['notes'], 'note')}.")
    if answer["kept"]:
        print_text(f"The store from before is kept as {answer['kept']}.")
    if answer.get("forgotten"):
        print(f"{count(answer['forgotten'], 'note')} of it stayed out: forgotten for good since.")
    if answer.get("unread"):
        print(UNREAD)


def print_findings(answer: dict[str, Any]) -> None:
    """Print the faults, and whether each is mended."""
    print(f"{count(answer['notes'], 'note')} and {count(answer['edges'], 'edge')} were compared.")
    for finding in answer["findings"]:
        difference = (
            finding["found"] if isinstance(finding["found"], str) else f"{finding['found']} differences"
        )
        print_text(f"{'mended' if finding['mended'] else 'WRONG '}  {finding['what']}: {difference}")
    if not answer["findings"]:
        print("Nothing is wrong.")
    if answer["back_ups"]:
        newest = answer["back_ups"][0]
        print_text(f"The newest of {count(len(answer['back_ups']), 'back-up')}: {newest['file']}")


def print_upkeep(answer: dict[str, Any]) -> None:
    """Print the numbers of a run or dry run, then the single changes that the answer lists."""
    if message := answer.get("message"):
        print_text(message)
    for step, numbers in answer.get("steps", {}).items():
        counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in numbers.items() if count)
        print_text(f"{step}: {counts or 'nothing'}")
    for row in answer.get("superseded", ()):
        print_text(f"superseded: {row['id']} by {row['by']}, which {row['why']}")
    for what in ("archived", "deleted"):
        for row in answer.get(what, ()):
            print_text(f"{what}: {row['number']}  {row['title']}")
    if answer.get("dry_run"):
        print("Nothing was changed.", file=sys.stderr)
    elif left := answer.get("remaining"):
        print(f"{count(left, 'note')} more: ask again.", file=sys.stderr)


def print_stats(answer: dict[str, Any]) -> None:
    kinds = ", ".join(f"{count} {kind}" for kind, count in answer["node_counts_by_kind"].items())
    counts = (count(answer["node_count"], "note"), count(answer["edge_count"], "edge"))
    print(f"{counts[0]}{f' ({kinds})' if kinds else ''}, {counts[1]}")
    other = {name: count for name, count in answer["node_counts_by_state"].items() if name != "active"}
    if other:
        print(f"besides {', '.join(f'{count} {name}' for name, count in other.items())}")
    if answer["oldest_node"]:
        now = time.time()
        oldest, newest = say_ago(answer["oldest_node"], now), say_ago(answer["newest_node"], now)
        print(f"the oldest {oldest}, the newest {newest}")
    print(f"{answer['db_bytes'] / 1e6:.1f} MB on disk")


def _dim(text: str) -> None:
    Screen().print(StyledLine((text, "dim")))
