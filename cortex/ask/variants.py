"""Definitions that say the same: the async copy of a function, an overload of it. Pure."""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain

from cortex.ask.functions import PIECE, Bodies, Function

#: share of the words that two bodies have in common which say the same; words that tell nothing
SAME_SHARE, WORDS_MIN = 0.85, 12
#: words that are kept as they are compared, some 150 bytes each: bodies repeat them
WORDS_KEPT = 10_000

_WORD = re.compile(r"\w+")
_ASYNC = re.compile(r"_?async_?|_?sync$|^sync_?|await", re.IGNORECASE)


def drop_twins(
    functions: Sequence[Function], bodies: Bodies, scores: Mapping[str, float]
) -> tuple[list[Function], dict[str, list[Function]]]:
    """(`functions` in their order with one of each that says the same, its id → the others): of
    those the one in the type that is worth most in all, so that they come of one type.
    """
    worth: dict[tuple[str, str], float] = defaultdict(float)
    for function in functions:
        worth[_owner_of(function)] += scores.get(function.id, 0.0)
    twins: dict[str, list[Function]] = {}
    dropped: set[str] = set()
    for group in _groups(functions, bodies):
        best = max(group, key=lambda function: worth[_owner_of(function)])
        twins[best.id] = [function for function in group if function is not best]
        dropped.update(function.id for function in twins[best.id])
    return [function for function in functions if function.id not in dropped], twins


def _groups(functions: Sequence[Function], bodies: Bodies) -> list[list[Function]]:
    """Those with about the same body, where there are several."""
    groups: list[tuple[list[Function], Counter[str], int]] = []
    for function in functions:
        if function.kind == PIECE:
            continue
        words = _words(bodies.get(function.id, {}))
        count = words.total()
        same = next(
            (
                members
                for members, others, their in groups
                if _may_be_same(count, their) and _is_same(words, others, max(count, their))
            ),
            None,
        )
        if same is None:
            groups.append(([function], words, count))
        else:
            same.append(function)
    return [members for members, _, _ in groups if len(members) > 1]


def _words(body: Mapping[int, str]) -> Counter[str]:
    words = chain.from_iterable(map(_WORD.findall, body.values()))
    return Counter(filter(None, map(_without_async, words)))


@functools.lru_cache(WORDS_KEPT)
def _without_async(word: str) -> str:
    return _ASYNC.sub("", word).lower()


def _may_be_same(count: int, other: int) -> bool:
    """Whether bodies of so many words may be: no more than the lesser number can be in both."""
    return min(count, other) >= max(WORDS_MIN, SAME_SHARE * max(count, other))


def _is_same(words: Counter[str], other: Counter[str], most: int) -> bool:
    return (words & other).total() >= SAME_SHARE * most


def _owner_of(function: Function) -> tuple[str, str]:
    return function.file, function.name.rpartition(".")[0]
