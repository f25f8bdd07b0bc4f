"""Import, export and back-ups of a memory, and its check."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from cortex.memory.doctor import examine
from cortex.memory.files.bulk_import import Counts
from cortex.memory.files.exchange import HEADER, Record, error_sentence, read_record
from cortex.memory.files.exchange import ArrivingRecord as Arriving
from cortex.memory.files.formats import InputLine, read_notes
from cortex.memory.files.markdown_files import file_name, number_in, render
from cortex.memory.find.recall import Memory
from cortex.memory.library.view import View
from cortex.memory.note import Note
from cortex.memory.store.copies import back_ups
from cortex.memory.transcripts import session_records
from cortex.system import files
from cortex.system.errors import BadRequest, CortexError

#: notes written in one slice
NOTES_SLICE = 50
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
    for at in range(0, len(numbers), NOTES_SLICE):
        for note in memory.store.notes_by_number(numbers[at : at + NOTES_SLICE]):
            if project and note.project != project:
                continue
            edges = memory.links.of(note.number, "outgoing")
            ends = [note.superseded_by, *(edge.target for edge in edges)]
            others = {other.number: other for other in memory.store.notes_by_number(ends)}
            raw = render(note, sorted(edges, key=lambda edge: edge.number), _live(others.values(), project))
            counts[
                "written" if _write_note(folder, note, raw, former.get(note.number, "")) else "unchanged"
            ] += 1
        yield
    return counts


def _live(notes: Iterable[Note], project: str) -> dict[int, Note]:
    """The notes that have a file, too."""
    return {
        note.number: note
        for note in notes
        if note.state != "deleted" and (not project or note.project == project)
    }


def _write_note(folder: Path, note: Note, raw: bytes, former: str) -> bool:
    """Write a note's file, and remove the one of its former name; return whether it changed."""
    path = folder / file_name(note)
    if former and former != path.name and f"id: {note.id}\n".encode() in _read_file(folder / former):
        files.remove(folder / former)
    if _read_file(path) == raw:
        return False
    with files.replacing(path) as file:
        file.write(raw)
    return True


def _read_file(path: Path) -> bytes:
    try:
        return files.read_plain(path, BYTES_MAX)
    except OSError:
        return b""


#: records of a slice: some 50 ms, with their indexes
SLICE = 200
#: seconds of a pause in which only a thread works
SLICE_S = 0.005
#: prefix of `after` in an export for positions in the sessions
_SESSIONS_PREFIX = "said:"
#: refused lines listed in a report
REFUSED_MAX = 100


@dataclass(slots=True)
class Report:
    """The results for all records. `refused`: {"line", "why"} and, for several files, "file"."""

    counts: Counts = field(default_factory=Counts)
    refused_count: int = 0
    refused: list[dict[str, Any]] = field(default_factory=list)

    def refuse(self, line: int, wrong: str, file: str = "") -> None:
        self.refused_count += 1
        if len(self.refused) < REFUSED_MAX:
            self.refused.append({"line": line, "why": wrong} | ({"file": file} if file else {}))

    def answer(self) -> dict[str, Any]:
        return asdict(self.counts) | {"refused_count": self.refused_count, "refused": self.refused}


def import_records(
    memory: Memory,
    lines: Sequence[InputLine],
    project: str,
    report: Report,
    *,
    trusted: bool,
    operation: str = "",
) -> None:
    """Store one slice, durably; refused lines are listed in `report`."""
    arriving: list[Arriving] = []
    for line in lines:
        if line.record is None:
            report.refuse(line.number, line.fault, line.file)
            continue
        try:
            arrival = read_record(line.number, line.record, project, trusted=trusted, now=memory.now())
        except CortexError as error:
            report.refuse(line.number, error_sentence(error), line.file)
        else:
            arriving += [arrival] if arrival else []
    if not arriving:
        return
    done = memory.store.take_in(arriving, [line.record for line in lines], project, operation)
    report.counts.add(done)
    for number, wrong in done.refused:
        report.refuse(number, wrong)


def import_lines(
    memory: Memory, lines: Iterable[InputLine], project: str, *, trusted: bool
) -> Generator[None, None, Report]:
    """Store all lines, slice by slice: each is durable and searchable when the next one begins."""
    report, batch = Report(), list[InputLine]()
    for line in lines:
        batch.append(line)
        if len(batch) == SLICE:
            import_records(memory, batch, project, report, trusted=trusted)
            memory.follow()
            batch = []
            yield
    import_records(memory, batch, project, report, trusted=trusted)
    memory.follow()
    return report


