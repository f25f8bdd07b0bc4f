"""The notes that answers read, in memory: two dozen are read for a query, of which most were read
for earlier ones.
"""

from collections.abc import Callable, Iterable, Sequence

from cortex.memory.note import Note

#: notes in memory, and characters of the largest of them: some 3 MB, at most 13
NOTES_MAX, CHARS_MAX = 1_500, 2_000


class ReadNotes:
    """Notes as of the last change for which `drop` was called; the uses and relevance that another
    machine of the team counted may be older.
    """

    def __init__(self, read: Callable[[Sequence[int]], Iterable[Note]]) -> None:
        """`read`: the notes with these numbers that exist, from the store."""
        self._read = read
        self._notes: dict[int, Note] = {}

    def __len__(self) -> int:
        return len(self._notes)

    def get(self, numbers: Sequence[int]) -> list[Note]:
        """The notes that exist, in the order of `numbers`."""
        notes = {number: self._notes[number] for number in numbers if number in self._notes}
        if missing := [number for number in numbers if number not in notes]:
            if len(self._notes) + len(missing) > NOTES_MAX:
                self._notes.clear()
            read = {note.number: note for note in self._read(missing)}
            notes |= read
            self._notes |= {at: note for at, note in read.items() if _chars(note) <= CHARS_MAX}
        return [notes[number] for number in numbers if number in notes]

    def drop(self, numbers: Iterable[int]) -> None:
        """Forget notes that were changed or removed."""
        for number in numbers:
            self._notes.pop(number, None)

    def clear(self) -> None:
        self._notes.clear()


def _chars(note: Note) -> int:
    """The characters of the fields of a note that may be long."""
    return len(note.body) + len(f"{note.facts}{note.files}{note.metadata}{note.spoken}{note.mtimes}")
