"""The freshness of recalled notes: moved places, and places that changed since the note was
made.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cortex.ask.code_notes.places import TextLines, TextReader, resolve_anchor
from cortex.ask.query_context import QueryContext
from cortex.system.errors import CortexError
from cortex.terms.budget import first_fitting
from cortex.terms.ids import stem_of, strip_overload

#: places of one answer that are checked; later notes stay unchecked
PLACES_MAX = 64
#: seconds that the graph has to locate a definition
RESOLVE_S = 0.3
#: files of the same name that may be the moved file
NAMESAKES_MAX = 8

Row = dict[str, Any]


@dataclass(slots=True)
class Judgement:
    """The checked places of one note. `changed`: `path:first-last`; `gone`: paths and anchors that
    no longer exist; `moved`: old path → new path.
    """

    changed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)

    def annotate(self, row: Row) -> Row:
        """Return the row with changed, gone and moved places; unchanged when there are none."""
        if self.moved:
            row = row | {"moved": [f"{path} → {now}" for path, now in self.moved.items()]}
            if row.get("files"):
                row["files"] = list(dict.fromkeys(self.moved.get(path, path) for path in row["files"]))
        if self.changed or self.gone:
            row = row | {"stale": True}
            row |= {"changed": self.changed} if self.changed else {}
            row |= {"gone": self.gone} if self.gone else {}
        return row


async def judge_note_rows(context: QueryContext, rows: Sequence[Row]) -> list[Row]:
    """Return the rows of notes, with their places checked."""
    judgements = await judge_notes(context, [row["number"] for row in rows if row.get("files")])
    nothing = Judgement()
    return [judgements.get(row.get("number", 0), nothing).annotate(row) for row in rows]


async def judge_notes(context: QueryContext, numbers: Sequence[int]) -> dict[int, Judgement]:
    """Return number → the checked places of these notes. Memory has fingerprints for notes of this
    project only; other notes, and all when memory fails, are left out.
    """
    if not numbers:
        return {}
    try:
        places_by_note = (await context.remember("spoken", {"notes": list(numbers)}))["notes"]
    except CortexError:
        return {}
    reader = TextReader(context)
    fitting = first_fitting(places_by_note.items(), lambda entry: len(entry[1]["spoken"]), PLACES_MAX)
    return {int(number): await _judge_note(context, reader, note) for number, note in fitting}


async def _judge_note(context: QueryContext, reader: TextReader, note: Mapping[str, Any]) -> Judgement:
    """Check the places of one note; `note`: its files, anchors and fingerprints."""
    judgement, spoken = Judgement(), dict[str, str](note["spoken"])
    paths = await asyncio.to_thread(_current_paths, context, reader, note["files"], spoken)
    judgement.moved = {path: now for path, now in paths.items() if now and now != path}
    anchors = [name for name in note["anchors"] if name in spoken]
    for path in spoken.keys() & paths.keys():
        now = paths[path]
        text = reader.read(now) if now else None
        if text is not None:
            _compare(judgement, now, text, spoken[path])
        elif not context.freshness.is_there(path):
            judgement.gone.append(path)
    for name in anchors:
        prefix = name.partition(":")[0]
        current_paths = [(path, now) for path, now in paths.items() if prefix in (stem_of(path), path)]
        if not any((text := reader.read(now)) and text.find(spoken[name]) for _, now in current_paths):
            await _find_definition(context, reader, judgement, (name, spoken[name]), current_paths)
    return judgement


def _compare(judgement: Judgement, path: str, text: TextLines, spoken: str) -> None:
    if text.full_fingerprint().partition(":")[0] != spoken.partition(":")[0]:
        first, last = text.changed_span(spoken, 1, max(1, len(text.lines)))
        judgement.changed.append(f"{path}:{first}-{last}")


async def _find_definition(
    context: QueryContext,
    reader: TextReader,
    judgement: Judgement,
    anchor: tuple[str, str],
    current_paths: list[tuple[str, str]],
) -> None:
    """Check a definition whose file no longer contains its lines."""
    name, spoken = anchor
    scope = name.partition(":")[2]
    names = [f"{stem_of(now)}:{scope}" for _, now in current_paths if now] or [name]
    meant = await resolve_anchor(context, names[0], RESOLVE_S)
    if meant.definition is None:
        meant = await resolve_anchor(context, scope, RESOLVE_S)
    definition = meant.definition
    if definition is None or strip_overload(definition.id).partition(":")[2] != scope:
        current_path = next((now for _, now in current_paths if now and reader.read(now)), "")
        (judgement.changed if current_path else judgement.gone).append(
            f"{current_path}: {scope} is not there" if current_path else name
        )
        return
    text = reader.read(definition.file)
    for path, now in current_paths:
        if now != definition.file and not context.freshness.is_there(path):
            judgement.moved[path] = definition.file
    if text is None or text.find(spoken):
        return
    if context.freshness.stale([definition.file], context.freshness.current()):
        judgement.changed.append(definition.file)  # its present lines are not known yet
        return
    first, last = text.changed_span(spoken, definition.start, definition.end)
    judgement.changed.append(f"{definition.file}:{first}-{last}")


def _current_paths(
    context: QueryContext, reader: TextReader, paths: Sequence[str], spoken: Mapping[str, str]
) -> dict[str, str]:
    """Return path → the present path of the file; "" for a file that is gone."""
    current = {}
    for path in paths:
        current[path] = path
        if path not in reader.listed and not context.freshness.is_there(path):
            now = context.renames.now(path) if context.renames else ""
            current[path] = (
                now if now in reader.listed else _find_namesake(reader, path, spoken.get(path, ""))
            )
    return current


def _find_namesake(reader: TextReader, path: str, spoken: str) -> str:
    """Return a file with the same name and fingerprint: it was moved without git. "" for none."""
    digest, name = spoken.partition(":")[0], path.rpartition("/")[2]
    same = (
        [candidate for candidate in reader.listed if candidate.rpartition("/")[2] == name] if digest else []
    )
    for candidate in same[:NAMESAKES_MAX]:
        text = reader.read(candidate)
        if text is not None and text.full_fingerprint().partition(":")[0] == digest:
            return candidate
    return ""
