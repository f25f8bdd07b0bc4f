"""The subject, verb and value of a note or a question, and the values that a note ends, by words.
Pure.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from cortex.memory.note import Note
from cortex.memory.text import question_words
from cortex.terms import tokens

#: characters of a body that are read: the change is at the start
BODY_CHARS = 400
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
    r"|cancel(?:s|led|ed|ling)?|dropp(?:ed|ing)(?! out)|ditch(?:ed|ing)?|remov(?:e|es|ed|ing)|gave up|giv(?:en|ing) up"
    r"|stop(?:s|ped)? (?:using|with)|got rid of|(?:moved|came|got|went) off|(?:away|over) from|no longer|no more|not any ?more"
    r"|(?:mov|migrat|switch|chang|convert|port|upgrad|downgrad|rais|lower|reduc|increas|shift|transfer|shorten|extend"
    r"|rewr|rewrit|translat)(?:e|es|ed|ing|ote|ten)?\b[^.;]{0,60}?\bfrom"
    r"|(?:cut|went|goes|came|gone|took over|taken over|takes over|grew|fell|rose|switch)\b[^.;]{0,60}?\bfrom)\b"
)
#: "not" ends a value beside the new one only
_NOT = re.compile(r",\s*(?:and |but )?not\s+(?!only\b|just\b|yet\b)")
#: a form of "be" before a word of change
_BE = (
    r"(?:is|are|was|were|has been|have been|had been|will be|being|got|gets|became|proved)\s+"
    r"(?:now\s+|since\s+|also\s+)?"
)
#: a word of change after the value that it ends
_AFTER_VALUE = re.compile(
    rf"\b(?:{_BE}(?:replaced|superseded|retired|removed|deleted|dropped|cancell?ed|abandoned|given up"
    r"|switched off|turned off|shut down|decommissioned|discontinued|deprecated|obsolete|thrown (?:away|out)|gone|over|history|wrong"
    r"|(?:no longer|not) (?:used|needed|wanted|supported|valid|true|there)(?: any ?more)?)"
    r"|(?:drop(?:s|ped)|pull(?:s|ed)) out|step(?:s|ped) down|no longer(?=\s*(?:[,;.!]|$))|need not\b[^.;,]{0,40}\bany ?more|any ?more(?=\s*(?:[,;.!]|$)))"
)
#: the value before it was a wrong one
_TOO = re.compile(rf"\b{_BE}too\s+\w+")
#: "need not … any more": the ended value is between the two
_NEED_NOT = re.compile(r"\b(?:need not|not)\s+([^.;,]{1,40}?)\s+any ?more\b")
#: the value that is true again
_BACK = re.compile(r"\bback (?:to|on|with|at)\b(?:\s+\S+){1,3}")
#: the end of a value after "from"
_TO = re.compile(r"\b(?:to|into|onto|in favou?r of|with|by|up|down|over|was|were|is|are)\b")
_WORD = re.compile(r"\S+")
#: a name of one letter ("House B") and a number that is a stop word; a number and its unit
_LETTER = re.compile(r"\b(?:[A-HJ-Z]|one)\b")
_MEASURE = re.compile(r"\b(\d[\d.]*)(?:\s+([^\W\d]+))?")
#: the moment from which on something is so; the beginning of a reason
_FROM_WHEN = re.compile(
    r"(?i)\b(?:from|since|as of)\s+(?:now on|today|(?:this|next|last)\s+\w+|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber)\b"
)
_REASON = re.compile(
    r"(?i)(?:[,;:]|\s[-–—])\s|\b(?:since|because|so that|now that)\b|\bafter (?:the|its|our)\b"
)
#: a noun after these names the kind of value that the question asks for, not its subject
_VALUE_NOUN = re.compile(
    r"(?i)\b(?:which|what|whose)\s+(?:(?:kind|type|sort|version)s? of\s+)?([\w-]+)"
    r"|\bhow\s+(many|much|long|often|old|far|big|large|soon|fast)\b"
)
#: a question that names a value and asks whether it is so
_WHETHER = re.compile(
    r"(?i)\s*(?:is|are|was|were|do|does|did|should|will|would|can|could|must|may|has|have|shall)\b"
)
#: the first verb of a clause whose subject comes before it
_VERB = re.compile(
    r"(?i)\b(?:is|are|was|were|be|been|has|have|had|gets?|got|may|must|should|shall|will|can)\b|['’]s\b"
)
#: the main verb of a passive sentence
_PASSIVE = re.compile(r"(?i)\b(?:is|are|was|were|be|been|gets?)\s+(?:now\s+|only\s+|always\s+)?([\w-]+)")
#: a title that denies something
_DENIAL = re.compile(
    r"(?i)\b(?:no(?! longer| more)|not(?! any)|never|nobody|none|nothing|without|cannot)\b|n['’]t\b"
)
#: words beside a verb or a value that tell nothing of either
_FUNCTION = frozenset(
    "through via within per onto upon under over at most least out off still currently against between".split()
)
#: words between a subject, its value, and a further condition
_PLACE = frozenset("to in into at on onto by with over through via from under".split())
_CONDITION = frozenset("for above below during".split())
_BETWEEN = frozenset("is are was were be been being has have had".split()) | _CONDITION
#: words that tell little of a subject
_LIGHT = (
    frozenset(
        "use run live store keep hold go come get send make build write work serve handle carry happen sit reside host "
        "need have put take read do plan decide want agree choose pick start mean rely depend base prefer".split()
    )
    | _FUNCTION
)
#: forms of irregular verbs → the base form
_IRREGULAR = {
    "written": "write", "wrote": "write", "rewrote": "write", "held": "hold", "built": "build", "sent": "send", "kept": "keep",
    "made": "make", "drawn": "draw", "drew": "draw", "done": "do", "ran": "run", "chosen": "choose",
    "chose": "choose", "bought": "buy", "sold": "sell", "paid": "pay", "given": "give", "gave": "give",
    "taken": "take", "took": "take", "found": "find", "shown": "show", "spoken": "speak", "spoke": "speak",
    "went": "go", "gone": "go", "began": "begin", "begun": "begin", "fed": "feed", "decided": "decide",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """The stems of a note: of all of it, of its title, of its main verb in the passive, of the
    words before the first verb, the first one that names its subject, and of the values that it
    ends; the numbers of its title with their units; the words of its main clause (`_word_order`),
    and the words of its title, each with the next one.
    """

    words: frozenset[str]
    title: frozenset[str]
    verbs: frozenset[str]
    subject: frozenset[str]
    head: str
    ended: frozenset[str]
    measures: frozenset[tuple[str, str]]
    order: tuple[tuple[frozenset[str], bool, str], ...]
    pairs: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Question:
    """The stems of a question, and of its subjects; whether it asks if a value is so."""

    words: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()
    whether: bool = False


def shared_stems(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / (min(len(first), len(second)) or 1)


@lru_cache(4_096)
def stems(text: str) -> frozenset[str]:
    """The stems of the content words, irregular verbs in their base form."""
    return frozenset(_ordered(text))


def _ordered(text: str) -> list[str]:
    words = tokens.words(text)
    return question_words(" ".join(_IRREGULAR.get(word.lower(), word) for word in words)) if words else []


LIGHT_STEMS = stems(" ".join(sorted(_LIGHT)))
#: with those of words for a quantity, which name neither a subject nor a value
_EMPTY_STEMS = LIGHT_STEMS | stems("limit number amount maximum minimum total")
#: with verbs by which somebody states or repeats a wish
LIGHT_REPORTING = LIGHT_STEMS | stems(
    "asks wants says tells reminds repeats notices confirms checks praises finds please"
)
_NUMBER_STEMS = stems(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty hundred half"
)


def ended_values(text: str) -> frozenset[str]:
    """The stems of the values that a text says are no longer so."""
    lowered = text.lower()
    phrases = [_last_words(lowered[: match.start()]) for match in _TOO.finditer(lowered)]
    phrases += [_BACK.sub(" ", lowered)] if _BACK.search(lowered) else []
    return _named_values(lowered).union(*map(stems, phrases))


def _named_values(lowered: str) -> frozenset[str]:
    """The stems of the values beside a word of change."""
    after = [
        lowered[match.end() :] for pattern in (_BEFORE_VALUE, _NOT) for match in pattern.finditer(lowered)
    ]
    phrases = [_first_words(rest) for rest in after]
    phrases += [_last_words(lowered[: match.start()]) for match in _AFTER_VALUE.finditer(lowered)]
    phrases += [match[1] for match in _NEED_NOT.finditer(lowered)]
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
    first = (stem for stem in _ordered(title) if stem not in LIGHT_STEMS)
    clause = _REASON.split(_FROM_WHEN.sub(" ", title), maxsplit=1)[0]
    order = _word_order(clause)
    return Statement(
        words=stems(text).union(_LETTER.findall(text)),
        title=stems(title),
        verbs=stems(" ".join(_PASSIVE.findall(title))),
        subject=_subject(clause, order),
        head=next(first, ""),
        ended=ended_values(text),
        measures=frozenset(
            (number, "" if unit in tokens.STOP_WORDS else unit)
            for number, unit in _MEASURE.findall(title.lower())
        ),
        order=order,
        pairs=frozenset(itertools.pairwise(tokens.words(title.lower()))),
    )


def _subject(clause: str, order: Iterable[tuple[frozenset[str], bool, str]]) -> frozenset[str]:
    """The stems before the first word that may be a verb, and before an auxiliary verb."""
    before = itertools.takewhile(lambda word: word[0] and not word[1], order)
    verb = _VERB.search(clause)
    return (
        frozenset().union(stems(clause[: verb.start()]) if verb else (), *(of_word for of_word, *_ in before))
        - _NUMBER_STEMS
    )


def _word_order(clause: str) -> tuple[tuple[frozenset[str], bool, str], ...]:
    """The stems of each word but stop words, none for a light one; whether it may be the verb: a
    word in lower case directly after a noun or a name, and not the last; and whether a "condition"
    begins with it, or a "value" because it is a light verb before a preposition.
    """
    order, content, follows = list[tuple[frozenset[str], bool, str]](), stems(clause) - _EMPTY_STEMS, False
    words = tokens.words(clause)
    for at, word in enumerate(words):
        lowered = word.lower()
        is_stop = lowered in tokens.STOP_WORDS or lowered in _FUNCTION
        of_word = frozenset[str]() if is_stop else stems(word) & content
        if not is_stop or lowered in _BETWEEN:
            may_be_verb = follows and word == lowered and at + 1 < len(words)
            to_place = not is_stop and not of_word and words[at + 1 : at + 2] and words[at + 1] in _PLACE
            begins = "condition" if lowered in _CONDITION else "value" * bool(to_place)
            order.append((of_word, may_be_verb, begins))
        follows = bool(of_word)
    return tuple(order)


def read_question(query: str) -> Question:
    words = stems(query)
    nouns = (group for match in _VALUE_NOUN.finditer(query) for group in match.groups() if group)
    subjects = (words - stems(" ".join(nouns)) - LIGHT_STEMS).union(_LETTER.findall(query))
    return Question(words, subjects, bool(_WHETHER.match(query)))


def answer_of(note: Statement, question: Question) -> frozenset[str]:
    """The stems of the note's title that may answer the question: those that it does not contain,
    without numbers and units, and without the note's subject if the question names that.
    """
    units = stems(" ".join(unit for _, unit in note.measures))
    subject = note.subject if note.subject & question.words else frozenset()
    answer = note.title - question.words - LIGHT_STEMS - units - subject
    return frozenset(stem for stem in answer if not is_number(stem))


def denies(title: str) -> bool:
    return bool(_DENIAL.search(title))


def is_number(stem: str) -> bool:
    return stem in _NUMBER_STEMS or stem.isdecimal()
