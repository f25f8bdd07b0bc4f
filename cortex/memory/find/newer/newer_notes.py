"""Newer notes on the subject of a hit, which may share no word with the question, and older notes
that a new one may replace.
"""

import itertools
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Protocol

import numpy as np

from cortex.memory.find.catalog import Catalog, Selection
from cortex.memory.find.newer.changes import FOREIGN, KINDS, TELLING, follows, may_follow, standing_of
from cortex.memory.find.newer.replacements import Replacements
from cortex.memory.find.newer.successors import STORED, features_of, likely, log_odds, reading_of, text_of
from cortex.memory.find.read_notes import ReadNotes
from cortex.memory.find.vectors import Vectors
from cortex.memory.find.words import Words
from cortex.memory.note import Note
from cortex.memory.store.note_store import Store
from cortex.memory.transcripts.proposing.handover import KIND as HANDOVER
from cortex.system.arrays import Array

#: hits whose newer notes are looked for; the rarest stems by which they are; candidates by stems
#: and by vector
LOOKED_AT, STEMS, BY_STEMS, BY_VECTOR = 3, 8, 6, 6
#: notes with one of the stems that are read; nearest notes of which BY_VECTOR may be newer
READ, NEAREST = 60, 12
#: likelihood by words and meaning from which on the replacement model reads an older note, and at
#: most so many; from which on it does so while one is stored, besides the likeliest: 1.9 notes
#: instead of 4.4, and the answer names 763 of 870 outdated notes of the lives instead of 770
PROPOSED, READ_EACH, AT_ONCE = 0.001, 6, 0.01
#: likelihood from which on a newer note is shown beside a hit, at most so many for a hit and in all
LIKELY, LIKELY_EACH, LIKELY_MAX = 0.01, 2, 3
#: likelihood from which on an older note is named when one is stored; from which on the newer one
#: is shown in an answer of fewer hits than LOOKED_AT, which has room: people try a memory within a
#: minute, and the days between two notes count for a question
SIMILAR, SIMILAR_SHOWN = 0.03, 0.05
#: likelihood from which on that answer has the call that replaces it
REPLACEABLE = 0.75
#: likelihood from which on the answer says that a note may be outdated, and one that says so
#: whatever the question is
OUTDATED, OUTDATED_ANYWAY = 0.1, 0.8
#: the same for what became of that newer note, by a third one that may replace the older one, too
OUTDATED_AGAIN = 0.2
#: likelihood, and log-odds of the replacement model, from which on the newer note precedes the
#: first hit
REPLACED, REPLACED_ODDS = 0.35, 0.1

Pairs = list[tuple[int, int]]
#: {index of an older note: likelihood and index of its newer notes}
NewerOf = dict[int, list[tuple[float, int]]]


class Indexes(Protocol):
    """The store with the indexes that are asked."""

    store: Store
    notes: ReadNotes
    catalog: Catalog
    words: Words
    replacements: Replacements

    @property
    def meaning(self) -> Vectors: ...


