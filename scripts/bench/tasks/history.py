"""Tasks from a repository's history: a commit's subject is the question, the lines that it changed
are needed.

The commits are those after the revision that is indexed, so the tree is their past; a commit counts
only if the lines that it changes are in that revision as they were in its parent. A rule with a
seed chooses among them.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.records import Place, Repository, Task

from cortex.indexer.syntax.outline import Outline
from cortex.indexer.syntax.parse import parse
from cortex.indexer.syntax.source import Source, decode
from cortex.terms.languages import sniff
from cortex.terms.paths import is_test

#: seed of the order of the commits
SEED = "agent-1"
#: commits to read after the revision, the nearest first: later ones change lines that are gone
COMMITS_MAX = 300
#: tasks of one repository, files of one commit, functions and lines of one task
TASKS_MAX, FILES_MAX, FUNCTIONS_MAX, LINES_MAX = 3, 3, 3, 8
#: lines of one function
FUNCTION_LINES_MAX = 4
#: words of a subject; fewer say too little, more are lists
WORDS_MIN, WORDS_MAX = 4, 14
#: letters and digits of a meaningful line
LINE_LETTERS_MIN = 8
#: seconds for one git command
GIT_S = 120
#: subjects that are no tasks in code
REFUSED = re.compile(
    r"\b(bump|releas\w*|version|typos?|format\w*|tests?|docs?|documentation|javadoc|comments?|refactor\w*|renam\w*|revert\w*"
    r"|lint\w*|ci|changelog|backport\w*|merge\w*|upgrade|update|deps?|dependenc\w*|style|cleanup|clean up|spelling|grammar"
    r"|readme|copyright|workflow|prepare|chore|sonar|pmd|checkstyle|normali[sz]e|whitespace|imports?)\b",
    re.IGNORECASE,
)
#: text before a subject: `fix(core): `, `[PR #12/ab12cd backport][3.13] `, `LANG-1700: `; and
#: `(#123)` after it
PREFIX = re.compile(
    r"^(\[[^\]]*\]\s*)+|^[a-z]+(\([^)]*\))?!?:\s+|^[A-Z]+-\d+:?\s+|\s*\((gh-)?#?\d+\)\s*$|\s*\[[A-Z]+-\d+\]\s*"
)
#: the head of a hunk
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
#: kinds of definitions that may hold the changed lines
INNER_KINDS = {"function", "method", "class", "struct", "interface", "trait", "enum", "type", "macro"}
#: the beginning of a line without meaning for a machine
COMMENT = re.compile(r"\s*(#(?!\s*(define|if|include))|//|/?\*|--|;|\"\"\"|''')")


@dataclass(frozen=True)
class Hunk:
    """`count` lines from `start` on are replaced by `new_count` from `new_start` on.

    With a count of 0 the new lines follow `start`.
    """

    start: int
    count: int
    new_start: int
    new_count: int


def question_of(subject: str) -> str:
    """Return the subject as a question for an agent; "" if it is no task."""
    text = subject
    while (shorter := PREFIX.sub("", text).strip()) != text:
        text = shorter
    words = text.split()
    file_name = re.search(r"\w\.(py|js|ts|go|rs|java|kt|rb|php|c|h|cc|cs|ex|lua|swift)\b", text)
    if not WORDS_MIN <= len(words) <= WORDS_MAX or REFUSED.search(subject) or file_name:
        return ""
    return text


def hunks_of(diff: str) -> list[Hunk]:
    """Return the hunks of one file's `git diff -U0`."""
    hunks = []
    for line in diff.splitlines():
        if match := HUNK.match(line):
            start, count, new_start, new_count = (int(group) if group else 1 for group in match.groups())
            hunks.append(Hunk(start, count, new_start, new_count))
    return hunks


def changed_lines(hunks: list[Hunk]) -> list[int]:
    """Return the old lines that the change replaces, or after which it adds lines."""
    return [line for hunk in hunks for line in range(hunk.start, hunk.start + max(hunk.count, 1)) if line > 0]


def mapped_back(line: int, hunks: list[Hunk]) -> int:
    """Return the old number of line `line` of the new text; 0 if the hunks changed it."""
    shift = 0
    for hunk in hunks:
        first = hunk.new_start + (hunk.new_count == 0)
        if line < first:
            break
        if line < first + hunk.new_count:
            return 0
        shift += hunk.count - hunk.new_count
    return line + shift


def is_meaningful(text: str) -> bool:
    return len(re.findall(r"\w", text)) >= LINE_LETTERS_MIN and not COMMENT.match(text)


