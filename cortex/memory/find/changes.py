"""Judgement whether a newer note says that an older one is outdated, or gives another value for the
same. Pure.

A newer note of the same form is mostly about something else, or about another aspect of the same
thing. So it precedes an older one only if it keeps the subject that the question asks about, and
names the older value beside a word of change, or answers the same: in the same form, in the words
of the question, or in the same unit. Only the order changes: both notes stay.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from cortex.memory.find.statements import (
    LIGHT_REPORTING,
    LIGHT_STEMS,
    Question,
    Statement,
    answer_of,
    denies,
    is_number,
    read_question,
    shared_stems,
    statement_of,
)
from cortex.memory.note import Note, Trust
from cortex.system.arrays import Array

#: kinds of notes that a newer note can outdate
KINDS = frozenset(("fact", "decision", "preference", "goal"))
#: share of the shorter title's stems from which on two notes are about one thing
ALIKE = 0.3
#: least score of a newer note, as a share of the older one's, to disagree
DISAGREES = 0.5
#: authors whose notes precede no note of others
_FOREIGN: frozenset[Trust] = frozenset(("import", "tool"))
#: share of the shorter title's stems from which on a change without the whole subject is a dispute
DISPUTED = 0.5
#: the same share without light words, from which on two notes of one subject state the same or
#: contradict each other
ONE_STATEMENT = 0.75
#: deviations of two notes' cosine above that of unrelated notes, from which on they are of the same
#: form; and for a newer one that tells of a move
SAME_FORM, MOVED = 6.5, 4.5


def outdates(newer: Statement, older: Statement, question: Question) -> bool:
    """Whether the newer note says that the value is no longer so that the older one gives as an
    answer to the question.
    """
    ended = newer.ended & older.title
    if not (ended - question.words or (question.whether and ended)):
        return False
    return _keeps_subject(newer, older, question, ended) or _shortens_subject(newer, older, question, ended)


def may_disagree(newer: Statement, older: Statement, question: Question) -> bool:
    """Whether two notes are about the same subject and each says something that the other lacks."""
    differ = bool(newer.title - older.words and older.title - newer.words)
    lost = (question.words - question.kinds) & older.words - newer.words
    return (
        differ and shared_stems(newer.title, older.title) >= ALIKE and not lost and older.head in newer.words
    )


def names_answer(
    newer: Statement, older: Statement, question: Question, is_rare: Callable[[str], bool]
) -> bool:
    """Whether the newer note names the value that the older one gives as an answer, by a word that
    few notes contain, and something of the question that the older one names: people who tell what
    became of a value seldom repeat its subject ("PayOne out, Mollie in"). It is not narrower, and
    if it lacks a subject of the question that the older one names, it has no other one ("Milan
    looks after the driver app" for "the Android app").
    """
    answer, shared = answer_of(older, question) & newer.words, question.words & newer.words & older.words
    if not shared or newer.title <= older.words or not any(map(is_rare, answer)):
        return False
    is_lost = (question.subjects & older.words) - newer.words - _verbs(older, question)
    is_other = is_lost and newer.subject - older.words
    return not is_other and not _is_narrower(newer, older, question)


def answers_anew(newer: Statement, older: Statement, question: Question, likeness: float) -> bool:
    """Whether the newer note answers the question as the older one does, with another value.

    It keeps each subject of the question that the older one names, does not narrow it, tells
    nothing besides, and ends no value that the older one lacks. And both contain the whole
    question, or it gives another measure, tells of a move, or is of the same form.
    """
    lost = (question.subjects & older.words) - newer.words - _verbs(older, question)
    ends_other = newer.named and not (newer.named - question.words) & older.words
    shared = question.subjects & newer.words & older.words
    is_other = newer.adds or ends_other or _is_narrower(newer, older, question)
    if lost or is_other or not shared or newer.title <= older.words:
        return False
    is_whole = len(question.content) > 1 and question.content | (question.words & older.words) <= newer.words
    return (
        (is_whole and question.content <= older.words)
        or _measures_anew(newer, older, question)
        or likeness >= (MOVED if newer.moves else SAME_FORM)
    )


def _is_narrower(newer: Statement, older: Statement, question: Question) -> bool:
    """Whether the newer note has two new phrases with known words between them: one narrows the
    subject, the other one is the value ("Admin sessions expire after 10 minutes"). All between a
    light verb with its preposition and a condition is one value.
    """
    old, phrases, is_open, is_value = older.words | question.words, 0, False, False
    for of_word, follows, begins in newer.order:
        if not of_word or of_word & old:
            is_value = begins != "condition" and (is_value or (begins == "value" and not phrases))
            is_open = is_open and is_value
        elif is_open or not follows or any(map(is_number, of_word)):
            phrases, is_open = phrases + (not is_open), True
    return phrases > 1


def _verbs(older: Statement, question: Question) -> frozenset[str]:
    """The stems of the verb that the older note and the question share."""
    return question.verbs | (older.active & question.bare)


def _measures_anew(newer: Statement, older: Statement, question: Question) -> bool:
    """Whether each gives a number that the other lacks: of one unit, unless the question asks for a
    quantity.
    """
    new, old = newer.measures - older.measures, older.measures - newer.measures
    if question.is_quantity:
        return bool(new and old)
    return bool({unit for _, unit in new if unit} & {unit for _, unit in old})


def _shortens_subject(newer: Statement, older: Statement, question: Question, ended: frozenset[str]) -> bool:
    """Whether the newer note ends a value that the question does not name, and its subject is part
    of the older one's, and of the same number.
    """
    if not question.subjects or not ended - question.words:
        return False
    shared, lost = (
        question.subjects & newer.words & older.words,
        question.subjects & older.words - newer.words,
    )
    if any(len(stem) == 1 or is_number(stem) for stem in lost):
        return False
    return newer.subject <= older.words and bool(shared or not newer.subject)


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
    be about a part of it or about something else, or contradicts it; "repeats" if it says the same,
    "" otherwise.
    """
    now, then = statement_of(newer), statement_of(older)
    if _is_outdated(newer, older, Question()):
        subject = then.title - now.ended - then.verbs - LIGHT_STEMS
        if (newer.topic and newer.topic == older.topic) or not subject - now.words:
            return "outdates"
        return "disputes" if shared_stems(now.title, then.title) >= DISPUTED else ""
    return "" if _is_foreign(newer, older) else _compare_statements(newer, older)


def _compare_statements(newer: Note, older: Note) -> str:
    """As `compare`, for two notes without a word of change."""
    now, then = statement_of(newer), statement_of(older)
    new, old = now.title - LIGHT_REPORTING, then.title - LIGHT_REPORTING
    subject = then.subject - LIGHT_REPORTING or {then.head}
    letters = {word for word in then.words if len(word) == 1}
    is_denied = denies(newer.title) != denies(older.title)
    least = DISPUTED if is_denied and older.kind == "goal" else ONE_STATEMENT
    if (subject | letters) - now.words or len(new & old) < 2 or shared_stems(new, old) < least:
        return ""
    if is_denied or _measures_anew(now, then, Question()):
        return "disputes"
    says_again = then.measures and all(number in now.words for number, _ in then.measures)
    if new <= then.words or (says_again and old <= now.words):
        return "repeats"
    return "disputes" if old <= now.words else ""


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
    is_rare: Callable[[str], bool],
    likeness: Array,
    branches: Collection[str] = (),
) -> Arrangement:
    """Put a newer note before the older ones that it outdates or answers anew; `notes` by
    descending score. Only pairs with the first note are examined for disagreement. `is_rare`:
    whether few notes contain a stem. `likeness` [n, n]: deviations of each two notes' cosine above
    that of unrelated ones. Notes of `branches` precede none of others.
    """
    result = Arrangement(list(range(len(notes))))
    places = [at for at, note in enumerate(notes) if note.kind in KINDS]
    if len(places) < 2:
        return result
    question, doubtful = read_question(query), list[tuple[int, int]]()
    statements = {at: statement_of(notes[at]) for at in places}
    for newer, older in itertools.permutations(places, 2):
        if _age(notes[newer]) <= _age(notes[older]) or _is_of_branch(notes[newer], notes[older], branches):
            continue
        pair = statements[newer], statements[older], question
        is_foreign = _is_foreign(notes[newer], notes[older])
        is_outdated = _is_outdated(notes[newer], notes[older], question)
        if is_outdated:
            result.newer[older] = notes[newer].number
            result.put_before(newer, older)
        elif not is_foreign and (names_answer(*pair, is_rare) or answers_anew(*pair, likeness[newer, older])):
            result.put_before(newer, older)
            result.disagrees.setdefault(newer, []).append(notes[older].number)
        elif scores[newer] >= DISAGREES * scores[older] and may_disagree(*pair):
            doubtful.append((newer, older))
    for newer, older in doubtful:
        if result.order[0] in (newer, older) and older not in result.newer:
            result.disagrees.setdefault(newer, []).append(notes[older].number)
    return result


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