def newer_pairs(
    memory: Indexes,
    hits: Sequence[Note],
    mask: Array,
    branches: Collection[str] = (),
    past_notes: Collection[int] = (),
) -> tuple[list[Note], Pairs]:
    """The hits, and newer notes of the mask that may be about the same as one of the first; and
    pairs of indices, an older one of a kind that can be outdated and a newer note.
    """
    notes, happened = list(hits), memory.catalog["happened"]
    olds = [at for at, note in enumerate(hits) if note.kind in KINDS]
    by_hit: dict[int, list[int]] = {}
    for at in (at for at in olds if at < LOOKED_AT):
        note = hits[at]
        near = memory.meaning.near(note.number, mask, NEAREST) if at == olds[0] else ()

        def is_newer(number: int, note: Note = note) -> bool:
            return bool((happened[number], number) > (note.happened_at, note.number))

        candidates = [number for number in memory.replacements.newer_than(note.number) if mask[number]]
        candidates += _of_stems(memory, note, mask, is_newer)
        candidates += [number for number, _ in near if is_newer(number)][:BY_VECTOR]
        by_hit[at] = [number for number in candidates if number not in past_notes]
    places = {note.number: at for at, note in enumerate(notes)}
    missing = dict.fromkeys(
        number for numbers in by_hit.values() for number in numbers if number not in places
    )
    for note in memory.notes.get(list(missing)):
        if note.kind != HANDOVER:
            places[note.number] = len(notes)
            notes.append(note)
    standings, pairs = [standing_of(note) for note in notes], []
    for at in olds:
        others = [places[number] for number in by_hit.get(at, ()) if number in places]
        newer = dict.fromkeys([*range(len(hits)), *others])
        pairs += [(at, other) for other in newer if follows(standings[other], standings[at], branches)]
    for at in range(len(hits), len(notes)):  # a newer note may be outdated itself
        if notes[at].kind in KINDS:
            older = standings[at]
            pairs += [(at, new) for new, newer in enumerate(standings) if follows(newer, older, branches)]
    return notes, pairs


def replaceable(memory: Indexes, note: Note, selection: Selection) -> tuple[list[Note], list[Note]]:
    """The notes of the selection that a new note likely replaces, with those that they likely
    replaced; and the others that it may replace; the likeliest first. The replacement model reads
    the likeliest by words and meaning, and the others in the background; what it says is kept for
    answers.
    """
    notes, pairs, features = stored_features(memory, note, selection, AT_ONCE)
    if not pairs:
        return [], []
    best = sorted(zip(likely(features).tolist(), (old for old, _ in pairs), strict=True), reverse=True)
    replaced = [notes[old] for value, old in best if value >= REPLACEABLE]
    for newer in replaced:  # grows: a chain of which nobody marked the earlier notes
        replaced += [older for older in _replaced_by(memory, newer, selection) if older not in replaced]
    return replaced, [notes[old] for value, old in best if value >= SIMILAR and notes[old] not in replaced]


def _replaced_by(memory: Indexes, newer: Note, selection: Selection) -> list[Note]:
    """The notes of the selection that a stored note likely replaced, as was read."""
    mask = memory.catalog.mask(selection)
    numbers = [number for number in memory.replacements.older_than(newer.number) if mask[number]]
    notes = [newer, *(note for note in memory.store.notes_by_number(numbers) if note.scope == newer.scope)]
    pairs = [(at, 0) for at in range(1, len(notes)) if may_follow(newer, notes[at], ())]
    if not pairs:
        return []
    read = memory.replacements.likelihoods(notes, pairs)
    values = likely(measure(memory, notes, pairs) | {"read": log_odds(read)})
    return [
        notes[old] for (old, _), value in zip(pairs, values.tolist(), strict=True) if value >= REPLACEABLE
    ]


def stored_features(
    memory: Indexes, note: Note, selection: Selection, least: float = PROPOSED
) -> tuple[list[Note], Pairs, dict[str, Array]]:
    """A new note and older ones of the selection that it may replace, pairs of indices, and the
    features of each pair, as read by the replacement model: the likeliest by words and meaning, and
    those of at least `least`.
    """
    notes, pairs = older_pairs(memory, note, selection)
    features = measure(memory, notes, pairs) if pairs else {}
    proposed = likely(features) if pairs else np.zeros(0)
    best = [
        at for at in np.argsort(-proposed, kind="stable")[:READ_EACH].tolist() if proposed[at] >= PROPOSED
    ]
    most = max(1, sum(proposed[at] >= least for at in best))
    read = memory.replacements.read(
        note, [notes[pairs[at][0]] for at in best[:most]], is_all=most >= len(best)
    )
    best = best[:most]
    features = {name: values[best] for name, values in features.items()} | {"read": log_odds(read)}
    return notes, [pairs[at] for at in best], features


