"""Notes and observations as text."""

import contextlib
import time
from collections.abc import Collection
from datetime import datetime

from cortex.front.text import omissions
from cortex.front.text.lines import FAINT, NUMBER, STRONG, Answer, Page, count, flat, is_empty
from cortex.front.tools.memory.fence import unfenced, unmarked

#: operation of memory → its word for people; the others are such words
OPERATION_WORDS = {"put": "stored", "edit": "changed", "merge": "merged", "relate": "related"}
#: lines, and characters of each, of a body in a list for a person
LINES, LINE_CHARS = 3, 110
DAY_S = 86_400
#: (seconds from which a span uses this unit, the unit's seconds, its name)
_SPANS = (
    (365 * 86_400, 365 * 86_400, "year"),
    (60 * 86_400, 30 * 86_400, "month"),
    (14 * 86_400, 7 * 86_400, "week"),
    (DAY_S, DAY_S, "day"),
    (3_600, 3_600, "hour"),
    (60, 60, "minute"),
)
#: keys of a note that its head, its body or nothing shows
_DRAWN = frozenset(
    "id number uuid kind type obs_type title body content narrative score similarity created_at created_at_epoch "
    "occurred_at at trust state metadata scope project explain depth importance may_disagree may_be_outdated_by unsure".split()
)


def say_ago(moment: str, now: float) -> str:
    """Format an ISO 8601 moment as "3 days ago" or "in 2 hours" from `now`, a POSIX time."""
    span = now - datetime.fromisoformat(moment).timestamp()
    for least, seconds, name in _SPANS:
        if abs(span) >= least:
            span_text = count(int(abs(span) // seconds), name)
            return f"{span_text} ago" if span > 0 else f"in {span_text}"
    return "just now"


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


def note_newer(page: Page, rows: Collection[Answer]) -> None:
    """Say which of the notes of an answer another one of it may outdate, or does."""
    days = {row["number"]: _when(moment_of(row)) for row in rows if "number" in row}
    for row in rows:
        for older in row.get("may_disagree", ()):
            page.note(f"{older} may be outdated: {row['number']} is newer, of {days[row['number']]}.")
        if (newer := row.get("newer")) in days:
            page.note(f"{row['number']} is outdated: {newer} is newer, of {days[newer]}.")
        note_later(page, row)


def note_later(page: Page, row: Answer) -> None:
    """Say which note may outdate a row that is no answer to a question."""
    if later := row.get("may_be_outdated_by"):
        number = row.get("number") or row["id"]
        page.note(
            f"{number} may be outdated by {later['number']}, of {_when(later['at'])}: {unmarked(later['title'])}"
        )


def note_unsure(page: Page, rows: Collection[Answer]) -> None:
    """Say that perhaps none of the rows is about the question."""
    if any(row.get("unsure") for row in rows):
        page.note("Perhaps nothing is noted about this: these are the nearest notes.")


def moment_of(row: Answer) -> str:
    """The ISO 8601 moment of a row: when the note happened, else was stored; "" without."""
    moment: str = row.get("at") or row.get("occurred_at") or row.get("created_at") or ""
    return moment


def _when(moment: str) -> str:
    """The day of an ISO 8601 moment, of the last day the second, too: of two notes one is newer."""
    with contextlib.suppress(ValueError):  # a text of another server
        if 0 <= time.time() - datetime.fromisoformat(moment).timestamp() < DAY_S:
            return moment[:19].replace("T", " ")
    return moment[:10]


def _details(page: Page, row: Answer) -> list[str]:
    metadata = row.get("metadata") or {}
    kind = row.get("obs_type") or row.get("kind") or metadata.get("obs_type") or row.get("type", "")
    details = [kind]
    if moment := moment_of(row):
        details.append(say_ago(moment, time.time()) if page.for_person else _when(moment))
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
