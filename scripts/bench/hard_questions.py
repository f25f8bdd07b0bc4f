"""A benchmark of the ranking on hard questions about this repository, beside BM25 alone:

    scripts/bench/hard_questions.py [--also FOLDER]... [--peer-python PYTHON] [--worse] [--json]

200 questions: written ones (tasks/hard.tsv: in other languages than English, of one word, about
configuration, tests, build files and documents), and questions made from the golden ranks'
questions (typing errors; the subject of an issue of 2 000 words) and from places in files (stack
traces in the forms of 15 languages; tasks/pasted.py). The tracked files are copied, without those
that hold the questions, indexed, and searched as agents do, for ten files. BM25 is that of
`quality.py --baseline bm25`: bm25s over windows of 50 lines. For each kind: the mean reciprocal
rank (MRR) of the first wanted file, how many questions have none among the ten, and how many rank
it better and worse than BM25 does. `--also`: other repositories, with questions made by rule
(tasks/remarks.py); their kinds end with `elsewhere`. `--worse` lists the questions that BM25 ranks
better. Ends with 1 if the MRR of a kind is below that of BM25.
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
#: files with the questions, or with texts made from them
HOLDS_QUESTIONS = ("scripts/bench/tasks/", "scripts/bench/results/", "tests/golden/quality/")
#: generated questions of each kind; of traces for each language
MISTYPED, ISSUES, TRACES = 25, 20, 2
SEED = 19
#: files for the traces: they hold functions of 15 languages
TRACED = "tests/golden/"


@dataclass(frozen=True, slots=True)
class Question:
    """A question; any of `wanted` answers it."""

    kind: str
    text: str
    wanted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rank:
    """Ranks of the first wanted file, 0 for none within DEPTH."""

    question: Question
    ours: int
    bm25: int


def written_questions(table: str) -> Iterator[Question]:
    for line in table.splitlines():
        if line and not line.startswith("#"):
            kind, text, wanted = line.split("\t")
            yield Question(kind, text, tuple(wanted.split()))


def drawn_questions(
    golden: Sequence[dict[str, Any]], places: Sequence[pasted.Place], seed: int
) -> Iterator[Question]:
    """Yield typing errors, issues and traces, drawn with `seed`."""
    draw = random.Random(seed)
    queries = [query for query in golden if " " in query["query"]]
    for query in draw.sample(queries, MISTYPED):
        yield Question("typing errors", pasted.mistype(query["query"], draw), tuple(query["relevant"]))
    for query in draw.sample(queries, ISSUES):
        yield Question("issue", pasted.bury(query["query"], draw), tuple(query["relevant"]))
    for language, (ending, _) in pasted.TRACES.items():
        drawn = draw.sample(
            [candidate for candidate in places if candidate.path.endswith(ending)], 2 * TRACES
        )
        for place, outer in zip(drawn[:TRACES], drawn[TRACES:], strict=True):
            yield Question("trace", pasted.trace(language, place, outer), (place.path,))


@contextmanager
def copy_repository() -> Iterator[tuple[Path, list[str]]]:
    """Yield (a project with the files of this repository that hold no question, their paths)."""
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
def copy_other_repository(source: Path) -> Iterator[tuple[Path, list[Question]]]:
    """Yield (a project with the files of another repository, its questions).

    The remarks that became questions are blank in it.
    """
    with tempfile.TemporaryDirectory(prefix="cortex-hard-") as folder:
        project = Path(folder, source.name)
        shutil.copytree(source, project, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        (project / ".cortex").mkdir(exist_ok=True)
        (project / ".cortex" / "config.yml").touch()
        texts = remarks.read(project)
        selection = remarks.choose(texts)
        for path in {remark.path for remark in selection}:
            lines = [remark.line for remark in selection if remark.path == path]
            (project / path).write_text(remarks.blank_lines(texts[path], lines), "utf-8")
        # A person who wants such a file says so: a comment alone might as well ask for code.
        yield (
            project,
            [
                Question(f"{remark.kind} elsewhere", f"{remark.kind}: {remark.query}", (remark.path,))
                for remark in selection
            ],
        )


def questions(paths: Sequence[str]) -> list[Question]:
    """Return all questions whose files exist."""
    present = set(paths)
    golden = [
        query | {"relevant": [path for path in query["relevant"] if path in present]}
        for query in json.loads(GOLDEN.read_text())["queries"]
    ]
    places = [
        place
        for path in paths
        if path.startswith(TRACED)
        for place in pasted.places_of(path, (ROOT / path).read_text("utf-8", "replace"))
    ]
    answerable = [query for query in golden if query["relevant"]]
    return [*written_questions(WRITTEN.read_text()), *drawn_questions(answerable, places, SEED)]


def rank(hits: Sequence[Hit], wanted: Sequence[str]) -> int:
    """Return the rank of the first wanted file; several hits in a file count once."""
    files = list(dict.fromkeys(hit.file for hit in hits))[:DEPTH]
    return next((at for at, file in enumerate(files, 1) if file in wanted), 0)


async def ranks_of(
    opened: Callable[[Path], AbstractAsyncContextManager[Ask]],
    project: Path,
    asked_questions: Sequence[Question],
) -> list[int]:
    async with opened(project) as ask:
        return [rank(await ask(question.text), question.wanted) for question in asked_questions]


def is_worse(ranks: Rank) -> bool:
    return bool(ranks.bm25) and (not ranks.ours or ranks.ours > ranks.bm25)


def is_better(ranks: Rank) -> bool:
    return bool(ranks.ours) and (not ranks.bm25 or ranks.bm25 > ranks.ours)


def summary(ranks: Sequence[Rank]) -> dict[str, Any]:
    def mrr(places: Sequence[int]) -> float:
        return round(statistics.mean(1 / at if at else 0.0 for at in places), 3)

    return {
        "questions": len(ranks),
        "mrr": mrr([row.ours for row in ranks]),
        "mrr_bm25": mrr([row.bm25 for row in ranks]),
        "missed": sum(not row.ours for row in ranks),
        "missed_bm25": sum(not row.bm25 for row in ranks),
        "better": sum(map(is_better, ranks)),
        "worse": sum(map(is_worse, ranks)),
    }


def by_kind(ranks: Sequence[Rank]) -> dict[str, dict[str, Any]]:
    kinds = dict.fromkeys(row.question.kind for row in ranks)
    rows = {kind: summary([row for row in ranks if row.question.kind == kind]) for kind in kinds}
    return rows | {"all": summary(ranks)}


def measure_both(project: Path, asked_questions: Sequence[Question], python: str) -> list[Rank]:
    """Measure both systems over one project."""
    bm25 = asyncio.run(
        ranks_of(partial(peer, name="bm25", python=python, model=""), project, asked_questions)
    )
    with indexed(project):
        ours = asyncio.run(ranks_of(product, project, asked_questions))
    return [Rank(*triple) for triple in zip(asked_questions, ours, bm25, strict=True)]


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
    with copy_repository() as (project, paths):
        ranks = measure_both(project, questions(paths), options.peer_python)
    for source in options.also:
        with copy_other_repository(source) as (project, remark_questions):
            ranks += measure_both(project, remark_questions, options.peer_python)
    rows = by_kind(ranks)
    print_machine(head)
    columns = ["questions", "mrr", "mrr_bm25", "missed", "missed_bm25", "better", "worse"]
    print_table(["kind", *columns], [[kind, *(row[name] for name in columns)] for kind, row in rows.items()])
    if options.worse:
        for worse_rank in filter(is_worse, ranks):
            print(
                f"{worse_rank.question.kind}: {worse_rank.bm25} → {worse_rank.ours or '-'} {worse_rank.question.text[:90]!r}"
            )
    if options.json:
        also = [source.name for source in options.also]
        write(head | {"seed": SEED, "also": also, "kinds": rows})
    return int(any(row["mrr"] < row["mrr_bm25"] for row in rows.values()))


if __name__ == "__main__":
    raise SystemExit(main())
