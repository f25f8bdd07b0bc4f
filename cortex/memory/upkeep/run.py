"""Upkeep runs, on request and by the clock: consolidation cycles, maintenance, suggestions,
statistics. One run at a time; requests are answered between any two slices.
"""

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from sqlalchemy import select

from cortex.memory.answers import title_rows
from cortex.memory.find.catalog import Selection
from cortex.memory.find.newer.successors import text_of
from cortex.memory.find.recall import Memory
from cortex.memory.library import Library
from cortex.memory.store.note_store import STATES
from cortex.memory.store.tables import NOTE
from cortex.memory.times import format_moment
from cortex.memory.transcripts.proposing.proposals import expire
from cortex.memory.upkeep import fading
from cortex.memory.upkeep.duplicates import groups, judge, likenesses, to_read
from cortex.memory.upkeep.fading import fade_edges
from cortex.memory.upkeep.linking import relate_changed
from cortex.memory.upkeep.pattern_steps import find_patterns, pattern_rows
from cortex.memory.upkeep.state import (
    CYCLE,
    DECAY,
    EDGES,
    FORGETTING,
    MAINTENANCE,
    PATTERNS,
    RELATIONS,
    read_mark,
    write_mark,
)
from cortex.memory.upkeep.traits import Trait
from cortex.memory.upkeep.work import Steps, Work, remaining
from cortex.system.arrays import Array
from cortex.system.errors import BadRequest, CortexError
from cortex.terms.bounds import check_page

Cycle = Literal["all", "decay", "associations", "forgetting"]
Long = Generator[None, None, dict[str, Any]]

#: job → its function
STEPS: Mapping[str, Callable[[Work], Steps]] = {
    RELATIONS: relate_changed,
    PATTERNS: find_patterns,
    EDGES: fade_edges,
    DECAY: fading.decay,
    FORGETTING: fading.forget,
}
#: cycle → its jobs in order: fading depends on relations
CYCLES: Mapping[str, tuple[str, ...]] = {
    "all": tuple(STEPS),
    "associations": (RELATIONS, PATTERNS),
    "decay": (EDGES, DECAY),
    "forgetting": (FORGETTING,),
}
#: jobs that continue from their cursor
_FOLLOWING = (RELATIONS, PATTERNS)
#: newest notes that are compared for suggestions; how many in one slice
COMPARED, ROWS = 1_000, 50
#: pairs of notes that the replacement model reads in one slice, in both directions (60 ms); seconds
#: after which it begins no other: a call has ten, and the next one reads on, for it remembers these
READ_EACH, READ_S = 4, 4.0
#: bounds of arguments
SIMILARITY_MIN, SIMILARITY_MAX, GROUPS_MAX, PATTERNS_MAX = 0.5, 1.0, 50, 100
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS


def run_consolidation(library: Library, *, cycle: Cycle = "all", dry_run: bool = False) -> Long:
    """Relate changed notes, find patterns, let relevance fade, and forget if that is switched on;
    at most 500 notes and 2 000 edges a run. Return {"status", "cycle", "dry_run", "duration_ms",
    "changes", "remaining", "steps": {job: counts}}, and the disputed and archived notes: a disputed
    note stays active, and the row says how to close it. Raises BadRequest.
    """
    if cycle not in CYCLES:
        raise BadRequest(f"cycle is {cycle!r}; it is one of {', '.join(CYCLES)}.")
    return _cycle(library.memory, cycle, library.project, dry_run=dry_run)


def _cycle(memory: Memory, cycle: str, project: str, *, dry_run: bool) -> Long:
    began, steps = time.monotonic(), dict[str, dict[str, int]]()
    with _running(memory, cycle) as free:
        if not free:
            return _busy(memory)
        memory.follow()
        work = Work(memory, memory.now(), dry_run)
        if not dry_run:
            with memory.store.database.write() as connection:
                expire(connection, work.now)
        for name in CYCLES[cycle]:
            work.counts.clear()
            yield from STEPS[name](work)
            steps[name] = dict(work.counts)
            yield
        left = [remaining(work, name) for name in CYCLES[cycle] if name in _FOLLOWING]
        took = round((time.monotonic() - began) * 1000, 1)
        work.keep(CYCLE, last_run=work.now, last_duration_ms=took)
    return {
        "status": "completed",
        "cycle": cycle,
        "dry_run": dry_run,
        "duration_ms": took,
        "changes": _changes(steps),
        "remaining": max(left, default=0),
        "steps": steps,
        **_visible_details(work, project),
    }


