"""Reports of memory for people: what an operation has done, and what a check has found."""

import os
import time

from cortex.front.text.lines import Answer, Page, count
from cortex.front.text.notes import OPERATION_WORDS, say_ago

#: the warning when a damaged store does not list its forgotten notes
UNREAD = (
    "The store from before cannot be read to its end: a note forgotten for good after the back-up may be back. "
    "Check, and forget it again."
)


def draw_undone(page: Page, answer: Answer) -> None:
    """Draw the removed and the restored notes; for none, the operation."""
    removed = [node for node in answer["nodes"] if node.get("state") == "deleted"]
    restored = [node for node in answer["nodes"] if node not in removed]
    for done, nodes in (("Removed", removed), ("Restored", restored)):
        if nodes:
            titles = ", ".join(f"{node['number']}  {node['title']}" for node in nodes)
            page.add(f"{done} note{'s' if len(nodes) > 1 else ''} {titles}")
    if not answer["nodes"]:
        operation = OPERATION_WORDS.get(answer["what"], answer["what"])
        page.add(f"Undone: {operation} (operation {answer['undone']}).")


def draw_link(page: Page, answer: Answer) -> None:
    """Draw the project whose notes this project shares, and all projects with notes."""
    project, home = answer["project"], answer["home"]
    moved = f"; {count(answer['moved'], 'note')} of its own joined them" if answer.get("moved") else ""
    store = "notes of its own" if any(row["project"] == project for row in answer["projects"]) else "no notes"
    description = f"has {store}" if project == home else f"has the notes of {home}{moved}"
    page.add(f"This project, {project}, {description}.")
    now = time.time()
    for row in answer["projects"]:
        mark, notes = "→" if row["project"] == home else " ", count(row["notes"], "note")
        page.add(f"{mark} {notes:>12}  {row['project']}, the newest {say_ago(row['newest'], now)}")


def draw_imported(page: Page, answer: Answer) -> None:
    """Draw the numbers of an import; unusable lines are notes."""
    new = f"{count(answer['notes'], 'note')} and {count(answer['edges'], 'edge')} are new"
    others = (
        ("exchanges", f"exchanges of {count(answer['sessions'], 'session')} are new"),
        ("known", "known already"),
        ("merged", "merged with an existing note"),
        ("forgotten", "forgotten for good and left out"),
        ("proposed", "in another version than stored: `cortex memory candidates`"),
    )
    page.add(", ".join((new, *(f"{answer[name]} {label}" for name, label in others if answer[name]))) + ".")
    for refusal in answer["refused"]:
        file = f"{refusal['file']}, " if refusal.get("file") else ""
        page.note(f"{file}line {refusal['line']}: {refusal['why']}")
    if more := answer["refused_count"] - len(answer["refused"]):
        page.note(f"and {count(more, 'more line')} like these")


def draw_exported(page: Page, answer: Answer) -> None:
    """Draw the file or the folder that was written."""
    if "folder" in answer:
        written = f"{count(answer['written'], 'file')} written to {answer['folder']}"
        page.add(f"{written}, {answer['unchanged']} unchanged")
        return
    place = "standard output" if answer["file"] == "-" else answer["file"]
    page.add(f"{count(answer['records'], 'record')} written to {place}")


def draw_backed_up(page: Page, answer: Answer) -> None:
    page.add(f"Copied to {answer['file']}; {count(len(answer['back_ups']), 'back-up')} in all.")


def draw_migrated(page: Page, answer: Answer) -> None:
    to, rows = answer["to"], answer["rows"]
    counts = ", ".join(count(rows[name], name) for name in ("note", "edge", "session"))
    setting = "memory.database to it" if "://" in to else f"memory.data_dir to {os.path.dirname(to)}"
    page.add(
        f"Copied to {to}, and compared with the source: {counts}. Now set {setting}, and run "
        "`cortex memory down` once."
    )


def draw_restored(page: Page, answer: Answer) -> None:
    age = say_ago(answer["written_at"], time.time())
    page.add(f"{answer['file']}, made {age}, is in place: {count(answer['notes'], 'note')}.")
    if answer["kept"]:
        page.add(f"The store from before is kept as {answer['kept']}.")
    if answer.get("forgotten"):
        page.add(f"{count(answer['forgotten'], 'note')} of it stayed out: forgotten for good since.")
    if answer.get("unread"):
        page.add(UNREAD)


def draw_findings(page: Page, answer: Answer) -> None:
    """Draw the faults, and whether each is mended."""
    page.add(f"{count(answer['notes'], 'note')} and {count(answer['edges'], 'edge')} were compared.")
    for finding in answer["findings"]:
        difference = finding["found"]
        if not isinstance(difference, str):
            difference = f"{difference} differences"
        page.add(f"{'mended' if finding['mended'] else 'WRONG '}  {finding['what']}: {difference}")
    if not answer["findings"]:
        page.add("Nothing is wrong.")
    if answer["back_ups"]:
        newest = answer["back_ups"][0]
        page.add(f"The newest of {count(len(answer['back_ups']), 'back-up')}: {newest['file']}")


def draw_upkeep(page: Page, answer: Answer) -> None:
    """Draw the numbers of a run or dry run, then the single changes that the answer lists."""
    if message := answer.get("message"):
        page.add(message)
    for step, numbers in answer.get("steps", {}).items():
        counts = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in numbers.items() if number)
        page.add(f"{step}: {counts or 'nothing'}")
    for row in answer.get("superseded", ()):
        page.add(f"superseded: {row['id']} by {row['by']}, which {row['why']}")
    for what in ("archived", "deleted"):
        for row in answer.get(what, ()):
            page.add(f"{what}: {row['number']}  {row['title']}")
    if answer.get("dry_run"):
        page.note("Nothing was changed.")
    elif left := answer.get("remaining"):
        page.note(f"{count(left, 'note')} more: ask again.")


def draw_stats(page: Page, answer: Answer) -> None:
    kinds = ", ".join(f"{number} {kind}" for kind, number in answer["node_counts_by_kind"].items())
    counts = (count(answer["node_count"], "note"), count(answer["edge_count"], "edge"))
    page.add(f"{counts[0]}{f' ({kinds})' if kinds else ''}, {counts[1]}")
    states = answer["node_counts_by_state"].items()
    if others := ", ".join(f"{number} {state}" for state, number in states if state != "active"):
        page.add(f"besides {others}")
    if answer["oldest_node"]:
        now = time.time()
        oldest, newest = say_ago(answer["oldest_node"], now), say_ago(answer["newest_node"], now)
        page.add(f"the oldest {oldest}, the newest {newest}")
    page.add(f"{answer['db_bytes'] / 1e6:.1f} MB on disk")
