"""Definitions with nearly the same body: the async copy of a function, or an overload. Pure."""

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain

from cortex.ask.exploring.functions import PIECE, Bodies, Function

#: share of words that two variants have in common; words below which a body tells nothing
SAME_SHARE, WORDS_MIN = 0.85, 12
#: normalised words that are remembered, some 150 bytes each: bodies repeat them
WORDS_KEPT = 10_000

_WORD = re.compile(r"\w+")
_ASYNC = re.compile(r"_?async_?|_?sync$|^sync_?|await", re.IGNORECASE)


def drop_twins(
    functions: Sequence[Function], bodies: Bodies, scores: Mapping[str, float]
) -> tuple[list[Function], dict[str, list[Function]]]:
    """Return (`functions` in their order with one of each group of variants, its id → the others).
    The one kept is from the type with the highest total score, so that all come from one type.
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
    """Return the groups of functions with about the same body."""
    groups: list[tuple[list[Function], Counter[str], int]] = []
    for function in functions:
        if function.kind == PIECE:
            continue
        words = _words(bodies.get(function.id, {}))
        count = words.total()
        same = next(
            (members for members, others, their in groups if _are_variants(words, others, count, their)), None
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


def _are_variants(words: Counter[str], others: Counter[str], count: int, their: int) -> bool:
    """Whether the share of common words is large; of `count` and `their` at most the smaller is."""
    least = SAME_SHARE * max(count, their)
    return min(count, their) >= max(WORDS_MIN, least) and (words & others).total() >= least


def _owner_of(function: Function) -> tuple[str, str]:
    return function.file, function.name.rpartition(".")[0]
