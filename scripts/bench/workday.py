"""The calls of the load tests: those of three agents in a day, drawn from a project's own words."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

#: mixes of a load test: every call of a day, or searches alone
MIXES = ("day", "search")
#: of a hundred calls of a day: tool → how many; agents search code most, then read their hits
SHARES = {
    "cortex_search": 26,
    "cortex_exact": 20,
    "cortex_recall": 12,
    "cortex_explore": 10,
    "cortex_graph": 8,
    "cortex_outline": 8,
    "code_context": 6,
    "find_related": 6,
    "cortex_store": 4,
}
#: of a hundred calls of a day: way → how many; agents speak MCP, editors and scripts the others
WAYS = {"mcp": 60, "tools": 25, "search": 15}
#: files that are read for words, and bytes of each
READ_MAX, BYTES_MAX = 2_000, 64 << 10
#: limit of a `search` call
K = 20

#: (path, name) of definitions, of which queries are made
Names = list[tuple[str, str]]

_DEFINITION = re.compile(r"\b(?:def|class|func|fn|function|struct|interface|type)\s+([A-Za-z_]\w{3,60})")
_WORD_PIECE = re.compile(r"[A-Z]?[a-z]{3,}")


def read_names(root: Path, seed: int = 7) -> Names:
    """Return the definitions of a sample of the files. Raises SystemExit if there are none."""
    chance = random.Random(seed)
    paths = sorted(path for path in root.rglob("*.*") if path.is_file() and ".git" not in path.parts)
    sample = chance.sample(paths, min(READ_MAX, len(paths)))
    names = [definition for path in sample for definition in _definitions_in(root, path)]
    if not names:
        raise SystemExit(f"nothing is defined in the files of {root}: choose a folder of sources")
    return names


def _definitions_in(root: Path, path: Path) -> Iterable[tuple[str, str]]:
    with path.open("rb") as file:
        text = file.read(BYTES_MAX).decode("utf-8", "ignore")
    where = path.relative_to(root).as_posix()
    return [(where, name) for name in _DEFINITION.findall(text)]


def draw(names: Names, mix: str, count: int, seed: int = 11) -> list[dict[str, Any]]:
    """Return `count` calls as {"way", "tool", "arguments"}; the same ones each time."""
    chance = random.Random(seed)
    makers = _makers(names, chance)
    calls: list[dict[str, Any]] = []
    while len(calls) < count:
        way = "search" if mix == "search" else _draw_weighted(WAYS, chance)
        tool = "search" if way == "search" else _draw_weighted(SHARES, chance)
        calls.append({"way": way, "tool": tool, "arguments": makers[tool]()})
    return calls


def _makers(names: Names, chance: random.Random) -> dict[str, Callable[[], dict[str, Any]]]:
    """Return tool → function that makes its arguments."""

    def name() -> str:
        return chance.choice(names)[1]

    def path() -> str:
        return chance.choice(names)[0]

    def question() -> str:
        pieces = _WORD_PIECE.findall(name()) + _WORD_PIECE.findall(name())
        return f"how does {' '.join(word.lower() for word in pieces[:4]) or name()} work"

    return {
        "search": lambda: {"query": question(), "k": K},
        "cortex_search": lambda: {"query": question()},
        "cortex_exact": lambda: {"query": name()},
        "cortex_explore": lambda: {"query": question()},
        "cortex_graph": lambda: {"operation": chance.choice(("callers", "callees")), "target": name()},
        "cortex_outline": lambda: {"path": path()},
        "code_context": lambda: {"query": question(), "k": 10},
        "find_related": lambda: {"file": path()},
        "cortex_recall": lambda: {"query": question()},
        "cortex_store": lambda: {"title": f"{name()} was seen {chance.random():.12f}", "body": question()},
    }


def _draw_weighted(shares: dict[str, int], chance: random.Random) -> str:
    return chance.choices(list(shares), list(shares.values()))[0]
