#!/usr/bin/env python3
"""A benchmark of what memory answers after a month: facts that changed and nobody marked, newer
notes about something else, other aspects, moments of the past, and subjects nobody noted.

    scripts/bench/memory_lives.py [LIFE ...] [--model MODEL] [--show] [--json]
    scripts/bench/memory_lives.py LIFE --rows FILE | --grade ANSWERS

A life is a file of lines as in scripts/bench/lives/ferry.txt (all there by default). Each note is
stored at its hour of a faked clock as over MCP, in a session of its day. MODEL, the folder of an
ONNX model or `static`, is measured beside the default one. On busy cores OPENBLAS_NUM_THREADS=1.

`--rows` writes each question with the answer that an agent gets, numbered and without the key, for
a reader. `--grade` counts the right answers of a reader: lines `QUESTION: NOTE`, both numbers, with
0 where no row answers the question. `lives/answers` has those of language models, on the rows
before and after newer notes stood beside older ones.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import report

from cortex.embedders import Embedder
from cortex.embedders.static import open_static
from cortex.front.text import render
from cortex.front.tools.memory.fence import fence_rows
from cortex.memory.find.newer.newer_notes import read_waiting
from cortex.memory.find.recall import Memory
from cortex.memory.library import Library, finish
from cortex.memory.note import AGENTS, Source
from cortex.memory.times import format_moment
from cortex.memory.upkeep.run import run_consolidation

LIVES = Path(__file__).parent / "lives"
#: start of the month, milliseconds of a day and of an hour, and notes of one hour
BEGIN = int(datetime(2026, 3, 1, 8, tzinfo=UTC).timestamp() * 1000)
DAY_MS, HOUR_MS = 86_400_000, 3_600_000
#: rows of a recall, characters of a token
LIMIT, TOKEN_CHARS = 10, 4
PROJECT = "life"


@dataclass(frozen=True)
class LifeNote:
    day: int
    name: str
    kind: str
    title: str
    body: str = ""


@dataclass(frozen=True)
class Question:
    kind: str
    text: str
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


@dataclass
class Life:
    name: str
    notes: list[LifeNote] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


def read(file: Path) -> Life:
    life = Life(file.stem)
    for line in file.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        what, *cells = line.split("|")
        if what == "note":
            life.notes.append(LifeNote(int(cells[0]), *cells[1:]))
        elif what == "repeated":
            life.questions.append(Question(what, cells[0], tuple(cells[1:])))
        else:
            wrong = tuple(cells[2].split(",")) if len(cells) > 2 else ()
            life.questions.append(Question(what, cells[0], tuple("".join(cells[1:2]).split("+")), wrong))
    life.notes.sort(key=lambda note: note.day)
    return life


def outdated_by(life: Life) -> dict[str, set[str]]:
    """Return {name of a newer note: those that it outdates}."""
    outdated: dict[str, set[str]] = {}
    for question in life.questions:
        if question.kind == "changed":
            for at, name in enumerate(order := [*question.wrong, question.right[0]]):
                outdated.setdefault(name, set()).update(order[:at])
    return outdated


class Month:
    """A life in a memory with a faked clock. `heeding`: the agent names a note in `supersedes` when
    the answer shows it as similar and it is outdated.
    """

    def __init__(
        self, life: Life, folder: Path, model: Callable[[], Embedder] | None, *, heeding: bool = False
    ) -> None:
        self.life, self.now = life, BEGIN
        self.memory = Memory(folder, open_static(), lambda: self.now, model=model)
        self.library = Library(self.memory, project=PROJECT)
        self.numbers: dict[str, int] = {}
        #: changes, and those whose outdated notes were all shown; notes with similar ones at all
        self.shown: Counter[str] = Counter()
        outdated = outdated_by(life)
        counts: Counter[int] = Counter()
        for note in life.notes:
            counts[note.day] += 1
            self.now = BEGIN + (note.day - 1) * DAY_MS + counts[note.day] * HOUR_MS // 2
            self._store(note, {self.numbers[name] for name in outdated.get(note.name, ())}, heeding)
        self.now += HOUR_MS
        report.embed(self.memory)
        self.names = {number: name for name, number in self.numbers.items()}

    def _store(self, note: LifeNote, outdated: set[int], heeding: bool) -> None:
        source = Source("claude", f"day {note.day}", AGENTS)
        answer = self.library.of(source=source).store(note.title, note.body, kind=note.kind)
        finish(read_waiting(self.memory))  # there are hours between two notes
        self.numbers[note.name] = answer["number"]
        similar = {row["number"] for row in answer.get("similar", ())}
        self.shown["stores"] += 1
        self.shown["with similar"] += bool(similar)
        if outdated:
            self.shown["changes"] += 1
            self.shown["changes shown"] += bool(similar & outdated)
        if heeding and (replaced := similar & outdated):
            self.library.edit(answer["number"], supersedes=sorted(replaced))

    def ask(self, question: str, **arguments: Any) -> list[str]:
        rows = self.library.recall(question, limit=LIMIT, **arguments)
        return [self.names[row["number"]] for row in rows]

    def past(self) -> Iterator[tuple[Question, int, str]]:
        """Yield the changes with a moment between two of their notes, and the note of then."""
        days = {note.name: note.day for note in self.life.notes}
        for question in self.life.questions:
            if question.kind == "changed":
                then, after = [*question.wrong, question.right[0]][-2:]
                yield question, BEGIN + days[after] * DAY_MS - DAY_MS - HOUR_MS, then

    def close(self) -> None:
        self.library.close()


def measure(month: Month, shown: list[str]) -> Counter[str]:
    """Count the questions of each kind, and those that are answered rightly."""
    counts: Counter[str] = Counter()
    for question in month.life.questions:
        names = month.ask(question.text)
        first, kind = names[0] if names else "", question.kind
        counts[f"{kind} of"] += 1
        if kind == "silent":
            counts["silent"] += not names
            if names:
                shown.append(f"{month.life.name}: silent: {question.text} → {first}")
            continue
        counts["answered of"] += 1
        counts["answered with nothing"] += not names
        counts[kind] += first in question.right
        places = [names.index(name) for name in question.right if name in names]
        counts[f"{kind} in three"] += bool(places) and min(places) < 3
        older = {*question.wrong, *question.right[1:]}
        in_five = question.right[0] in names[:5] and not older.isdisjoint(names[:5])
        counts["both in five"] += kind == "changed" and in_five
        if first not in question.right:
            shown.append(f"{month.life.name}: {kind}: {question.text} → {first or 'nothing'}")
    for question, moment, right in month.past():
        names = month.ask(question.text, as_of=format_moment(moment))
        counts["as of of"] += 1
        counts["as of"] += names[:1] == [right]
        if names[:1] != [right]:
            shown.append(f"{month.life.name}: as of: {question.text} → {names[:1]}, not {right}")
    return counts


def look_after(month: Month) -> int:
    """Run upkeep to its end; return the number of notes that it hid."""
    while True:
        report_of_run = finish(run_consolidation(month.library))
        if not report_of_run["remaining"]:
            break
    states = [note.state for note in month.memory.store.notes_by_number(list(month.numbers.values()))]
    return sum(state != "active" for state in states)


def disputes(month: Month) -> Counter[str]:
    """Count the answers that say that a row is or may be outdated, for changes and others; and
    those to changes whose first row is right, or called outdated by the right one.
    """
    counts: Counter[str] = Counter()
    for question in month.life.questions:
        rows = month.library.recall(question.text, limit=LIMIT)
        others = [other for row in rows for other in (*row.get("may_disagree", ()), row.get("newer", 0))]
        named = [row["number"] for row in rows if row.get("may_disagree") or row.get("newer")]
        names = {month.names[number] for number in (*others, *named) if number}
        relevant = bool(names.intersection(question.right))
        kind = question.kind if question.kind == "changed" else "others"
        counts[f"{kind} of"] += 1
        counts[kind] += relevant
        if rows and kind == "changed":
            first, right = rows[0], {row["number"]: row for row in rows}.get(month.numbers[question.right[0]])
            marked = right and (
                first.get("newer") == right["number"] or first["number"] in right.get("may_disagree", ())
            )
            counts["first or marked"] += bool(marked) or month.names[first["number"]] in question.right
    return counts


def write_rows(month: Month, file: Path) -> None:
    """Write each question with its answer as the tool gives it to an agent."""
    answers = (fence_rows(month.library.recall(question.text)) for question in month.life.questions)
    texts = [
        f"## Question {at}: {question.text}\n{render('cortex_recall', {'results': rows})}\n"
        for at, (question, rows) in enumerate(zip(month.life.questions, answers, strict=True), 1)
    ]
    file.write_text("\n".join(texts))


def grade(month: Month, file: Path) -> Counter[str]:
    """Count the right ones of a reader's answers, by kind of question; none is a wrong one."""
    answers = {
        int(at): int(number) for at, number in re.findall(r"(?m)^\s*(\d+)\s*:\s*(\d+)", file.read_text())
    }
    counts: Counter[str] = Counter()
    for at, question in enumerate(month.life.questions, 1):
        number = answers.get(at, -1)
        counts[f"{question.kind} of"] += 1
        counts[question.kind] += (
            month.names.get(number) in question.right if question.right[0] else not number
        )
        counts[f"{question.kind} answered with nothing"] += not number
        counts[f"{question.kind} outdated or other"] += month.names.get(number) in question.wrong
    return counts


