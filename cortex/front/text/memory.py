"""Answers of memory as text: notes and observations, and reports about them."""

from __future__ import annotations

import time
from datetime import datetime

from cortex.front.text import omissions
from cortex.front.text.lines import FAINT, NUMBER, STRONG, Page
from cortex.front.text.parts import Answer, Drawer, flat, is_empty
from cortex.front.tools.memory.fence import unfenced, unmarked
from cortex.terms.observations import ROWS

#: lines, and characters of each, of a body in a list for a person
LINES, LINE_CHARS = 3, 110
#: (seconds from which a span uses this unit, the unit's seconds, its name)
_SPANS = (
    (365 * 86_400, 365 * 86_400, "year"),
    (60 * 86_400, 30 * 86_400, "month"),
    (14 * 86_400, 7 * 86_400, "week"),
    (86_400, 86_400, "day"),
    (3_600, 3_600, "hour"),
    (60, 60, "minute"),
)
#: keys of a note that its head, its body or nothing shows
_DRAWN = frozenset(
    "id number uuid kind type obs_type title body content narrative score similarity created_at created_at_epoch "
    "at trust state metadata scope project explain depth importance".split()
)


def say_ago(moment: str, now: float) -> str:
    """Format an ISO 8601 moment as "3 days ago" or "in 2 hours"; `now` in seconds since the
    epoch.
    """
    span = now - datetime.fromisoformat(moment).timestamp()
    for least, seconds, name in _SPANS:
        if abs(span) >= least:
            span_text = count(int(abs(span) // seconds), name)
            return f"{span_text} ago" if span > 0 else f"in {span_text}"
    return "just now"


def count(number: int, name: str) -> str:
    """Return `1 note`, `2 notes`."""
    return f"{number} {name}{'' if number == 1 else 's'}"


def draw_row(page: Page, row: Answer, margin: str = "") -> None:
    """Draw a note: number, title, kind, date or age, trust, and its body. An agent gets the body in
    its fence, a person the first lines.
    """
    number = str(row.get("number") or row["id"])
    page.add(
        margin,
        (f"{number:>4}  " if page.for_person else f"{number}  ", NUMBER),
        (unmarked(row["title"]), STRONG),
        (f"  {', '.join(_details(page, row))}", FAINT),
    )
    body = row.get("body") or row.get("content") or row.get("narrative") or ""
    if page.for_person:
        _draw_excerpt(page, unfenced(body), number, margin)
    else:
        for line in body.splitlines():
            page.add(line)
    if explanation := row.get("explain"):
        parts = (f"{name} {value:.3f}" for name, value in explanation.items() if value)
        page.add((f"{margin}      {', '.join(parts)}", FAINT))


def _details(page: Page, row: Answer) -> list[str]:
    metadata = row.get("metadata") or {}
    kind = row.get("obs_type") or row.get("kind") or metadata.get("obs_type") or row.get("type", "")
    details = [kind]
    if moment := row.get("at") or row.get("created_at"):
        details.append(say_ago(moment, time.time()) if page.for_person else moment[:10])
    if row.get("trust") and not page.for_person:
        details.append(f"trust {row['trust']}")
    details += [state] if (state := row.get("state", "active")) != "active" else []
    details += ["for all projects"] if (row.get("scope") or metadata.get("scope")) == "global" else []
    for key, value in row.items():
        if key not in _DRAWN and key not in omissions.FIELDS and not is_empty(value) and value is not False:
            label = key.replace("_", " ")
            details.append(label if value is True else f"{label} {flat(value)}")
    return [unmarked(detail) for detail in details if detail]


def _draw_excerpt(page: Page, text: str, number: str, margin: str) -> None:
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines[:LINES]:
        cut = f"{line[:LINE_CHARS]}…" if len(line) > LINE_CHARS else line
        page.add(f"{margin}      {cut}")
    if len(lines) > LINES:
        more = count(len(lines) - LINES, "more line")
        page.add((f"{margin}      … {more}: cortex memory show {number}", FAINT))


def draw_rows(page: Page, answer: Answer) -> None:
    for row in answer["results"]:
        draw_row(page, row)
    if not answer["results"]:
        page.note("No note is about this.")


def draw_observations(page: Page, answer: Answer) -> None:
    """Draw lists of observations, and how many there are besides."""
    rows = [row for key in ("results", "observations") for row in answer.get(key) or ()]
    for row in rows:
        if "title" in row and "id" in row:
            draw_row(page, row)
        else:
            page.add(flat(row))
    total = answer.get("total_count", 0)
    if not rows:
        page.note("Nothing was found.")
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
    names = {node["id"]: str(node.get("number") or node["id"]) for node in answer["nodes"]}
    for edge in answer["edges"]:
        ends = [names.get(edge[end], edge[end]) for end in ("from", "to")]
        page.add((unmarked(f"{ends[0]} → {edge['relation']} → {ends[1]}"), FAINT))
    if answer["truncated"]:
        page.note("There is more than is shown.")


def draw_written(page: Page, answer: Answer) -> None:
    """Draw the result of a write, a note's number first; removed secrets and hints as notes."""
    page.add(f"{answer['number']}  {answer['message']}" if "number" in answer else answer["message"])
    if removed := answer.get("removed"):
        page.note(f"Taken out before it was stored: {', '.join(removed)}.")
    page.note(*(f"hint: {warning}" for warning in answer.get("warnings", ())))


_WRITTEN = Drawer(
    draw_written, frozenset(("id", "number", "message", "removed", "warnings")), needs=("message",)
)

_OBSERVATIONS = frozenset(("results", "observations", "count", "total_count"))

DRAWERS: dict[str, Drawer] = {
    "cortex_recall": Drawer(draw_rows, frozenset(("results",)), needs=("results",)),
    "memory_search": Drawer(draw_rows, frozenset(("results",)), needs=("results",)),
    "cortex_briefing": Drawer(draw_briefing, frozenset(("briefing",)), needs=("briefing",)),
    "cortex_traverse": Drawer(
        draw_walk, frozenset(("nodes", "edges", "node_count", "edge_count")), needs=("nodes",)
    ),
    "cortex_store": _WRITTEN,
    "cortex_relate": _WRITTEN,
    "memory_edit": _WRITTEN,
    "memory_forget": _WRITTEN,
    "memory_rate": _WRITTEN,
}
DRAWERS |= dict.fromkeys(ROWS, Drawer(draw_observations, _OBSERVATIONS, ("results", "observations")))
