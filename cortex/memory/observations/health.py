"""Observation tools about the memory itself: amounts, and the health of database, indexes, workers,
disk.
"""

import os
import shutil
from dataclasses import replace

import numpy as np
from sqlalchemy import func, select

from cortex.memory.find.catalog import Selection
from cortex.memory.library import Library
from cortex.memory.observations.analysis import count_types
from cortex.memory.observations.rows import Answer, Arguments
from cortex.memory.store.census import visible_to
from cortex.memory.store.copies import back_ups
from cortex.memory.store.database import LOCK
from cortex.memory.store.tables import CHANGE, EDGE, EXCHANGE, NOTE, PATTERN, PATTERN_NOTE, SESSION, UPKEEP
from cortex.memory.times import format_moment
from cortex.memory.transcripts.intake import EXCHANGES
from cortex.memory.upkeep.state import MERGED
from cortex.system.errors import Damaged
from ipc.locks import holder_of

#: points that each fault subtracts from a health of 100
FAULTS = {"damaged": 50, "lag": 10, "embeddings": 15, "no embeddings": 30, "disk": 15, "stale": 5}
#: (least health, status)
STATUSES = ((90, "healthy"), (60, "degraded"), (0, "unhealthy"))
#: warning thresholds: milliseconds without a new observation, share of superseded ones, free bytes
QUIET_MS, STALE_SHARE, FREE_BYTES_MIN = 7 * 86_400_000, 0.2, 500_000_000
#: seconds for a check of the database's tables: the worker answers nothing else meanwhile
GLANCE_S = 0.05
#: channel of the worker that reads sessions
READER = "sessions"


def get_memory_stats(library: Library, _arguments: Arguments) -> Answer:
    memory = library.memory
    count = memory.store.count(library.project)
    tally = memory.queries.tally
    with memory.store.database.read() as connection:
        live = visible_to(library.project) & (NOTE.c.state != "deleted")
        types = count_types(connection, live)
        by_project = select(NOTE.c.project, func.count()).where(live).group_by(NOTE.c.project)
        projects = {project or "(none)": total for project, total in connection.execute(by_project)}
        relations = select(EDGE.c.relation, func.count()).group_by(EDGE.c.relation).order_by(EDGE.c.relation)
        by_relation = {row[0]: row[1] for row in connection.execute(relations)}
        sessions = connection.execute(select(func.count()).select_from(SESSION)).scalar_one()
        exchanges = connection.execute(select(func.count()).select_from(EXCHANGE)).scalar_one()
    return {
        "observations": {
            "total": count["notes"],
            "by_type": dict(types.most_common()),
            "by_project": projects,
            "by_state": count["by_state"],
        },
        "relations": {"total": len(memory.links), "by_type": by_relation},
        "sessions": {"total": sessions, "exchanges": exchanges},
        "vector_count": len(memory.vectors.numbers()),
        "embedding_model": memory.vectors.model,
        "patterns": _patterns(library),
        "search": {
            "total_searches": tally.searches,
            "by_tool": dict(tally.by_tool),
            "avg_latency_ms": round(tally.took_ms / tally.searches, 3) if tally.searches else 0.0,
            "slow_searches": tally.slow,
        },
        "db_bytes": count["bytes"],
    }


def _patterns(library: Library) -> Answer:
    with library.memory.store.database.read() as connection:
        query = select(PATTERN.c.status, func.count(), func.sum(PATTERN.c.confidence)).group_by(
            PATTERN.c.status
        )
        rows = connection.execute(query).all()
        joined = PATTERN_NOTE.join(PATTERN, PATTERN.c.number == PATTERN_NOTE.c.pattern)
        occurrences_query = select(func.count()).select_from(joined).where(PATTERN.c.status != MERGED)
        occurrences = connection.execute(occurrences_query).scalar_one()
    counts = {status: count for status, count, _ in rows}
    total = sum(counts.values())
    sure = sum(confidence for _, _, confidence in rows)
    return {
        "total": total,
        **{status: counts.get(status, 0) for status in ("active", "deprecated", "merged")},
        "total_occurrences": occurrences,
        "avg_confidence": round(sure / total, 4) if total else 0.0,
    }


def check_system_health(library: Library, _arguments: Arguments) -> Answer:
    """The health: 100 less the FAULTS found; other issues are warnings."""
    faults, subsystems = list[str](), {}
    for name, look in (("database", _database), ("vectors", _vectors), ("indexes", _indexes)):
        new_faults, subsystems[name] = look(library)
        faults += new_faults
    subsystems |= {"patterns": _sub(_patterns(library)), "sessions": _sessions(library)}
    subsystems |= {"workers": _workers(library), "upkeep": _upkeep(library)}
    score = max(0, 100 - sum(FAULTS[fault] for fault in faults))
    warnings = [warning for subsystem in subsystems.values() for warning in subsystem["warnings"]]
    return {
        "timestamp": format_moment(library.memory.now()),
        "overall_status": next(name for least, name in STATUSES if score >= least),
        "health_score": score,
        "subsystems": subsystems,
        "recommended_actions": [_ADVICE[fault] for fault in faults] or warnings[:3],
    }