def read_waiting(memory: Indexes) -> Generator[None, None, None]:
    """Have the replacement model read the notes that wait for it, the newest first, one a step."""
    while memory.replacements.waiting:
        number = memory.replacements.waiting.pop()
        for note in memory.store.notes_by_number([number]):
            if note.kind in TELLING and note.state == "active" and note.source.trust not in FOREIGN:
                stored_features(memory, note, Selection(project=note.project))
            else:
                memory.replacements.read(note, ())
        yield


def older_pairs(memory: Indexes, note: Note, selection: Selection) -> tuple[list[Note], Pairs]:
    """A new note, and older ones of the selection, of a kind that can be outdated and of its scope,
    that may be about the same; and pairs of indices.
    """
    near = memory.meaning.near(note.number, memory.catalog.mask(selection), 2 * NEAREST)
    mask = memory.catalog.mask(replace(selection, kinds=tuple(sorted(KINDS))))
    numbers = _of_stems(memory, note, mask, lambda number: number != note.number)
    numbers += [number for number, _ in near if mask[number]][:BY_VECTOR]
    others = memory.store.notes_by_number(list(dict.fromkeys(numbers)))
    notes = [note, *(other for other in others if other.scope == note.scope)]
    return notes, [(at, 0) for at in range(1, len(notes)) if may_follow(note, notes[at], ())]


def _of_stems(memory: Indexes, note: Note, mask: Array, takes: Callable[[int], bool]) -> list[int]:
    """The notes with a note's rarest stems, the best first."""
    stems = sorted(reading_of(text_of(note)).words)
    stems = sorted(stems, key=memory.words.rarity_share, reverse=True)[:STEMS]
    scores = memory.words.search(stems, READ)
    best = sorted(scores, key=scores.__getitem__, reverse=True)
    return list(islice((number for number in best if mask[number] and takes(number)), BY_STEMS))


def measure(memory: Indexes, notes: Sequence[Note], pairs: Pairs, question: str = "") -> dict[str, Array]:
    """The features of the pairs, as `features_of`."""
    numbers = [note.number for note in notes]
    likeness = memory.meaning.likenesses(numbers, numbers)
    near = memory.meaning.likenesses_to(question, numbers) if question else None
    features = features_of(notes, pairs, likeness, memory.words.rarity_share, question, near)
    if question:
        features["read"] = log_odds(memory.replacements.likelihoods(notes, pairs))
    return features


def outdated_anyway(memory: Indexes, notes: Sequence[Note], pairs: Pairs) -> dict[int, Note]:
    """{number of an older note: the newer one that outdates it whatever a question is}; `pairs`:
    indices of an older and a newer note.
    """
    if not pairs:
        return {}
    read = memory.replacements.likelihoods(notes, pairs)
    features = measure(memory, notes, pairs) | {"read": log_odds(read)}
    values = likely({name: features[name] for name in STORED})
    newer = _by_older(
        list(itertools.compress(pairs, values >= OUTDATED_ANYWAY)), values[values >= OUTDATED_ANYWAY]
    )
    return {notes[old].number: notes[max(likeliest)[1]] for old, likeliest in newer.items()}


