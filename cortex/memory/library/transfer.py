"""Import, export and back-ups of a memory, and its check."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from cortex.memory.doctor import examine
from cortex.memory.files.formats import InputLine
from cortex.memory.files.markdown_export import write_folder
from cortex.memory.files.transfer import SLICE_S, Report, export_file, import_file, import_records
from cortex.memory.library.view import View
from cortex.memory.store.copies import back_ups


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
