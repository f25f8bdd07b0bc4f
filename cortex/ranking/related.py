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
class Guard:
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
    made = [f"{form.format(each)}{dot}{ending}" for each in stems for form in _TEST_FORMS]
    # The same name below a folder of tests: the caller keeps what is a test.
    return [*made, *(f"{each}{dot}{ending}" for each in stems)]


def order_tests(tests: Iterable[Guard], path: str) -> list[Guard]:
    """The surest first; of those that are as sure, the nearest to `path` in the tree. Beside tests
    that call something or are named like the file, those that only import it (in Go every test of
    the package) are left out.
    """
    found = list(tests)
    if any("calls" in one.why or "name" in one.why for one in found):
        found = [one for one in found if one.why != ["imports"]]
    folders = path.split("/")[:-1]

    def key(one: Guard) -> tuple[float, int, str]:
        own = one.file.split("/")[:-1]
        near = len(set(own) & set(folders))
        return (-sum(_WORTH[why] for why in one.why), -near, one.file)

    return sorted(found, key=key)


def telling(names: Sequence[str]) -> list[str]:
    """The names to look for in texts: the last part of each, the longest identifiers first."""
    last = dict.fromkeys(name.rpartition(".")[2] for name in names)
    kept = [name for name in last if len(name) > 2 and not name.startswith("__")]
    return sorted(kept, key=lambda name: -len(tokens.part_words(name)))[:NAMES_MAX]


def mention_query(names: Sequence[str], paths: Sequence[str] = ()) -> str:
    """The keyword query for any of the names or paths; "" for none."""
    return " OR ".join(f'"{one}"' for one in (*names, *paths) if '"' not in one)


def mentions(highlights: Iterable[str], names: Sequence[str], paths: Sequence[str] = ()) -> list[str]:
    """Which of the names and paths the highlighted lines of a hit hold as they are written. A name
    that is one plain word ("save", "Session") counts where it stands as code: in backquotes,
    called, or behind a dot.
    """
    found: dict[str, None] = {}
    for line in highlights:
        plain = _MARKED.sub(r"\1", line)
        for name in names:
            if name in plain and _as_code(name).search(plain):
                found[name] = None
        for path in paths:
            if path in plain and re.search(rf"(?<![\w.-]){re.escape(path)}(?![\w-])", plain):
                found[path] = None
    return list(found)


@functools.lru_cache(NAMES_KEPT)
def _as_code(name: str) -> re.Pattern[str]:
    """What finds a name in a line where it counts."""
    word = re.escape(name)
    if len(tokens.part_words(name)) > 1:
        return re.compile(rf"(?<!\w){word}(?!\w)")
    return re.compile(rf"(?:(?<=[`.:#]){word}(?!\w)|(?<!\w){word}(?=[`(]))")
