"""The chain of calls between the best functions, and the worth of a question's words. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cortex.ask.exploring.functions import Calls, Function, is_shown
from cortex.ask.exploring.query_words import TermFinder, get_term_finder

#: functions of an answer
SHOWN_MAX = 6
#: functions of one chain of calls
CHAIN_MAX = 5
#: value of a function that only connects others, relative to the best one: a detour earns nothing
ON_THE_WAY = 0.05
#: share of its neighbours' scores that a function gains
NEIGHBOUR = 0.15
#: share of the best score that a function outside of the chain needs
FLOOR = 0.5


@dataclass(frozen=True, slots=True)
class Flow:
    """The functions to show in the order of their calls; the first `chain` of them are a chain."""

    functions: tuple[Function, ...] = ()
    chain: int = 0

    def path(self) -> str:
        """Return the chain as one line; "" when there is none."""
        return (
            " → ".join(function.name for function in self.functions[: self.chain]) if self.chain > 1 else ""
        )


def weigh_words(wanted: TermFinder, word_lists: Sequence[Iterable[str]]) -> dict[str, float]:
    """Return word → its worth, rare words more, 1 in all. `word_lists`: the words of each text."""
    counts = Counter(word for text_words in word_lists for word in text_words)
    # Sorted: the order of a set would change the last bit from one process to the next.
    present = sorted(word for word in wanted.terms if counts[word])
    rare = {word: math.log(1 + len(word_lists) / (0.5 + counts[word])) for word in present}
    total = sum(rare.values()) or 1.0
    return {word: value / total for word, value in rare.items()}


def name_share(function: Function, words: Mapping[str, float]) -> float:
    """Return the worth of the words in a definition's name."""
    return _share_of(function.name, words, get_term_finder(words))


def _share_of(name: str, words: Mapping[str, float], wanted: TermFinder) -> float:
    inner, outer = wanted.terms_in(name.rpartition(".")[2]), wanted.terms_in(name)
    if not (inner or outer):
        return 0.0
    worth = words.get
    return sum([worth(w, 0.0) for w in inner]) + 0.4 * sum([worth(w, 0.0) for w in outer if w not in inner])


def choose_flow(
    scores: Mapping[str, float],
    calls: Calls,
    words: Mapping[str, float],
    fill: Sequence[str],
    named: Collection[str] = (),
) -> Flow:
    """Return the chain of calls with the highest value, then the best of `fill` beside it. `named`:
    those of the scored functions that the question names; the chain holds one of them, and they
    come first beside it.
    """
    if not scores:
        return Flow()
    best = max(scores.values())
    values = {name: value + _neighbour_bonus(name, scores, calls, best) for name, value in scores.items()}
    for name, function in calls.functions.items():
        if name not in values and is_shown(function):
            values[name] = ON_THE_WAY * best * min(1.0, 0.4 + name_share(function, words))
    chain = _best_chain(values, scores, calls, named)
    others = sorted(
        (name for name in fill if name not in chain), key=lambda name: (name not in named, -values[name])
    )
    aside = [name for name in others if name in named or values[name] >= FLOOR * best]
    selected = _drop_copies([*chain, *aside], calls)[: max(SHOWN_MAX, len(chain))]
    return Flow(tuple(calls.functions[name] for name in selected), len(chain) if len(chain) > 1 else 0)


def _drop_copies(names: Iterable[str], calls: Calls) -> list[str]:
    """Return the names without overloads and copies of earlier ones: same name and length."""
    first_names: dict[tuple[str, int], str] = {}
    for name in names:
        function = calls.functions[name]
        first_names.setdefault((function.name.partition("$")[0], function.end - function.start), name)
    return list(first_names.values())


def _neighbour_bonus(name: str, scores: Mapping[str, float], calls: Calls, best: float) -> float:
    near = {*calls.callees(name), *calls.callers(name)}
    linked = [scores[neighbour] for neighbour in near if neighbour in scores and neighbour != name]
    return NEIGHBOUR * min(best, sum(linked))


def _connecting_calls(
    values: Mapping[str, float], scores: Mapping[str, float], calls: Calls
) -> list[tuple[str, str]]:
    """Return the certain calls on a path from one scored function to another."""
    pairs = [pair for pair in calls.edges if pair not in calls.unsure and set(pair) <= values.keys()]
    while True:
        begins, ends = {caller for caller, _ in pairs}, {callee for _, callee in pairs}
        remaining = [
            (caller, callee)
            for caller, callee in pairs
            if (caller in scores or caller in ends) and (callee in scores or callee in begins)
        ]
        if len(remaining) == len(pairs):
            return remaining
        pairs = remaining


def _best_chain(
    values: Mapping[str, float], scores: Mapping[str, float], calls: Calls, named: Collection[str]
) -> list[str]:
    """Return the simple chain with the highest sum of values and a scored function at both ends,
    through one of `named` if there are any.
    """
    following: dict[str, list[str]] = {}
    for caller, callee in _connecting_calls(values, scores, calls):
        following.setdefault(caller, []).append(callee)
    top = sorted(scores, key=lambda name: (name not in named, -values[name]))
    best, best_value = top[:1], values[top[0]]

    def walk(chain: list[str], value: float) -> None:
        nonlocal best, best_value
        if chain[-1] in scores and value > best_value and (not named or not set(chain).isdisjoint(named)):
            best, best_value = list(chain), value
        if len(chain) == CHAIN_MAX:
            return
        for callee in following.get(chain[-1], ()):
            if callee not in chain:
                walk([*chain, callee], value + values[callee])

    for name in top:
        walk([name], values[name])
    return best