class NewerNotes:
    """The rows of an answer with newer notes beside those that they may outdate: `notes`, and
    `outdated`: {number of a newer note: numbers of the older ones}; `replaced`: pairs of indices in
    `notes`, a newer and an older one, of the first hit and those that very likely replace it.
    """

    def __init__(  # noqa: PLR0917
        self,
        memory: Indexes,
        hits: Sequence[Note],
        mask: Array,
        question: str,
        branches: Collection[str],
        past_notes: Collection[int],
    ) -> None:
        self.notes = list(hits)
        self.outdated: dict[int, list[int]] = {}
        self.replaced: Pairs = []
        notes, pairs = newer_pairs(memory, hits, mask, branches, past_notes)
        if not pairs:
            return
        features = measure(memory, notes, pairs, question)
        values, stored = likely(features), likely({name: features[name] for name in STORED})
        likelihoods = values
        if len(hits) < LOOKED_AT:
            likelihoods = np.maximum(values, stored * (LIKELY / SIMILAR_SHOWN))
        of_first = {old: newer for old, newer in _by_older(pairs, likelihoods).items() if old < len(hits)}
        self._bring(notes, of_first)
        is_marked = (values >= OUTDATED) | (stored >= OUTDATED_ANYWAY)
        is_continuing = is_marked | (stored >= OUTDATED_AGAIN)
        marked, continuing = (
            _by_older(list(itertools.compress(pairs, them)), values[them])
            for them in (is_marked, is_continuing)
        )
        self._say(notes, marked, continuing)
        self.replaced = self._replaced(notes, pairs, features)

    def _replaced(self, notes: Sequence[Note], pairs: Pairs, features: dict[str, Array]) -> Pairs:
        """The pairs of `replaced`."""
        of_first = [at for at, (old, _) in enumerate(pairs) if not old]
        first = {name: part[of_first] for name, part in features.items()}
        values, read = likely(first, is_first=True), first["read"]
        surely = (values >= REPLACED) & (read >= REPLACED_ODDS)
        surely &= first["number_lost"] == 0  # a note of a series is asked for by its number
        newer = [
            notes[pairs[at][1]] for at, is_sure in zip(of_first, surely.tolist(), strict=True) if is_sure
        ]
        shown = sorted(
            (note for note in newer if note in self.notes), key=lambda n: (n.happened_at, n.number)
        )
        places = [self.notes.index(note) for note in (*notes[:1], *shown)]
        return [(places[new], places[old]) for new in range(len(places)) for old in range(new)]

    def _bring(self, notes: Sequence[Note], newer: NewerOf) -> None:
        """Put the likeliest newer notes of the first hits right behind them."""
        room = LIKELY_MAX
        for old in sorted(at for at in newer if at < LOOKED_AT):
            best = sorted((pair for pair in newer[old] if pair[0] >= LIKELY), reverse=True)[:LIKELY_EACH]
            behind = self.notes.index(notes[old]) + 1
            already = self.notes[: behind + len(best)]
            brought = [notes[new] for _, new in best if notes[new] not in already][:room]
            room -= len(brought)
            self.notes = [note for note in self.notes if note not in brought]
            is_beside = {notes[new].number for _, new in best}
            behind = self.notes.index(notes[old]) + 1
            while behind < len(self.notes) and self.notes[behind].number in is_beside:
                behind += 1
            self.notes[behind:behind] = brought

    def _say(self, notes: Sequence[Note], marked: NewerOf, continuing: NewerOf) -> None:
        """Note of each row the newest note of its chain, and of the notes between, if one of the
        two is among the first. A chain begins with the likeliest note of `marked`, and goes on with
        those of `marked`, else of `continuing` if they may be newer than its begin, too.
        """
        numbers = [note.number for note in self.notes]
        shown = {at for at, note in enumerate(notes) if note.number in numbers}
        newest, between = dict[int, int](), dict[int, int]()
        for old in filter(shown.__contains__, marked):
            of_old, newer, chain = {at for _, at in continuing.get(old, ())}, marked[old], [old]
            while candidates := [pair for pair in newer if pair[1] in shown]:
                at = max(candidates)[1]
                chain.append(at)
                newer = marked.get(at) or [pair for pair in continuing.get(at, ()) if pair[1] in of_old]
            older, *others = (notes[at].number for at in chain)
            if others and {older, others[-1]}.intersection(numbers[:LOOKED_AT]):
                last = newest[older] = others.pop()
                between |= dict.fromkeys(others, last)
        for older, last in (between | newest).items():
            self.outdated.setdefault(last, []).append(older)


def _by_older(pairs: Pairs, values: Array) -> NewerOf:
    newer: NewerOf = {}
    for (old, new), value in zip(pairs, values.tolist(), strict=True):
        newer.setdefault(old, []).append((value, new))
    return newer