def import_file(memory: Memory, path: Path, project: str, *, trusted: bool) -> Generator[None, None, Report]:
    """As `import_lines`, of a file or folder. Raises the errors of `read_notes`."""
    return import_lines(memory, read_notes(path), project, trusted=trusted)


def export_page(memory: Memory, after: str, limit: int, project: str) -> tuple[list[Record], str]:
    """Return (records, the next `after`, "" at the end): notes first, then edges, then sessions.
    `after` is "" or from the page before. Raises BadRequest for an invalid `after`.
    """
    is_of_sessions = after.startswith(_SESSIONS_PREFIX)
    try:
        first, second = (int(digits) for digits in (after.removeprefix(_SESSIONS_PREFIX) or "0:0").split(":"))
    except ValueError as error:
        raise BadRequest(f"after is {after[:40]!r}; pass the `next` of the page before.") from error
    if is_of_sessions:
        projects = memory.projects.all_of(project)
        with memory.store.database.read() as connection:
            records, following = session_records.take_out(connection, (first, second), limit, projects)
        return records, f"{_SESSIONS_PREFIX}{following[0]}:{following[1]}" if following else ""
    records, following = memory.store.take_out((first, second), limit, project)
    page = [HEADER, *records] if not after else records
    return page, f"{following[0]}:{following[1]}" if following else f"{_SESSIONS_PREFIX}0:0"


def export_file(memory: Memory, path: Path, project: str) -> Generator[None, None, int]:
    """Write all records as lines of JSON, all or nothing; return their number."""
    count, after = 0, ""
    with files.replacing(path, sync=True) as file:
        while True:
            records, after = export_page(memory, after, SLICE, project)
            file.writelines(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)
            count += len(records)
            if not after:
                return count - 1
            yield


class Transfer(View):
    """The operations on files. A method that returns a generator does long work in slices."""

    def import_records(
        self, records: Sequence[Mapping[str, Any] | None], *, trusted: bool = False, operation_id: str = ""
    ) -> dict[str, Any]:
        """Store a slice of an import, durably: {"notes", "edges", "sessions", "exchanges": counts
        of new ones, "known", "merged", "forgotten", "refused_count", "refused": [{"line", "why"}]}.
        """
        report = Report()
        lines = [InputLine(at, record) for at, record in enumerate(records, 1)]  # type: ignore[arg-type]
        import_records(self.memory, lines, self.project, report, trusted=trusted, operation=operation_id)
        self.memory.follow()
        return report.answer()

    def import_file(self, file: str, *, trusted: bool = False) -> Generator[None, None, dict[str, Any]]:
        """As `import_records`, of a file (lines of JSON of an export, memory.json of the reference
        memory server, Markdown with front matter) or a folder of Markdown files, in slices. Unless
        `trusted`, the file's statements about the author do not count. Raises NotFound and
        BadRequest.
        """
        report = yield from import_file(
            self.memory, Path(file).expanduser().absolute(), self.project, trusted=trusted
        )
        return report.answer()

    def export_file(self, file: str) -> Generator[None, None, dict[str, Any]]:
        """Write all records as lines of JSON, in slices."""
        target = Path(file).expanduser().absolute()
        count = yield from export_file(self.memory, target, self.project)
        return {"file": str(target), "records": count}

    def export_markdown(self, folder: str) -> Generator[None, None, dict[str, Any]]:
        """Write each note of the project that is not deleted as a Markdown file, in slices:
        {"folder", "written", "unchanged": counts}.
        """
        target = Path(folder).expanduser().absolute()
        self.memory.follow()
        counts = yield from write_folder(self.memory, target, self.project)
        return {"folder": str(target)} | counts

    def back_up(self) -> Generator[None, None, dict[str, Any]]:
        """Back up the store: {"file": the copy, "back_ups": all copies}; the newest three stay. In
        slices: a thread makes the copy. Raises Damaged when the store is damaged.
        """
        with ThreadPoolExecutor(1) as pool:
            copying = pool.submit(self.memory.store.database.back_up)
            while wait((copying,), SLICE_S).not_done:
                yield
            copy = copying.result()
        return {"file": str(copy), "back_ups": back_ups(copy.parent.parent)}

    def doctor(self, *, mend: bool = True) -> Generator[None, None, dict[str, Any]]:
        """Check the store and its indexes and mend them, in slices; see `doctor.examine`."""
        return examine(self.memory, self.memory.store.database.folder, mend=mend)
