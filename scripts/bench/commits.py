"""Questions from a repository's history: a commit's subject asks for the code files it changed.

Also for the changed functions that still exist. second_set.py reads git; this module is pure.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cortex.terms.languages import language_of
from cortex.terms.paths import is_test, is_unshipped

#: words of a subject that becomes a question
WORDS = range(4, 15)
#: code files that a commit may change: more are a sweep through the project
FILES_MAX = 2
#: questions about one file, and about one repository
FILE_MAX, REPOSITORY_MAX = 3, 40

#: `fix(parser): `, `[core] `, `parser: `, `#123 - `, and endings: `(#123)`, `fixes #5`
PREFIX = re.compile(
    r"^(?:(?:[\w./*-]+(?:\([^)]*\))?!?:|\[[^\]]*\]|[A-Z]+-\d+|\(?(?:gh-?)?#\d+\)?)[\s:-]*)+", re.IGNORECASE
)
TICKET = re.compile(
    r"\s*(?:\(?(?:(?:fix(?:es)?|close[sd]?|see|re|gh)[\s-]*)?#\d+\)?|\([A-Z]+-\d+\)|[A-Z]+-\d+)",
    re.IGNORECASE,
)
#: subjects of commits that say nothing about the purpose of the code
_REFUSED = re.compile(
    r"\b(?:bump|release[ds]?|version|typos?|format(?:ting)?|lint(?:er|ing)?|tests?|testing|specs?|docs?|docstrings?"
    r"|documentation|comments?|readme|changelog|refactor\w*|rename\w*|merge[ds]?|revert\w*|whitespace|indent\w*"
    r"|clean(?:up|ing)?|tidy|style|rubocop|ruff|black|flake8|mypy|clippy|eslint|prettier|copyright|license|ci"
    r"|deprecat\w+ warnings?|imports?|wip|minor|review|upgrade|dependenc\w+)\b",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r"[\w-]+\.(?:[a-z]{1,4}|swift|scala)\b|\w/\w+/\w")
_WORD = re.compile(r"[^\W_][\w'-]*")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that is no merge; `changes` are (status of git, path)."""

    sha: str
    subject: str
    changes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question for the code files that a commit changed."""

    query: str
    sha: str
    files: tuple[str, ...]


def read_log(text: str) -> Iterator[Commit]:
    """Parse `git log --no-merges --no-renames --name-status --format=%x01%H%x02%s`."""
    for entry in text.split("\x01")[1:]:
        head, *lines = entry.strip("\n").split("\n")
        sha, _, subject = head.partition("\x02")
        rows = [line.split("\t", 1) for line in lines if "\t" in line]
        yield Commit(sha, subject, tuple((status, path) for status, path in rows))


def is_asked_about(path: str) -> bool:
    """Return whether a question may be about the file: code that the project ships."""
    language = language_of(path)
    return (
        language.kind == "code" and language.grammar is not None and not (is_test(path) or is_unshipped(path))
    )


def question_of(subject: str) -> str:
    """Return a subject without prefix and ticket numbers; "" for one that nobody would ask."""
    text = TICKET.sub("", PREFIX.sub("", subject)).strip(" .-:")
    if _REFUSED.search(subject) or _FILE_NAME.search(text) or not text.isascii():
        return ""
    return text if len(_WORD.findall(text)) in WORDS else ""


def commit_questions(commits: Iterable[Commit], present: frozenset[str]) -> list[Question]:
    """Return questions for one or two code files that still exist, of the newest commits."""
    questions: list[Question] = []
    used: Counter[str] = Counter()
    queries: set[str] = set()
    for commit in commits:
        files = tuple(path for _, path in commit.changes if is_asked_about(path))
        if not 1 <= len(files) <= FILES_MAX or not present.issuperset(files):
            continue
        if any(status != "M" for status, path in commit.changes if path in files):
            continue
        query = question_of(commit.subject)
        if not query or query.lower() in queries or any(used[path] >= FILE_MAX for path in files):
            continue
        queries.add(query.lower())
        used.update(files)
        questions.append(Question(query, commit.sha, files))
        if len(questions) == REPOSITORY_MAX:
            break
    return questions


_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def changed_lines(diff: str) -> list[tuple[int, int]]:
    """Return (first, last) of the lines that a diff of one file, without context, adds or replaces.

    Where lines are only removed, it is the line before them.
    """
    spans = []
    for start, count in _HUNK.findall(diff):
        first, size = int(start), int(count or 1)
        spans.append((first, first + max(size, 1) - 1))
    return spans


def innermost(spans: Sequence[tuple[str, int, int]], lines: Iterable[tuple[int, int]]) -> set[str]:
    """Return the names of the innermost of `spans` (name, first, last) that hold a line of
    `lines`.
    """
    names = set()
    for first, last in lines:
        for line in range(first, last + 1):
            enclosing = [(end - start, name) for name, start, end in spans if start <= line <= end]
            if enclosing:
                names.add(min(enclosing)[1])
    return names
