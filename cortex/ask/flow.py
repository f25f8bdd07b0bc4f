"""Which functions of those that may matter do, and in which order they are called. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cortex.ask.functions import Calls, Function, is_shown
from cortex.ask.query_words import Sought, sought
from cortex.terms.paths import is_built, is_example, is_foreign

#: functions that an answer shows
SHOWN_MAX = 6
#: steps of a chain of calls that are still one flow
CHAIN_MAX = 5
#: what a function is worth by the words of its text, by those of its name, by its file's place
#: among the hits, and by lying in the chunk that was the hit
TEXT, NAME, FILE, HIT = 1.0, 0.8, 0.5, 0.35
#: what a function is worth that holds a name, or lies at a place, that the question names
HOLDS = 0.5
#: what a function on the way between others is worth, of the best one: a detour earns nothing
ON_THE_WAY = 0.05
#: what a function that the best one calls or is called by gains
NEIGHBOUR = 0.15
#: the share of the best score below which nothing is shown beside the flow
FLOOR = 0.5
#: what an example or a definition without a body is worth, of what it would be
BESIDE_SHARE = 0.5
#: lines of a function below which it says little
SHORT_LINES = 3


@dataclass(frozen=True, slots=True)
class Flow:
    """The functions to show, in the order of their calls; the first `chain` of them are a chain."""

    functions: tuple[Function, ...] = ()
    chain: int = 0

    def path(self) -> str:
        """The chain as one line; "" when nothing calls anything else."""
        return " → ".join(one.name for one in self.functions[: self.chain]) if self.chain > 1 else ""


@dataclass(frozen=True, slots=True)
class Told:
    """What was read of a function: how many lines, and which words of the question they hold."""

    lines: int = 0
    words: frozenset[str] = frozenset()

    @classmethod
    def of(cls, body: Mapping[int, str], wanted: Sought) -> Told:
        return cls(len(body), frozenset(wanted.terms_in(" ".join(body.values()))))


#: of a function of which nothing was read
NOTHING = Told()


def weigh_words(wanted: Sought, found: Sequence[Iterable[str]]) -> dict[str, float]:
    """What each word of a question is worth among texts, of which `found` says which of them each
    holds: rare ones more; together 1.
    """
    counts = Counter(word for each in found for word in each)
    # In one order: that of a set would change the last bit from one process to the next.
    held = sorted(word for word in wanted.terms if counts[word])
    rare = {word: math.log(1 + len(found) / (0.5 + counts[word])) for word in held}
    total = sum(rare.values()) or 1.0
    return {word: value / total for word, value in rare.items()}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for places of the project: what a file is worth, 0 to 1, best first; its chunks
    that were hits (first line, last line, worth); its lines that hold a name of the question.
    """

    files: Mapping[str, float]
    hits: Mapping[str, Sequence[tuple[int, int, float]]]
    named: Mapping[str, Sequence[int]]


def score(
    functions: Sequence[Function],
    told: Mapping[str, Told],
    words: Mapping[str, float],
    wanted: Sought,
    evidence: Evidence,
) -> dict[str, float]:
    """What each function is worth to the question, of which `wanted` finds at least the `words`."""
    read = [told.get(one.id, NOTHING) for one in functions]
    mean = sum(one.lines for one in read) / max(1, len(read)) or 1.0
    beside = {file: _is_beside(file) for file in {one.file for one in functions}}
    scores = {}
    for one, own in zip(functions, read, strict=True):
        share = sum(weight for word, weight in words.items() if word in own.words) if own.words else 0.0
        value = TEXT * share / (0.6 + 0.4 * math.sqrt(max(own.lines, 1) / mean))
        value += NAME * _share_of(one.name, words, wanted) + FILE * evidence.files.get(one.file, 0.0)
        if hits := evidence.hits.get(one.file):
            value += HIT * max((worth for a, b, worth in hits if a <= one.start <= b), default=0.0)
        if (named := evidence.named.get(one.file)) and any(one.start <= line <= one.end for line in named):
            value += HOLDS
        if beside[one.file] or one.end - one.start < SHORT_LINES:
            value *= BESIDE_SHARE
        scores[one.id] = value
    return scores


