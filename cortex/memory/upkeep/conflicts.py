"""Judgement whether a newer note contradicts an older one. Pure.

Only notes on the same topic can conflict: a phrase like "no longer valid" says nothing about other
topics. A conflict is only marked: a correction is often about another aspect, so the older note
may still be true.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cortex.memory.upkeep.relations import TOPIC_WORDS, same_topic
from cortex.memory.upkeep.traits import Trait, jaccard, stems

#: cosine of two notes with common words, or share of common words, from which on a negation
#: contradicts; by the cosine alone, "Have fun!" would contradict "I cannot wait"
CONTRADICTS, CONTRADICTS_WORDS = 0.80, 0.6
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