def _visible_details(work: Work, project: str) -> dict[str, list[dict[str, Any]]]:
    """The changed notes that the project sees."""
    mask = work.memory.catalog.mask(Selection(project=project, states=STATES))
    return {change: [row for row in rows if mask[row["number"]]] for change, rows in work.details.items()}


def _changes(steps: Mapping[str, Mapping[str, int]]) -> int:
    """The number of changes. An edge counts once, without its count by relation."""
    counted = frozenset("edges removed patterns joined merged changed faded archived".split())
    return sum(count for numbers in steps.values() for name, count in numbers.items() if name in counted)


@contextlib.contextmanager
def _running(memory: Memory, what: str) -> Iterator[bool]:
    """Yield whether the run may start: no other upkeep runs, here or elsewhere in the team."""
    if memory.upkeep.running:
        yield False
        return
    with memory.store.database.alone() as free:
        memory.upkeep.running = what if free else ""
        try:
            yield free
        finally:
            memory.upkeep.running = ""


def _busy(memory: Memory) -> dict[str, Any]:
    running = memory.upkeep.running or "on another machine"
    return {"status": "running", "message": f"Upkeep ({running}) is running; try again later."}


def trigger_maintenance(library: Library, *, dry_run: bool = False) -> Long:
    """Delete notes beyond the age in the settings, delete old queries from their log, and optimise
    the database: {"status", "message", "dry_run", "duration_ms", "deleted_count",
    "queries_pruned"}, and the deleted notes. The first time after a change of memory.retention_days
    or memory.cleanup_superseded, deletions by age are only listed; the second call carries them
    out.
    """
    return _maintain(library.memory, library.project, dry_run=dry_run)


def _maintain(memory: Memory, project: str, *, dry_run: bool, by_clock: bool = False) -> Long:
    settings, began = memory.upkeep.settings, time.monotonic()
    wanted = [settings.retention_days, settings.cleanup_superseded]
    with _running(memory, MAINTENANCE) as free:
        if not free:
            return _busy(memory)
        work = Work(memory, memory.now(), dry_run)
        state = dict(work.mark(MAINTENANCE).state)
        was_shown = state.get("shown") == wanted or not any(wanted)
        if was_shown or not by_clock:
            deleting = Work(memory, work.now, dry_run=dry_run or not was_shown)
            yield from fading.retain(deleting, settings.retention_days)
            if settings.cleanup_superseded:
                yield from fading.clean(deleting)
            work.counts["deleted"], work.details = deleting.counts["deleted"], deleting.details
        yield from fading.prune_queries(work)
        yield from fading.optimise(work)
        done = work.counts["deleted"] if was_shown and not dry_run else 0
        state |= {
            "shown": wanted if not by_clock else state.get("shown", [0, False]),
            "cleaned": state.get("cleaned", 0) + done,
            "optimizes": state.get("optimizes", 0) + 1,
        }
        took = round((time.monotonic() - began) * 1000, 1)
        if dry_run:
            _show(work, state)
        work.keep(MAINTENANCE, state=state, last_run=work.now, last_duration_ms=took)
    return {
        "status": "completed" if was_shown and not dry_run else "shown",
        "message": _say(work, was_shown=was_shown, dry_run=dry_run),
        "dry_run": dry_run or not was_shown,
        "duration_ms": took,
        "deleted_count": work.counts["deleted"],
        "queries_pruned": work.counts["queries"],
        **_visible_details(work, project),
    }


def _show(work: Work, state: Mapping[str, Any]) -> None:
    """Store of a dry run only that its list was shown."""
    new_state = dict(work.mark(MAINTENANCE).state) | {"shown": state["shown"]}
    with work.memory.store.database.write() as connection:
        write_mark(connection, MAINTENANCE, state=new_state)


