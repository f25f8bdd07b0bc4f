"""Judgement whether a newer note says that an older one is outdated, or gives another value for the
same. Pure.

A newer note of the same form is mostly about something else, or about another aspect of the same
thing. So it precedes an older one only if it keeps the subject that the question asks about, and
names the older value beside a word of change, or answers the same: in the same form, in the words
of the question, or in the same unit. Only the order changes: both notes stay.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from cortex.memory.note import Note, Trust
from cortex.memory.text import question_words
from cortex.system.arrays import Array
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
#: deviations of two notes' cosine above that of unrelated notes, from which on they are of the same
#: form; and for a newer one that tells of a move
SAME_FORM, MOVED = 6.0, 4.5

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
    r"|switched off|turned off|shut down|decommissioned|discontinued|deprecated|obsolete|gone|over|history|wrong"
    r"|(?:no longer|not) (?:used|needed|wanted|supported|valid|true|there)(?: any ?more)?)"
    r"|no longer(?=\s*(?:[,;.!]|$))|need not\b[^.;,]{0,40}\bany ?more|any ?more(?=\s*(?:[,;.!]|$)))"
)
#: the value before it was a wrong one
_TOO = re.compile(
    r"\b(?:is|are|was|were|has been|have been|had been|will be|being|got|gets|became|proved)\s+"
    r"(?:now\s+|since\s+|also\s+)?too\s+\w+"
)
#: "need not … any more": the ended value is between the two
_NEED_NOT = re.compile(r"\b(?:need not|not)\s+([^.;,]{1,40}?)\s+any ?more\b")
#: the value that is true again
_BACK = re.compile(r"\bback (?:to|on|with|at)\b(?:\s+\S+){1,3}")
#: the end of a value after "from"
_TO = re.compile(r"\b(?:to|into|onto|in favou?r of|with|by|up|down|over|was|were|is|are)\b")
_WORD = re.compile(r"\S+")
#: a name of one letter ("House B"); a number and its unit
_LETTER = re.compile(r"\b[A-HJ-Z]\b")
_MEASURE = re.compile(r"\b(\d[\d.]*)(?:\s+([^\W\d]+))?")
#: a move to a new value; words of something that is true besides the rest or under a condition
_MOVES = re.compile(r"(?i)\b(?:migrat|mov|switch)(?:e|es|ed|ing)?\b[^.;]{0,60}?\b(?:to|into|onto)\b")
_ADDS = re.compile(
    r"(?i)\b(?:(?:as well|also|in addition|additionally|unlike|except|besides|another|when|while|if|unless)\b"
    r"|too(?=[.,;]|$))"
)
#: the moment from which on something is so; the beginning of a reason
_FROM_WHEN = re.compile(
    r"(?i)\b(?:from|since|as of)\s+(?:now on|today|(?:this|next|last)\s+\w+|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber)\b"
)
_REASON = re.compile(r"(?i)(?:[,;:]|\s[-–—])\s|\b(?:since|because|so that)\b|\bafter (?:the|its|our)\b")
#: a noun after these names the kind of value that the question asks for, not its subject
_VALUE_NOUN = re.compile(
    r"(?i)\b(?:which|what|whose)\s+(?:(?:kind|type|sort|version)s? of\s+)?([\w-]+)"
    r"|\bhow\s+(many|much|long|often|old|far|big|large|soon|fast)\b"
)
#: as these, without a verb after "what"
_KIND = re.compile(
    r"(?i)\b(?:which|whose|what\s+(?:kind|type|sort|version)s? of)\s+([\w-]+)"
    r"|\bwhat\s+([\w-]+)(?=\s+(?:is|are|was|were|do|does|did|has|have|should|can|may|must|will)\b)"
)
#: a question that names a value and asks whether it is so
_WHETHER = re.compile(
    r"(?i)\s*(?:is|are|was|were|do|does|did|should|will|would|can|could|must|may|has|have|shall)\b"
)
#: the main verb of a passive sentence
_PASSIVE = re.compile(r"(?i)\b(?:is|are|was|were|be|been|gets?)\s+(?:now\s+|only\s+|always\s+)?([\w-]+)")
#: words beside a verb or a value that tell nothing of either
_FUNCTION = frozenset(
    "through via within per onto upon under over at most least out off still currently against between".split()
)
#: words between a subject, its value, and a further condition
_BETWEEN = frozenset("is are was were be been being has have had for above below during".split())
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
    """The stems of a note: of all of it, of its title, of its main verb, the first one that names
    its subject, and of the values that it ends, of these the ones beside a word of change; the
    numbers of its title with their units; the words of its main clause (`_word_order`); whether it
    tells of something besides or under a condition, and of a move.
    """

    words: frozenset[str]
    title: frozenset[str]
    verbs: frozenset[str]
    head: str
    ended: frozenset[str]
    named: frozenset[str]
    measures: frozenset[tuple[str, str]]
    order: tuple[tuple[frozenset[str], bool], ...]
    adds: bool
    moves: bool


@dataclass(frozen=True, slots=True)
class Question:
    """The stems of a question; of nouns that name the kind of value; of its subjects; of all but
    nouns that surely name the kind; whether it names a value and asks if it is so; whether it asks
    for a quantity.
    """

    words: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()
    content: frozenset[str] = frozenset()
    whether: bool = False
    is_quantity: bool = False


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
#: with those of words for a quantity, which name neither a subject nor a value
_EMPTY_STEMS = _LIGHT_STEMS | stems("limit number amount maximum minimum total")
_NUMBER_STEMS = stems("one two three four five six seven eight nine ten eleven twelve twenty thirty hundred")


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
    first = (stem for stem in _ordered(title) if stem not in _LIGHT_STEMS)
    return Statement(
        words=stems(text).union(_LETTER.findall(text)),
        title=stems(title),
        verbs=stems(" ".join(_PASSIVE.findall(title))),
        head=next(first, ""),
        ended=ended_values(text),
        named=_named_values(text.lower()),
        measures=frozenset(_MEASURE.findall(title.lower())),
        order=_word_order(_REASON.split(_FROM_WHEN.sub(" ", title), maxsplit=1)[0]),
        adds=bool(_ADDS.search(title)),
        moves=bool(_MOVES.search(title)),
    )


def _word_order(clause: str) -> tuple[tuple[frozenset[str], bool], ...]:
    """The stems of each word but stop words, none for a light one; and whether it may be the verb:
    a word in lower case directly after a noun or a name, and not the last.
    """
    order, content, follows = list[tuple[frozenset[str], bool]](), stems(clause) - _EMPTY_STEMS, False
    words = tokens.words(clause)
    for at, word in enumerate(words):
        lowered = word.lower()
        is_stop = lowered in tokens.STOP_WORDS or lowered in _FUNCTION
        of_word = frozenset[str]() if is_stop else stems(word) & content
        if not is_stop or lowered in _BETWEEN:
            order.append((of_word, follows and word == lowered and at + 1 < len(words)))
        follows = bool(of_word)
    return tuple(order)


def read_question(query: str) -> Question:
    words, kinds = stems(query), _groups(_VALUE_NOUN, query)
    return Question(
        words,
        kinds,
        (words - kinds - _LIGHT_STEMS).union(_LETTER.findall(query)),
        words - _groups(_KIND, query),
        bool(_WHETHER.match(query)),
        any(match[2] for match in _VALUE_NOUN.finditer(query)),
    )


def _groups(pattern: re.Pattern[str], query: str) -> frozenset[str]:
    """The stems of all groups that match."""
    return stems(" ".join(group for match in pattern.finditer(query) for group in match.groups() if group))


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


def answers_anew(newer: Statement, older: Statement, question: Question, likeness: float) -> bool:
    """Whether the newer note answers the question as the older one does, with another value.

    It keeps each subject of the question that the older one names, does not narrow it, tells
    nothing besides, and ends no value that the older one lacks. And it is of the same form, says
    all that the older one says and more, tells of a move, answers the whole question, too, or gives
    another measure.
    """
    lost = (question.subjects & older.words) - newer.words
    ends_other = newer.named and not (newer.named - question.words) & older.words
    is_other = newer.adds or ends_other or _is_narrower(newer, older, question)
    shared = question.subjects & newer.words & older.words
    if lost or is_other or not shared or newer.title <= older.words:
        return False
    return (
        likeness >= SAME_FORM
        or older.title <= newer.words
        or (newer.moves and likeness >= MOVED)
        or (len(question.content) > 1 and question.content <= newer.words & older.words)
        or _measures_anew(newer, older, question)
    )


def _is_narrower(newer: Statement, older: Statement, question: Question) -> bool:
    """Whether the newer note has two new phrases with known words between them: one narrows the
    subject, the other one is the value ("Admin sessions expire after 10 minutes").
    """
    old, phrases, is_open = older.words | question.words, 0, False
    for of_word, follows in newer.order:
        if not of_word or of_word & old:
            is_open = False
        elif is_open or not follows or _is_number(of_word):
            phrases, is_open = phrases + (not is_open), True
    return phrases > 1


def _is_number(of_word: frozenset[str]) -> bool:
    return not of_word.isdisjoint(_NUMBER_STEMS) or any(stem.isdecimal() for stem in of_word)


def _measures_anew(newer: Statement, older: Statement, question: Question) -> bool:
    """Whether each gives a number that the other lacks: of one unit, unless the question asks for a
    quantity.
    """
    new, old = newer.measures - older.measures, older.measures - newer.measures
    if question.is_quantity:
        return bool(new and old)
    return bool({unit for _, unit in new if unit} & {unit for _, unit in old})


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
    if _is_outdated(newer, older, Question()):
        now, then = statement_of(newer), statement_of(older)
        subject = then.title - now.ended - then.verbs - _LIGHT_STEMS
        if (newer.topic and newer.topic == older.topic) or not subject - now.words:
            return "outdates"
        return "disputes" if _shared(now.title, then.title) >= DISPUTED else ""
    return ""


@dataclass(slots=True)
class Arrangement:
    """The order of notes, as indices; {index: number of the note that outdates it}; {index of a
    newer note: numbers of the older ones that it may disagree with}; indices of the notes that
    precede an older one.
    """

    order: list[int]
    newer: dict[int, int] = field(default_factory=dict)
    disagrees: dict[int, list[int]] = field(default_factory=dict)
    moved: set[int] = field(default_factory=set)

    def put_before(self, newer: int, older: int) -> None:
        self.moved.add(newer)
        if self.order.index(newer) > self.order.index(older):
            self.order.remove(newer)
            self.order.insert(self.order.index(older), newer)


def arrange(
    notes: Sequence[Note],
    scores: Sequence[float],
    query: str,
    *,
    rescore: Callable[[str], Mapping[int, float]],
    likeness: Array,
    branches: Collection[str] = (),
) -> Arrangement:
    """Put a newer note before the older ones that it outdates or answers anew; `notes` by
    descending score. Only pairs with the first note are examined for disagreement. `rescore`:
    {note: score} for a text, asked for the subjects of the question, because an older note may owe
    its score to a light word. `likeness` [n, n]: deviations of each two notes' cosine above that of
    unrelated ones. Notes of `branches` precede none of others.
    """
    result = Arrangement(list(range(len(notes))))
    places = [at for at, note in enumerate(notes) if note.kind in KINDS]
    if len(places) < 2:
        return result
    question, doubtful = read_question(query), list[tuple[int, int]]()
    by_subjects: dict[int, float] = {}
    statements = {at: statement_of(notes[at]) for at in places}
    for newer, older in itertools.permutations(places, 2):
        if _age(notes[newer]) <= _age(notes[older]) or _is_of_branch(notes[newer], notes[older], branches):
            continue
        is_outdated = _is_outdated(notes[newer], notes[older], question)
        share = scores[newer] / (scores[older] or 1.0)
        if is_outdated and share < PRECEDES and question.subjects:
            by_subjects = by_subjects or dict(rescore(subject_text(query, question)))
            of_older = by_subjects.get(notes[older].number, 0.0)
            share = max(share, by_subjects.get(notes[newer].number, 0.0) / (of_older or math.inf))
        pair = statements[newer], statements[older], question
        if is_outdated and (share >= PRECEDES or likeness[newer, older] >= SAME_FORM):
            result.newer[older] = notes[newer].number
            result.put_before(newer, older)
        elif not _is_foreign(notes[newer], notes[older]) and answers_anew(*pair, likeness[newer, older]):
            result.put_before(newer, older)
            result.disagrees.setdefault(newer, []).append(notes[older].number)
        elif scores[newer] >= DISAGREES * scores[older] and (is_outdated or may_disagree(*pair)):
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
    if _is_foreign(newer, older):
        return False
    return outdates(statement_of(newer), statement_of(older), question)


def _is_foreign(newer: Note, older: Note) -> bool:
    """Whether the newer note is a stranger's and the older one is not."""
    return newer.source.trust in _FOREIGN and older.source.trust not in _FOREIGN


def _is_of_branch(newer: Note, older: Note, branches: Collection[str]) -> bool:
    """Whether the newer note was made on one of the branches and the older one on another."""
    return newer.branch in branches and newer.branch != older.branch


def _age(note: Note) -> tuple[int, int]:
    return note.happened_at, note.number
