"""A program that makes the second set of questions, without annotators, for quality.py:

    scripts/bench/second_set.py --mirrors DIR --out DIR [--only NAME]

`--mirrors` holds, for each row of second_set.tsv, a git directory with history, `OWNER+NAME/repo`
or `OWNER+NAME`. `--out` gets `repos/<name>` (the files; comments that became questions are blank),
`repos.json` and `annotations/<name>.json`; then

    scripts/bench/quality.py --repos OUT/repos --queries OUT

The repositories are neither in the benchmark nor in the model's training data. Categories: `commit`
(commits.py) and `doc` (doc_comments.py). `functions` of a question are the lines that an answer
should show.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from commits import Question, changed_lines, commit_questions, innermost, is_asked_about, read_log
from doc_comments import (
    DescribedDefinition,
    blank_lines,
    choose,
    described_definitions,
    is_repeated,
    outline_of,
)

LIST = Path(__file__).with_suffix(".tsv")
#: commits to read, the newest first
COMMITS_MAX = 4_000
#: seconds for one git command
GIT_S = 120

_LOG = ("log", "--no-merges", "--no-renames", "--name-status", "--format=%x01%H%x02%s", f"-{COMMITS_MAX}")


class History:
    """A git directory at one revision."""

    def __init__(self, folder: Path, revision: str) -> None:
        self._folder, self._revision = folder, revision

    def _git(self, *words: str) -> bytes:
        done = subprocess.run(
            ["git", "-c", "core.attributesFile=/dev/null", "--git-dir", self._folder, *words],
            check=True,
            capture_output=True,
            timeout=GIT_S,
        )
        return done.stdout

    def paths(self) -> list[str]:
        """Return the plain files of the revision."""
        rows = self._git("ls-tree", "-r", "-z", self._revision).decode(errors="replace").split("\0")
        return [row.partition("\t")[2] for row in rows if row.startswith("100")]

    def extract(self, target: Path) -> None:
        target.mkdir(parents=True)
        packed = self._git("archive", "--format=tar", self._revision)
        subprocess.run(["tar", "-x", "-C", target], input=packed, check=True, timeout=GIT_S)

    def log(self) -> str:
        return self._git(*_LOG, self._revision).decode(errors="replace")

    def file(self, sha: str, path: str) -> bytes:
        return self._git("show", f"{sha}:{path}")

    def changed(self, sha: str, path: str) -> list[tuple[int, int]]:
        words = ("diff", "--no-ext-diff", "--no-textconv", "-U0", f"{sha}^", sha, "--", path)
        return changed_lines(self._git(*words).decode(errors="replace"))


def spans_of(path: str, raw: bytes) -> list[tuple[str, int, int]]:
    """Return (scope and name, first, last) of a file's definitions."""
    read = outline_of(path, raw)
    symbols = read[1].symbols if read is not None else ()
    return [(f"{symbol.scope} {symbol.name}", symbol.start_line, symbol.end_line) for symbol in symbols]


def functions_of(history: History, root: Path, commit_question: Question) -> list[dict[str, Any]]:
    """Return the places of the definitions that the commit changed, and that existed before and
    exist now.
    """
    functions = []
    for path in commit_question.files:
        after = spans_of(path, history.file(commit_question.sha, path))
        before = {name for name, *_ in spans_of(path, history.file(f"{commit_question.sha}^", path))}
        names = innermost(after, history.changed(commit_question.sha, path)) & before
        now = {name: (start, end) for name, start, end in spans_of(path, (root / path).read_bytes())}
        for name in sorted(names & now.keys()):
            start, end = now[name]
            functions.append({"path": path, "start_line": start, "end_line": end})
    return functions


def question(
    query: str, category: str, files: Sequence[str], functions: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "query": query,
        "category": category,
        "relevant": list(files),
        "secondary": [],
        "functions": functions,
    }


def describe(root: Path, paths: Sequence[str]) -> list[DescribedDefinition]:
    """Return the questions of the comments in `root`, and blank their lines."""
    candidates: list[DescribedDefinition] = []
    texts: dict[str, str] = {}
    for path in paths:
        raw = (root / path).read_bytes()
        read = outline_of(path, raw.replace(b"\r", b" "))
        if read is not None:
            candidates += described_definitions(*read)
            texts[path] = " ".join(raw.decode(errors="replace").split())
    selected = choose(candidate for candidate in candidates if not is_repeated(candidate, texts))
    lines: dict[str, set[int]] = defaultdict(set)
    for candidate in selected:
        lines[candidate.path].update(candidate.blank)
    for path, blank in lines.items():
        (root / path).write_bytes(blank_lines((root / path).read_bytes(), blank))
    return selected


def make(mirror: Path, revision: str, out: Path) -> tuple[str, int, int]:
    """Make the files and questions of a repository. Return its name and the numbers of
    questions.
    """
    name = mirror.name.partition("+")[2]
    history = History(mirror / "repo" if (mirror / "repo").is_dir() else mirror, revision)
    root = out / "repos" / name
    history.extract(root)
    paths = [path for path in history.paths() if is_asked_about(path) and (root / path).is_file()]
    commit_asks = commit_questions(read_log(history.log()), frozenset(paths))
    rows = [
        question(
            doc_ask.query,
            "doc",
            [doc_ask.path],
            [{"path": doc_ask.path, "start_line": doc_ask.start, "end_line": doc_ask.end}],
        )
        for doc_ask in describe(root, paths)
    ]
    documented = len(rows)
    rows += [
        question(commit_ask.query, "commit", commit_ask.files, functions_of(history, root, commit_ask))
        for commit_ask in commit_asks
    ]
    (out / "annotations" / f"{name}.json").write_text(json.dumps(rows, indent=1))
    return name, documented, len(commit_asks)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="an empty folder, or one that is not there")
    parser.add_argument("--only", action="append", default=[], help="a repository's name; may be repeated")
    options = parser.parse_args()
    (options.out / "annotations").mkdir(parents=True, exist_ok=True)
    rows = list(csv.reader(LIST.read_text().splitlines()[1:], delimiter="\t"))
    repos, tasks = [], []
    for repository, revision in rows:
        name, mirror = repository.partition("/")[2], options.mirrors / repository.replace("/", "+")
        if options.only and name not in options.only:
            continue
        if not mirror.is_dir():
            print(f"{repository}: not below {options.mirrors}, left out", file=sys.stderr)
            continue
        repos.append({"name": name, "language": "", "revision": revision})
        tasks.append((mirror, revision, options.out))
    with ProcessPoolExecutor(2) as pool:
        for name, documented, committed in pool.map(make, *zip(*tasks, strict=True)):
            print(f"{name:20} {documented:4} doc {committed:4} commit", flush=True)
    (options.out / "repos.json").write_text(json.dumps(repos, indent=1))


if __name__ == "__main__":
    main()