def _is_beside(file: str) -> bool:
    return is_example(file) or is_built(file) or is_foreign(file)


def name_share(one: Function, words: Mapping[str, float]) -> float:
    """What the words of a definition's name are worth."""
    return _share_of(one.name, words, sought(words))


def _share_of(name: str, words: Mapping[str, float], wanted: Sought) -> float:
    own, outer = wanted.terms_in(name.rpartition(".")[2]), wanted.terms_in(name)
    if not (own or outer):
        return 0.0
    worth = words.get
    return sum([worth(w, 0.0) for w in own]) + 0.4 * sum([worth(w, 0.0) for w in outer if w not in own])


def choose_flow(
    scores: Mapping[str, float], calls: Calls, words: Mapping[str, float], fill: Sequence[str]
) -> Flow:
    """The chain of calls that is worth most, then what of `fill` is worth most beside it."""
    if not scores:
        return Flow()
    best = max(scores.values())
    values = {name: value + _neighbours(name, scores, calls, best) for name, value in scores.items()}
    for name, one in calls.functions.items():
        if name not in values and is_shown(one):
            values[name] = ON_THE_WAY * best * min(1.0, 0.4 + name_share(one, words))
    chain = _best_chain(values, scores, calls)
    rest = sorted((name for name in fill if name not in chain), key=lambda name: -values[name])
    aside = [name for name in rest if values[name] >= FLOOR * best]
    chosen = _once([*chain, *aside], calls)[: max(SHOWN_MAX, len(chain))]
    return Flow(tuple(calls.functions[name] for name in chosen), len(chain) if len(chain) > 1 else 0)


def _once(names: Iterable[str], calls: Calls) -> list[str]:
    """Without overloads and copies of what comes before: the same name and size elsewhere."""
    found: dict[tuple[str, int], str] = {}
    for name in names:
        one = calls.functions[name]
        found.setdefault((one.name.partition("$")[0], one.end - one.start), name)
    return list(found.values())


def _neighbours(name: str, scores: Mapping[str, float], calls: Calls, best: float) -> float:
    near = {*calls.callees(name), *calls.callers(name)}
    linked = [scores[one] for one in near if one in scores and one != name]
    return NEIGHBOUR * min(best, sum(linked))


def _through(values: Mapping[str, float], scores: Mapping[str, float], calls: Calls) -> list[tuple[str, str]]:
    """The sure calls that lead from what was asked about to more of it, at last."""
    pairs = [pair for pair in calls.edges if pair not in calls.unsure and set(pair) <= values.keys()]
    while True:
        begins, ends = {caller for caller, _ in pairs}, {callee for _, callee in pairs}
        kept = [
            (caller, callee)
            for caller, callee in pairs
            if (caller in scores or caller in ends) and (callee in scores or callee in begins)
        ]
        if len(kept) == len(pairs):
            return kept
        pairs = kept


def _best_chain(values: Mapping[str, float], scores: Mapping[str, float], calls: Calls) -> list[str]:
    """The simple chain with the highest sum of values, both ends of it asked about."""
    following: dict[str, list[str]] = {}
    for caller, callee in _through(values, scores, calls):
        following.setdefault(caller, []).append(callee)
    top = sorted(scores, key=lambda name: -values[name])
    best, best_value = top[:1], values[top[0]]

    def walk(chain: list[str], value: float) -> None:
        nonlocal best, best_value
        if chain[-1] in scores and value > best_value:
            best, best_value = list(chain), value
        if len(chain) == CHAIN_MAX:
            return
        for callee in following.get(chain[-1], ()):
            if callee not in chain:
                walk([*chain, callee], value + values[callee])

    for name in top:
        walk([name], values[name])
    return best
