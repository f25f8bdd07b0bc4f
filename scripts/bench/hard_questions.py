"""Measures the ranking on hard questions about this repository, beside BM25 alone:

    scripts/bench/hard_questions.py [--also FOLDER]... [--peer-python PYTHON] [--worse] [--json]

200 questions: written ones (tasks/hard.tsv: in other languages than English, of one word, about
configuration, tests, build files and documents), and ones made of the questions that the golden
ranks are of (typing errors; the subject of an issue of 2 000 words) and of places in files (stack
traces in the forms of 15 languages; tasks/pasted.py). The tracked files are copied, without those
that hold the questions, indexed, and asked as agents ask, for ten files. BM25 is that of
`quality.py --baseline bm25`: bm25s over windows of 50 lines. Of each kind: the mean reciprocal
rank (MRR) of the first wanted file, how many questions have none among the ten, and how many rank
it better and worse than BM25 does. `--also`: other repositories, of which questions are made by
rule (tasks/remarks.py); their kinds say `elsewhere`. `--worse` names the latter. Ends with 1 where
the MRR of a kind is below that of BM25.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from report import ROOT, add_json, begin, print_machine, print_table, write
from systems import DEPTH, Ask, Hit, indexed, peer, product
from tasks import pasted, remarks

WRITTEN = ROOT / "scripts" / "bench" / "tasks" / "hard.tsv"
GOLDEN = ROOT / "tests" / "golden" / "quality" / "queries.json"
#: what holds the questions, or texts made of them
HOLDS_QUESTIONS = ("scripts/bench/tasks/", "scripts/bench/results/", "tests/golden/quality/")
#: questions that are made of each kind; of traces for each language
MISTYPED, ISSUES, TRACES = 25, 20, 2
SEED = 19
#: the files of which traces are made: they hold functions of 15 languages
TRACED = "tests/golden/"


@dataclass(frozen=True, slots=True)
class Question:
    """Any of `wanted` answers it."""

    kind: str
    text: str
    wanted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rank:
    """Ranks of the first wanted file, 0 for none within DEPTH."""

    question: Question
    ours: int
    bm25: int


def written(table: str) -> Iterator[Question]:
    for line in table.splitlines():
        if line and not line.startswith("#"):
            kind, text, wanted = line.split("\t")
            yield Question(kind, text, tuple(wanted.split()))


def made(golden: Sequence[dict[str, Any]], places: Sequence[pasted.Place], seed: int) -> Iterator[Question]:
    """Typing errors, issues and traces, drawn with `seed`."""
    draw = random.Random(seed)
    asked = [one for one in golden if " " in one["query"]]
    for one in draw.sample(asked, MISTYPED):
        yield Question("typing errors", pasted.mistype(one["query"], draw), tuple(one["relevant"]))
    for one in draw.sample(asked, ISSUES):
        yield Question("issue", pasted.bury(one["query"], draw), tuple(one["relevant"]))
    for language, (ending, _) in pasted.TRACES.items():
        drawn = draw.sample([one for one in places if one.path.endswith(ending)], 2 * TRACES)
        for place, outer in zip(drawn[:TRACES], drawn[TRACES:], strict=True):
            yield Question("trace", pasted.trace(language, place, outer), (place.path,))


@contextmanager
def copied() -> Iterator[tuple[Path, list[str]]]:
    """(A project with the files of this repository that hold no question, their paths)."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    paths = [path for path in listed.stdout.split("\0") if path and not path.startswith(HOLDS_QUESTIONS)]
    with tempfile.TemporaryDirectory(prefix="cortex-hard-") as folder:
        project = Path(folder, "project")
        for path in paths:
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, project / path)
        (project / ".cortex").mkdir()
        (project / ".cortex" / "config.yml").touch()
        yield project, paths


