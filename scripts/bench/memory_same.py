#!/usr/bin/env python3
"""A comparison of two checkouts: the same notes in the same order for drawn questions.

    scripts/bench/memory_same.py OTHER_CHECKOUT --folder DIR [--notes 1000 100000] [--json]

The folder is that of memory.py, which stores the notes, made by the older checkout. Scores may
differ in their third digit.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import report
from memory import Words

from cortex.memory.library import Library

#: drawn questions of each number of words
QUESTIONS, WORDS = 40, (1, 2, 3, 5, 9)
#: difference that scores may have: they come from 16-bit values
CLOSE = 0.004


def questions(titles: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield questions: drawn words, and words of stored notes, some among notes of one kind."""
    words, chance = Words(23), random.Random(23)
    for count in WORDS:
        for at in range(QUESTIONS):
            title = chance.choice(titles).split()
            for query in (words(count), " ".join(chance.choices(title, k=count))):
                yield query, {"alpha": (1.0, 0.7)[at % 2], "kind": ("", "", "decision")[at % 3]}


def collect_answers(folder: Path) -> list[Any]:
    with Library.open(folder) as memory:
        store = memory.memory.store
        titles = [note.title for note in store.notes_by_number(store.numbers()[::97])]
        return [
            [query, [[row["number"], row["score"]] for row in memory.recall(query, **arguments)]]
            for query, arguments in questions(titles)
        ]


def answers_of(checkout: Path, folder: Path) -> list[Any]:
    """Return the answers of the code in a checkout, by this program, over a copy of the notes.

    A copy, because an older checkout cannot open a store that a newer one changed.
    """
    paths = os.pathsep.join(map(str, (checkout, Path(__file__).parent)))
    with tempfile.TemporaryDirectory(prefix="cortex-same-") as place:
        copy = shutil.copytree(folder, Path(place).resolve() / "notes")
        command = [sys.executable, "-P", __file__, "--answer", str(copy)]
        environment = os.environ | {"PYTHONPATH": paths}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    answers_read: list[Any] = orjson.loads(done.stdout)
    return answers_read


def is_same(rows: list[Any], other_rows: list[Any]) -> bool:
    """Return whether the notes are the same, in an order that differs for close scores only."""
    scores = dict(map(tuple, other_rows))
    close = all(number in scores and abs(scores[number] - score) <= CLOSE for number, score in rows)
    order = [scores[number] for number, _ in rows] if close else []
    falling = all(first >= second - CLOSE for first, second in itertools.pairwise(order))
    return close and len(rows) == len(other_rows) and falling


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path, nargs="?")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    report.add_json(parser)
    options = parser.parse_args()
    if options.answer:
        sys.stdout.buffer.write(orjson.dumps(collect_answers(options.answer)))
        return 0
    figures = report.begin("memory_same") | {"other": report.commit(options.checkout)}
    for count in options.notes:
        folder = options.folder.resolve() / f"notes-{count}"
        ours, theirs = (answers_of(place.resolve(), folder) for place in (report.ROOT, options.checkout))
        pairs = list(zip(ours, theirs, strict=True))
        unlike = [
            ours_entry[0] for ours_entry, theirs_entry in pairs if not is_same(ours_entry[1], theirs_entry[1])
        ]
        figures[f"{count} notes"] = {
            "questions": len(pairs),
            "rows": sum(len(ours_entry[1]) for ours_entry in ours),
            "equal": sum(ours_entry == theirs_entry for ours_entry, theirs_entry in pairs),
            "unlike": len(unlike),
            "first unlike": unlike[:5],
        }
    report.print_figures({name: value for name, value in figures.items() if name != "machine"})
    if options.json:
        report.write(figures)
    return int(
        any(
            comparison["unlike"]
            for comparison in figures.values()
            if isinstance(comparison, dict) and "unlike" in comparison
        )
    )


if __name__ == "__main__":
    sys.exit(main())
