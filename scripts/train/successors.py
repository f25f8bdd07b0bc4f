#!/usr/bin/env python3
"""Fit the weights of cortex/memory/find/newer/successors.py on lives, and measure them on each life
by weights from the others.

    scripts/train/successors.py [LIFE ...]

A pair is a change of a life if its question of a change has the newer note as the right one. Prints
the weights of all lives, and for each life left out: changes, traps and aspects with the right
note first, changes with both notes in the first five rows, answers that say which note may be
outdated (of changes, of others), changes with the outdated note among the similar ones, and stores
that show some.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import memory_lives
import report

from cortex.memory.find.catalog import Selection
from cortex.memory.find.newer import newer_notes, successors
from cortex.memory.library.writing import TELLING

#: strength of the pull of weights towards 0; steps of Newton's method
RIDGE, STEPS = 5.0, 30
ROWS = 5
Weights = tuple[dict[str, float], float]


@dataclass
class Pairs:
    """The features of pairs by name, and which of them are changes."""

    features: dict[str, Any]
    changes: Any


def fit(parts: Sequence[Pairs]) -> Weights:
    """Return weights and bias of a logistic regression over standardised features."""
    names = list(parts[0].features)
    values = np.concatenate([np.array([part.features[name] for name in names]).T for part in parts])
    targets = np.concatenate([part.changes for part in parts]).astype(float)
    mean, deviation = values.mean(axis=0), values.std(axis=0) + 1e-9
    scaled = np.column_stack([np.ones(len(values)), (values - mean) / deviation])
    weights, pull = np.zeros(scaled.shape[1]), np.eye(scaled.shape[1]) * RIDGE
    pull[0, 0] = 0.0
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (likely - targets) + pull @ weights
        weights -= np.linalg.solve((scaled.T * (likely * (1 - likely))) @ scaled + pull, slope)
    plain = weights[1:] / deviation
    return dict(zip(names, plain.round(2).tolist(), strict=True)), round(float(weights[0] - plain @ mean), 2)


def question_pairs(month: memory_lives.Month) -> Iterator[tuple[Pairs, Pairs]]:
    """Yield the pairs of each question, and those of its first hit."""
    memory, selection = month.memory, Selection(project=memory_lives.PROJECT)
    for question in month.life.questions:
        hits = memory.rank_notes(question.text, selection, memory_lives.LIMIT, 0.7, floor=True)
        notes = memory.store.notes_by_number([hit.number for hit in hits])
        notes, pairs = newer_notes.newer_pairs(memory, notes, memory.catalog.mask(selection))
        if pairs:
            outdated = {*question.wrong, *question.right[1:]} if question.kind == "changed" else set()
            names = [month.names[note.number] for note in notes]
            changes = [names[new] == question.right[0] and names[old] in outdated for old, new in pairs]
            features = newer_notes.measure(memory, notes, pairs, question.text)
            first = [at for at, (old, _) in enumerate(pairs) if not old]
            of_first = {name: features[name][first] for name in successors.FIRST}
            yield Pairs(features, np.array(changes)), Pairs(of_first, np.array(changes)[first])


def stored_pairs(month: memory_lives.Month) -> Iterator[tuple[Pairs, Pairs]]:
    """Yield the pairs of each note with those before it: all, and those that the model reads."""
    memory, outdated = month.memory, memory_lives.outdated_by(month.life)
    for number, name in month.names.items():
        [note] = memory.store.notes_by_number([number])
        if note.kind not in TELLING:
            continue
        before = Selection(project=memory_lives.PROJECT, among=frozenset(range(1, number + 1)))
        notes, pairs = newer_notes.older_pairs(memory, note, before)
        _, read_pairs, read = newer_notes.stored_features(memory, note, before)
        if read_pairs:
            replaced = {number for number, old in month.names.items() if old in outdated.get(name, ())}
            features = newer_notes.measure(memory, notes, pairs)
            yield (
                Pairs(features, np.array([notes[old].number in replaced for old, _ in pairs])),
                Pairs(read, np.array([notes[old].number in replaced for old, _ in read_pairs])),
            )


def measure(file: Path, weights: dict[str, Weights]) -> list[str]:
    """Return the figures of a life with these weights."""
    settings = {name: values for name, (values, _) in weights.items()}
    settings |= {f"{name}_BIAS": bias for name, (_, bias) in weights.items()}
    with mock.patch.multiple(successors, **settings), tempfile.TemporaryDirectory() as folder:
        month = memory_lives.Month(memory_lives.read(file), Path(folder), report.models(None)["sentences"])
        counts, disputes = memory_lives.measure(month, []), memory_lives.disputes(month)
        month.close()
    share = memory_lives.share
    return [
        file.stem,
        *(share(counts, kind) for kind in ("changed", "trap", "aspect")),
        share(counts, "both in five", "changed of"),
        share(disputes, "changed"),
        share(disputes, "others"),
        share(month.shown, "changes shown", "changes"),
        share(month.shown, "with similar", "stores"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lives", nargs="*", type=Path, help="files of lives")
    files = parser.parse_args().lives or sorted(memory_lives.LIVES.glob("*.txt"))
    parts: dict[str, dict[Path, list[Pairs]]] = {"PROPOSED": {}, "STORED": {}, "QUESTION": {}, "FIRST": {}}
    for file in files:
        with tempfile.TemporaryDirectory() as folder:
            month = memory_lives.Month(
                memory_lives.read(file), Path(folder), report.models(None)["sentences"]
            )
            of_question = list(question_pairs(month))
            parts["QUESTION"][file], parts["FIRST"][file] = map(list, zip(*of_question, strict=True))
            parts["PROPOSED"][file], parts["STORED"][file] = map(list, zip(*stored_pairs(month), strict=True))
            month.close()
    for name, pairs in parts.items():
        weights, bias = fit([part for of_life in pairs.values() for part in of_life])
        print(f"{name} = {weights}\n{name}_BIAS = {bias}", flush=True)
    rows = []
    for left_out in files if len(files) > 1 else ():
        others = {
            name: [part for file, of_life in pairs.items() if file != left_out for part in of_life]
            for name, pairs in parts.items()
        }
        rows.append(measure(left_out, {name: fit(pairs) for name, pairs in others.items()}))
    columns = ("changed", "trap", "aspect", "both in five", "says so", "others", "similar", "shows some")
    report.print_table(("left out", *columns), rows)


if __name__ == "__main__":
    main()
