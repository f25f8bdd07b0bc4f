"""How two notes are related: each detector says what it sees, the best one counts. Pure.

A relation goes from the newer note to the older. What two notes have in common is never enough by
itself where it is common to all: each rule asks for a topic that they share, or for the phrase that
names the other one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from cortex.memory.upkeep.traits import Trait, jaccard, stems
from cortex.system.arrays import Array

#: who says that there is an edge, of those that are made here; other edges are told
PAIRWISE = (
    "file_overlap",
    "concept_overlap",
    "type_progression",
    "temporal_proximity",
    "narrative_mention",
    "embedding_similarity",
    "negation",
)
ASSOCIATED = "creative_association"
AUTOMATIC = frozenset((*PAIRWISE, ASSOCIATED, "correction", "opposition"))
#: confidence below which nothing is said: what `find_related_observations` shows at least
LEAST = 0.5
#: cosine from which on two notes are similar, are about one topic, are not strangers. The built-in
#: model gives two notes about one thing .6 to .9, and strangers −.1 to .35
SIMILAR, TOPIC, AKIN = 0.75, 0.55, 0.35
#: share of words from which on two notes are about one topic
TOPIC_WORDS = 0.25
#: of shared files: at first, for each, at most
FILES, FILE, FILES_MOST = 0.5, 0.1, 0.95
#: of shared labels: at first, for the share, for each that weighs more
LABELS, LABELS_SHARE, LABEL_MORE = 0.3, 0.5, 0.1
WEIGHTY = frozenset("security architecture gotcha anti-pattern best-practice error-handling".split())
#: of one session: at first, for being near, and milliseconds of being near at all
SESSION, SESSION_NEAR, SESSION_MS = 0.3, 0.4, 5 * 60_000
#: of a phrase: at first; then what each adds
PHRASE = 0.4
#: share of the words of a title that a sentence holds which names it, and how many at least
TITLE_SHARE, TITLE_WORDS = 0.6, 2
#: cosine from which on work explains what was found out, and notes share a theme
EXPLAINS_FROM, THEME_FROM, EXPLAINS = 0.5, 0.7, 0.7
#: partners of one note by association
PARTNERS = 3

#: (newer, older) → what sharing a file means, and what it adds
_BY_FILE = {
    ("bugfix", "decision"): ("fixes", 0.2),
    ("bugfix", "feature"): ("fixes", 0.2),
    ("refactor", "discovery"): ("evolves_from", 0.15),
    ("feature", "decision"): ("depends_on", 0.15),
}
#: newer that changed a file after one of its type, about the same topic. Not `supersedes`: what
#: only looks alike ends nothing
_SAME_TYPE = ("evolves_from", 0.1)
#: (newer, older) → relation, confidence, whether it goes from the older to the newer
_PROGRESSION = {
    ("bugfix", "discovery"): ("leads_to", 0.6, True),
    ("feature", "discovery"): ("leads_to", 0.5, True),
    ("decision", "discovery"): ("leads_to", 0.6, True),
    ("feature", "decision"): ("depends_on", 0.6, False),
    ("change", "decision"): ("depends_on", 0.5, False),
    ("refactor", "decision"): ("depends_on", 0.5, False),
    ("bugfix", "feature"): ("fixes", 0.6, False),
    ("bugfix", "change"): ("fixes", 0.5, False),
    ("refactor", "feature"): ("evolves_from", 0.5, False),
    ("refactor", "bugfix"): ("evolves_from", 0.5, False),
    ("pattern", "discovery"): ("summarizes", 0.5, False),
}
#: phrase → relation to what the sentence names, what it adds to PHRASE, whether it goes the other
#: way
_PHRASES: tuple[tuple[re.Pattern[str], str, float, bool], ...] = tuple(
    (re.compile(rf"\b(?:{phrase})\b"), relation, more, back)
    for phrase, relation, more, back in (
        (r"caused by|because of|root cause (?:is|was)|due to", "causes", 0.35, True),
        (r"causes|breaks", "causes", 0.3, False),
        (r"fix(?:es|ed)|resolves|resolved", "fixes", 0.35, False),
        (r"supersedes|replaces|replaced|takes the place of", "supersedes", 0.35, False),
        (r"depends on|requires|needs", "depends_on", 0.3, False),
        (r"builds on|based on|evolved from|extends", "evolves_from", 0.3, False),
        (r"leads to|led to|results in", "leads_to", 0.3, False),
        (r"contradicts|conflicts with", "contradicts", 0.35, False),
        (r"confirms|reinforces|confirmed", "reinforces", 0.3, False),
        (r"invalidated by|made obsolete by", "invalidated_by", 0.35, False),
        (r"explains|explained by|this is why", "explains", 0.3, False),
        (r"summary of|summarizes|sums up", "summarizes", 0.3, False),
        (r"part of|belongs to", "part_of", 0.3, False),
        (r"prefer(?:s|red)? .{1,60} (?:over|to)|rather than", "prefers_over", 0.3, False),
        (r"supports|in favour of|in favor of|evidence for", "supports", 0.3, False),
        (r"related to|see also", "relates_to", 0.2, False),
        (r"same theme as|as with", "shares_theme", 0.2, False),
        (r"in parallel with|at the same time as|meanwhile", "parallel_context", 0.2, False),
        (r"similar to|same as", "similar_to", 0.2, False),
    )
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Link:
    """An edge that should be there; `reason` holds no text of a note."""

    source: int
    target: int
    relation: str
    confidence: float
    detection: str
    reason: str

    @property
    def pair(self) -> tuple[int, int]:
        return min(self.source, self.target), max(self.source, self.target)


def relate(newer: Trait, older: Trait, cosine: float, *, follows: bool = False) -> Link | None:
    """The best of what the detectors see, None for nothing worth saying. `follows`: the newer is
    the next one of the same session, and no stranger to it. Likeness and nearness count where
    nothing better is seen.
    """
    detected = max(_detections(newer, older, cosine), key=lambda link: link.confidence, default=None)
    if detected is not None and detected.confidence >= LEAST:
        return detected
    weaker = [
        *_similar(newer, older, cosine),
        *(_near(newer, older) if follows and _in_context(newer, older, cosine) else ()),
    ]
    best = max(weaker, key=lambda link: link.confidence, default=None)
    return best if best is not None and best.confidence >= LEAST else None


def same_topic(newer: Trait, older: Trait, cosine: float) -> bool:
    """Whether two notes are about the same, by meaning or by words."""
    return cosine >= TOPIC or jaccard(newer.words, older.words) >= TOPIC_WORDS


def associate(traits: Sequence[Trait], cosines: Array, some: Sequence[int] | None = None) -> list[Link]:
    """What work explains what was found out, and notes that share a theme: among all pairs, each
    note (or those at `some` places) with its PARTNERS nearest only. `cosines`: [n, n].
    """
    by_pair: dict[tuple[int, int], Link] = {}
    for at in range(len(traits)) if some is None else some:
        subject = traits[at]
        near = (int(place) for place in np.argsort(-cosines[at], kind="stable") if place != at)
        for place in islice((place for place in near if subject.meets(traits[place])), PARTNERS):
            newer, older = sorted((subject, traits[place]), key=lambda trait: trait.order, reverse=True)
            link = _association(newer, older, float(cosines[at, place]))
            if link is not None:
                by_pair[link.pair] = link
    return [by_pair[pair] for pair in sorted(by_pair)]


def _are_related(newer: Trait, older: Trait, cosine: float) -> bool:
    """Whether two notes are no strangers."""
    return cosine >= AKIN or bool(newer.labels & older.labels)


def _in_context(newer: Trait, older: Trait, cosine: float) -> bool:
    """Whether two neighbours of a session have more in common than that: their meaning, and beside
    it a tag, a file or some words.
    """
    is_connected = bool(newer.labels & older.labels or newer.files & older.files)
    return cosine >= AKIN and (is_connected or len(newer.words & older.words) >= TITLE_WORDS)


def _association(newer: Trait, older: Trait, cosine: float) -> Link | None:
    findings, work = {"discovery", "bugfix"}, {"refactor", "feature"}
    types = {newer.type, older.type}
    if types & findings and types & work and cosine > EXPLAINS_FROM:
        first, second = (newer, older) if newer.type in findings else (older, newer)
        return _link(first, second, "explains", EXPLAINS, ASSOCIATED, f"cosine {cosine:.2f}")
    if cosine > THEME_FROM:
        return _link(newer, older, "shares_theme", cosine, ASSOCIATED, f"cosine {cosine:.2f}")
    return None


def _detections(newer: Trait, older: Trait, cosine: float) -> Iterator[Link]:
    yield from _files(newer, older, cosine)
    yield from _labels(newer, older, cosine)
    yield from _progress(newer, older, cosine)
    yield from _mentions(newer, older)


def _files(newer: Trait, older: Trait, cosine: float) -> Iterator[Link]:
    shared = newer.files & older.files
    if not shared or not _are_related(newer, older, cosine):
        return
    relation, more = _BY_FILE.get((newer.type, older.type), ("relates_to", 0.0))
    is_repeat = newer.type == older.type and bool(newer.modified & older.modified)
    if not more and is_repeat and same_topic(newer, older, cosine):
        relation, more = _SAME_TYPE
    confidence = min(FILES_MOST, FILES + FILE * len(shared) + more)
    reason = f"{len(shared)} shared file{'s' * (len(shared) > 1)}"
    yield _link(newer, older, relation, confidence, "file_overlap", reason)


def _labels(newer: Trait, older: Trait, cosine: float) -> Iterator[Link]:
    shared = newer.labels & older.labels
    if not shared or (len(shared) == 1 and cosine < TOPIC) or cosine < AKIN:
        return
    confidence = LABELS + LABELS_SHARE * jaccard(newer.labels, older.labels)
    confidence += LABEL_MORE * len(shared & WEIGHTY)
    reason = f"{len(shared)} shared tag{'s' * (len(shared) > 1)}"
    yield _link(newer, older, "relates_to", min(FILES_MOST, confidence), "concept_overlap", reason)


def _progress(newer: Trait, older: Trait, cosine: float) -> Iterator[Link]:
    progression = _PROGRESSION.get((newer.type, older.type))
    if progression is None or not same_topic(newer, older, cosine):
        return
    relation, confidence, back = progression
    first, second = (older, newer) if back else (newer, older)
    reason = f"{older.type}, then {newer.type}"
    yield _link(first, second, relation, confidence, "type_progression", reason)


def _mentions(newer: Trait, older: Trait) -> Iterator[Link]:
    """Sentences of the newer note that name the older one: by number or id, or by most of the words
    of its title.
    """
    by_number = re.compile(rf"(?:#|\bnote ){older.number}\b|{re.escape(older.id.lower() or '#')}\b")
    shared_words = older.title_words & newer.words
    enough = len(shared_words) >= max(TITLE_WORDS, TITLE_SHARE * len(older.title_words))
    if not enough and not by_number.search(newer.text):
        return
    for sentence in _SENTENCE.split(newer.text):
        if not by_number.search(sentence) and not _names(sentence, older):
            continue
        for phrase, relation, more, back in _PHRASES:
            if match := phrase.search(sentence):
                first, second = (older, newer) if back else (newer, older)
                reason = f"says “{match[0][:40]}”" if relation != "prefers_over" else "says “prefer”"
                yield _link(first, second, relation, PHRASE + more, "narrative_mention", reason)


def _names(sentence: str, older: Trait) -> bool:
    shared = len(older.title_words & stems(sentence))
    return shared >= max(TITLE_WORDS, TITLE_SHARE * len(older.title_words))


def _similar(newer: Trait, older: Trait, cosine: float) -> Iterator[Link]:
    if cosine >= SIMILAR:
        weight = min(1.0, cosine)
        yield _link(newer, older, "similar_to", weight, "embedding_similarity", f"cosine {cosine:.2f}")


def _near(newer: Trait, older: Trait) -> Iterator[Link]:
    span = newer.moment - older.moment
    if newer.session and newer.session == older.session and 0 <= span <= SESSION_MS:
        confidence = SESSION + SESSION_NEAR * (1 - span / SESSION_MS)
        yield _link(
            newer, older, "parallel_context", confidence, "temporal_proximity", f"{span // 1000} s apart"
        )


def _link(  # noqa: PLR0917
    first: Trait, second: Trait, relation: str, confidence: float, detection: str, reason: str
) -> Link:
    return Link(first.number, second.number, relation, round(confidence, 4), detection, reason)
