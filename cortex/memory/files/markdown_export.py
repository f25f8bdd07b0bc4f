"""Export of notes as a folder of Markdown files. A file changes only with its note."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path

from cortex.memory.files.markdown_files import file_name, number_in, render
from cortex.memory.find.recall import Memory
from cortex.memory.note import Note
from cortex.system import files

#: notes written in one slice
SLICE = 50
#: bytes of a file that is compared with its note
BYTES_MAX = 2_000_000


def write_folder(memory: Memory, folder: Path, project: str) -> Generator[None, None, dict[str, int]]:
    """Write the notes of a project that are not deleted, in slices: {"written", "unchanged"} files.
    Other files of the folder stay; the file of a note with a new title gets a new name. Raises
    OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    former = {number_in(name): name for name in files.names(folder)}
    numbers = sorted(memory.catalog.live())
    counts = {"written": 0, "unchanged": 0}
    for at in range(0, len(numbers), SLICE):
        for note in memory.store.notes_by_number(numbers[at : at + SLICE]):
            if project and note.project != project:
                continue
            edges = memory.links.of(note.number, "outgoing")
            ends = [note.superseded_by, *(edge.target for edge in edges)]
            others = {other.number: other for other in memory.store.notes_by_number(ends)}
            raw = render(note, sorted(edges, key=lambda edge: edge.number), _live(others.values(), project))
            counts["written" if _write(folder, note, raw, former.get(note.number, "")) else "unchanged"] += 1
        yield
    return counts


def _live(notes: Iterable[Note], project: str) -> dict[int, Note]:
    """The notes that have a file, too."""
    return {
        note.number: note
        for note in notes
        if note.state != "deleted" and (not project or note.project == project)
    }


def _write(folder: Path, note: Note, raw: bytes, former: str) -> bool:
    """Write a note's file, and remove the one of its former name; return whether it changed."""
    path = folder / file_name(note)
    if former and former != path.name and f"id: {note.id}\n".encode() in _read(folder / former):
        files.remove(folder / former)
    if _read(path) == raw:
        return False
    with files.replacing(path) as file:
        file.write(raw)
    return True


def _read(path: Path) -> bytes:
    try:
        return files.read_plain(path, BYTES_MAX)
    except OSError:
        return b""