def show_readers(file: Path, options: argparse.Namespace) -> None:
    """Write the rows of a life for readers, or grade their answers."""
    with tempfile.TemporaryDirectory() as folder:
        month = Month(read(file), Path(folder), report.models(options.model).popitem()[1])
        if options.rows:
            write_rows(month, options.rows)
        if options.grade:
            counts = grade(month, options.grade)
            kinds = [name.removesuffix(" of") for name in counts if name.endswith(" of")]
            more = ("answered with nothing", "outdated or other")
            report.print_table(
                (file.stem, "right", *more),
                [(kind, share(counts, kind), *(counts[f"{kind} {name}"] for name in more)) for kind in kinds],
            )
        month.close()


def share(counts: Counter[str], name: str, of: str = "") -> str:
    right, total = counts[name], counts[of or f"{name} of"]
    return f"{right} of {total}" + (f" ({right / total:.2f})" if total else "")


def measure_life(
    file: Path, folder: Path, model: Callable[[], Embedder] | None, shown: list[str]
) -> dict[str, Counter[str]]:
    life = read(file)
    plain = Month(life, folder / f"{life.name}-plain", model)
    figures = {"plain": measure(plain, shown), "stored": plain.shown, "disputes": disputes(plain)}
    figures["plain"]["briefing tokens"] = len(plain.library.briefing()["briefing"]) // TOKEN_CHARS
    figures["plain"]["hidden"] = look_after(plain)
    report.embed(plain.memory)
    figures["after upkeep"] = measure(plain, [])
    plain.close()
    heeding = Month(life, folder / f"{life.name}-heeding", model, heeding=True)
    figures["heeding"] = measure(heeding, [])
    heeding.close()
    return figures


