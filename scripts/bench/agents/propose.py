"""Propose fixes as tasks, by lot, from the mirrors of repositories.

    scripts/bench/agents/propose.py --mirrors DIR OWNER/NAME …

DIR holds DIR/<owner>+<name>/repo. Eligible is a commit since 2023 that names an issue which it
fixes, and that changes shipped sources in 2 to 6 functions of at most 4 files. The lot is a hash
of a seed and the commit. For each repository the first commits are printed as drafts of tasks,
with the functions that hold their changed lines. A reader then strikes the places that no reader
of the issue could name (before the gold is frozen), takes the first draft that has a readable
issue and two places left, and writes the question. The tracker's texts have no licence, so
tasks.jsonl holds a short restatement of the symptom, made from the issue alone, and the issue's
number.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH / "agents")]

from records import Gold, Task, as_line  # isort: skip # noqa: E402 - scripts are no package

from cortex.indexer.syntax.parse import parse  # noqa: E402
from cortex.indexer.syntax.source import Source, decode  # noqa: E402
from cortex.terms.kinds import CALLABLE_KINDS  # noqa: E402
from cortex.terms.languages import sniff  # noqa: E402
from cortex.terms.paths import is_test  # noqa: E402
from cortex.terms.records import Symbol  # noqa: E402

#: seed of the order of the commits
SEED = "agents-1"
#: the first day of the history
SINCE = "2023-01-01"
#: functions and files of one fix
FUNCTIONS_MIN, FUNCTIONS_MAX, FILES_MAX = 2, 6, 4
#: lines of a function that is one place; of a longer one the change, with lines around it
WHOLE_MAX, AROUND = 60, 15
#: drafts of one repository
DRAFTS = 4
#: a message that closes an issue
CLOSES = re.compile(
    r"(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?):?\s+(?:https://github\.com/\S+/issues/|[\w/.-]*#)(\d+)",
    re.IGNORECASE,
)
#: subjects that are no fixes of code
REFUSED = re.compile(
    r"\b(docs?|typos?|ci|chore|bump|deps|feat|readme|add|tests?|remove\w*|deprecate\w*)\b", re.IGNORECASE
)
#: folders of tests and examples that `is_test` leaves
UNSHIPPED = re.compile(
    r"^(docs?|examples?|benchmarks?|demo|scripts)/|(^|/)(integration|changelog)(/|$)", re.IGNORECASE
)
#: letters and digits of a meaningful line
LINE_LETTERS_MIN = 8
#: the head of a hunk
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)
#: the beginning of a line without meaning for a machine
COMMENT = re.compile(r"\s*(#(?!\s*(define|if|include))|//|/?\*|--|;|\"\"\"|''')")


def changed_lines(diff: str) -> list[int]:
    """Return the old lines that `git diff -U0` of one file replaces, or after which it adds
    lines.
    """
    starts = [(int(start), int(count or 1)) for start, count in HUNK.findall(diff)]
    return [line for start, count in starts for line in range(start, start + max(count, 1)) if line > 0]


def is_meaningful(text: str) -> bool:
    return len(re.findall(r"\w", text)) >= LINE_LETTERS_MIN and not COMMENT.match(text)


def git(mirror: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", mirror, *arguments], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def fixes(mirror: Path) -> list[tuple[str, str, str]]:
    """Return (hash, subject, issue) of the eligible messages, in the order of the lot."""
    log = git(mirror, "log", "--no-merges", f"--since={SINCE}", "--format=%H%x1f%s%x1f%b%x1e")
    rows = []
    for record in log.split("\x1e"):
        commit, _, rest = record.strip().partition("\x1f")
        subject, _, body = rest.partition("\x1f")
        issue = CLOSES.search(f"{subject} {body}")
        if issue and not REFUSED.search(subject):
            rows.append((commit, subject, issue[1]))
    return sorted(rows, key=lambda row: hashlib.sha256((SEED + row[0]).encode()).digest())


def places(mirror: Path, commit: str) -> list[Gold]:
    """Return the functions that hold the changed lines, in the parent; [] if it does not suit."""
    changed = [
        row.split("\t")
        for row in git(mirror, "diff", "--name-status", "--no-renames", f"{commit}^", commit).splitlines()
    ]
    code = [path for how, path in changed if how == "M" and _is_shipped(path)]
    gold: list[Gold] = []
    for path in code if len(code) <= FILES_MAX else ():
        raw = subprocess.run(
            ["git", "-C", mirror, "show", f"{commit}^:{path}"], check=True, capture_output=True
        )
        source = decode(path, raw.stdout)
        if not isinstance(source, Source):
            continue
        outline = parse(source, sniff(path, source.lines))
        diff = git(mirror, "diff", "-U0", f"{commit}^", commit, "--", path)
        lines_of: dict[Symbol, list[int]] = {}
        for line in changed_lines(diff):
            inside = [
                symbol
                for symbol in outline.symbols
                if symbol.kind in CALLABLE_KINDS and symbol.start_line <= line <= symbol.end_line
            ]
            if inside and is_meaningful(source.lines[line - 1]):
                lines_of.setdefault(max(inside, key=lambda symbol: symbol.start_line), []).append(line)
        for symbol, lines in lines_of.items():
            start, end = symbol.start_line, symbol.end_line
            if end - start >= WHOLE_MAX:
                start, end = max(start, min(lines) - AROUND), min(end, max(lines) + AROUND)
            words = re.findall(r"\w+", source.lines[start - 1])
            gold.append(Gold(path, start, end, max(words, key=len, default=""), symbol.name))
    return gold


def _is_shipped(path: str) -> bool:
    language = sniff(path, ())
    return (
        bool(language.grammar)
        and not language.keys
        and language.name != "markdown"
        and not is_test(path)
        and not UNSHIPPED.search(path)
    )


def drafts(mirror: Path, repo: str) -> Iterator[Task]:
    count = 0
    for commit, subject, issue in fixes(mirror):
        gold = places(mirror, commit)
        if FUNCTIONS_MIN <= len(gold) <= FUNCTIONS_MAX:
            name = repo.split("/")[1]
            parent = git(mirror, "rev-parse", f"{commit}^").strip()
            source = f"issue {issue}, fixed by {commit}: {subject}"
            yield Task(f"{name}-{issue}", "fix", repo, parent, subject, tuple(gold), source)
            count += 1
        if count == DRAFTS:
            return


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("repo", nargs="+", metavar="OWNER/NAME")
    options = parser.parse_args()
    for repo in options.repo:
        for task in drafts(options.mirrors / repo.replace("/", "+") / "repo", repo):
            print(as_line(task), flush=True)


if __name__ == "__main__":
    main()
