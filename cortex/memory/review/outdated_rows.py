"""Rows of notes that a later note may outdate say so, whatever tool lists them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cortex.memory.answers import visible_text
from cortex.memory.briefings.disputed_notes import form_of
from cortex.memory.find.catalog import Selection
from cortex.memory.find.newer.changes import KINDS, TELLING, may_follow
from cortex.memory.find.newer.newer_notes import outdated_anyway
from cortex.memory.library.view import View
from cortex.memory.note import Note
from cortex.memory.times import format_moment, read_end

#: keys of an answer's rows; newer notes that are compared with one note
_LISTS, LATER = ("results", "items", "observations", "explanations", "nodes"), 5
#: fields of a row that already name the newer note
_NAMING = ("newer", "superseded_by")


def mark_outdated(view: View, answer: Mapping[str, Any], as_of: float | str = 0) -> dict[str, Any]:
    """The answer with `may_be_outdated_by` ({"number", "title", "at"}) in each row, or in the note
    that it is, that a later note outdates whatever the question is; none where a row of the answer
    names it already.
    """
    rows = [row for name in _LISTS for row in _mappings(answer.get(name))]
    rows += [answer] if "title" in answer else []
    named = {number for row in rows for number in row.get("may_disagree", ())}
    numbers = dict.fromkeys(_number(row) for row in rows if not any(map(row.get, _NAMING)))
    newer = newer_notes(view, [number for number in numbers if number and number not in named], as_of)
    if not newer:
        return dict(answer)

    def with_mark(row: Any) -> Any:
        note = newer.get(_number(row)) if isinstance(row, Mapping) else None
        return {**row, "may_be_outdated_by": _reference(note)} if note else row

    marked = {
        name: [with_mark(row) for row in value] if name in _LISTS and isinstance(value, list) else value
        for name, value in answer.items()
    }
    return dict(with_mark(marked)) if "title" in answer else marked


def newer_notes(view: View, numbers: Sequence[int], as_of: float | str = 0) -> dict[int, Note]:
    """{number of a note: the later one that surely outdates it}, of those that the model of changes
    has read; `as_of`: of those that were there at that moment.
    """
    memory = view.memory
    selection = Selection(project=view.project, as_of=read_end(as_of, "as_of"))
    mask = memory.catalog.mask(selection, memory.notes_at(selection.as_of))
    later = {
        number: [newer for newer in memory.replacements.newer_than(number)[:LATER] if mask[newer]]
        for number in numbers
    }
    wanted = {number for old, news in later.items() if news for number in (old, *news)}
    notes = memory.notes.get(sorted(wanted))
    places = {note.number: at for at, note in enumerate(notes)}
    branches = view.elsewhere()[1]
    pairs = [
        (places[old], places[new])
        for old, news in later.items()
        for new in news
        if old in places and new in places and notes[places[old]].kind in KINDS
        if notes[places[new]].kind in TELLING
        if form_of(notes[places[old]]) != form_of(notes[places[new]])  # a series has many notes
        if may_follow(notes[places[new]], notes[places[old]], branches)
    ]
    return outdated_anyway(memory, notes, pairs)


def _mappings(rows: Any) -> Iterator[Mapping[str, Any]]:
    yield from (row for row in rows if isinstance(row, Mapping)) if isinstance(rows, Iterable) else ()


def _number(row: Mapping[str, Any]) -> int:
    """The number of the note of a row; 0 for a row of something else."""
    number = row.get("number", row.get("id")) if "title" in row else 0
    return number if isinstance(number, int) else 0


def _reference(note: Note) -> dict[str, Any]:
    return {
        "number": note.number,
        "title": visible_text(note.title),
        "at": format_moment(note.happened_at),
    }