def _say(work: Work, *, was_shown: bool, dry_run: bool) -> str:
    count = work.counts["deleted"]
    if dry_run or not was_shown:
        more = "" if dry_run else " Call again to do it."
        return f"{count} notes would be marked as deleted.{more}"
    return f"{count} notes were marked as deleted; the store was optimised."


def get_maintenance_stats(library: Library) -> dict[str, Any]:
    """The settings of upkeep, its last runs with their duration, and totals."""
    memory = library.memory
    settings = memory.upkeep.settings
    with memory.store.database.read() as connection:
        marks = {name: read_mark(connection, name) for name in (MAINTENANCE, CYCLE)}
    mark, work = marks[MAINTENANCE], Work(memory, memory.now())
    return {
        "enabled": settings.upkeep_hours > 0,
        "interval_hours": settings.upkeep_hours,
        "retention_days": settings.retention_days,
        "cleanup_stale": settings.cleanup_superseded,
        "forgetting": settings.forgetting,
        "last_run": format_moment(mark.last_run) if mark.last_run else None,
        "last_duration_ms": mark.last_duration_ms,
        "total_cleaned_obs": mark.state.get("cleaned", 0),
        "total_optimizes": mark.state.get("optimizes", 0),
        "running": bool(memory.upkeep.running),
        "consolidation": {
            "last_run": format_moment(marks[CYCLE].last_run) if marks[CYCLE].last_run else None,
            "last_duration_ms": marks[CYCLE].last_duration_ms,
            "remaining": {name: remaining(work, name) for name in _FOLLOWING},
        },
    }


def suggest_consolidations(
    library: Library, *, min_similarity: float = 0.8, limit: int = 10, offset: int = 0
) -> Long:
    """Groups of notes among the newest 1 000 that say the same; nothing is changed. {"groups":
    [{"primary", "similar", "avg_similarity", "reason"}], "total_analyzed", "groups_found",
    "min_similarity", "recommendation", "next_offset" if there are more}. Raises BadRequest.
    """
    if not SIMILARITY_MIN <= min_similarity <= SIMILARITY_MAX:
        raise BadRequest(f"min_similarity is {min_similarity}; it must be between {SIMILARITY_MIN} and 1.")
    check_page(limit, GROUPS_MAX, offset)
    return _suggest(library.memory, library.project, min_similarity, slice(offset, offset + limit))


def _suggest(memory: Memory, project: str, least: float, page: slice) -> Long:
    memory.follow()
    mask = memory.catalog.mask(Selection(project=project))
    work = Work(memory, memory.now(), dry_run=True)
    numbers = [int(number) for number in memory.catalog.in_time(mask)[-COMPARED:]]
    yield
    by_number = yield from work.traits(numbers)
    traits, trait_numbers = list(by_number.values()), list(by_number)
    likeness = likenesses(traits, (yield from _compare(memory.vectors.against, trait_numbers)))
    yield
    if (meaning := memory.meaning) is not memory.vectors:
        with contextlib.suppress(CortexError):  # then words and the built-in model decide
            near = yield from _compare(meaning.likenesses, trait_numbers)
            yield from _read_repeated(memory, traits, likeness, near, least)
    with memory.store.database.moment():
        memory.follow()  # of notes that were erased, merged or closed meanwhile
        present = memory.catalog.in_time(memory.catalog.mask(Selection(project=project)))
        gone = ~np.isin(trait_numbers, present)
        likeness[gone], likeness[:, gone] = 0, 0
        clusters = groups(traits, likeness, least)
        page_groups = clusters[page]
        notes = memory.store.notes_by_number(
            [
                number
                for group in page_groups
                for number in (group.primary, *(other for other, _ in group.similar))
            ]
        )
    titles = {title_row["number"]: title_row for title_row in title_rows(notes)}
    return {
        "groups": [
            {
                "primary": titles[group.primary],
                "similar": [
                    titles[other] | {"similarity": round(value, 3)} for other, value in group.similar
                ],
                "avg_similarity": round(group.mean, 3),
                "reason": f"{len(group.similar) + 1} notes that say nearly the same",
            }
            for group in page_groups
        ],
        "total_analyzed": len(traits),
        "groups_found": len(clusters),
        "min_similarity": least,
        "recommendation": "Check each group; merge_observations joins two notes and keeps the facts of both."
        if clusters
        else "No two notes say the same.",
    } | ({"next_offset": page.stop} if page.stop < len(clusters) else {})


