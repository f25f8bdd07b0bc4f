"""Observation tools about many notes: quality, trends, importance, search queries."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from statistics import fmean

import numpy as np
from sqlalchemy import ColumnElement, Connection, func, select

from cortex.memory.answers import visible_text
from cortex.memory.find.catalog import Selection
from cortex.memory.library import Library
from cortex.memory.note import Note
from cortex.memory.observations.rows import Answer, Arguments, type_of
from cortex.memory.observations.scoring import CONCEPT_WEIGHTS, MOST, TIERS, legacy_score, quality_of
from cortex.memory.observations.selection import browse
from cortex.memory.store.note_store import STATES
from cortex.memory.store.tables import LABEL, NOTE
from cortex.memory.times import format_moment

#: milliseconds of a day
DAY_MS = 86_400_000
#: concepts in a trend; issues and improvements in a report
CONCEPTS_TOP, NAMED_MAX = 10, 20
#: numbers in one statement
_MANY = 10_000


def get_observation_quality(library: Library, arguments: Arguments) -> Answer:
    note = library.memory.store.need(arguments["id"])
    return {
        "id": note.number,
        "title": visible_text(note.title),
        **quality_of(note),
        "importance_score": note.importance,
        "retrieval_count": note.use_count,
        "is_superseded": note.state == "superseded",
    }


def get_data_quality_report(library: Library, arguments: Arguments) -> Answer:
    """A report on the newest active notes, on the scale of `get_observation_quality`."""
    memory = library.memory
    notes = browse(memory, Selection(project=library.project), limit=arguments["limit"]).notes
    quality = {note.number: quality_of(note) for note in notes}
    scores = [rating["completeness_score"] for rating in quality.values()]
    tiers = Counter(rating["quality_tier"] for rating in quality.values())
    issues = _issues(library, notes)
    advice = Counter(sentence for rating in quality.values() for sentence in rating["suggestions"])
    worst = sorted(notes, key=lambda note: quality[note.number]["completeness_score"])[:NAMED_MAX]
    return {
        "analyzed": len(notes),
        "project": library.project,
        "quality_summary": {
            "average_score": round(fmean(scores), 3) if scores else 0.0,
            "max_score": MOST,
            "distribution": {name: tiers[name] for _, name in TIERS},
        },
        "issues_found": sum(len(issue["ids"]) for issue in issues),
        "top_issues": issues,
        "improvements": [
            {
                "id": note.number,
                "title": visible_text(note.title),
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
    """Issues with the numbers of the notes that have them."""
    memory, now = library.memory, library.memory.now()
    embedded = memory.vectors.numbers()
    titles = Counter(" ".join(note.title.casefold().split()) for note in notes)
    notes_by_issue = {
        "same title as another": [
            note for note in notes if titles[" ".join(note.title.casefold().split())] > 1
        ],
        "no embedding": [note for note in notes if note.number not in embedded],
        "related to nothing": [note for note in notes if not memory.links.of(note.number)],
        "no longer valid, and active": [note for note in notes if 0 < note.valid_until < now],
    }
    return [
        {"issue": issue, "count": len(affected), "ids": [note.number for note in affected]}
        for issue, affected in sorted(notes_by_issue.items(), key=lambda entry: -len(entry[1]))
        if affected
    ]


def get_temporal_trends(library: Library, arguments: Arguments) -> Answer:
    """Counts of notes that are not deleted, by when they happened; empty buckets, too."""
    memory, days, by = library.memory, arguments["days"], arguments["group_by"]
    now = datetime.fromtimestamp(memory.now() / 1000, UTC)
    start = (now - timedelta(days=days - 1)).replace(hour=0, minute=0, second=0, microsecond=0)
    states = tuple(state for state in STATES if state != "deleted")
    since = int(start.timestamp() * 1000)
    selection = Selection(project=library.project, states=states, since=since, until=memory.now())
    numbers = np.flatnonzero(memory.catalog.mask(selection))
    moments = memory.catalog["happened"][numbers].tolist()
    distribution = dict.fromkeys(_buckets(start, days, by), 0)
    for moment in moments:
        distribution[_bucket(datetime.fromtimestamp(moment / 1000, UTC), by)] += 1
    types, concepts = _types_and_concepts(library, numbers.tolist())
    peak = max(distribution, key=lambda bucket: distribution[bucket])
    return {
        "period": {
            "start": format_moment(since),
            "end": format_moment(memory.now()),
            "days": days,
            "group_by": by,
        },
        "summary": {
            "total_observations": len(moments),
            "daily_average": round(len(moments) / days, 2),
            "peak_period": peak if moments else None,
            "peak_count": distribution[peak] if moments else 0,
        },
        "distribution": distribution,
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
    """The bucket in UTC: 2026-01-31, 2026-W05 or 17."""
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
            batch = numbers[at : at + _MANY]
            types += count_types(connection, NOTE.c.number.in_(batch))
            labels = (
                select(LABEL.c.label, func.count()).where(LABEL.c.note.in_(batch)).group_by(LABEL.c.label)
            )
            for label, count in connection.execute(labels.order_by(LABEL.c.label)):
                concepts[label] += count
    return types, concepts


def count_types(connection: Connection, condition: ColumnElement[bool]) -> Counter[str]:
    """The number of notes of each type; of a kind where it implies none."""
    types = Counter[str]()
    query = select(NOTE.c.kind, NOTE.c.obs_type, func.count()).where(condition)
    for kind, obs_type, count in connection.execute(query.group_by(NOTE.c.kind, NOTE.c.obs_type)):
        types[type_of(Note("", kind=kind, obs_type=obs_type)) or kind] += count
    return types


def get_observation_scoring_breakdown(library: Library, arguments: Arguments) -> Answer:
    memory = library.memory
    note = memory.store.need(arguments["id"])
    scoring = legacy_score(note, memory.now())
    return {
        "observation": {
            "id": note.number,
            "title": visible_text(note.title),
            "obs_type": type_of(note),
            "created_at": format_moment(note.created_at),
            "importance_score": note.importance,
            "relevance": note.relevance,
        },
        "scoring": scoring,
        "legacy_score": scoring["final_score"],
        "explanation": {
            "final_score": "core + feedback + concept + retrieval + floor; nothing is ranked by it",
            "core_score": "type weight x recency decay, which halves in 7 days",
            "feedback_contrib": f"0.30 x people's feedback on it ({note.feedback})",
            "concept_contrib": "0.20 x the weights of its concepts",
            "retrieval_contrib": f"0.015 x log2(1 + {note.use_count} uses)",
            "floor_contrib": "added to reach the least score, 0.01",
            "importance_score": "set when it is stored, or by hand; it never decays",
            "relevance": "derived from age, use, relations and importance by upkeep",
        },
    }


def analyze_observation_importance(library: Library, arguments: Arguments) -> Answer:
    memory, limit = library.memory, arguments["limit"]
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
    if arguments["include_top_scored"]:
        answer["top_scoring_observations"] = _note_rows(library, memory.catalog.best(mask, limit))
    if arguments["include_most_retrieved"]:
        order = np.lexsort((-numbers, -uses))[:limit]
        answer["most_retrieved_observations"] = _note_rows(library, numbers[order[uses[order] > 0]].tolist())
    if arguments["include_concept_weights"]:
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


def _note_rows(library: Library, numbers: Sequence[int]) -> list[Answer]:
    return [
        {
            "id": note.number,
            "title": visible_text(note.title),
            "obs_type": type_of(note),
            "importance_score": note.importance,
            "retrieval_count": note.use_count,
        }
        for note in library.memory.store.notes_by_number(numbers)
    ]


def _insights(total: int, unused: int, feedback: Mapping[int, int]) -> list[str]:
    if not total:
        return ["Nothing is remembered of this project yet."]
    sentences = [f"{unused} of {total} observations were never fetched by id."]
    if feedback.get(-1):
        sentences.append(
            f"{feedback[-1]} were rated as useless: check them, and mark wrong ones as superseded."
        )
    return sentences


def analyze_search_patterns(library: Library, arguments: Arguments) -> Answer:
    memory, days = library.memory, arguments["days"]
    now = memory.now()
    since = now - days * DAY_MS
    log_summary = memory.queries.summary(library.project, since, arguments["top_n"], now)
    fruitless = log_summary["zero_result_queries"]
    insights = [
        f"{entry['query']!r} found nothing {entry['zero_result_count']} times." for entry in fruitless[:3]
    ]
    if not log_summary["total_searches"]:
        insights = ["No searches in this period."]
    return {
        "period": {"start": format_moment(since), "end": format_moment(now), "days": days},
        **log_summary,
        "insights": insights,
    }
