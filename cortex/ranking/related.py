"""What belongs to a piece of code, judged by names: its tests, what of a text mentions it. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cortex.terms import tokens
from cortex.terms.paths import EMPTY_STEMS

Why = Literal["name", "calls", "imports", "mentions"]

#: what speaks for a test, best first: it is named like the file, calls what is there, imports the
#: file, mentions a name
_WORTH: dict[Why, float] = {"calls": 3.0, "name": 2.5, "imports": 1.0, "mentions": 0.75}
#: how tests are named: Python, Go, C; JavaScript, Ruby; Java, C#, Swift, PHP
_TEST_FORMS = (
    *("test_{}", "{}_test", "{}-test", "{}_unittest"),
    *("{}.test", "{}.spec", "{}_spec"),
    *("{}Test", "{}Tests", "{}Spec", "Test{}", "{}IT"),
)
#: names that are looked for in texts
NAMES_MAX = 8
#: names that are looked for in many lines, one after the other, of which the expression is kept
NAMES_KEPT = 64

_MARKED = re.compile(r"<em>(.*?)</em>")


@dataclass(slots=True)
class RelatedTest:
    """A test file, why it belongs, the line to begin at (0: not known) and the functions that call
    what is tested.
    """

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
    """What the conventions of its language call a test of the file in `path`, without folders."""
    *folders, name = path.split("/")
    stem, dot, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
    stems = [folders[-1], stem] if stem.lower() in EMPTY_STEMS and folders else [stem]
    names = [f"{form.format(base)}{dot}{ending}" for base in stems for form in _TEST_FORMS]
    # The same name below a folder of tests: the caller keeps what is a test.
    return [*names, *(f"{base}{dot}{ending}" for base in stems)]


def order_tests(tests: Iterable[RelatedTest], path: str) -> list[RelatedTest]:
    """The surest first; of those that are as sure, the nearest to `path` in the tree. Beside tests
    that call something or are named like the file, those that only import it (in Go every test of
    the package) are left out.
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
    """The names to look for in texts: the last part of each, the longest identifiers first."""
    last = dict.fromkeys(name.rpartition(".")[2] for name in names)
    long_names = [name for name in last if len(name) > 2 and not name.startswith("__")]
    return sorted(long_names, key=lambda name: -len(tokens.part_words(name)))[:NAMES_MAX]


def mention_query(names: Sequence[str], paths: Sequence[str] = ()) -> str:
    """The keyword query for any of the names or paths; "" for none."""
    return " OR ".join(f'"{name}"' for name in (*names, *paths) if '"' not in name)


def find_mentions(highlights: Iterable[str], names: Sequence[str], paths: Sequence[str] = ()) -> list[str]:
    """Which of the names and paths the highlighted lines of a hit hold as they are written. A name
    that is one plain word ("save", "Session") counts where it stands as code: in backquotes,
    called, or behind a dot.
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
    """What finds a name in a line where it counts."""
    word = re.escape(name)
    if len(tokens.part_words(name)) > 1:
        return re.compile(rf"(?<!\w){word}(?!\w)")
    return re.compile(rf"(?:(?<=[`.:#]){word}(?!\w)|(?<!\w){word}(?=[`(]))")