def _compare(
    compare: Callable[[Sequence[int], Sequence[int]], Array], numbers: Sequence[int]
) -> Generator[None, None, Array]:
    """float32 [n, n]: each of the notes compared with all, in slices."""
    rows = [np.zeros((0, len(numbers)), np.float32)]
    for at in range(0, len(numbers), ROWS):
        rows.append(compare(numbers[at : at + ROWS], numbers))
        yield
    return np.concatenate(rows)


def _read_repeated(
    memory: Memory, traits: Sequence[Trait], likeness: Array, near: Array, least: float
) -> Steps:
    """Have the replacement model read the pairs that are alike, and set their likeness to what it
    says, a few in each step, for READ_S.
    """
    pairs, until = to_read(traits, likeness, near, least), time.monotonic() + READ_S
    notes = {
        note.number: text_of(note)
        for note in memory.store.notes_by_number(sorted({traits[at].number for pair in pairs for at in pair}))
    }
    for first in range(0, len(pairs), READ_EACH):
        if time.monotonic() > until:
            return
        some = [
            pair
            for pair in pairs[first : first + READ_EACH]
            if all(traits[at].number in notes for at in pair)
        ]
        forward = [(notes[traits[old].number], notes[traits[new].number]) for old, new in some]
        both = memory.replacements.repetitions([*forward, *((new, old) for old, new in forward)])
        for (old, new), forth, back in zip(some, both, both[len(some) :], strict=False):
            value = judge(float(likeness[old, new]), least, forth, back)
            likeness[old, new] = likeness[new, old] = value
        yield


def get_patterns(
    library: Library,
    *,
    type: str = "",  # noqa: A002 - its name on the wire
    query: str = "",
    status: str = "active",
    limit: int = 20,
    offset: int = 0,
) -> dict[str, Any]:
    """{"patterns", "count", "total_count", "next_offset" if there are more}: patterns of at least
    three notes from two sessions that match all arguments. Raises BadRequest.
    """
    check_page(limit, PATTERNS_MAX, offset)
    with library.memory.store.database.read() as connection:
        matching = pattern_rows(connection, project=library.project, kind=type, query=query, status=status)
    page, reached = matching[offset : offset + limit], offset + limit
    answer = {"patterns": page, "count": len(page), "total_count": len(matching)}
    return answer | ({"next_offset": reached} if reached < len(matching) else {})


def due_upkeep(memory: Memory) -> Long | None:
    """The run that is due by the clock: consolidation if notes changed since the last one, or after
    a day; with maintenance once a day. None if nothing is due.
    """
    settings = memory.upkeep.settings
    if not settings.upkeep_hours or memory.upkeep.running:
        return None
    with memory.store.database.read() as connection:
        cycle, maintenance = read_mark(connection, CYCLE), read_mark(connection, MAINTENANCE)
        has_notes = connection.execute(select(NOTE.c.number).limit(1)).first() is not None
    now = memory.now()
    work = Work(memory, now)
    since = now - cycle.last_run
    if not has_notes or since < min(settings.upkeep_hours * _HOUR_MS, _DAY_MS):
        return None
    if since < _DAY_MS and not remaining(work, RELATIONS):
        return None
    return _by_clock(memory, maintain=now - maintenance.last_run >= _DAY_MS)


def _by_clock(memory: Memory, *, maintain: bool) -> Long:
    answer = yield from _cycle(memory, "all", "", dry_run=False)
    if maintain:
        yield from _maintain(memory, "", dry_run=False, by_clock=True)
    return answer
