"""Notes that were found, as they stand to the project now: where their places are, and which of
them say something else than when the note was made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cortex.ask.code_notes.fingerprints import Text
from cortex.ask.code_notes.places import Reader, look_up
from cortex.ask.query_context import Asking
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

    def told(self, row: Row) -> Row:
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


async def judge(asking: Asking, rows: Sequence[Row]) -> list[Row]:
    """The rows of notes, those with places as they stand now."""
    judgements = await judgements_of(asking, [row["number"] for row in rows if row.get("files")])
    nothing = Judgement()
    return [judgements.get(row.get("number", 0), nothing).told(row) for row in rows]


async def judgements_of(asking: Asking, numbers: Sequence[int]) -> dict[int, Judgement]:
    """What became of the places of these notes: number → judgement. It is asked of the memory what
    was spoken of, of this project's notes alone; of others, and where that cannot be said, nothing.
    """
    if not numbers:
        return {}
    try:
        told = (await asking.remember("spoken", {"notes": list(numbers)}))["notes"]
    except CortexError:
        return {}
    reader, judgements, left = Reader(asking), dict[int, Judgement](), PLACES_MAX
    for number, about in told.items():
        left -= len(about["spoken"])
        if left < 0:
            break
        judgements[int(number)] = await _judged(asking, reader, about)
    return judgements


async def _judged(asking: Asking, reader: Reader, about: Mapping[str, Any]) -> Judgement:
    """What became of one note's places; `about`: its files, anchors and what they said."""
    made, spoken = Judgement(), dict[str, str](about["spoken"])
    paths = await asyncio.to_thread(_now, asking, reader, about["files"], spoken)
    made.moved = {path: now for path, now in paths.items() if now and now != path}
    anchors = [name for name in about["anchors"] if name in spoken]
    for path in spoken.keys() & paths.keys():
        now = paths[path]
        text = reader.read(now) if now else None
        if text is not None:
            _compare(made, now, text, spoken[path])
        elif not asking.freshness.is_there(path):
            made.gone.append(path)
    for name in anchors:
        own = name.partition(":")[0]
        here = [(path, now) for path, now in paths.items() if own in (stem_of(path), path)]
        if not any((text := reader.read(now)) and text.find(spoken[name]) for _, now in here):
            await _look_for(asking, reader, made, (name, spoken[name]), here)
    return made


def _compare(made: Judgement, path: str, text: Text, spoken: str) -> None:
    if text.all_spoken().partition(":")[0] != spoken.partition(":")[0]:
        first, last = text.changed(spoken, 1, max(1, len(text.lines)))
        made.changed.append(f"{path}:{first}-{last}")


async def _look_for(
    asking: Asking, reader: Reader, made: Judgement, anchor: tuple[str, str], here: list[tuple[str, str]]
) -> None:
    """What became of a definition that does not stand in its file as it did."""
    name, spoken = anchor
    scope = name.partition(":")[2]
    names = [f"{stem_of(now)}:{scope}" for _, now in here if now] or [name]
    meant = await look_up(asking, names[0], RESOLVE_S)
    if meant.found is None:
        meant = await look_up(asking, scope, RESOLVE_S)
    one = meant.found
    if one is None or strip_overload(one.id).partition(":")[2] != scope:
        there = next((now for _, now in here if now and reader.read(now)), "")
        (made.changed if there else made.gone).append(f"{there}: {scope} is not there" if there else name)
        return
    text = reader.read(one.file)
    for path, now in here:
        if now != one.file and not asking.freshness.is_there(path):
            made.moved[path] = one.file
    if text is None or text.find(spoken):
        return
    if asking.freshness.stale([one.file], asking.freshness.current()):
        made.changed.append(one.file)  # where its lines stand now is not known yet
        return
    first, last = text.changed(spoken, one.start, one.end)
    made.changed.append(f"{one.file}:{first}-{last}")


def _now(asking: Asking, reader: Reader, paths: Sequence[str], spoken: Mapping[str, str]) -> dict[str, str]:
    """Path → what the file is called now; "" for one that is gone."""
    found = {}
    for path in paths:
        found[path] = path
        if path not in reader.listed and not asking.freshness.is_there(path):
            now = asking.renames.now(path) if asking.renames else ""
            found[path] = now if now in reader.listed else _namesake(reader, path, spoken.get(path, ""))
    return found


def _namesake(reader: Reader, path: str, spoken: str) -> str:
    """A file of the same name that says what this one did: it was moved, and git was not told."""
    whole, name = spoken.partition(":")[0], path.rpartition("/")[2]
    same = [one for one in reader.listed if one.rpartition("/")[2] == name] if whole else []
    for one in same[:NAMESAKES_MAX]:
        text = reader.read(one)
        if text is not None and text.all_spoken().partition(":")[0] == whole:
            return one
    return ""
