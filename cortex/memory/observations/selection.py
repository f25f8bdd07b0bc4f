"""Which observations are asked for, and in which order: filters over the catalog, and the memory's
one ranking.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy import and_, or_, select

from cortex.memory.catalog import Selection
from cortex.memory.library import Library
from cortex.memory.memory_query import INCLUDED
from cortex.memory.note import Note, State, read_labels
from cortex.memory.observations.rows import TYPE_OF_KIND, row_of, type_of
from cortex.memory.recall import Memory
from cortex.memory.store import STATES
from cortex.memory.tables import LABEL, NOTE, NOTE_FILE
from cortex.memory.timeline import notes_of
from cortex.memory.times import read_end, read_moment
from cortex.system.errors import BadRequest

#: notes that read otherwise at the moment that is asked about, as they were
PastNotes = Mapping[int, Note]

#: notes that a question with filters ranks at once: pages are of one ranking
RANKED = 500
#: by how much a score is lifted of what is of the wanted type
PRIOR = 0.5


@dataclass(frozen=True, slots=True)
class Page:
    """A page of notes in their order. `total`: how many there are, at least when `more_may_be`."""

    notes: list[Note]
    scores: Mapping[int, float]
    total: int
    more_may_be: bool = False


def split_values(text: str | Sequence[str]) -> tuple[str, ...]:
    """Values by commas, each once."""
    values = text.split(",") if isinstance(text, str) else text
    return tuple(dict.fromkeys(value.strip() for value in values if value.strip()))


def choose(library: Library, arguments: Mapping[str, Any], *, every: bool = False) -> Selection:
    """The notes that the filters of a call let through: fields are ANDed, values of one ORed;
    `every`: a note has all of the concepts.

    Raises BadRequest for a date that is none, and for a state that cannot be included.
    """
    types = split_values(arguments["obs_type"] if "obs_type" in arguments else arguments.get("type", ""))
    files = split_values(arguments.get("files") or "")
    concepts = read_labels(split_values(arguments.get("concepts") or ""))
    include = split_values(arguments.get("include") or "")
    if unknown := [state for state in include if state not in INCLUDED]:
        raise BadRequest(f"include is {unknown[0][:40]!r}; it takes {' and '.join(INCLUDED)}.")
    since, until = (
        _either(arguments, *names) for names in (("dateStart", "date_start"), ("dateEnd", "date_end"))
    )
    selection = Selection(
        project=library.project,
        labels=concepts,
        since=read_moment(since, "dateStart"),
        until=read_end(until, "dateEnd"),
        states=tuple[State, ...](state for state in STATES if state == "active" or state in include),
        as_of=read_end(arguments.get("as_of") or 0, "as_of"),
    )
    memory, among = library.memory, list[set[int]]()
    past_notes = memory.notes_at(selection.as_of)
    if types:
        among.append(of_types(memory, types, past_notes))
    if files:
        among.append(set(of_files(memory, files, past_notes)))
    if every and len(concepts) > 1:
        among += [_with_label(memory, concept, past_notes) for concept in concepts]
    return replace(selection, among=frozenset(set.intersection(*among))) if among else selection


def _either(arguments: Mapping[str, Any], first: str, second: str) -> float | str:
    return arguments.get(first) or arguments.get(second) or 0


def of_types(memory: Memory, types: Collection[str], past_notes: PastNotes) -> set[int]:
    """The notes of any of the types, said or told by their kind."""
    kinds = [kind for kind, obs_type in TYPE_OF_KIND.items() if obs_type in types]
    unsaid = and_(NOTE.c.obs_type == "", NOTE.c.kind.in_(kinds))
    now = _numbers(memory, select(NOTE.c.number).where(or_(NOTE.c.obs_type.in_(types), unsaid)))
    return now.difference(past_notes).union(
        number for number, note in past_notes.items() if type_of(note) in types
    )


def of_files(memory: Memory, paths: Collection[str], past_notes: PastNotes) -> dict[int, bool]:
    """Notes about one of the files, which are named whole, by the end of their path, or by a folder
    that they are in → whether it was modified.
    """

    def is_wanted(path: str) -> bool:
        return any(matches_path(path, wanted) for wanted in wanted_paths)

    wanted_paths = [path.strip().replace("\\", "/").removeprefix("./").rstrip("/") for path in paths]
    likely = or_(*(NOTE_FILE.c.path.contains(path, autoescape=True) for path in wanted_paths))
    modified: dict[int, bool] = {}
    with memory.store.database.read() as connection:
        for note, path, use in connection.execute(
            select(NOTE_FILE.c.note, NOTE_FILE.c.path, NOTE_FILE.c.use).where(likely)
        ):
            if note not in past_notes and is_wanted(path):
                modified[note] = modified.get(note, False) or use == "modified"
    past_matches = {number: note for number, note in past_notes.items() if any(map(is_wanted, note.files))}
    return modified | {number: any(map(is_wanted, note.modified)) for number, note in past_matches.items()}


def matches_path(path: str, wanted: str) -> bool:
    """Whether a path is the one that is asked for, ends with it, or is in that folder."""
    return (
        path == wanted
        or path.endswith(f"/{wanted}")
        or path.startswith(f"{wanted}/")
        or f"/{wanted}/" in path
    )


def _with_label(memory: Memory, label: str, past_notes: PastNotes) -> set[int]:
    now = _numbers(memory, select(LABEL.c.note).where(LABEL.c.label == label))
    return now.difference(past_notes).union(
        number for number, note in past_notes.items() if label in note.labels
    )


def _numbers(memory: Memory, query: Any) -> set[int]:
    with memory.store.database.read() as connection:
        return set(connection.execute(query).scalars())


def find(
    memory: Memory,
    query: str,
    selection: Selection,
    *,
    limit: int,
    offset: int = 0,
    order: str | None = None,
    lifted: Collection[int] = (),
) -> Page:
    """The notes of the selection that a question is about, the best first, or in another `order`;
    all of them without a question, the newest first. `lifted`: those that count for more.
    """
    memory.follow()
    if not query.strip():
        return browse(memory, selection, limit=limit, offset=offset, oldest_first=order == "date_asc")
    past_notes = memory.notes_at(selection.as_of)
    depth = math.ceil((offset + limit + 1) / RANKED) * RANKED
    ranked = memory.rank_notes(query, selection, depth, 1.0, (), past_notes)
    more = set(lifted)
    scores = {hit.number: hit.score * (1 + PRIOR * (hit.number in more)) for hit in ranked}
    numbers = sorted(scores, key=lambda number: -scores[number])
    if order in ("date_asc", "date_desc"):
        happened = memory.catalog["happened"]
        numbers.sort(key=lambda number: (int(happened[number]), number), reverse=order == "date_desc")
    page = numbers[offset : offset + limit]
    return Page(notes_of(memory, page, past_notes), scores, len(numbers), len(numbers) == depth)


def browse(
    memory: Memory, selection: Selection, *, limit: int, offset: int = 0, oldest_first: bool = False
) -> Page:
    """The notes of the selection by time."""
    past_notes = memory.notes_at(selection.as_of)
    order = memory.catalog.in_time(memory.catalog.mask(selection, past_notes))
    order = order if oldest_first else order[::-1]
    return Page(notes_of(memory, order[offset : offset + limit].tolist(), past_notes), {}, len(order))


def answer(page: Page, arguments: Mapping[str, Any], query: str = "") -> dict[str, Any]:
    """A page as it is answered: {"results", "total_count", "query", "next_offset" where there are
    more}.
    """
    full = arguments.get("format") == "full"
    rows = [row_of(note, page.scores.get(note.number), full=full) for note in page.notes]
    fields: dict[str, Any] = {"results": rows, "total_count": page.total, "query": query}
    if page.more_may_be:
        fields["total_is_at_least"] = True
    return fields | next_page(arguments, len(rows), page.total)


def next_page(arguments: Mapping[str, Any], count: int, total: int) -> dict[str, int]:
    """Where the next page begins after one of `count` rows, while there is one."""
    reached: int = arguments.get("offset", 0) + count
    return {"next_offset": reached} if count and reached < total else {}


def numbers_in(mask: Any) -> list[int]:
    """The notes of a mask."""
    numbers: list[int] = np.flatnonzero(mask).tolist()
    return numbers


def unique(notes: Iterable[Note]) -> list[Note]:
    return list({note.number: note for note in notes}.values())
