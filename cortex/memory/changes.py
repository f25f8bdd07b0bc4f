"""Judgement whether a newer note says that an older one is outdated, or may disagree with it. Pure.

Words alone prove little: a newer note of the same form is mostly about something else, or about
another aspect of the same thing. So a newer note precedes an older one only if it names the value
that the older one gives beside a word of change, is about the same subject, and loses no subject of
the question.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from cortex.memory.note import Note, Trust
from cortex.memory.text import question_words
from cortex.terms import tokens

#: kinds of notes that a newer note can outdate
KINDS = frozenset(("fact", "decision", "preference", "goal"))
#: characters of a body that are read: the change is at the start
BODY_CHARS = 400
#: share of the shorter title's stems from which on two notes are about one thing
ALIKE = 0.3
#: least score of a newer note, as a share of the older one's, to precede it and to disagree
PRECEDES, DISAGREES = 0.8, 0.5
#: authors whose notes precede no note of others
_FOREIGN: frozenset[Trust] = frozenset(("import", "tool"))
#: share of the shorter title's stems from which on a change without the whole subject is a dispute
DISPUTED = 0.5
#: words of a value beside the word of change
VALUE_WORDS = 6

#: ends of a clause
_CLAUSE = re.compile(
    r"[,;:.!?()]+(?=\s|$)|\s[-–—]\s|\b(?:because|since|as|when|and|but|so|that|which|until)\b"
)
#: a word of change before the value that it ends
_BEFORE_VALUE = re.compile(
    r"\b(?:instead of|rather than|in place of|in lieu of|as opposed to|used to (?:be|use)|formerly|previously"
    r"|replac(?:e|es|ed|ing)|supersed(?:e|es|ed|ing)|supplant(?:s|ed)?|abandon(?:s|ed|ing)?|retir(?:e|es|ed|ing)"
    r"|cancel(?:s|led|ed|ling)?|dropp(?:ed|ing)|ditch(?:ed|ing)?|remov(?:e|es|ed|ing)|gave up|giv(?:en|ing) up"
    r"|stop(?:s|ped)? (?:using|with)|got rid of|(?:moved|came|got|went) off|away from|no longer|no more|not any ?more"
    r"|(?:mov|migrat|switch|chang|convert|port|upgrad|downgrad|rais|lower|reduc|increas|shift|transfer|shorten|extend"
    r"|rewr|rewrit|translat)(?:e|es|ed|ing|ote|ten)?\b[^.;]{0,60}?\bfrom"
    r"|(?:cut|went|goes|came|gone|took over|taken over|takes over|grew|fell|rose|switch)\b[^.;]{0,60}?\bfrom)\b"
)
#: "not" ends a value beside the new one only
_NOT = re.compile(r",\s*(?:and |but )?not\s+(?!only\b|just\b|yet\b)")
#: a word of change after the value that it ends
_AFTER_VALUE = re.compile(
    r"\b(?:(?:is|are|was|were|has been|have been|had been|will be|being|got|gets|became|proved)\s+"
    r"(?:now\s+|since\s+|also\s+)?(?:replaced|superseded|retired|removed|deleted|dropped|cancell?ed|abandoned|given up"
    r"|switched off|turned off|shut down|decommissioned|discontinued|deprecated|obsolete|gone|over|history|wrong|too \w+"
    r"|(?:no longer|not) (?:used|needed|wanted|supported|valid|true|there)(?: any ?more)?)"
    r"|no longer(?=\s*(?:[,;.!]|$))|need not\b[^.;,]{0,40}\bany ?more|any ?more(?=\s*(?:[,;.!]|$)))"
)
#: "need not … any more": the ended value is between the two
_NEED_NOT = re.compile(r"\b(?:need not|not)\s+([^.;,]{1,40}?)\s+any ?more\b")
#: the value that is true again
_BACK = re.compile(r"\bback (?:to|on|with|at)\b(?:\s+\S+){1,3}")
#: the end of a value after "from"
_TO = re.compile(r"\b(?:to|into|onto|in favou?r of|with|by|up|down|over|was|were|is|are)\b")
_WORD = re.compile(r"\S+")
#: a noun after these names the kind of value that the question asks for, not its subject
_VALUE_NOUN = re.compile(
    r"(?i)\b(?:which|what|whose)\s+(?:(?:kind|type|sort|version)s? of\s+)?([\w-]+)"
    r"|\bhow\s+(many|much|long|often|old|far|big|large|soon|fast)\b"
)
#: a question that names a value and asks whether it is so
_WHETHER = re.compile(
    r"(?i)\s*(?:is|are|was|were|do|does|did|should|will|would|can|could|must|may|has|have|shall)\b"
)
#: the main verb of a passive sentence
_PASSIVE = re.compile(r"(?i)\b(?:is|are|was|were|be|been|gets?)\s+(?:now\s+|only\s+|always\s+)?([\w-]+)")
#: words that tell little of a subject
_LIGHT = frozenset(
    "use run live store keep hold go come get send make build write work serve handle carry happen sit reside host "
    "need have put take read do plan decide want agree choose pick start mean rely depend base prefer "
    "through via within per onto upon under over at most least out off still currently".split()
)
#: forms of irregular verbs → the base form
_IRREGULAR = {
    "written": "write", "wrote": "write", "held": "hold", "built": "build", "sent": "send", "kept": "keep",
    "made": "make", "drawn": "draw", "drew": "draw", "done": "do", "ran": "run", "chosen": "choose",
    "chose": "choose", "bought": "buy", "sold": "sell", "paid": "pay", "given": "give", "gave": "give",
    "taken": "take", "took": "take", "found": "find", "shown": "show", "spoken": "speak", "spoke": "speak",
    "went": "go", "gone": "go", "began": "begin", "begun": "begin", "fed": "feed", "decided": "decide",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """The stems of a note: of all of it, of its title, of its main verb, the first one that names
    its subject, and of the values that it ends.
    """

    words: frozenset[str]
    title: frozenset[str]
    verbs: frozenset[str]
    head: str
    ended: frozenset[str]


@dataclass(frozen=True, slots=True)
class Question:
    """The stems of a question; of the nouns that name the kind of value; of its subjects; whether
    it names a value and asks if it is so.
    """

    words: frozenset[str]
    kinds: frozenset[str]
    subjects: frozenset[str]
    whether: bool


def alike(title: str, other: str) -> float:
    """The share of the shorter title's stems that both titles contain."""
    return _shared(stems(title), stems(other))