@contextmanager
def elsewhere(source: Path) -> Iterator[tuple[Path, list[Question]]]:
    """(A project with the files of another repository, whose remarks that are asked are blank, the
    questions).
    """
    with tempfile.TemporaryDirectory(prefix="cortex-hard-") as folder:
        project = Path(folder, source.name)
        shutil.copytree(source, project, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        (project / ".cortex").mkdir(exist_ok=True)
        (project / ".cortex" / "config.yml").touch()
        texts = remarks.read(project)
        chosen = remarks.choose(texts)
        for path in {one.path for one in chosen}:
            lines = [one.line for one in chosen if one.path == path]
            (project / path).write_text(remarks.blanked(texts[path], lines), "utf-8")
        # Who wants such a file says so: by itself a comment might as well ask for code.
        yield (
            project,
            [Question(f"{one.kind} elsewhere", f"{one.kind}: {one.query}", (one.path,)) for one in chosen],
        )


def questions(paths: Sequence[str]) -> list[Question]:
    """All of them whose files are there."""
    there = set(paths)
    golden = [
        one | {"relevant": [path for path in one["relevant"] if path in there]}
        for one in json.loads(GOLDEN.read_text())["queries"]
    ]
    places = [
        place
        for path in paths
        if path.startswith(TRACED)
        for place in pasted.places_of(path, (ROOT / path).read_text("utf-8", "replace"))
    ]
    found = [one for one in golden if one["relevant"]]
    return [*written(WRITTEN.read_text()), *made(found, places, SEED)]


def rank(hits: Sequence[Hit], wanted: Sequence[str]) -> int:
    """Of files, so that several places of one count once."""
    files = list(dict.fromkeys(hit.file for hit in hits))[:DEPTH]
    return next((at for at, file in enumerate(files, 1) if file in wanted), 0)


async def ranks_of(
    opened: Callable[[Path], AbstractAsyncContextManager[Ask]], project: Path, asked: Sequence[Question]
) -> list[int]:
    async with opened(project) as ask:
        return [rank(await ask(one.text), one.wanted) for one in asked]


def is_worse(one: Rank) -> bool:
    return bool(one.bm25) and (not one.ours or one.ours > one.bm25)


def is_better(one: Rank) -> bool:
    return bool(one.ours) and (not one.bm25 or one.bm25 > one.ours)


def summary(ranks: Sequence[Rank]) -> dict[str, Any]:
    def mrr(found: Sequence[int]) -> float:
        return round(statistics.mean(1 / at if at else 0.0 for at in found), 3)

    return {
        "questions": len(ranks),
        "mrr": mrr([one.ours for one in ranks]),
        "mrr_bm25": mrr([one.bm25 for one in ranks]),
        "missed": sum(not one.ours for one in ranks),
        "missed_bm25": sum(not one.bm25 for one in ranks),
        "better": sum(map(is_better, ranks)),
        "worse": sum(map(is_worse, ranks)),
    }


def by_kind(ranks: Sequence[Rank]) -> dict[str, dict[str, Any]]:
    kinds = dict.fromkeys(one.question.kind for one in ranks)
    rows = {kind: summary([one for one in ranks if one.question.kind == kind]) for kind in kinds}
    return rows | {"all": summary(ranks)}


def measured(project: Path, asked: Sequence[Question], python: str) -> list[Rank]:
    """Both systems over one project."""
    bm25 = asyncio.run(ranks_of(partial(peer, name="bm25", python=python, model=""), project, asked))
    with indexed(project):
        ours = asyncio.run(ranks_of(product, project, asked))
    return [Rank(*each) for each in zip(asked, ours, bm25, strict=True)]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--also", type=Path, action="append", default=[], help="another repository's folder")
    parser.add_argument("--peer-python", default="", help="an interpreter that has bm25s")
    parser.add_argument("--worse", action="store_true", help="name the questions that BM25 ranks better")
    add_json(parser)
    return parser.parse_args()


def main() -> int:
    options, head = arguments(), begin("hard")
    with copied() as (project, paths):
        ranks = measured(project, questions(paths), options.peer_python)
    for source in options.also:
        with elsewhere(source) as (project, asked):
            ranks += measured(project, asked, options.peer_python)
    rows = by_kind(ranks)
    print_machine(head)
    columns = ["questions", "mrr", "mrr_bm25", "missed", "missed_bm25", "better", "worse"]
    print_table(["kind", *columns], [[kind, *(row[name] for name in columns)] for kind, row in rows.items()])
    if options.worse:
        for one in filter(is_worse, ranks):
            print(f"{one.question.kind}: {one.bm25} → {one.ours or '-'} {one.question.text[:90]!r}")
    if options.json:
        also = [source.name for source in options.also]
        write(head | {"seed": SEED, "also": also, "kinds": rows})
    return int(any(row["mrr"] < row["mrr_bm25"] for row in rows.values()))


if __name__ == "__main__":
    raise SystemExit(main())