#: fault → advice
_ADVICE = {
    "damaged": "The database is damaged: `cortex memory restore` puts the newest back-up in its place.",
    "lag": "An index is behind: `cortex memory doctor` rebuilds it.",
    "embeddings": "Some notes have no embedding: `cortex memory doctor` makes them.",
    "no embeddings": "No note has an embedding: `cortex memory doctor` makes them.",
    "disk": "The disk is nearly full: free some space.",
    "stale": "More than a fifth is superseded. They cost nothing, but check whether the others are still true.",
}


def _sub(metrics: Answer, warnings: tuple[str, ...] = (), status: str = "") -> Answer:
    state = status or ("warning" if warnings else "ok")
    return {
        "status": state,
        "message": warnings[0] if warnings else "OK.",
        "metrics": metrics,
        "warnings": list(warnings),
    }


def _database(library: Library) -> tuple[list[str], Answer]:
    memory = library.memory
    folder = memory.store.database.folder
    faults, warnings = list[str](), list[str]()
    looked, left = list[str](), list[str]()
    try:
        wrong, looked, left = memory.store.database.glance(GLANCE_S)
    except Damaged as error:
        wrong = [str(error)]
    if wrong:
        faults.append("damaged")
        warnings += wrong[:5]
    selection = Selection(project=library.project, states=("active", "superseded", "archived"))
    numbers = np.flatnonzero(memory.catalog.mask(selection))
    total = len(numbers)
    superseded = int(memory.catalog.mask(replace(selection, states=("superseded",))).sum())
    newest = int(memory.catalog["created"][numbers].max(initial=0))
    if total and superseded / total > STALE_SHARE:
        faults.append("stale")
    if newest and memory.now() - newest > QUIET_MS:
        warnings.append(f"No new observations since {format_moment(newest)}.")
    free = shutil.disk_usage(folder).free
    if free < FREE_BYTES_MIN:
        faults.append("disk")
    copies = back_ups(folder)
    metrics = {
        "observations": total,
        "superseded": superseded,
        "db_bytes": memory.store.database.size(),
        "disk_free_bytes": free,
        "newest": format_moment(newest) if newest else None,
        "back_ups": len(copies),
        "newest_back_up": copies[0]["written_at"] if copies else None,
        "looked_at": {"tables": looked, "next_time": left, "all_of_it": "cortex memory doctor"},
    }
    return faults, _sub(metrics, tuple(warnings), status="error" if wrong else "")


def _vectors(library: Library) -> tuple[list[str], Answer]:
    memory = library.memory
    live = set(memory.catalog.live())
    missing = live - memory.vectors.numbers()
    faults = ["no embeddings" if missing == live else "embeddings"] if missing else []
    metrics = {"embedded": len(live) - len(missing), "missing": len(missing), "model": memory.vectors.model}
    return faults, _sub(metrics, (f"{len(missing)} notes have no embedding.",) if missing else ())


def _indexes(library: Library) -> tuple[list[str], Answer]:
    """The number of changes that each index is behind the store."""
    memory = library.memory
    reached = {"words": memory.words.reached, "vectors": memory.vectors.reached, "edges": memory.reached}
    lag = {index: max(0, memory.store.reached - at.number) for index, at in reached.items()}
    behind = tuple(f"{index} is {count} changes behind." for index, count in lag.items() if count)
    return ["lag"] if behind else [], _sub({"changes": memory.store.reached, "lag": lag}, behind)


def _sessions(library: Library) -> Answer:
    with library.memory.store.database.read() as connection:
        in_scope = (SESSION.c.project == library.project) if library.project else SESSION.c.number > 0
        columns = (func.count(), func.sum(SESSION.c.exchange_count), func.max(SESSION.c.last_at))
        total, exchanges, newest = connection.execute(select(*columns).where(in_scope)).one()
    return _sub(
        {"sessions": total, "exchanges": exchanges or 0, "newest": format_moment(newest) if newest else None}
    )


def _workers(library: Library) -> Answer:
    """The pid of this worker, and its heartbeat, now; the last call of the reader of sessions,
    and the exchanges that are not indexed yet. `lock_owner`: the process that holds the folder's
    lock.
    """
    memory = library.memory
    owner = holder_of(memory.store.database.folder / LOCK)
    with memory.store.database.read() as connection:
        new = (CHANGE.c.what == EXCHANGES) & (CHANGE.c.number > memory.exchange_index.reached.number)
        unsearchable = connection.execute(select(func.count()).select_from(CHANGE).where(new)).scalar_one()
    last_call = memory.queries.tally.last_call_at.get(READER)
    metrics = {
        "memory": {"pid": os.getpid(), "heartbeat": format_moment(memory.now())},
        "sessions": {"heartbeat": format_moment(last_call) if last_call else None, "lag": unsearchable},
        "lock_owner": owner,
        "questions_waiting_for_the_log": memory.queries.waiting,
    }
    wrong = (
        ()
        if owner == os.getpid()
        else (f"The lock of the folder names process {owner}, but {os.getpid()} serves it.",)
    )
    return _sub(metrics, wrong)


def _upkeep(library: Library) -> Answer:
    with library.memory.store.database.read() as connection:
        rows = connection.execute(select(UPKEEP.c.name, UPKEEP.c.last_run, UPKEEP.c.last_duration_ms)).all()
    return _sub(
        {
            name: {"last_run": format_moment(at) if at else None, "last_duration_ms": took}
            for name, at, took in rows
        }
    )