class History:
    """A mirror's git, and the tasks proposed from a repository."""

    def __init__(self, mirror: Path, repository: Repository) -> None:
        self.mirror = mirror
        self.repository = repository

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", self.mirror, *arguments],
            check=False,
            capture_output=True,
            timeout=GIT_S,
        )
        return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""

    def propose(self) -> Iterator[Task]:
        """Yield at most TASKS_MAX tasks, and no two that need the same file."""
        count, files = 0, set[str]()
        for commit, subject in self._commits():
            question = question_of(subject)
            needed = self._needed(commit) if question else []
            if not needed or files & {place.file for place in needed}:
                continue
            files |= {place.file for place in needed}
            count += 1
            name = self.repository.name
            yield Task(f"{name}-{commit[:8]}", name, "commit", question, tuple(needed), commit=commit[:12])
            if count == TASKS_MAX:
                return

    def _commits(self) -> list[tuple[str, str]]:
        """Return hashes and subjects in the order that the seed draws."""
        log = self._git(
            "log", "--no-merges", "--reverse", "--format=%H %s", f"{self.repository.revision}..HEAD"
        )
        rows = [line.partition(" ")[::2] for line in log.splitlines()[:COMMITS_MAX]]
        return sorted(rows, key=lambda row: hashlib.sha256((SEED + row[0]).encode()).digest())

    def _needed(self, commit: str) -> list[Place]:
        """Return the decisive lines of a commit, in the revision; [] if it does not suit."""
        changed = self._git("diff", "--name-status", "--no-renames", f"{commit}^", commit).splitlines()
        sources = [line.partition("\t") for line in changed]
        code = [(how, path) for how, _, path in sources if self._is_code(path)]
        if not 1 <= len(code) <= FILES_MAX or any(how != "M" for how, _ in code):
            return []
        functions: dict[tuple[str, int], list[int]] = {}
        lines_of: dict[str, Sequence[str]] = {}
        for _, path in code:
            source = self._source(path)
            if source is None:
                return []
            lines_of[path] = source.lines
            outline = parse(source, sniff(path, source.lines))
            for line in self._lines(commit, path):
                inner = _innermost(outline, line)
                if inner and is_meaningful(source.lines[line - 1]):
                    functions.setdefault((path, inner), []).append(line)
        return _decisive(functions, lines_of)

    def _is_code(self, path: str) -> bool:
        language = sniff(path, ())
        return (
            bool(language.grammar) and not language.keys and not is_test(path) and language.name != "markdown"
        )

    def _source(self, path: str) -> Source | None:
        done = subprocess.run(
            ["git", "-C", self.mirror, "show", f"{self.repository.revision}:{path}"],
            check=False,
            capture_output=True,
            timeout=GIT_S,
        )
        source = decode(path, done.stdout) if done.returncode == 0 else ""
        return source if isinstance(source, Source) else None

    def _lines(self, commit: str, path: str) -> list[int]:
        """Return changed lines of a file, mapped to the revision; [] if one of them differs
        there.
        """
        hunks = hunks_of(self._git("diff", "-U0", f"{commit}^", commit, "--", path))
        since = hunks_of(self._git("diff", "-U0", self.repository.revision, f"{commit}^", "--", path))
        lines = [mapped_back(line, since) for line in changed_lines(hunks)]
        return lines if all(lines) else []


def _innermost(outline: Outline, line: int) -> int:
    """Return the first line of the innermost definition around a line, itself included.

    0 for none, and in a comment.
    """
    if any(comment.start <= line <= comment.end for comment in outline.comments):
        return 0
    enclosing = [
        symbol.start_line
        for symbol in outline.symbols
        if symbol.kind in INNER_KINDS and symbol.start_line <= line <= symbol.end_line
    ]
    return max(enclosing, default=0)


def _decisive(functions: dict[tuple[str, int], list[int]], texts: dict[str, Sequence[str]]) -> list[Place]:
    """Return the functions with most changed lines, and the first lines of each."""
    largest = sorted(functions, key=lambda key: -len(functions[key]))[:FUNCTIONS_MAX]
    places: list[Place] = []
    left = LINES_MAX
    for path, start in largest:
        for line in sorted(functions[path, start])[: min(FUNCTION_LINES_MAX, left)]:
            left -= 1
            last = places[-1] if places else None
            if last and last.file == path and last.end == line - 1:
                places[-1] = Place(path, last.start, line, last.has)
            else:
                words = re.findall(r"\w+", texts[path][line - 1])
                places.append(Place(path, line, line, max(words, key=len, default="")))
    return places
