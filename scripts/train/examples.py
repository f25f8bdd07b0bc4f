"""The notes that language models wrote for the models of memory: groups of an older note, newer
ones with a label, and questions; and months, the notes of one team in the order of their storing,
which say what each outdates.

replacements.jsonl.gz and months.jsonl.gz train both models, questions.jsonl.gz the model of
sentences alone. Its newer notes share no word with the older one where they replace it, and many
words where they do not: a replacement model that learnt from them, too, took shared words for a
sign that nothing has changed (on pairs of five lives its average precision fell from .59 to .48).
Months have the mix of notes as they are stored (on pairs of seven lives it rose from .54 to .70).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPLACEMENTS, QUESTIONS, MONTHS = (
    Path(__file__).with_name(f"{name}.jsonl.gz") for name in ("replacements", "questions", "months")
)
#: other notes of a month in a group
OTHERS = 7
LABELS = ("replaces", "extends", "other", "repeats", "maybe", "history")


@dataclass(frozen=True)
class Newer:
    """`question`: one that this note answers and the older one does not, or ""."""

    text: str
    label: str
    question: str


@dataclass(frozen=True)
class Group:
    """`questions`: answered by the older note, and after a change by each that replaces it."""

    topic: str
    older: str
    newer: tuple[Newer, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True)
class MonthNote:
    """`outdates`, `unsure`: earlier notes of the month that no longer hold, and of which people
    could argue; `questions`: answered by this note, and by what it outdates.
    """

    text: str
    outdates: frozenset[int]
    unsure: frozenset[int]
    questions: tuple[str, ...]


def read_months(file: Path = MONTHS) -> list[list[MonthNote]]:
    """Return the notes of each month; what a note outdates outdated earlier is among it."""
    months = []
    for row in _rows(file):
        month = list[MonthNote]()
        for note in row["notes"]:
            outdates = set(note.get("out", ()))
            outdates |= {earlier for at in tuple(outdates) for earlier in month[at].outdates}
            unsure = frozenset(note.get("maybe_out", ())) - outdates
            questions = tuple(note.get("q", ()))
            month.append(MonthNote(text_of(note), frozenset(outdates), unsure, questions))
        months.append(month)
    return months


def groups_of(months: Sequence[Sequence[MonthNote]]) -> list[Group]:
    """Return a group for each note with questions that is true at the end of its month or outdates
    another: the note that it outdates last, itself, and the notes of its month that stand around it
    and hold beside it.
    """
    groups = []
    for month in months:
        outdated = frozenset[int]().union(*(note.outdates for note in month))
        for at, note in enumerate(month):
            if not note.questions or (at in outdated and not note.outdates):
                continue
            left_out = {at, *note.outdates, *note.unsure}
            left_out |= {later for later, other in enumerate(month) if at in other.outdates | other.unsure}
            around = sorted(set(range(len(month))) - left_out - outdated, key=lambda other: abs(other - at))
            newer = [Newer(note.text, "replaces", "")] if note.outdates else []
            newer += [Newer(month[other].text, "other", "") for other in around[:OTHERS]]
            older = month[max(note.outdates, default=at)]
            groups.append(Group("", older.text, tuple(newer), note.questions))
    return groups


def _rows(*files: Path) -> list[dict[str, Any]]:
    rows = list[dict[str, Any]]()
    for file in files:
        with gzip.open(file, "rt") as lines:
            rows += map(json.loads, lines)
    return rows


def read_groups(*files: Path) -> list[Group]:
    return [
        Group(
            row["d"],
            text_of(row["old"]),
            tuple(Newer(text_of(note), note["r"], note.get("q", "")) for note in row["new"]),
            tuple(row["q"]),
        )
        for row in _rows(*files)
    ]


def text_of(note: dict[str, Any]) -> str:
    return ". ".join(filter(None, (note["t"], note["b"])))