def rows_of(figures: dict[str, Counter[str]]) -> list[tuple[str, str]]:
    plain, heeding, upkeep = figures["plain"], figures["heeding"], figures["after upkeep"]
    return [
        ("a fact that changed, right one first", share(plain, "changed")),
        (
            "  or the first row is called outdated by it",
            share(figures["disputes"], "first or marked", "changed of"),
        ),
        ("  among the first three", share(plain, "changed in three", "changed of")),
        ("  with the outdated one among the first five", share(plain, "both in five", "changed of")),
        ("  after upkeep", share(upkeep, "changed")),
        ("  when the agent heeds `similar`", share(heeding, "changed")),
        ("  outdated note among the similar ones", share(figures["stored"], "changes shown", "changes")),
        ("stores that show similar notes", share(figures["stored"], "with similar", "stores")),
        ("newer note about something else", share(plain, "trap")),
        ("as of a day", share(plain, "as of")),
        ("  when the agent heeds `similar`", share(heeding, "as of")),
        ("stable facts first", share(plain, "stable")),
        ("repeated notes", share(plain, "repeated")),
        ("another aspect, other words", share(plain, "aspect")),
        ("notes hidden by upkeep", str(plain["hidden"])),
        ("silent on what nobody noted", share(plain, "silent")),
        ("  other questions without an answer", share(plain, "answered with nothing", "answered of")),
        ("answers to changes that name a dispute", share(figures["disputes"], "changed")),
        ("  other answers that do", share(figures["disputes"], "others")),
        ("briefing, tokens", str(plain["briefing tokens"])),
    ]


def add(all_figures: Sequence[dict[str, Counter[str]]]) -> dict[str, Counter[str]]:
    return {name: sum((life[name] for life in all_figures), Counter()) for name in all_figures[0]}


def main() -> None:
    parser = report.make_parser(__doc__)
    parser.add_argument("lives", nargs="*", type=Path, help="files of lives")
    parser.add_argument(
        "--model", type=Path, help="folder of an ONNX model, or static: measured beside the default one"
    )
    parser.add_argument("--show", action="store_true", help="print each wrong answer")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="write the answers of one life")
    parser.add_argument("--grade", type=Path, metavar="ANSWERS", help="grade a reader's answers to --rows")
    options = parser.parse_args()
    files = options.lives or sorted(LIVES.glob("*.txt"))
    if options.rows or options.grade:
        if len(files) != 1:
            parser.error("--rows and --grade take one life")
        show_readers(files[0], options)
        return
    figures, tables = report.begin("memory_lives"), {}
    for model_name, model in report.models(options.model).items():
        shown: list[str] = []
        with tempfile.TemporaryDirectory() as folder:
            lives = {file.stem: measure_life(file, Path(folder), model, shown) for file in files}
        by_life = {name: rows_of(life) for name, life in (lives | {"all": add(list(lives.values()))}).items()}
        names = [row[0] for row in by_life["all"]]
        report.print_table(
            (model_name, *by_life),
            [(name, *(table[at][1] for table in by_life.values())) for at, name in enumerate(names)],
        )
        if options.show:
            print("\n".join(shown))
        tables[model_name] = by_life
    if options.json:
        report.write(figures | {"lives": tables})


if __name__ == "__main__":
    main()