def _shared(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / (min(len(first), len(second)) or 1)


@lru_cache(4_096)
def stems(text: str) -> frozenset[str]:
    """The stems of the content words, irregular verbs in their base form."""
    return frozenset(_ordered(text))


def _ordered(text: str) -> list[str]:
    words = tokens.words(text)
    return question_words(" ".join(_IRREGULAR.get(word.lower(), word) for word in words)) if words else []


_LIGHT_STEMS = stems(" ".join(sorted(_LIGHT)))


def ended_values(text: str) -> frozenset[str]:
    """The stems of the values that a text says are no longer so."""
    lowered = text.lower()
    after = [
        lowered[match.end() :] for pattern in (_BEFORE_VALUE, _NOT) for match in pattern.finditer(lowered)
    ]
    phrases = [_first_words(rest) for rest in after]
    phrases += [_last_words(lowered[: match.start()]) for match in _AFTER_VALUE.finditer(lowered)]
    phrases += [match[1] for match in _NEED_NOT.finditer(lowered)]
    phrases += [_BACK.sub(" ", lowered)] if _BACK.search(lowered) else []
    return frozenset().union(*map(stems, phrases))


def _first_words(text: str) -> str:
    clause = _TO.split(_CLAUSE.split(text, maxsplit=1)[0], maxsplit=1)[0]
    return " ".join(_WORD.findall(clause)[:VALUE_WORDS])


def _last_words(text: str) -> str:
    return " ".join(_WORD.findall(_CLAUSE.split(text)[-1])[-VALUE_WORDS:])


def statement_of(note: Note) -> Statement:
    return _statement(note.title, note.body[:BODY_CHARS])


@lru_cache(1_024)
def _statement(title: str, body: str) -> Statement:
    text = f"{title}. {body}"
    named = (stem for stem in _ordered(title) if stem not in _LIGHT_STEMS)
    verbs = stems(" ".join(_PASSIVE.findall(title)))
    return Statement(stems(text), stems(title), verbs, next(named, ""), ended_values(text))


def read_question(query: str) -> Question:
    nouns = " ".join(group for match in _VALUE_NOUN.finditer(query) for group in match.groups() if group)
    words, kinds = stems(query), stems(nouns)
    return Question(words, kinds, words - kinds - _LIGHT_STEMS, bool(_WHETHER.match(query)))


def outdates(newer: Statement, older: Statement, question: Question) -> bool:
    """Whether the newer note says that the value is no longer so that the older one gives as an
    answer to the question.
    """
    ended = newer.ended & older.title
    return bool(ended - question.words or (question.whether and ended)) and _keeps_subject(
        newer, older, question, ended
    )


def may_disagree(newer: Statement, older: Statement, question: Question) -> bool:
    """Whether two notes are about the same subject and each says something that the other lacks."""
    differ = bool(newer.title - older.words and older.title - newer.words)
    lost = (question.words - question.kinds) & older.words - newer.words
    return differ and _shared(newer.title, older.title) >= ALIKE and not lost and older.head in newer.words


def _keeps_subject(newer: Statement, older: Statement, question: Question, ended: frozenset[str]) -> bool:
    """Whether the newer note names the subject of the older one, and each subject of the question
    that the older one names.
    """
    lost = (question.subjects & older.words) - newer.words - ended
    if not question.whether:
        lost -= older.verbs
    return not lost and (older.head in newer.words or older.head in ended)


def compare(newer: Note, older: Note) -> str:
    """How a newer note stands to an older one without a question: "outdates" if it says that the
    older one's value is no longer so and keeps all of its subject, "disputes" if it says so and may
    be about a part of it or about something else, "" otherwise.
    """
    if _is_outdated(newer, older, Question(frozenset(), frozenset(), frozenset(), whether=False)):
        now, then = statement_of(newer), statement_of(older)
        subject = then.title - now.ended - then.verbs - _LIGHT_STEMS
        if (newer.topic and newer.topic == older.topic) or not subject - now.words:
            return "outdates"
        return "disputes" if _shared(now.title, then.title) >= DISPUTED else ""
    return ""


@dataclass(slots=True)
class Arrangement:
    """The order of notes, as indices; {index: number of the note that outdates it}; {index of a
    newer note: numbers of the older ones that it may disagree with}.
    """

    order: list[int]
    newer: dict[int, int] = field(default_factory=dict)
    disagrees: dict[int, list[int]] = field(default_factory=dict)


def arrange(
    notes: Sequence[Note], scores: Sequence[float], query: str, rescore: Callable[[str], Mapping[int, float]]
) -> Arrangement:
    """Put a newer note before the older ones that it outdates; `notes` by descending score. Only
    pairs with the first note are examined for disagreement. `rescore`: {note: score} for a text,
    asked for the subjects of the question, because an older note may owe its score to a light word.
    """
    result = Arrangement(list(range(len(notes))))
    places = [at for at, note in enumerate(notes) if note.kind in KINDS]
    if len(places) < 2:
        return result
    question, doubtful = read_question(query), list[tuple[int, int]]()
    by_subjects: dict[int, float] = {}
    for newer in places:
        for older in places:
            if _age(notes[newer]) <= _age(notes[older]) or scores[newer] < DISAGREES * scores[older]:
                continue
            is_outdated = _is_outdated(notes[newer], notes[older], question)
            share = scores[newer] / (scores[older] or 1.0)
            if is_outdated and share < PRECEDES and question.subjects:
                by_subjects = by_subjects or dict(rescore(subject_text(query, question)))
                of_older = by_subjects.get(notes[older].number, 0.0)
                share = by_subjects.get(notes[newer].number, 0.0) / (of_older or math.inf)
            if is_outdated and share >= PRECEDES:
                result.newer[older] = notes[newer].number
                _move_before(result.order, newer, older)
            elif is_outdated or may_disagree(
                statement_of(notes[newer]), statement_of(notes[older]), question
            ):
                doubtful.append((newer, older))
    for newer, older in doubtful:
        if result.order[0] in (newer, older) and older not in result.newer:
            result.disagrees.setdefault(newer, []).append(notes[older].number)
    return result


def subject_text(query: str, question: Question) -> str:
    """The words of the question that name its subjects."""
    return " ".join(word for word in tokens.words(query) if stems(word) & question.subjects)


def _is_outdated(newer: Note, older: Note, question: Question) -> bool:
    """Whether the newer note supersedes the older one, is of the same topic, or says that it is
    outdated.
    """
    if older.superseded_by == newer.number or (newer.topic and newer.topic == older.topic):
        return True
    if newer.source.trust in _FOREIGN and older.source.trust not in _FOREIGN:
        return False
    return outdates(statement_of(newer), statement_of(older), question)


def _age(note: Note) -> tuple[int, int]:
    return note.happened_at, note.number


def _move_before(order: list[int], newer: int, older: int) -> None:
    if order.index(newer) > order.index(older):
        order.remove(newer)
        order.insert(order.index(older), newer)
