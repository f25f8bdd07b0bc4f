#!/usr/bin/env python3
"""Count names and words that tell a reader nothing, and list the worst places.

    scripts/words.py [--names] [FOLDER_OR_FILE ...]

Without `--names`: bindings, and words of docstrings, comments and documents, by room. With it: each
binding whose name is refused or counted, as `file:line scope name`. tests/test_words.py holds the
bounds; tests/names_refused.txt has the words, tests/names_frozen.tsv the exceptions.

A binding is a name that is stored: a variable, an argument, a function, a class, an attribute of
`self`.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDERS = ("cortex", "ipc", "workers", "tests", "scripts")
#: words that begin a free relative clause
RELATIVES = frozenset(("what", "who", "whose", "whom"))
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_STRING_OR_COMMENT = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'{3}(?:\\.|[^\\])*?\'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|#[^\n]*''',
    re.DOTALL,
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Binding:
    """A place where a name is bound. `scope` is dotted, "" at the top of the module."""

    path: str
    line: int
    scope: str
    name: str

    @property
    def word(self) -> str:
        return self.name.strip("_").lower()


@dataclass(frozen=True)
class Words:
    """Counts over a text: all words, and the relatives among them."""

    total: int = 0
    relatives: int = 0

    def __add__(self, other: Words) -> Words:
        return Words(self.total + other.total, self.relatives + other.relatives)

    @property
    def per_thousand(self) -> float:
        return 1000 * self.relatives / self.total if self.total else 0.0


@cache
def categories() -> dict[str, frozenset[str]]:
    """Return category → its words, from tests/names_refused.txt."""
    lines = (ROOT / "tests" / "names_refused.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {row[0]: frozenset(row[1:]) for row in rows}


def frozen_names() -> dict[tuple[str, str], str]:
    """Return (path, name) → why the name stays, from tests/names_frozen.tsv."""
    lines = (ROOT / "tests" / "names_frozen.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {(path, name): reason for path, name, reason in rows}


def sources(places: Iterable[str] = FOLDERS) -> list[str]:
    """Return the Python files that git tracks, without the samples in tests/golden."""
    listed = subprocess.run(
        ("git", "ls-files", "-z", "--", *places), cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    return [path for path in listed if path.endswith(".py") and not path.startswith("tests/golden/")]


@cache
def _source(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def _read(path: str) -> tuple[list[Binding], Words]:
    """Return the bindings and the words of the docstrings. The tree is not kept: the garbage
    collector would look at all of them again and again.
    """
    bound: list[Binding] = []
    texts: list[str] = []
    waiting: list[tuple[Any, str]] = [(ast.parse(_source(path)), "")]
    while waiting:
        node, scope = waiting.pop()
        if isinstance(node, list):
            waiting += [(child, scope) for child in node]
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                bound.append(Binding(path, node.lineno, scope, node.id))
        elif isinstance(node, ast.AST):
            if name := _bound(node):
                bound.append(Binding(path, node.lineno, scope, name))  # type: ignore[attr-defined]
            if isinstance(node, _DEFINITIONS):
                scope = f"{scope}.{node.name}" if scope else node.name
            if isinstance(node, (ast.Module, *_DEFINITIONS)):
                texts.append(ast.get_docstring(node) or "")
            waiting += [(value, scope) for field in node._fields if (value := getattr(node, field, None))]
    return sorted(bound, key=lambda binding: binding.line), count_words("\n".join(texts))


def bindings(path: str) -> list[Binding]:
    return _read(path)[0]


def _bound(node: ast.AST) -> str:
    """Return the name that a definition, an argument or an attribute of `self` binds, or ""."""
    if isinstance(node, _DEFINITIONS):
        return node.name
    if isinstance(node, ast.arg):
        return node.arg
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if is_own and isinstance(node.ctx, ast.Store) else ""  # type: ignore[attr-defined]


def count_words(text: str) -> Words:
    """Count the words outside code spans."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(_CODE.sub(" ", text))]
    return Words(len(words), sum(word.partition("'")[0] in RELATIVES for word in words))


def docstrings(path: str) -> Words:
    return _read(path)[1]


def comments(path: str) -> Words:
    tokens = _STRING_OR_COMMENT.findall(_source(path))
    return count_words("\n".join(token for token in tokens if token.startswith("#")))


def room_of(path: str) -> str:
    """Return the room of a file: `cortex/ask`, `ipc`, `tests/front`, ..."""
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("places", nargs="*", default=list(FOLDERS))
    parser.add_argument("--names", action="store_true")
    options = parser.parse_args()
    paths = sources(options.places)
    if options.names:
        words = categories()["refused"] | categories()["counted"]
        exempt = frozen_names()
        for path in paths:
            for binding in bindings(path):
                if binding.word in words and (path, binding.name) not in exempt:
                    print(f"{path}:{binding.line} {binding.scope or '<module>'} {binding.name}")
        return
    rooms: dict[str, Counter[str]] = {}
    for path in paths:
        row = rooms.setdefault(room_of(path), Counter())
        row["lines"] += _source(path).count("\n")
        for binding in bindings(path):
            row["bindings"] += 1
            row.update(name for name, words in categories().items() if binding.word in words)
        for name, words in (("docstrings", docstrings(path)), ("comments", comments(path))):
            row[name] += words.total
            row[f"{name} relatives"] += words.relatives
    columns = (
        "lines", "bindings", "refused", "counted", "generic", "docstrings", "docstrings relatives", "comments",
        "comments relatives",
    )  # fmt: skip
    print(f"{'room':24}" + "".join(f"{name[-20:]:>21}" for name in columns))
    for room, row in sorted(rooms.items()):
        print(f"{room:24}" + "".join(f"{row[name]:>21}" for name in columns))


if __name__ == "__main__":
    main()
