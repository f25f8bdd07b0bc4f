"""Relations of texts to a piece of code, judged by names: its tests, and mentions of it. Pure."""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cortex.terms import tokens
from cortex.terms.paths import EMPTY_STEMS

Why = Literal["name", "calls", "imports", "mentions"]

#: scores of a test's reasons: it calls the code, is named like the file, imports the file, mentions
#: a name
_WORTH: dict[Why, float] = {"calls": 3.0, "name": 2.5, "imports": 1.0, "mentions": 0.75}
#: naming patterns of tests: Python, Go, C; JavaScript, Ruby; Java, C#, Swift, PHP
_TEST_FORMS = (
    *("test_{}", "{}_test", "{}-test", "{}_unittest"),
    *("{}.test", "{}.spec", "{}_spec"),
    *("{}Test", "{}Tests", "{}Spec", "Test{}", "{}IT"),
)
#: names that are searched in texts
NAMES_MAX = 8
#: entries of the memo of patterns, for names that are searched in many lines
NAMES_KEPT = 64

_MARKED = re.compile(r"<em>(.*?)</em>")


@dataclass(slots=True)
class RelatedTest:
    """A test file with its reasons, the line to begin at (0: unknown) and the calling functions."""

    file: str
    why: list[Why] = field(default_factory=list)
    line: int = 0
    names: list[str] = field(default_factory=list)

    def add(self, why: Why, line: int = 0, name: str = "") -> None:
        if why not in self.why:
            self.why.append(why)
        self.line = self.line or line
        if name and name not in self.names:
            self.names.append(name)


def names_of_tests(path: str) -> list[str]:
    """Return the names that a test of the file in `path` has by convention, without folders."""
    *folders, name = path.split("/")
    stem, dot, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
    stems = [folders[-1], stem] if stem.lower() in EMPTY_STEMS and folders else [stem]
    names = [f"{form.format(base)}{dot}{ending}" for base in stems for form in _TEST_FORMS]
    # Also the same name in a folder of tests; the caller selects tests.
    return [*names, *(f"{base}{dot}{ending}" for base in stems)]


def order_tests(tests: Iterable[RelatedTest], path: str) -> list[RelatedTest]:
    """Sort tests, the surest first, then the nearest to `path` in the tree. If any test calls the
    code or is named like the file, tests that only import it (in Go every test of the package) are
    left out.
    """
    candidates = list(tests)
    if any("calls" in test.why or "name" in test.why for test in candidates):
        candidates = [test for test in candidates if test.why != ["imports"]]
    folders = path.split("/")[:-1]

    def key(test: RelatedTest) -> tuple[float, int, str]:
        test_folders = test.file.split("/")[:-1]
        near = len(set(test_folders) & set(folders))
        return (-sum(_WORTH[why] for why in test.why), -near, test.file)

    return sorted(candidates, key=key)


def pick_names(names: Sequence[str]) -> list[str]:
    """Return the names to search in texts: the last part of each, the longest identifiers first."""
    last = dict.fromkeys(name.rpartition(".")[2] for name in names)
    long_names = [name for name in last if len(name) > 2 and not name.startswith("__")]
    return sorted(long_names, key=lambda name: -len(tokens.part_words(name)))[:NAMES_MAX]


def mention_query(names: Sequence[str], paths: Sequence[str] = ()) -> str:
    """Return the keyword query for any of the names or paths; "" for none."""
    return " OR ".join(f'"{name}"' for name in (*names, *paths) if '"' not in name)


def find_mentions(highlights: Iterable[str], names: Sequence[str], paths: Sequence[str] = ()) -> list[str]:
    """Return the names and paths that the highlighted lines of a hit contain as written. A name
    that is a plain word ("save", "Session") must look like code: in backquotes, called, or after a
    dot.
    """
    mentioned: dict[str, None] = {}
    for line in highlights:
        plain = _MARKED.sub(r"\1", line)
        for name in names:
            if name in plain and _code_pattern(name).search(plain):
                mentioned[name] = None
        for path in paths:
            if path in plain and re.search(rf"(?<![\w.-]){re.escape(path)}(?![\w-])", plain):
                mentioned[path] = None
    return list(mentioned)


@functools.lru_cache(NAMES_KEPT)
def _code_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern that finds a name where it counts as a mention."""
    word = re.escape(name)
    if len(tokens.part_words(name)) > 1:
        return re.compile(rf"(?<!\w){word}(?!\w)")
    return re.compile(rf"(?:(?<=[`.:#]){word}(?!\w)|(?<!\w){word}(?=[`(]))")
