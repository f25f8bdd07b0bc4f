"""Notes, candidates and sessions as people read them: numbers that work as arguments, dates as
people say them.
"""

import time
from typing import Any

from cortex.front.text.lines import FAINT, NUMBER, STRONG, Answer, Page, count
from cortex.front.text.notes import OPERATION_WORDS, note_later, say_ago

#: characters of a field's value in a list of changes
VALUE_CHARS = 100


def draw_node(page: Page, answer: Answer) -> None:
    """Draw one whole note; its changed, gone and moved places are notes of the page."""
    page.add((f"{answer['number']}  ", NUMBER), (answer["title"], STRONG))
    details = [answer["kind"], *(f"#{tag}" for tag in answer["tags"]), f"importance {answer['importance']:g}"]
    details += [answer["state"]] if answer["state"] != "active" else []
    page.add(("    " + "  ".join(details), FAINT))
    by = f" by {answer['source_agent']}" if answer.get("source_agent") else ""
    now = time.time()
    happened = f"happened {say_ago(answer['occurred_at'], now)}, " if answer.get("occurred_at") else ""
    age = say_ago(answer["created_at"], now)
    page.add((f"    {happened}noted {age}{by} ({answer['trust']}), {answer['id']}", FAINT))
    for line in answer["body"].splitlines() if answer["body"].strip() != answer["title"] else ():
        page.add(f"    {line}")
    for fact in answer["facts"]:
        page.add(f"    • {fact}")
    for path in answer["files"]:
        page.add((f"    {path}", "cyan"))
    titles = {note["id"]: note["title"] for note in answer["related"]}
    for edge in answer["edges"]:
        gone = edge["from"] == answer["id"]
        title = titles.get(edge["to"] if gone else edge["from"], "?")
        relation = f"{edge['relation']} → {title}" if gone else f"← {edge['relation']} {title}"
        page.add((f"    {relation}", FAINT))
    for what in ("changed", "gone", "moved"):
        if answer.get(what):
            page.note(f"{what} since it was noted: {', '.join(answer[what])}")
    note_later(page, answer)
    if flagged := answer.get("flagged"):
        page.note(f"This note {flagged}.")


def draw_timeline(page: Page, answer: Answer) -> None:
    """Draw notes in the order of their time; a mark shows the note in question."""
    now = time.time()
    for row in answer["items"]:
        mark = "→" if row.get("anchor") else " "
        page.add(
            (f"{mark} {_minute(row['at'])}  ", FAINT),
            (f"{row['number']:>4}  ", NUMBER),
            (row["title"], STRONG),
            (f"  {row['kind']}, {say_ago(row['at'], now)}", FAINT),
        )
        note_later(page, row)
    if counts := [f"{answer[name]} {name}" for name in ("earlier", "later") if answer.get(name)]:
        page.note(f"There are {' and '.join(counts)} ones: --before and --after show more.")
    _note_more(page, answer)
    if not answer["items"]:
        page.note(answer.get("message", "There are no notes from then."))


def draw_history(page: Page, answer: Answer) -> None:
    """Draw revisions and edges of a note, then the operations that can be undone, by number."""
    now = time.time()
    if "revisions" in answer:
        page.add((f"{answer['number']}  ", NUMBER), (answer["title"], STRONG))
    for entry in answer.get("revisions", ()):
        page.add((f"    changed {say_ago(entry['until'], now)}", FAINT))
        for field, (before, after) in entry["changed"].items():
            page.add(f"      {field}: {_short(before)} → {_short(after)}")
    for edge in answer.get("edges", ()):
        why = ", ".join(filter(None, (edge["detection"], edge["reason"])))
        page.add(f"    {edge['relation']}: {edge['other']['title']} ", (f"({why})", FAINT))
    for entry in answer["operations"]:
        titles = ", ".join(f"{node['number']} {node['title']}" for node in entry["nodes"])
        more = f" and {entry['more']} more" if entry["more"] else ""
        done = OPERATION_WORDS.get(entry["what"], entry["what"])
        age = say_ago(entry["at"], now)
        page.add((f"{entry['id']}  ", NUMBER), f"{done}, {age}  ", (f"{titles}{more}", FAINT))
    if not answer["operations"]:
        page.note("There is nothing to undo; operations are kept for 7 days.")


