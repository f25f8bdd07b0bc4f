"""Relations between two notes: several detectors propose one, and the surest wins. Pure.

A relation goes from the newer note to the older. Properties common to all notes are never enough:
each rule needs a common topic, or a phrase that names the other note.

A newer note that contradicts an older one on its topic is only marked: a correction is often about
another aspect, so the older note may still be true.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cortex.memory.upkeep.traits import Trait, jaccard, stems

#: cosine of two notes with common words, or share of common words, from which on a negation
#: contradicts; by the cosine alone, "Have fun!" would contradict "I cannot wait"
CONTRADICTS, CONTRADICTS_WORDS = 0.77, 0.6
#: confidence of a phrase of correction, and of opposite changes to a file
CORRECTS, OPPOSES = 0.8, 0.75
#: share of common words of two titles, without their verbs, from which on both are about one thing
ONE_THING = 0.5
#: characters of a text in which a negation counts: its subject is at the start
BEGINNING_CHARS = 240

#: phrases that say that something was wrong or is no longer true
_CORRECTION = re.compile(
    r"\b(?:that|this|it) (?:was|is) (?:wrong|incorrect|a mistake|not true)\b"
    r"|\bno longer (?:valid|true|holds?|applies|correct|needed|used?|the case)\b"
    r"|\b(?:is|are|was|were) no longer\b"
    r"|\b(?:we |i )?(?:don'?t|do not|doesn'?t|does not) \w+ .{1,40}\b(?:any ?more|any longer)\b"
    r"|\b(?:not|isn'?t|aren'?t) .{1,40}\b(?:any ?more|any longer)\b"
    r"|\bactually,? (?:it|that|this|we|the)\b"
    r"|\b(?:contrary to|in contrast to) (?:what|the earlier|the previous)\b"
    r"|\bcorrection:"
    r"|\b(?:instead of|rather than) (?:what|as) (?:we|i|was)\b"
    r"|\bwe (?:were|was) wrong\b"
    r"|\b(?:previous|earlier|old) (?:note|decision|approach|assumption) (?:is|was) (?:wrong|obsolete|outdated)\b"
    r"|\bturn(?:s|ed) out (?:to be )?(?:wrong|false|not)\b"
    r"|\b(?:has|have) been (?:revoked|retracted|reverted|withdrawn)\b"
    r"|\b(?:obsolete|outdated|out of date) (?:now|since)\b"
)
_NEGATION = re.compile(
    r"\b(?:not|never|no longer|stopped|removed|deprecated|replaced|obsolete|cannot|\w+n't)\b"
)
#: verbs and their opposites
_OPPOSITES = tuple(
    (re.compile(rf"\b(?:{action})\b"), re.compile(rf"\b(?:{other})\b"))
    for action, other in (
        (r"add(?:s|ed|ing)?|introduc(?:e|es|ed|ing)", r"remov(?:e|es|ed|ing)|delet(?:e|es|ed|ing)|drop(?:s|ped)?"),
        (r"enabl(?:e|es|ed|ing)", r"disabl(?:e|es|ed|ing)"),
        (r"start(?:s|ed|ing)? us(?:ing|es?)|adopt(?:s|ed)?", r"stop(?:s|ped|ping)? us(?:ing|es?)|abandon(?:s|ed)?"),
        (r"allow(?:s|ed|ing)?", r"forbid(?:s|den)?|disallow(?:s|ed)?|block(?:s|ed|ing)?"),
        (r"increas(?:e|es|ed|ing)|rais(?:e|es|ed|ing)", r"decreas(?:e|es|ed|ing)|lower(?:s|ed|ing)?|reduc(?:e|es|ed)"),
        (r"upgrad(?:e|es|ed|ing)", r"downgrad(?:e|es|ed|ing)"),
        (r"open(?:s|ed|ing)?", r"clos(?:e|es|ed|ing)"),
        (r"merg(?:e|es|ed|ing)", r"split(?:s|ting)?"),
        (r"lock(?:s|ed|ing)?", r"unlock(?:s|ed|ing)?"),
        (r"appl(?:y|ies|ied)|implement(?:s|ed|ing)?", r"revert(?:s|ed|ing)?|roll(?:s|ed)? back"),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Conflict:
    """A conflict of a newer note with an older; `reason` contains no text of a note."""

    confidence: float
    detection: str
    reason: str


def judge(newer: Trait, older: Trait, cosine: float) -> Conflict | None:
    return _opposes(newer, older, cosine) or _corrects(newer, older, cosine) or _negates(newer, older, cosine)


def corrects(trait: Trait) -> bool:
    """Whether a note says that something was wrong, or is no longer true."""
    return bool(_CORRECTION.search(trait.text))


def _corrects(newer: Trait, older: Trait, cosine: float) -> Conflict | None:
    correction = _CORRECTION.search(newer.text)
    if correction is None or not same_topic(newer, older, cosine) or corrects(older):
        return None
    return Conflict(CORRECTS, "correction", "says that it is no longer true")


def _opposes(newer: Trait, older: Trait, cosine: float) -> Conflict | None:
    if not newer.modified & older.modified or not same_topic(newer, older, cosine):
        return None
    now, then = newer.title.lower(), older.title.lower()
    for action, other in _OPPOSITES:
        for first, second in ((action, other), (other, action)):
            does, did = first.search(now), second.search(then)
            if not does or not did or second.search(now) or first.search(then):
                continue
            # A common file is not enough: the thing that was added must be the one removed.
            if jaccard(newer.title_words - stems(does[0]), older.title_words - stems(did[0])) >= ONE_THING:
                reason = f"says “{does[0]}” after “{did[0]}” of the same file"
                return Conflict(OPPOSES, "opposition", reason)
    return None


def _negates(newer: Trait, older: Trait, cosine: float) -> Conflict | None:
    overlap = jaccard(newer.words, older.words)
    alike = overlap >= CONTRADICTS_WORDS or (cosine >= CONTRADICTS and overlap >= TOPIC_WORDS)
    if not alike or _is_negated(newer) == _is_negated(older):
        return None
    return Conflict(round(min(1.0, max(cosine, CONTRADICTS_WORDS)), 4), "negation", "one negates")


def _is_negated(trait: Trait) -> bool:
    return bool(_NEGATION.search(trait.text[:BEGINNING_CHARS]))


#: detections of earlier versions: edges that only say that two notes have a common tag, a common
#: file, a session or a theme. They made up most edges and changed no recall, so none is made, and
#: those of a note that is examined again are removed
RETIRED = frozenset(("concept_overlap", "temporal_proximity", "creative_association"))
#: detections of automatic edges; other edges come from people and agents
PAIRWISE = RETIRED | frozenset(
    "file_overlap type_progression narrative_mention embedding_similarity negation".split()
)
AUTOMATIC = PAIRWISE | {"correction", "opposition"}
#: confidence below which no edge is made: the least that `find_related_observations` lists
LEAST = 0.5
#: cosine from which on two notes are similar; share a topic; are not unrelated. In the lives of
#: scripts/bench the built-in model gives two notes about one thing .13 to .63 (four of five), and
#: others −.11 to .30 (98 of 100)
SIMILAR, TOPIC, AKIN = 0.72, 0.5, 0.28
#: share of common words from which on two notes share a topic
TOPIC_WORDS = 0.25
#: confidence from common files: base, for each, at most
FILES, FILE, FILES_MOST = 0.5, 0.1, 0.95
#: base confidence of a phrase
PHRASE = 0.4
#: share of a title's words, and their least number, with which a sentence names the note
TITLE_SHARE, TITLE_WORDS = 0.6, 2
#: (newer, older) type → relation of notes with a common file, additional confidence
_BY_FILE = {
    ("bugfix", "decision"): ("fixes", 0.2),
    ("bugfix", "feature"): ("fixes", 0.2),
    ("refactor", "discovery"): ("evolves_from", 0.15),
    ("feature", "decision"): ("depends_on", 0.15),
}
#: for notes of one type on one topic that changed the same file; not `supersedes`: similarity alone
#: ends nothing
_SAME_TYPE = ("evolves_from", 0.1)
#: (newer, older) type → relation, confidence, whether it goes from the older to the newer
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
#: phrase → relation to the note that the sentence names, additional confidence, whether it goes the
#: other way
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
    """A proposed edge; `reason` contains no text of a note."""

    source: int
    target: int
    relation: str
    confidence: float
    detection: str
    reason: str

    @property
    def pair(self) -> tuple[int, int]:
        return min(self.source, self.target), max(self.source, self.target)


def relate(newer: Trait, older: Trait, cosine: float) -> Link | None:
    """The surest relation of two notes, None if there is none. Similarity counts if no better
    relation is found.
    """
    detected = max(_detections(newer, older, cosine), key=lambda link: link.confidence, default=None)
    if detected is not None and detected.confidence >= LEAST:
        return detected
    if cosine < SIMILAR:
        return None
    return _link(newer, older, "similar_to", min(1.0, cosine), "embedding_similarity", f"cosine {cosine:.2f}")


def same_topic(newer: Trait, older: Trait, cosine: float) -> bool:
    """Whether two notes share a topic, by meaning or by words."""
    return cosine >= TOPIC or jaccard(newer.words, older.words) >= TOPIC_WORDS


def _detections(newer: Trait, older: Trait, cosine: float) -> Iterator[Link]:
    yield from _files(newer, older, cosine)
    yield from _progress(newer, older, cosine)
    yield from _mentions(newer, older)


def _files(newer: Trait, older: Trait, cosine: float) -> Iterator[Link]:
    shared = newer.files & older.files
    if not shared or cosine < AKIN:
        return
    relation, more = _BY_FILE.get((newer.type, older.type), ("", 0.0))
    is_repeat = newer.type == older.type and bool(newer.modified & older.modified)
    if not more and is_repeat and same_topic(newer, older, cosine):
        relation, more = _SAME_TYPE
    if not relation:
        return
    confidence = min(FILES_MOST, FILES + FILE * len(shared) + more)
    reason = f"{len(shared)} shared file{'s' * (len(shared) > 1)}"
    yield _link(newer, older, relation, confidence, "file_overlap", reason)


def _progress(newer: Trait, older: Trait, cosine: float) -> Iterator[Link]:
    progression = _PROGRESSION.get((newer.type, older.type))
    if progression is None or not same_topic(newer, older, cosine):
        return
    relation, confidence, back = progression
    first, second = (older, newer) if back else (newer, older)
    reason = f"{older.type}, then {newer.type}"
    yield _link(first, second, relation, confidence, "type_progression", reason)


def _mentions(newer: Trait, older: Trait) -> Iterator[Link]:
    """Relations from sentences of the newer note that name the older one: by number or id, or by
    most words of its title.
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


def _link(  # noqa: PLR0917
    first: Trait, second: Trait, relation: str, confidence: float, detection: str, reason: str
) -> Link:
    return Link(first.number, second.number, relation, round(confidence, 4), detection, reason)
