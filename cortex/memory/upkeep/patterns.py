"""Patterns: similar notes from more than one session. Pure. The frequency of a pattern is its
number of notes.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from cortex.memory.upkeep.scores import DAY_MS
from cortex.memory.upkeep.traits import Trait, jaccard

Type = Literal[
    "workflow", "preference", "best_practice", "anti_pattern", "tooling", "bug", "refactor", "architecture"
]

#: least similarity of two notes of one pattern: the mean of common words and cosine
FUSED = 0.42
#: share of common words from which on a note joins a pattern
JOINS = 0.3
#: least notes and sessions of a pattern
NOTES, SESSIONS = 3, 2
#: share of common words, and mean cosine of their notes, from which on two patterns are merged
MERGES, MERGES_COSINE = 0.5, 0.5
#: least characters of a title's word in a signature
WORD_CHARS = 4
#: share of the notes that must contain a word of the pattern
COMMON_SHARE = 0.5
#: confidence: base; for notes, and the number for all of it; for two projects, and for five
CONFIDENCE, BY_NOTES, NOTES_MOST, TWO, FIVE = 0.3, 0.4, 10, 0.1, 0.2
#: characters of a recommendation
RECOMMENDATION_CHARS = 300
#: label → type of the pattern; the first that applies to at least half of its notes, labels before
#: types
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
#: types of notes with advice
_ADVICE = ("preference", "pattern", "decision")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of notes; `last_seen`: the moment of the newest."""

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
    """Normalise a type: anti-pattern and anti_pattern are one."""
    return spelling.strip().lower().replace("-", "_").replace(" ", "_")


def signature(trait: Trait) -> frozenset[str]:
    """The characteristic words of a note: labels, and longer words of the title."""
    return trait.labels | {word for word in trait.title_words if len(word) >= WORD_CHARS}


def are_alike(trait: Trait, other: Trait, cosine: float) -> bool:
    """Whether two notes may belong to one pattern."""
    return (jaccard(signature(trait), signature(other)) + max(0.0, cosine)) / 2 >= FUSED


def fits_signature(trait: Trait, words: Iterable[str]) -> bool:
    return jaccard(signature(trait), set(words)) >= JOINS


def distinct_sessions(traits: Iterable[Trait]) -> set[str]:
    """The sessions of the notes; a note without one belongs to its day."""
    return {trait.session or f"day {trait.moment // DAY_MS}" for trait in traits}


def is_pattern(traits: Sequence[Trait]) -> bool:
    return len({trait.number for trait in traits}) >= NOTES and len(distinct_sessions(traits)) >= SESSIONS


def adviser(traits: Sequence[Trait]) -> Trait | None:
    """The most important note with advice, None if there is none."""
    advice = [trait for trait in traits if trait.type in _ADVICE]
    return max(advice, key=lambda trait: (trait.importance, trait.order), default=None)


def describe(traits: Sequence[Trait], advice: str, count: int) -> Pattern:
    """Describe the pattern of these notes; `advice`: the text of their `adviser`; `count`: the
    number of all its notes.
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
    """The words that at least half of the notes contain, the most common first."""
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
