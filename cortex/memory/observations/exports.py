"""Export of observations, page by page: as JSON, as lines that an import reads, as Markdown."""

from typing import Any

import orjson
import yaml

from cortex.memory.files.exchange import HEADER, note_record
from cortex.memory.find.timeline import notes_of
from cortex.memory.library import Library
from cortex.memory.note import Note
from cortex.memory.observations.rows import Arguments, record_of, type_of
from cortex.memory.observations.selection import choose
from cortex.memory.times import format_moment
from cortex.system.errors import BadRequest
from cortex.terms.budget import TOKEN_BYTES, Budget

#: bytes of the fields around the observations of a page
_ENVELOPE = 128


def export_observations(library: Library, arguments: Arguments) -> dict[str, Any]:
    """{"format", "count", "observations" or "data", "next_cursor" if there are more}, the oldest
    first; `left_out`: ids of observations too large for a page. Raises BadRequest for an invalid
    cursor.
    """
    memory, form = library.memory, arguments["format"]
    mask = memory.catalog.mask(choose(library, arguments))
    after = _after(arguments["cursor"])
    numbers = [number for number in mask.nonzero()[0].tolist() if number > after]
    page = notes_of(memory, numbers[: arguments["limit"]], {})
    head = "" if form != "jsonl" or arguments["cursor"] else f"{orjson.dumps(HEADER).decode()}\n"
    most = arguments["max_tokens"] * TOKEN_BYTES - _ENVELOPE
    most -= len(orjson.dumps(head))
    written, left_out, budget, last = list[Any](), list[int](), Budget(most), after
    for note in page:
        entry = _render(library, note, form)
        size = len(orjson.dumps(entry)) + 1
        is_small = size <= most
        if not budget.take(size if is_small else len(str(note.number)) + 1):
            break
        if is_small:
            written.append(entry)
        else:
            left_out.append(note.number)
        last = note.number
    answer: dict[str, Any] = {"format": form, "count": len(written)}
    answer |= {"observations": written} if form == "json" else {"data": head + "".join(written)}
    answer |= {"left_out": left_out} if left_out else {}
    return answer | ({"next_cursor": str(last)} if numbers and last != numbers[-1] else {})


def _after(cursor: str) -> int:
    if not cursor:
        return 0
    if not (cursor.isdecimal() and len(cursor) < 19):
        raise BadRequest(f"cursor is {cursor[:40]!r}; pass the `next_cursor` of the page before.")
    return int(cursor)


def _render(library: Library, note: Note, form: str) -> dict[str, Any] | str:
    if form == "json":
        return record_of(note)
    if form == "jsonl":
        return orjson.dumps(note_record(note, library.memory.store.revisions(note.number))).decode() + "\n"
    return markdown_of(note)


def markdown_of(note: Note) -> str:
    """A page with front matter; saved as a file, it can be imported."""
    front_matter = {
        "id": note.id,
        "title": note.title,
        "kind": note.kind,
        "type": type_of(note),
        "tags": list(note.labels),
        "files": list(note.files),
        "facts": list(note.facts),
        "importance": note.importance,
        "scope": note.scope,
        "created_at": format_moment(note.created_at),
    }
    if note.occurred_at:
        front_matter["occurred_at"] = format_moment(note.occurred_at)
    front = yaml.safe_dump(front_matter, sort_keys=False, allow_unicode=True, width=1_000)
    return f"---\n{front}---\n# {note.title}\n\n{note.body}\n\n"
