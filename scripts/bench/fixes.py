"""Questions from repaired faults: a commit's message asks for the functions that it changed.

The tree is older than every commit that asks about it, so that no answer is in the index. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commits import PREFIX, TICKET, is_asked_about

#: shipped code files and functions that a fix may change
FILES_MAX, FUNCTIONS_MAX = 3, 6
#: words of a question; those of the message after the subject, at most
WORDS_MIN, BODY_WORDS_MAX = 4, 80

#: kinds of definitions that are asked for
FUNCTION_KINDS = frozenset("function method constructor macro".split())
KINDS = FUNCTION_KINDS | frozenset("class struct interface trait enum type".split())

_FIX = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|bugs?|bugfix|crash(?:e[sd])?|regression|repair\w*|wrong(?:ly)?|incorrect\w*|broken|leaks?"
    r"|deadlocks?|race|panics?|hang(?:s|ing)?)\b",
    re.IGNORECASE,
)
#: subjects of commits that repair no behaviour
_REFUSED = re.compile(
    r"\b(?:bump|typos?|lint(?:er|ing|s)?|tests?|testing|specs?|docs?|docstrings?|documentation|readme|changelog|refactor\w*"
    r"|rename\w*|merge[ds]?|revert\w*|whitespace|indent\w*|tidy|style|rubocop|ruff|black|flake8|mypy|clippy|eslint|prettier"
    r"|phpstan|psalm|copyright|licen[cs]e|ci|travis|appveyor|warnings?|wip|javadocs?|rdoc|cosmetic|misspell\w*|comments?|pull request|spelling|benchmarks?"
    r"|examples?|website|gradle|pom|dependenc\w+|build)\b",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"^\s*(?:[A-Z][\w-]+-by:|co-authored|signed-off|(?:fix(?:es)?|clos(?:es|ed?)|resolves?|refs?|see|related|changelog"
    r"|conflicts|git-svn-id|cherry|reviewed|bug|issue|jira|pr)\b[\s:]*(?:#|gh-|http|[A-Z]+-\d|\(|$)|---+|\(cherry).*$",
    re.IGNORECASE | re.MULTILINE,
)
#: an item of a list: squashed commits, of which many repair no behaviour
_ITEM = re.compile(r"^\s*[*-]\s.*$", re.MULTILINE)
_URL = re.compile(r"\S*https?://\S+")
_FILE = re.compile(
    r"(?<![\w.])(?:[\w.@-]+/)*[\w-]+\.(?:py|[cm]?[jt]sx?|go|rs|java|kt|cs|rb|php|c|h|cc|cpp|hpp|swift|scala|ex|exs|lua|md|rst"
    r"|txt|toml|ya?ml|json)\b|(?<![\w.])[\w.-]+(?:/[\w.-]+){2,}"
)
_WORD = re.compile(r"[^\W_][\w'-]*")
_OLD_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fix:
    """A commit that repairs a fault, its question, and the shipped code files that it modified."""

    sha: str
    query: str
    files: tuple[str, ...]


def read_fixes(log: str) -> Iterator[Fix]:
    """Parse `git log --no-merges --no-renames --name-status --format=%x01%H%x02%s%x02%b%x03`."""
    for entry in log.split("\x01")[1:]:
        head, _, rows = entry.partition("\x03")
        sha, subject, body = head.split("\x02", 2)
        changes = [line.split("\t", 1) for line in rows.split("\n") if "\t" in line]
        files = [(status, path) for status, path in changes if is_asked_about(path)]
        if not 1 <= len(files) <= FILES_MAX or any(status != "M" for status, _ in files):
            continue
        if query := question_of(subject, body):
            yield Fix(sha, query, tuple(path for _, path in files))


def question_of(subject: str, body: str) -> str:
    """Return a message without tickets, trailers, links and names of files; "" if it is no question
    about a fault.
    """
    if _REFUSED.search(subject) or not (_FIX.search(subject) or _FIX.search(body[:400])):
        return ""
    title = _clean(PREFIX.sub("", subject)).strip(" .-:")
    if not title.isascii() or len(_WORD.findall(title)) < WORDS_MIN:
        return ""
    body = _ITEM.sub(lambda item: "" if _REFUSED.search(item[0]) else item[0], _TRAILER.sub("", body))
    words = _clean(body).split()[:BODY_WORDS_MAX]
    rest = " ".join(words)
    return f"{title}\n\n{rest}" if rest.isascii() and len(words) >= WORDS_MIN else title


def _clean(text: str) -> str:
    return " ".join(_FILE.sub("", TICKET.sub("", _URL.sub("", text))).split())


def old_lines(diff: str) -> list[tuple[int, int]]:
    """Return (first, last) of the lines that a diff of one file, without context, removes or
    replaces; where lines are only added, the line before them.
    """
    spans = []
    for start, count in _OLD_HUNK.findall(diff):
        first, size = int(start), int(count or 1)
        spans.append((first, first + max(size, 1) - 1))
    return spans


def is_fix(functions: Sequence[object]) -> bool:
    return 1 <= len(functions) <= FUNCTIONS_MAX
