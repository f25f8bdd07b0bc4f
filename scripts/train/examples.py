"""The notes written for the models of memory (replacements.jsonl.gz): each line a group of an older
note, newer ones with a label, and questions.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).with_name("replacements.jsonl.gz")
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


def read_groups(file: Path = EXAMPLES) -> list[Group]:
    with gzip.open(file, "rt") as lines:
        return [
            Group(
                row["d"],
                text_of(row["old"]),
                tuple(Newer(text_of(note), note["r"], note.get("q", "")) for note in row["new"]),
                tuple(row.get("q", ())),
            )
            for row in map(json.loads, lines)
        ]


def text_of(note: dict[str, Any]) -> str:
    return ". ".join(filter(None, (note["t"], note["b"])))
