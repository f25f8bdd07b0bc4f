"""Judgement whether a newer note says that an older one is outdated. Pure.

A newer note of the same form is mostly about something else, or about another aspect of the same
thing. So it precedes an older one only if it keeps the subject that the question asks about, and
names the older value. Only the order changes: both notes stay.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from cortex.memory.find.newer.statements import (
    LIGHT_REPORTING,
    LIGHT_STEMS,
    Question,
    Statement,
    denies,
    is_number,
    read_question,
    shared_stems,
    statement_of,
)
from cortex.memory.note import Note, Trust

#: kinds of notes that a newer note can outdate
KINDS = frozenset(("fact", "decision", "preference", "goal"))
#: authors whose notes precede no note of others
_FOREIGN: frozenset[Trust] = frozenset(("import", "tool"))
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
    """The order of notes, as indices; {number of a note: the one that outdates it}."""

    order: list[int]
    newer: dict[int, int] = field(default_factory=dict)

    def put_before(self, newer: int, older: int) -> None:
        if self.order.index(newer) > self.order.index(older):
            self.order.remove(newer)
            self.order.insert(self.order.index(older), newer)


def arrange(
    notes: Sequence[Note],
    query: str,
    *,
    replaced: Mapping[int, Collection[int]],
    branches: Collection[str] = (),
) -> Arrangement:
    """Put a newer note before the older ones that it outdates or surely replaces; `notes` in the
    order of an answer, `replaced`: {number of a newer note: numbers of older ones}. Notes of
    `branches` precede none of others.
    """
    result = Arrangement(list(range(len(notes))))
    question = read_question(query)
    for newer, older in itertools.permutations(range(len(notes)), 2):
        now, then = notes[newer], notes[older]
        if then.kind not in KINDS or _age(now) <= _age(then) or _is_of_branch(now, then, branches):
            continue
        if now.kind in KINDS and _is_outdated(now, then, question):
            result.newer[then.number] = now.number
            result.put_before(newer, older)
        elif then.number in replaced.get(now.number, ()):
            result.put_before(newer, older)
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
    return newer.source.trust in _FOREIGN and older.source.trust not in _FOREIGN


def _is_of_branch(newer: Note, older: Note, branches: Collection[str]) -> bool:
    """Whether the newer note was made on one of the branches and the older one on another."""
    return newer.branch in branches and newer.branch != older.branch


def _age(note: Note) -> tuple[int, int]:
    return note.happened_at, note.number
