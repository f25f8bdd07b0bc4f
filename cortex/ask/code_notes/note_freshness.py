"""Notes that were found, as they stand to the project now: where their places are, and which of
them say something else than when the note was made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cortex.ask.code_notes.fingerprints import TextLines
from cortex.ask.code_notes.places import TextReader, resolve_anchor
from cortex.ask.query_context import QueryContext
from cortex.system.errors import CortexError
from cortex.terms.ids import stem_of, strip_overload

#: places of one answer that are looked at; notes beyond them are told as they are
PLACES_MAX = 64
#: seconds that the graph has to say where a definition stands now
RESOLVE_S = 0.3
#: files of the same name that may be the one that was moved
NAMESAKES_MAX = 8

Row = dict[str, Any]


@dataclass(slots=True)
class Judgement:
    """What became of the places of one note. `changed`: `path:first-last`; `gone`: that are
    nowhere; `moved`: path then → path now.
    """

    changed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)

    def annotate(self, row: Row) -> Row:
        """The row with what became of its places; as it is when nothing did."""
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
    """The rows of notes, those with places as they stand now."""
    judgements = await judge_notes(context, [row["number"] for row in rows if row.get("files")])
    nothing = Judgement()
    return [judgements.get(row.get("number", 0), nothing).annotate(row) for row in rows]


async def judge_notes(context: QueryContext, numbers: Sequence[int]) -> dict[int, Judgement]:
    """What became of the places of these notes: number → judgement. It is asked of the memory what
    was spoken of, of this project's notes alone; of others, and where that cannot be said, nothing.
    """
    if not numbers:
        return {}
    try:
        places_by_note = (await context.remember("spoken", {"notes": list(numbers)}))["notes"]
    except CortexError:
        return {}
    reader, judgements, left = TextReader(context), dict[int, Judgement](), PLACES_MAX
    for number, note in places_by_note.items():
        left -= len(note["spoken"])
        if left < 0:
            break
        judgements[int(number)] = await _judge_note(context, reader, note)
    return judgements


async def _judge_note(context: QueryContext, reader: TextReader, note: Mapping[str, Any]) -> Judgement:
    """What became of one note's places; `note`: its files, anchors and what they said."""
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
    """What became of a definition that does not stand in its file as it did."""
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
        judgement.changed.append(definition.file)  # where its lines stand now is not known yet
        return
    first, last = text.changed_span(spoken, definition.start, definition.end)
    judgement.changed.append(f"{definition.file}:{first}-{last}")


def _current_paths(
    context: QueryContext, reader: TextReader, paths: Sequence[str], spoken: Mapping[str, str]
) -> dict[str, str]:
    """Path → what the file is called now; "" for one that is gone."""
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
    """A file of the same name that says what this one did: it was moved, and git was not told."""
    digest, name = spoken.partition(":")[0], path.rpartition("/")[2]
    same = (
        [candidate for candidate in reader.listed if candidate.rpartition("/")[2] == name] if digest else []
    )
    for candidate in same[:NAMESAKES_MAX]:
        text = reader.read(candidate)
        if text is not None and text.full_fingerprint().partition(":")[0] == digest:
            return candidate
    return ""
