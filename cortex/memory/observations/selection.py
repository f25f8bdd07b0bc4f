"""Filters and order of observations, over the catalog and the one ranking of memory."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import and_, or_, select

from cortex.memory.find.catalog import Selection
from cortex.memory.find.memory_query import INCLUDED
from cortex.memory.find.recall import FEWEST, Memory
from cortex.memory.find.timeline import notes_of
from cortex.memory.library import Library
from cortex.memory.note import Note, State, read_labels
from cortex.memory.observations.rows import TYPE_OF_KIND, row_of, type_of
from cortex.memory.store.note_store import STATES
from cortex.memory.store.tables import LABEL, NOTE, NOTE_FILE
from cortex.memory.times import read_end, read_moment
from cortex.system.errors import BadRequest

#: notes that read otherwise at the moment `as_of`, as they were
PastNotes = Mapping[int, Note]

#: notes ranked at once for a query with filters, so that all pages come from one ranking
RANKED = 500
#: relative rise of the score of notes of the preferred type
PRIOR = 0.5


@dataclass(frozen=True, slots=True)
class Page:
    """Notes in their order. `total`: of all notes, a lower bound when `more_may_be`."""

    notes: list[Note]
    scores: Mapping[int, float]
    total: int
    more_may_be: bool = False


def split_values(text: str | Sequence[str]) -> tuple[str, ...]:
    """The comma-separated values, each once."""
    values = text.split(",") if isinstance(text, str) else text
    return tuple(dict.fromkeys(value.strip() for value in values if value.strip()))


def choose(library: Library, arguments: Mapping[str, Any], *, every: bool = False) -> Selection:
    """The notes that pass the filters of a call: fields are ANDed, the values of a field ORed;
    `every`: a note must have all of the concepts. Raises BadRequest for an invalid date, and for a
    state that cannot be included.
    """
    types = split_values(arguments["obs_type"] if "obs_type" in arguments else arguments.get("type", ""))
    files = split_values(arguments.get("files") or "")
    concepts = read_labels(split_values(arguments.get("concepts") or ""))
    include = split_values(arguments.get("include") or "")
    if unknown := [state for state in include if state not in INCLUDED]:
        raise BadRequest(f"include is {unknown[0][:40]!r}; it takes {' and '.join(INCLUDED)}.")
    since, until = (
        arguments.get(first) or arguments.get(second) or 0
        for first, second in (("dateStart", "date_start"), ("dateEnd", "date_end"))
    )
    selection = Selection(
        project=library.project,
        labels=concepts,
        since=read_moment(since, "dateStart"),
        until=read_end(until, "dateEnd"),
        states=tuple[State, ...](state for state in STATES if state == "active" or state in include),
        as_of=read_end(arguments.get("as_of") or 0, "as_of"),
        elsewhere=library.elsewhere(),
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


def of_types(memory: Memory, types: Collection[str], past_notes: PastNotes) -> set[int]:
    """Numbers of the notes of any of these types, as stored or as implied by their kind."""
    kinds = [kind for kind, obs_type in TYPE_OF_KIND.items() if obs_type in types]
    unsaid = and_(NOTE.c.obs_type == "", NOTE.c.kind.in_(kinds))
    now = _numbers(memory, select(NOTE.c.number).where(or_(NOTE.c.obs_type.in_(types), unsaid)))
    return now.difference(past_notes).union(
        number for number, note in past_notes.items() if type_of(note) in types
    )


def of_files(memory: Memory, paths: Collection[str], past_notes: PastNotes) -> dict[int, bool]:
    """{number: whether the note modified the file} of the notes about one of the files. A file is
    given as its path, the end of its path, or a folder of it.
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
    """Whether `path` is `wanted`, ends with it, or is in that folder."""
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
    """The notes of the selection that match a query, the best first, or in another `order`; without
    a query all of them, the newest first. `lifted`: notes that get a higher score.
    """
    memory.follow()
    if not query.strip():
        return browse(memory, selection, limit=limit, offset=offset, oldest_first=order == "date_asc")
    past_notes = memory.notes_at(selection.as_of)
    depth = math.ceil((offset + limit + 1) / RANKED) * RANKED
    ranked = memory.rank_notes(query, selection, depth, 1.0, (), past_notes, floor=True)
    ranked = [hit for at, hit in enumerate(ranked) if at < FEWEST or hit.evidence >= 0]
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
    """{"results", "total_count", "query", "next_offset" if there are more}."""
    full = arguments.get("format") == "full"
    rows = [row_of(note, page.scores.get(note.number), full=full) for note in page.notes]
    fields: dict[str, Any] = {"results": rows, "total_count": page.total, "query": query}
    if page.more_may_be:
        fields["total_is_at_least"] = True
    return fields | next_page(arguments, len(rows), page.total)


def next_page(arguments: Mapping[str, Any], count: int, total: int) -> dict[str, int]:
    """{"next_offset"} after a page of `count` rows, {} after the last page."""
    reached: int = arguments.get("offset", 0) + count
    return {"next_offset": reached} if count and reached < total else {}


def unique(notes: Iterable[Note]) -> list[Note]:
    return list({note.number: note for note in notes}.values())