def draw_session(page: Page, answer: Answer) -> None:
    """Draw each question of a session with its answer and files."""
    branch = f" on {answer['git_branch']}" if answer["git_branch"] else ""
    page.add((f"{answer['id']}  ", NUMBER), f"{answer['kind']}{branch}, {answer['last_msg_at']}")
    for exchange in answer["exchanges"]:
        page.add((f"{exchange['exchange']:>4}  {_minute(exchange['at'])}", FAINT))
        for mark, text in (("> ", exchange["asked"]), ("  ", exchange["said"])):
            for line in text.splitlines():
                page.add(f"    {mark}{line}")
        if files := [path for paths in exchange["files"].values() for path in paths]:
            page.add((f"      {', '.join(files)}", "cyan"))
    for note in answer["notes"]:
        page.add(f"noted: {note['number']}  {note['title']}")
    _note_more(page, answer, "There is more")


def draw_candidates(page: Page, answer: Answer) -> None:
    """Draw the list, or the result of a change."""
    if "taken" in answer:
        for row in answer["taken"]:
            page.add(f"Noted as {row['number']}: {row['title']}")
    elif "dropped" in answer:
        page.add(f"{count(len(answer['dropped']), 'candidate')} dropped.")
    elif "restored" in answer:
        page.add(f"{count(answer['restored'], 'note')} active again.")
    else:
        _draw_candidate_list(page, answer)


def _draw_candidate_list(page: Page, answer: Answer) -> None:
    now = time.time()
    for row in answer["candidates"]:
        origin = [row["kind"], *([say_ago(row["at"], now)] if row["at"] else []), row["agent"]]
        origin += [f"session {row['session']}:{row['exchange']}"] if row["session"] else []
        _draw_choice(page, row["candidate"], f"“{row['text']}”", ", ".join(filter(None, origin)))
    if answer["candidates"]:
        page.note("Take some with --take NUMBER …, drop some with --drop NUMBER ….")
    else:
        page.note("There are no candidates.")
    _note_more(page, answer)


def draw_waiting(page: Page, answer: Answer) -> None:
    """Draw the notes that wait, or the number of accepted ones."""
    if "accepted" in answer:
        page.add(f"{count(answer['accepted'], 'note')} accepted.")
        return
    for row in answer["waiting"]:
        origin = "imported" if row["trust"] == "import" else f"from {row['from'] or 'another project'}"
        by = f" by {row['agent']}" if row["agent"] else ""
        _draw_choice(page, row["number"], row["title"], f"{row['kind']}, {origin}{by}")
    if not answer["waiting"]:
        page.note("No note waits.")
    _note_more(page, answer)


def draw_closed(page: Page, answer: Answer) -> None:
    """Draw the closed notes, or the number of reopened ones."""
    if "reopened" in answer:
        page.add(f"{count(answer['reopened'], 'note')} active again.")
        return
    now = time.time()
    for row in answer["closed"]:
        why = f"closed {say_ago(row['at'], now)} for note {row['by']}: {row['why']}"
        _draw_choice(page, row["number"], row["title"], why)
    page.note("Make all active again with --reopen." if answer["closed"] else "Upkeep closed no note.")


def draw_past_sessions(page: Page, answer: Answer) -> None:
    """Draw the answer that was given, and the number of unread sessions."""
    verdict = {"yes": "are read", "no": "are not read"}.get(
        answer["past_sessions"], "are not read: nobody was asked"
    )
    page.add(f"Sessions from before memory was first used in a project {verdict}.")
    if answer["unread"]:
        page.add(f"{count(answer['unread'], 'session')} of this project wait.")


def _draw_choice(page: Page, number: int, text: str, details: str) -> None:
    page.add((f"{number:>4}  ", NUMBER), (text, STRONG), (f"  {details}", FAINT))


def _note_more(page: Page, answer: Answer, sentence: str = "There are more") -> None:
    if following := answer.get("next_offset"):
        page.note(f"{sentence}: --offset {following}.")


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    text = " ".join(text.split())
    return f"{text[:VALUE_CHARS]}…" if len(text) > VALUE_CHARS else text or "nothing"
