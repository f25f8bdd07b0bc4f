"""Import and export in slices, between which other requests are answered."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from cortex.memory.files.bulk_import import Counts
from cortex.memory.files.exchange import HEADER, Record, error_sentence, read_record
from cortex.memory.files.exchange import ArrivingRecord as Arriving
from cortex.memory.files.formats import InputLine, read_notes
from cortex.memory.find.recall import Memory
from cortex.memory.transcripts import session_records
from cortex.system import files
from cortex.system.errors import BadRequest, CortexError

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
