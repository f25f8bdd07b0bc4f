"""What the tools of observations tell of many notes: quality, trends, importance, questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from statistics import fmean
from typing import Any

import numpy as np
from sqlalchemy import func, select

from cortex.memory.answers import told
from cortex.memory.catalog import Selection
from cortex.memory.library import Library
from cortex.memory.note import Note
from cortex.memory.observations.rows import type_of
from cortex.memory.observations.scoring import (
    CONCEPT_WEIGHTS,
    MOST,
    TIERS,
    legacy_score,
    quality_of,
)
from cortex.memory.observations.selection import browse
from cortex.memory.store import STATES
from cortex.memory.tables import LABEL, NOTE
from cortex.memory.times import say_moment

Given = Mapping[str, Any]
Answer = dict[str, Any]

#: milliseconds of a day
DAY_MS = 86_400_000
#: concepts of a trend, issues and improvements of a report
CONCEPTS_TOP, NAMED_MAX = 10, 20
#: numbers in one statement
_MANY = 10_000


def get_observation_quality(library: Library, given: Given) -> Answer:
    library.memory.follow()
    note = library.memory.store.need(given["id"])
    return {
        "id": note.number,
        "title": told(note.title),
        **quality_of(note),
        "importance_score": note.importance,
        "retrieval_count": note.use_count,
        "is_superseded": note.state == "superseded",
    }


def get_data_quality_report(library: Library, given: Given) -> Answer:
    """Of the newest active notes, on the scale of `get_observation_quality`."""
    memory = library.memory
    memory.follow()
    notes = browse(memory, Selection(project=library.project), limit=given["limit"]).notes
    quality = {note.number: quality_of(note) for note in notes}
    scores = [one["completeness_score"] for one in quality.values()]
    tiers = Counter(one["quality_tier"] for one in quality.values())
    issues = _issues(library, notes)
    advice = Counter(sentence for one in quality.values() for sentence in one["suggestions"])
    worst = sorted(notes, key=lambda note: quality[note.number]["completeness_score"])[:NAMED_MAX]
    return {
        "analyzed": len(notes),
        "project": library.project,
        "quality_summary": {
            "average_score": round(fmean(scores), 3) if scores else 0.0,
            "max_score": MOST,
            "distribution": {name: tiers[name] for _, name in TIERS},
        },
        "issues_found": sum(len(one["ids"]) for one in issues),
        "top_issues": issues,
        "improvements": [
            {
                "id": note.number,
                "title": told(note.title),
                "completeness_score": quality[note.number]["completeness_score"],
                "suggestions": quality[note.number]["suggestions"],
            }
            for note in worst
            if quality[note.number]["suggestions"]
        ],
        "recommendations": [
            f"{sentence} ({count} of {len(notes)})" for sentence, count in advice.most_common(5)
        ],
    }


def _issues(library: Library, notes: Sequence[Note]) -> list[Answer]:
    """What is wrong, with the notes that it is wrong with."""
    memory, now = library.memory, library.memory.now()
    embedded = memory.vectors.numbers()
    titles = Counter(" ".join(note.title.casefold().split()) for note in notes)
    found = {
        "same title as another": [
            note for note in notes if titles[" ".join(note.title.casefold().split())] > 1
        ],
        "no embedding": [note for note in notes if note.number not in embedded],
        "related to nothing": [note for note in notes if not memory.links.of(note.number)],
        "no longer valid, and active": [note for note in notes if 0 < note.valid_until < now],
    }
    return [
        {"issue": issue, "count": len(some), "ids": [note.number for note in some]}
        for issue, some in sorted(found.items(), key=lambda one: -len(one[1]))
        if some
    ]


def get_temporal_trends(library: Library, given: Given) -> Answer:
    """Of all notes that are not deleted, by when they happened; every bucket is there."""
    memory, days, by = library.memory, given["days"], given["group_by"]
    memory.follow()
    now = datetime.fromtimestamp(memory.now() / 1000, UTC)
    start = (now - timedelta(days=days - 1)).replace(hour=0, minute=0, second=0, microsecond=0)
    states = tuple(state for state in STATES if state != "deleted")
    since = int(start.timestamp() * 1000)
    chosen = Selection(project=library.project, states=states, since=since, until=memory.now())
    numbers = np.flatnonzero(memory.catalog.mask(chosen))
    moments = memory.catalog["happened"][numbers].tolist()
    spread = dict.fromkeys(_buckets(start, days, by), 0)
    for moment in moments:
        spread[_bucket(datetime.fromtimestamp(moment / 1000, UTC), by)] += 1
    types, concepts = _types_and_concepts(library, numbers.tolist())
    peak = max(spread, key=lambda bucket: spread[bucket])
    return {
        "period": {
            "start": say_moment(since),
            "end": say_moment(memory.now()),
            "days": days,
            "group_by": by,
        },
        "summary": {
            "total_observations": len(moments),
            "daily_average": round(len(moments) / days, 2),
            "peak_period": peak if moments else None,
            "peak_count": spread[peak] if moments else 0,
        },
        "distribution": spread,
        "type_distribution": dict(types.most_common()),
        "top_concepts": [
            {"concept": name, "count": count} for name, count in concepts.most_common(CONCEPTS_TOP)
        ],
    }


def _buckets(start: datetime, days: int, by: str) -> list[str]:
    if by == "hour_of_day":
        return [f"{hour:02}" for hour in range(24)]
    return list(dict.fromkeys(_bucket(start + timedelta(days=at), by) for at in range(days)))


def _bucket(moment: datetime, by: str) -> str:
    """2026-01-31, 2026-W05 or 17, in UTC."""
    if by == "hour_of_day":
        return f"{moment.hour:02}"
    if by == "week":
        year, week, _ = moment.isocalendar()
        return f"{year}-W{week:02}"
    return moment.strftime("%Y-%m-%d")


def _types_and_concepts(library: Library, numbers: Sequence[int]) -> tuple[Counter[str], Counter[str]]:
    types, concepts = Counter[str](), Counter[str]()
    with library.memory.store.database.read() as connection:
        for at in range(0, len(numbers), _MANY):
            some = numbers[at : at + _MANY]
            kinds = select(NOTE.c.kind, NOTE.c.obs_type, func.count()).where(NOTE.c.number.in_(some))
            for kind, obs_type, count in connection.execute(kinds.group_by(NOTE.c.kind, NOTE.c.obs_type)):
                types[type_of(Note("", kind=kind, obs_type=obs_type)) or kind] += count
            labels = select(LABEL.c.label, func.count()).where(LABEL.c.note.in_(some)).group_by(LABEL.c.label)
            for label, count in connection.execute(labels.order_by(LABEL.c.label)):
                concepts[label] += count
    return types, concepts


def get_observation_scoring_breakdown(library: Library, given: Given) -> Answer:
    memory = library.memory
    memory.follow()
    note = memory.store.need(given["id"])
    scoring = legacy_score(note, memory.now())
    return {
        "observation": {
            "id": note.number,
            "title": told(note.title),
            "obs_type": type_of(note),
            "created_at": say_moment(note.created_at),
            "importance_score": note.importance,
            "relevance": note.relevance,
        },
        "scoring": scoring,
        "legacy_score": scoring["final_score"],
        "explanation": {
            "final_score": "core + feedback + concept + retrieval + floor; nothing is ranked by it",
            "core_score": "type weight x recency decay, which halves in 7 days",
            "feedback_contrib": f"0.30 x what people think of it ({note.feedback})",
            "concept_contrib": "0.20 x the weights of its concepts",
            "retrieval_contrib": f"0.015 x log2(1 + {note.use_count} times asked for)",
            "floor_contrib": "what is missing to the least score, 0.01",
            "importance_score": "given, or raised and lowered by hand; it never decays",
            "relevance": "derived from age, use, relations and importance by upkeep",
        },
    }


def analyze_observation_importance(library: Library, given: Given) -> Answer:
    memory, limit = library.memory, given["limit"]
    memory.follow()
    mask = memory.catalog.mask(Selection(project=library.project))
    numbers = np.flatnonzero(mask)
    uses = memory.catalog["uses"][numbers]
    feedback = _feedback(library, numbers.tolist())
    importance = memory.catalog["importance"][numbers].astype(np.float64)
    answer: Answer = {
        "project": library.project,
        "feedback_stats": {
            "total": len(numbers),
            "positive": feedback[1],
            "negative": feedback[-1],
            "neutral": len(numbers) - feedback[1] - feedback[-1],
            "avg_score": round(float(importance.mean()), 4) if len(numbers) else 0.0,
            "avg_retrieval": round(float(uses.mean()), 4) if len(numbers) else 0.0,
        },
    }
    if given["include_top_scored"]:
        answer["top_scoring_observations"] = _told(library, memory.catalog.best(mask, limit))
    if given["include_most_retrieved"]:
        order = np.lexsort((-numbers, -uses))[:limit]
        answer["most_retrieved_observations"] = _told(library, numbers[order[uses[order] > 0]].tolist())
    if given["include_concept_weights"]:
        answer["concept_weights"] = dict(CONCEPT_WEIGHTS)
    unused = int((uses == 0).sum())
    return answer | {"insights": _insights(len(numbers), unused, feedback)}


def _feedback(library: Library, numbers: Sequence[int]) -> Counter[int]:
    counts = Counter[int]()
    with library.memory.store.database.read() as connection:
        for at in range(0, len(numbers), _MANY):
            query = select(NOTE.c.feedback, func.count()).where(NOTE.c.number.in_(numbers[at : at + _MANY]))
            for value, count in connection.execute(query.group_by(NOTE.c.feedback)):
                counts[value] += count
    return counts


def _told(library: Library, numbers: Sequence[int]) -> list[Answer]:
    return [
        {
            "id": note.number,
            "title": told(note.title),
            "obs_type": type_of(note),
            "importance_score": note.importance,
            "retrieval_count": note.use_count,
        }
        for note in library.memory.store.notes_by_number(numbers)
    ]


def _insights(total: int, unused: int, feedback: Mapping[int, int]) -> list[str]:
    if not total:
        return ["Nothing is remembered of this project yet."]
    said = [f"{unused} of {total} observations were never asked for by id."]
    if feedback.get(-1):
        said.append(
            f"{feedback[-1]} were found to be of no use: look at them, and mark what is wrong as superseded."
        )
    return said


def analyze_search_patterns(library: Library, given: Given) -> Answer:
    memory, days = library.memory, given["days"]
    now = memory.now()
    since = now - days * DAY_MS
    asked = memory.queries.told(library.project, since, given["top_n"], now)
    vain = asked["zero_result_queries"]
    insights = [f"{one['query']!r} found nothing {one['zero_result_count']} times." for one in vain[:3]]
    if not asked["total_searches"]:
        insights = ["Nothing was asked in this time."]
    return {
        "period": {"start": say_moment(since), "end": say_moment(now), "days": days},
        **asked,
        "insights": insights,
    }
