"""Answers of memory as text: notes and observations, and reports about them."""

from collections.abc import Sequence

from cortex.front.text.lines import FAINT, Answer, Page, flat
from cortex.front.text.notes import draw_row, note_later, note_newer, note_unsure
from cortex.front.text.parts import Drawer
from cortex.front.tools.memory.fence import unfenced, unmarked


def draw_rows(page: Page, answer: Answer) -> None:
    for row in answer["results"]:
        draw_row(page, row)
    note_newer(page, answer["results"])
    note_unsure(page, answer["results"])
    if not answer["results"]:
        page.note(answer.get("message") or "Nothing is noted about this.")


def draw_observations(page: Page, answer: Answer) -> None:
    """Draw lists of observations, and how many there are besides."""
    rows = [row for key in ("results", "observations") for row in answer.get(key) or ()]
    for row in rows:
        if "title" in row and "id" in row:
            draw_row(page, row)
            note_later(page, row)
        else:
            page.add(flat(row))
    total = answer.get("total_count", 0)
    if not rows:
        page.note(answer.get("message") or "Nothing was found.")
    elif total > len(rows):
        page.note(f"{len(rows)} of {total} are shown.")


def draw_briefing(page: Page, answer: Answer) -> None:
    text = answer["briefing"]
    for line in (unfenced(text) if page.for_person else text).splitlines():
        page.add(line)


def draw_walk(page: Page, answer: Answer) -> None:
    """Draw the reached notes, indented by their steps, then the edges between them."""
    for node in answer["nodes"]:
        draw_row(page, node, margin="  " * node["depth"])
        note_later(page, node)
    names = {node["id"]: str(node.get("number") or node["id"]) for node in answer["nodes"]}
    for edge in answer["edges"]:
        ends = [names.get(edge[end], edge[end]) for end in ("from", "to")]
        page.add((unmarked(f"{ends[0]} → {edge['relation']} → {ends[1]}"), FAINT))
    if answer["truncated"]:
        page.note("There is more than is shown.")


def draw_written(page: Page, answer: Answer) -> None:
    """Draw the result of a write, a note's number first; removed secrets and hints as notes."""
    page.add(f"{answer['number']}  {answer['message']}" if "number" in answer else answer["message"])
    for row in answer.get("closed", ()):
        page.note(f"Replaced: {row['number']}  {unmarked(row['title'])}. {_reopen(page, row['number'])}")
    if similar := answer.get("similar"):
        titles = "; ".join(f"{row['number']}  {unmarked(row['title'])} ({row['age']})" for row in similar)
        page.note(f"Similar: {titles}. {_replace(page, answer['number'], similar)}")
    if removed := answer.get("removed"):
        page.note(f"Taken out before it was stored: {', '.join(removed)}.")
    page.note(*(f"hint: {warning}" for warning in answer.get("warnings", ())))


def _reopen(page: Page, number: int) -> str:
    """Name the call that makes a replaced note valid again."""
    if page.for_person:
        return "`cortex memory undo` reverts it."
    return f'Wrong? {{"id": "{number}", "state": "active"}}'


def _replace(page: Page, number: int, similar: Sequence[Answer]) -> str:
    """Name the call that marks the older notes as replaced that a note likely replaces; without
    one, its form: an agent makes each call that it is shown.
    """
    olds = [str(row["number"]) for row in similar if row.get("likely")]
    question = f"Replaces {' and '.join(olds)}?" if olds else "If it replaces one:"
    if page.for_person:
        names = " ".join(f"--supersedes {old}" for old in olds or ["NUMBER"])
        return f"{question} `cortex memory store --id {number} {names}`"
    names = ", ".join(f'"{old}"' for old in olds) or "NUMBER"
    return f'{question} {{"id": "{number}", "supersedes": [{names}]}}'


#: found notes, an answer of a write, and observations
NOTES = Drawer(draw_rows, frozenset(("results", "message")), needs=("results",))
WRITTEN = Drawer(
    draw_written,
    frozenset(("id", "number", "message", "removed", "warnings", "closed", "similar")),
    needs=("message",),
)
OBSERVATIONS = Drawer(
    draw_observations,
    frozenset(("results", "observations", "count", "total_count")),
    needs=("results", "observations"),
)
