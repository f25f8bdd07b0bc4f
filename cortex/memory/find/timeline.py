"""Notes in order of time: around a note, or between two moments, page by page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cortex.memory.find.catalog import Selection
from cortex.memory.find.recall import Memory
from cortex.memory.note import Note


@dataclass(frozen=True, slots=True)
class Span:
    """Notes in order of time. `before` and `after`: numbers of further notes on both sides."""

    notes: list[Note]
    before: int
    after: int


def around(memory: Memory, anchor: Note, selection: Selection, before: int, after: int) -> Span:
    """The anchor, whatever its state and kind, with the notes of the selection before and after
    it.
    """
    past_notes = memory.notes_at(selection.as_of)
    order = memory.catalog.in_time(memory.catalog.mask(selection, past_notes))
    order = order[order != anchor.number]
    happened = memory.catalog["happened"][order]
    earlier = (happened < anchor.happened_at) | ((happened == anchor.happened_at) & (order < anchor.number))
    at = int(np.count_nonzero(earlier))
    first, end = max(0, at - before), min(len(order), at + after)
    numbers = [*order[first:at].tolist(), anchor.number, *order[at:end].tolist()]
    return Span(notes_of(memory, numbers, past_notes), first, len(order) - end)


def between(memory: Memory, selection: Selection, limit: int, offset: int, *, newest_first: bool) -> Span:
    """The notes of the selection, from `offset` on."""
    past_notes = memory.notes_at(selection.as_of)
    order = memory.catalog.in_time(memory.catalog.mask(selection, past_notes))
    order = order[::-1] if newest_first else order
    numbers = order[offset : offset + limit].tolist()
    return Span(
        notes_of(memory, numbers, past_notes),
        min(offset, len(order)),
        max(0, len(order) - offset - len(numbers)),
    )


def notes_of(memory: Memory, numbers: Sequence[int], past_notes: Mapping[int, Note]) -> list[Note]:
    """The notes in this order; those in `past_notes` as they are there."""
    loaded = memory.store.notes_by_number([number for number in numbers if number not in past_notes])
    by_number = {note.number: note for note in loaded} | dict(past_notes)
    return [by_number[number] for number in numbers if number in by_number]
