"""The notes that language models wrote for the models of memory: each line a group of an older
note, newer ones with a label, and questions.

replacements.jsonl.gz trains both models, questions.jsonl.gz the model of sentences alone. Its newer
notes share no word with the older one where they replace it, and many words where they do not: a
replacement model that learnt from them, too, took shared words for a sign that nothing has changed
(on pairs of five lives its average precision fell from .59 to .48).
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPLACEMENTS, QUESTIONS = (
    Path(__file__).with_name(f"{name}.jsonl.gz") for name in ("replacements", "questions")
)
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


def read_groups(*files: Path) -> list[Group]:
    rows = list[dict[str, Any]]()
    for file in files:
        with gzip.open(file, "rt") as lines:
            rows += map(json.loads, lines)
    return [
        Group(
            row["d"],
            text_of(row["old"]),
            tuple(Newer(text_of(note), note["r"], note.get("q", "")) for note in row["new"]),
            tuple(row["q"]),
        )
        for row in rows
    ]


def text_of(note: dict[str, Any]) -> str:
    return ". ".join(filter(None, (note["t"], note["b"])))
