"""What an agent's `cortex_search` shows of repaired faults, beside another program's answer.

    scripts/bench/unit_answers.py --work DIR [--program CORTEX] [--only NAME] [--sample N] [--json]

Asks the questions `fix` that `units.py make` wrote, for each of SIZES. `first`, `in five`, `in
ten`: a wanted unit stands there in the ranking of units. `named`: in the map, or in the code.
`shown`: all lines of a changed hunk stand in the numbered code (hunks that the tree does not hold
as they were changed are left out, and questions without another). `--program`: another checkout's
`cortex`, whose JSON answer is judged alike: units that it shows or names, in its order; paired by
repository, with standard errors. This checkout's engines answer in this process. Tokens by
o200k_base.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from product import connect, isolated_environment
from report import add_json, begin, print_machine, write
from unit_signals import Engines, Units, has_lines, index_once, lines_of
from unit_weights import mean, rank_in

from cortex.ask.exploring.ranked_units import find_units
from cortex.ask.exploring.unit_answer import answer_with_code
from cortex.ask.questions import Search
from cortex.front.text import render

sys.path.append(str(Path(__file__).parent / "agents"))
from arms import count_tokens

#: tokens of an answer; the first is what an agent gets
SIZES = (900, 1200)
TOPS = {"first": 1, "in five": 5, "in ten": 10}

MEASURES = (*TOPS, "named", "shown", "tokens")

Line = tuple[str, int]
Means = dict[str, dict[str, dict[str, float]]]
Outcome = dict[str, float]


class Judge:
    """The places that the questions of a repository want."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def is_usable(self, row: Mapping[str, Any]) -> bool:
        """Return whether a wanted definition is indexed: its file may be too large."""
        return bool(self._units.gold(row["gold"]))

    def judge(self, row: Mapping[str, Any], ranked: list[int], named: list[int], lines: set[Line]) -> Outcome:
        """Return the outcome of an answer: units in its order, those that it names, its lines."""
        gold = self._units.gold(row["gold"])
        rank = rank_in(ranked, gold)
        outcome = {name: float(0 < rank <= top) for name, top in TOPS.items()}
        outcome["named"] = float(bool(gold.intersection(named)))
        hunks = [{(path, line) for line in range(first, last + 1)} for path, first, last in row["hunks"]]
        return outcome | ({"shown": float(any(hunk <= lines for hunk in hunks))} if hunks else {})

    def number(self, entry: Mapping[str, Any]) -> int:
        return self._units.numbers.get((entry["file"], entry["start"], entry["end"]), -1)

    def of_results(self, answer: Mapping[str, Any]) -> tuple[list[int], set[Line]]:
        """Return the units that a JSON answer shows or names, in its order, and its lines."""
        chunks = [row["chunk"] for row in answer["results"]]
        lines = [lines_of({"chunk": chunk}) for chunk in chunks if has_lines(chunk)]
        return self._units.of_chunks(chunks, answer.get("more", ())), set().union(*lines)


async def ask_agent(
    engines: Engines, judge: Judge, rows: Sequence[Mapping[str, Any]]
) -> list[tuple[Outcome, str]]:
    """Return the outcome and the text of each question's answer, for each of SIZES in turn."""
    outcomes = []
    for row in rows:
        question = Search(row["query"])
        _, units = await engines.context().attempt(lambda turn, question=question: find_units(turn, question))
        ranked = [judge.number(_entry(scored.unit)) for scored in units.units] if units is not None else []
        for size in SIZES:
            answer = await answer_with_code(engines.context(), Search(row["query"], max_tokens=size))
            assert answer is not None
            lines = {
                (entry["file"], piece["start"] + at)
                for entry in answer.get("code", ())
                for piece in entry["pieces"]
                for at in range(piece["text"].count("\n") + 1)
            }
            named = (
                [judge.number(entry) for entry in (*answer["map"], *answer.get("code", ()))]
                if "map" in answer
                else []
            )
            outcomes.append((judge.judge(row, ranked, named, lines), render("cortex_search", answer)))
    return outcomes


def _entry(unit: Mapping[str, Any]) -> dict[str, Any]:
    return {"file": unit["path"], "start": unit["start"], "end": unit["end"]}


