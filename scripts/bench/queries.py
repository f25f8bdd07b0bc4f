"""Keyword queries drawn from the searched text, so that frequent and rare words occur."""

import random
import re
from collections.abc import Callable
from typing import Any

from cortex.query.leaf import literal

Maker = Callable[[], dict[str, Any]]


def draw(texts: list[str], count: int, seed: int = 7) -> dict[str, list[dict[str, Any]]]:
    """Return arguments of cortex_exact by kind. Words are as frequent as in the text."""
    chance = random.Random(seed)

    def words() -> list[str]:
        tokens: list[str] = []
        while len(tokens) < 4:
            text = chance.choice(texts)
            tokens = [word for word in re.findall(r"[^\W\d_]\w*", text) if 3 < len(word) < 40]
        return tokens

    def term() -> str:
        return chance.choice(words())

    def pair() -> tuple[str, str]:
        tokens = words()
        at = chance.randrange(len(tokens) - 1)
        return tokens[at], tokens[at + 1]

    def typo(word: str) -> str:
        at = chance.randrange(1, len(word) - 1)
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]

    makers: dict[str, Maker] = {
        "term": lambda: {"query": term()},
        "and": lambda: {"query": " ".join(pair())},
        "boolean": lambda: {"query": f"({term()} OR {term()}) AND NOT {term()}"},
        "phrase": lambda: {"query": '"{} {}"'.format(*pair())},
        "filtered": lambda: {"query": term(), "exclude_paths": ["test*/", "*_test.*"]},
        "prefix": lambda: {"query": term()[:4] + "*"},
        "wildcard": lambda: {"query": f"{(word := term())[:2]}*{word[-1]}"},
        "fuzzy ~1": lambda: {"query": typo(term()) + "~1"},
        "fuzzy ~2": lambda: {"query": typo(term()) + "~2"},
        "substring": lambda: {"query": piece(texts, chance), "match_type": "substring"},
        "regex": lambda: {"query": expression(texts, chance), "match_type": "regex"},
        "regex, any chunk": lambda: {"query": unselective(texts, chance), "match_type": "regex"},
    }
    return {name: [make() for _ in range(count)] for name, make in makers.items()}


def piece(texts: list[str], chance: random.Random) -> str:
    """Return 5 to 24 characters of a line."""
    while True:
        line = chance.choice(chance.choice(texts).split("\n")).strip()
        if len(line) > 12:
            start = chance.randrange(len(line) - 8)
            fragment = line[start : start + chance.randrange(5, 25)].strip()
            if len(fragment) > 3:
                return fragment


def expression(texts: list[str], chance: random.Random) -> str:
    """Return an expression made from a line, which it matches."""
    while True:
        line = chance.choice(chance.choice(texts).split("\n")).strip()
        words = re.findall(r"[A-Za-z_]{3,}", line)
        if len(line) < 200 and len(words) > 1:
            break
    a, b = words[0], words[-1]
    short = a[: chance.randrange(3, len(a) + 1)]
    return chance.choice([
        lambda: rf"{short}\w*.*{b}",
        lambda: rf"\b{a}\b",
        lambda: rf"^\s*{literal(line[:12].rstrip())}",
        lambda: rf"{literal(line[-12:].lstrip())}$",
        lambda: rf"({a}|{b})[(.:,]",
        lambda: rf"{a[:-1]}[a-z]?\W+{words[1][:3]}",
        lambda: rf"{literal(line[: chance.randrange(6, 20)])}",
        lambda: rf"(?-i){a}\s*[=({{]",
        lambda: rf"[A-Z]\w+{literal(b[-3:])}\(",
    ])()  # fmt: skip


def unselective(texts: list[str], chance: random.Random) -> str:
    """Return an expression that demands no three letters in a row: every chunk must be read."""
    while True:
        words = re.findall(r"[A-Za-z_]{4,12}", chance.choice(texts))
        if words:
            word = chance.choice(words)
            return rf"{word[0]}[^\s]{{{len(word) - 2}}}{word[-1]}\s+\w"
