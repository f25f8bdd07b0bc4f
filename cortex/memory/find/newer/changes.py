"""Judgement whether a newer note says that an older one is outdated. Pure.

A newer note of the same form is mostly about something else, or about another aspect of the same
thing. So it precedes an older one only if it keeps the subject that the question asks about, and
names the older value. Only the order changes: both notes stay.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from cortex.memory.find.newer.statements import (
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
    stems,
)
from cortex.memory.note import Note, Trust

#: kinds of notes that a newer note can outdate
KINDS = frozenset(("fact", "decision", "preference", "goal"))
#: kinds of notes that may tell of a change: an event ("moved to EMQX") outdates facts too
TELLING = KINDS | {"event"}
#: authors whose notes precede no note of others
FOREIGN: frozenset[Trust] = frozenset(("import", "tool", "other"))
#: share of the shorter title's stems from which on a change without the whole subject is a dispute
DISPUTED = 0.5
#: the same share without light words, from which on two notes of one subject state the same or
#: contradict each other
ONE_STATEMENT = 0.75


def outdates(newer: Statement, older: Statement, question: Question) -> bool:
    """Whether the newer note says that the value is no longer so that the older one gives as an
    answer to the question.
    """
    ended = newer.ended & older.title
    if not (ended - question.words or (question.whether and ended)):
        return False
    return _keeps_subject(newer, older, question, ended) or _shortens_subject(newer, older, question, ended)


def names_answer(
    newer: Statement, older: Statement, question: Question, is_rare: Callable[[str], bool]
) -> bool:
    """Whether the newer note names the value that the older one gives as an answer, by a word that
    few notes contain, and something of the question that the older one names: people who tell what
    became of a value seldom repeat its subject ("PayOne out, Mollie in"). A word before the same
    word in both is their form ("looks after"), not a value. It is not narrower, and no other
    subject has the value now ("the kiosk app" for "the mobile app").
    """
    form = stems(" ".join(word for word, _ in newer.pairs & older.pairs))
    answer = (answer_of(older, question) & newer.words) - form
    shared = question.words & newer.words & older.words
    if not shared or newer.title <= older.words or not any(map(is_rare, answer)):
        return False
    is_lost = (question.subjects & older.subject) - newer.words
    is_other = is_lost and newer.subject - older.words
    return not is_other and not _is_narrower(newer, older, question)


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


def _measures_anew(newer: Statement, older: Statement) -> bool:
    """Whether each gives a number of one unit that the other lacks."""
    new, old = newer.measures - older.measures, older.measures - newer.measures
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
    if is_denied or _measures_anew(now, then):
        return "disputes"
    says_again = then.measures and all(number in now.words for number, _ in then.measures)
    if new <= then.words or (says_again and old <= now.words):
        return "repeats"
    return "disputes" if old <= now.words else ""


@dataclass(slots=True)
class Arrangement:
    """The order of notes, as indices; {number of a note: the one that outdates it}; {number of a
    newer note: numbers of the older ones whose value it names}.
    """

    order: list[int]
    newer: dict[int, int] = field(default_factory=dict)
    disagrees: dict[int, list[int]] = field(default_factory=dict)

    def put_before(self, newer: int, older: int) -> None:
        if self.order.index(newer) > self.order.index(older):
            self.order.remove(newer)
            self.order.insert(self.order.index(older), newer)


def arrange(
    notes: Sequence[Note], query: str, *, is_rare: Callable[[str], bool], branches: Collection[str] = ()
) -> Arrangement:
    """Put a newer note before the older ones that it outdates or whose value it names; `notes` in
    the order of an answer. `is_rare`: whether few notes contain a stem. Notes of `branches` precede
    none of others.
    """
    result = Arrangement(list(range(len(notes))))
    places = [at for at, note in enumerate(notes) if note.kind in KINDS]
    if len(places) < 2:
        return result
    question, statements = read_question(query), {at: statement_of(notes[at]) for at in places}
    for newer, older in itertools.permutations(places, 2):
        now, then = notes[newer], notes[older]
        if _age(now) <= _age(then) or _is_of_branch(now, then, branches):
            continue
        if _is_outdated(now, then, question):
            result.newer[then.number] = now.number
            result.put_before(newer, older)
        elif not _is_foreign(now, then) and names_answer(
            statements[newer], statements[older], question, is_rare
        ):
            result.put_before(newer, older)
            result.disagrees.setdefault(now.number, []).append(then.number)
    return result


def may_follow(newer: Note, older: Note, branches: Collection[str]) -> bool:
    """Whether the newer note is later than the older one, and may say what became of it."""
    return (
        _age(newer) > _age(older)
        and not _is_foreign(newer, older)
        and not _is_of_branch(newer, older, branches)
    )


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
    return newer.source.trust in FOREIGN and older.source.trust not in FOREIGN


def _is_of_branch(newer: Note, older: Note, branches: Collection[str]) -> bool:
    """Whether the newer note was made on one of the branches and the older one on another."""
    return newer.branch in branches and newer.branch != older.branch


def _age(note: Note) -> tuple[int, int]:
    return note.happened_at, note.number