async def ask_program(
    root: Path, program: str, judge: Judge, rows: Sequence[Mapping[str, Any]]
) -> list[tuple[Outcome, str]]:
    """As `ask_agent`, of another program's JSON answers."""
    outcomes = []
    async with connect(root, program) as front:
        for row in rows:
            for size in SIZES:
                answer = await front.call("cortex_search", query=row["query"], max_tokens=size)
                units, lines = judge.of_results(answer)
                outcomes.append((judge.judge(row, units, units, lines), orjson.dumps(answer).decode()))
    return outcomes


def ask(name: str, options: argparse.Namespace) -> dict[str, list[tuple[Outcome, str]]]:
    """Return the outcomes of the questions about a repository: of this checkout, of the program."""
    work = options.work.resolve()
    root = work / "trees" / name
    spec = json.loads((work / "questions" / f"{name}.json").read_text())
    rows = [row for row in spec["questions"] if row["kind"] == "fix"]
    began = time.monotonic()
    with isolated_environment(work / "home"):
        index_once(root, [sys.executable, "-P", "-m", "cortex"])
        engines = Engines(root)
        paths = [str(path.relative_to(root)) for path in sorted(root.rglob("*")) if path.is_file()]
        judge = Judge(Units(engines, root, paths))
        rows = [row for row in rows if judge.is_usable(row)][: options.sample or len(rows)]
        outcomes = {"agent": asyncio.run(ask_agent(engines, judge, rows))}
    if options.program:
        with isolated_environment(work / "program"):
            index_once(root, [options.program])
            outcomes["program"] = asyncio.run(ask_program(root, options.program, judge, rows))
            subprocess.run(
                [options.program, "down", "--project", root], check=False, stdout=subprocess.DEVNULL
            )
    print(f"{name:16}{len(rows):4} questions {time.monotonic() - began:.0f} s", flush=True)
    return outcomes


def means_of(arms: Mapping[str, list[Outcome]]) -> Means:
    """Return size → arm → measure → its mean over the questions of a repository."""
    return {
        str(size): {
            arm: {
                measure: round(statistics.mean(values), 4)
                for measure in MEASURES
                if (values := [row[measure] for row in rows[at :: len(SIZES)] if measure in row])
            }
            for arm, rows in arms.items()
        }
        for at, size in enumerate(SIZES)
    }


def tabulate(repositories: Mapping[str, Means]) -> dict[str, Any]:
    """Return for each size and measure the mean over repositories of each arm, and the difference
    with its standard error.
    """
    table: dict[str, Any] = defaultdict(dict)
    for size in map(str, SIZES):
        for measure in MEASURES:
            pairs = [means[size] for means in repositories.values() if measure in means[size]["agent"]]
            arms = {arm: [pair[arm][measure] for pair in pairs] for arm in pairs[0]}
            table[size][measure] = {arm: round(statistics.mean(values), 4) for arm, values in arms.items()}
            if "program" in arms:
                gains = [after - before for after, before in zip(arms["agent"], arms["program"], strict=True)]
                table[size][measure]["gain"] = mean(gains)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--program", default="", help="another checkout's `cortex`")
    parser.add_argument("--only", action="append", default=[], help="a repository's name; may be repeated")
    parser.add_argument(
        "--sample", type=int, default=0, help="questions of each repository; all of them for 0"
    )
    add_json(parser)
    options = parser.parse_args()
    figures = begin("unit_answers")
    print_machine(figures)
    names = [path.stem for path in sorted((options.work / "questions").glob("*.json"))]
    answers = {name: ask(name, options) for name in names if not options.only or name in options.only}
    texts = [text for arms in answers.values() for rows in arms.values() for _, text in rows]
    counts = iter(count_tokens(texts))
    outcomes = {
        name: {arm: [outcome | {"tokens": next(counts)} for outcome, _ in rows] for arm, rows in arms.items()}
        for name, arms in answers.items()
    }
    figures["questions"] = {name: len(arms["agent"]) // len(SIZES) for name, arms in outcomes.items()}
    figures["hunks"] = sum("shown" in row for arms in outcomes.values() for row in arms["agent"]) // len(
        SIZES
    )
    figures["repositories"] = {name: means_of(arms) for name, arms in outcomes.items()}
    figures["sizes"] = tabulate(figures["repositories"])
    print(json.dumps(figures["sizes"], indent=1))
    if options.json:
        write(figures)


if __name__ == "__main__":
    main()
