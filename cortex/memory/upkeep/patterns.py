"""What recurs: notes that are alike, from more than one session. Pure.

How often a pattern was seen is how many notes it has, each counted once however often it is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from cortex.memory.upkeep.scores import DAY_MS
from cortex.memory.upkeep.traits import Trait, jaccard

Type = Literal[
    "workflow", "preference", "best_practice", "anti_pattern", "tooling", "bug", "refactor", "architecture"
]

#: what two notes must share, words and meaning by halves, to be of one pattern
FUSED = 0.45
#: share of a pattern's words that a note must share to join it
JOINS = 0.3
#: notes and sessions that make a pattern
NOTES, SESSIONS = 3, 2
#: share of their words, and mean cosine of their notes, from which on two patterns are one
MERGES, MERGES_COSINE = 0.5, 0.55
#: characters of a word of a title that counts
WORD_CHARS = 4
#: share of the notes that hold a word of the pattern
COMMON_SHARE = 0.5
#: confidence: at first, for the notes, of how many; for two projects, and for five
CONFIDENCE, BY_NOTES, NOTES_MOST, TWO, FIVE = 0.3, 0.4, 10, 0.1, 0.2
#: characters of a recommendation
RECOMMENDATION_CHARS = 300
#: labels and types → the pattern's type; the first that holds for most of its notes
_BY_LABEL: dict[str, Type] = {
    "anti-pattern": "anti_pattern",
    "best-practice": "best_practice",
    "architecture": "architecture",
    "tooling": "tooling",
    "workflow": "workflow",
    "preference": "preference",
}
_BY_TYPE: dict[str, Type] = {
    "bugfix": "bug",
    "refactor": "refactor",
    "decision": "architecture",
    "preference": "preference",
}
#: types of a note that say what to do
_ADVICE = ("preference", "pattern", "decision")


@dataclass(frozen=True, slots=True)
class Pattern:
    """What several notes have in common; `seen`: the moment of the newest."""

    name: str
    type: Type
    description: str
    recommendation: str
    signature: tuple[str, ...]
    active: bool
    confidence: float
    projects: tuple[str, ...]
    last_seen: int


def read_type(spelling: str) -> str:
    """Both spellings are one: anti-pattern and anti_pattern."""
    return spelling.strip().lower().replace("-", "_").replace(" ", "_")


def signature(trait: Trait) -> frozenset[str]:
    """The words that a note is known by."""
    return trait.labels | {word for word in trait.title_words if len(word) >= WORD_CHARS}


def are_alike(trait: Trait, other: Trait, cosine: float) -> bool:
    """Whether two notes may be of one pattern."""
    return (jaccard(signature(trait), signature(other)) + max(0.0, cosine)) / 2 >= FUSED


def fits_signature(trait: Trait, words: Iterable[str]) -> bool:
    return jaccard(signature(trait), set(words)) >= JOINS


def distinct_sessions(traits: Iterable[Trait]) -> set[str]:
    """A note without a session belongs to its day."""
    return {trait.session or f"day {trait.moment // DAY_MS}" for trait in traits}


def is_pattern(traits: Sequence[Trait]) -> bool:
    """Whether these notes are a pattern."""
    return len({trait.number for trait in traits}) >= NOTES and len(distinct_sessions(traits)) >= SESSIONS


def adviser(traits: Sequence[Trait]) -> Trait | None:
    """The note that says best what to do, of those that do."""
    advice = [trait for trait in traits if trait.type in _ADVICE]
    return max(advice, key=lambda trait: (trait.importance, trait.order), default=None)


def describe(traits: Sequence[Trait], advice: str, count: int) -> Pattern:
    """What these notes have in common; `advice`: what their adviser says; `count`: how many there
    are in all, of which these are some.
    """
    words = signature_of(traits)
    middle = max(traits, key=lambda trait: (jaccard(signature(trait), set(words)), trait.order))
    projects = tuple(sorted({trait.project for trait in traits if trait.project}))
    labels = [word for word in words if any(word in trait.labels for trait in traits)]
    summary = (
        f"{count} notes of {len(distinct_sessions(traits))} sessions"
        + f", tagged {', '.join(labels)}" * bool(labels)
    )
    return Pattern(
        name=middle.title,
        type=_type(traits),
        description=f"{summary}.",
        recommendation=advice[:RECOMMENDATION_CHARS],
        signature=words,
        active=is_pattern(traits),
        confidence=confidence(count, len(projects)),
        projects=projects,
        last_seen=max(trait.moment for trait in traits),
    )


def signature_of(traits: Sequence[Trait]) -> tuple[str, ...]:
    """The words that at least half of the notes hold, the most common first."""
    counts = Counter(word for trait in traits for word in signature(trait))
    common = [word for word, times in counts.items() if times >= COMMON_SHARE * len(traits)]
    return tuple(sorted(common, key=lambda word: (-counts[word], word)))


def confidence(count: int, projects: int) -> float:
    more = FIVE if projects >= 5 else TWO if projects >= 2 else 0.0
    return round(CONFIDENCE + BY_NOTES * min(count, NOTES_MOST) / NOTES_MOST + more, 4)


def _type(traits: Sequence[Trait]) -> Type:
    least = len(traits) / 2
    for label, pattern_type in _BY_LABEL.items():
        if sum(1 for trait in traits if label in trait.labels) >= least:
            return pattern_type
    for name, pattern_type in _BY_TYPE.items():
        if sum(1 for trait in traits if trait.type == name) >= least:
            return pattern_type
    return "workflow"
