"""Which notes of a briefing outdate, repeat or dispute others. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from cortex.memory.find.newer.changes import KINDS, replaces
from cortex.memory.note import Edge, Note
from cortex.memory.text import question_words

#: likelihood, as the replacement model read two notes, from which on a briefing shows both sides;
#: from which on it has the newer one with what it was
REPLACES, SURELY_REPLACES = 0.9, 0.95
#: kinds of routine
ROUTINE = ("event", "observation")
#: detection of an edge that an agent or a person made
MANUAL = "manual"
#: verbs by which somebody states or repeats a wish
_REPORTING = frozenset(
    question_words(
        "asks wants says tells reminds repeats notices confirms checks praises finds please prefer onto rather every"
    )
)
#: words that deny what a note says, with the beginnings of short forms ("don't")
_DENYING = frozenset(
    question_words(
        "no not never nobody none nothing nor without cannot unless except rather instead "
        "ain aren couldn didn doesn don hadn hasn haven isn mustn needn shouldn wasn weren won wouldn"
    )
)
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Changes:
    """The notes of a briefing by number; among them {note: the older one that it outdates}; the
    outdated ones and those that only repeat another; and pairs of numbers, older and newer, that
    dispute without an order.
    """

    notes: Mapping[int, Note]
    was: dict[int, Note]
    outdated: set[int]
    disputes: list[tuple[int, int]]


def changes_among(
    notes: Mapping[int, Note],
    listed: AbstractSet[int],
    pairs: Sequence[Edge],
    likelihood: Callable[[Note, Note], float],
) -> Changes:
    """The notes that others outdate, repeat or dispute, one of both `listed`; `pairs`: the known
    disputes; `likelihood`: that the second note replaces the first. Of routine that differs by its
    numbers, the newest is left.
    """
    changes = Changes(notes, {}, set(), list(_known_disputes(notes, pairs, likelihood)))
    newest: dict[int, int] = {}
    stated = sorted(notes.values(), key=_age)
    for at, newer in enumerate(stated):
        for older in stated[:at]:
            pair = older.number, newer.number
            if older.kind not in KINDS or not {*pair} & listed:
                if older.kind in ROUTINE and form_of(older) == form_of(newer):
                    changes.outdated.add(older.number)
                continue
            relation = _relation(newer, older, likelihood)
            if relation == "repeats" and {*pair} <= listed:
                if older.number not in changes.outdated:  # else it is so again
                    changes.outdated.add(newer.number)
            elif relation == "repeats" or newer.kind not in KINDS:
                continue
            elif relation == "outdates":
                changes.was[newer.number] = older
                changes.outdated.add(older.number)
            elif relation and pair not in changes.disputes:
                newest[older.number] = newer.number
    changes.disputes.extend(newest.items())
    return changes


def _known_disputes(
    notes: Mapping[int, Note], edges: Sequence[Edge], likelihood: Callable[[Note, Note], float]
) -> Iterator[tuple[int, int]]:
    """The pairs of numbers of edges, older and newer. Upkeep also connects a correction with notes
    about other aspects: such an edge counts only if both notes dispute.
    """
    for edge in edges:
        if {edge.source, edge.target} <= notes.keys():
            older, newer = sorted((notes[edge.source], notes[edge.target]), key=_age)
            if edge.detection == MANUAL or _relation(newer, older, likelihood) == "disputes":
                yield older.number, newer.number


def _relation(newer: Note, older: Note, likelihood: Callable[[Note, Note], float]) -> str:
    """How a newer note stands to an older one: "outdates" if somebody said so or the replacement
    model is sure, "disputes" if it finds so, but for notes of a series, "repeats" if it says
    nothing else, "" otherwise.
    """
    if replaces(newer, older):
        return "outdates"
    read = likelihood(older, newer) if form_of(newer) != form_of(older) else 0.0
    if read >= REPLACES:
        return "outdates" if read >= SURELY_REPLACES else "disputes"
    words, old = set(question_words(newer.title)), set(question_words(older.title))
    new, denies_as_before = words - _REPORTING, bool(words & _DENYING) or not old & _DENYING
    has_same_numbers = set(_DIGITS.findall(newer.title)) == set(_DIGITS.findall(older.title))
    is_part = len(new) > 1 and new <= old and has_same_numbers
    return "repeats" if is_part and denies_as_before else ""


def _age(note: Note) -> tuple[int, int]:
    return note.happened_at, note.number


def form_of(note: Note) -> str:
    """The title without its numbers: notes of a series have the same."""
    return _DIGITS.sub("#", note.title)
