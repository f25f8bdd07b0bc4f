"""The completeness of an observation, and the legacy score with its parts. Pure.

The legacy score halves every week, as for an event. No ranking uses it; importance and relevance
are stored beside it.
"""

import math
from collections.abc import Mapping
from typing import Any

from cortex.memory.note import Note
from cortex.memory.observations.rows import type_of

#: legacy score (pkg/scoring/calculator.go of its origin): type → weight, 1 for others
TYPE_WEIGHTS: Mapping[str, float] = {
    "bugfix": 1.3,
    "feature": 1.2,
    "discovery": 1.1,
    "decision": 1.1,
    "refactor": 1.0,
    "change": 0.9,
}
#: concept → weight
CONCEPT_WEIGHTS: Mapping[str, float] = {
    "security": 0.30,
    "gotcha": 0.25,
    **dict.fromkeys(("best-practice", "anti-pattern"), 0.20),
    **dict.fromkeys(("architecture", "performance", "error-handling"), 0.15),
    **dict.fromkeys(("pattern", "testing", "debugging", "problem-solution", "trade-off"), 0.10),
    **dict.fromkeys(("workflow", "tooling", "how-it-works", "why-it-exists", "what-changed"), 0.05),
}
#: days in which the core halves; weights of feedback, concepts and retrievals; the least score
HALF_LIFE_DAYS, FEEDBACK, CONCEPTS, RETRIEVALS, LEAST = 7.0, 0.30, 0.20, 0.15 * 0.1, 0.01
#: full marks: characters of a narrative, numbers of facts and of concepts
NARRATIVE_CHARS, FACTS, LABELS = 50, 2, 2
#: the best completeness; (least score, tier)
MOST = 5.0
TIERS = ((4.0, "excellent"), (3.0, "good"), (2.0, "fair"), (0.0, "poor"))
_DAY_MS = 86_400_000


def quality_of(note: Note) -> dict[str, Any]:
    """{"completeness_score": of at most MOST, "max_score", "completeness_pct", "quality_tier",
    "suggestions", "field_stats"}.
    """
    body = "" if note.body.strip() == note.title.strip() else note.body.strip()
    parts = {
        "title": 1.0 if note.title.strip() else 0.0,
        "narrative": 1.5 if len(body) > NARRATIVE_CHARS else 0.5 if body else 0.0,
        "facts": 1.0 if len(note.facts) >= FACTS else 0.5 * len(note.facts),
        "concepts": 0.75 if len(note.labels) >= LABELS else 0.25 * len(note.labels),
        "files": 0.75 if note.files else 0.0,
    }
    score = round(sum(parts.values()), 4)
    return {
        "completeness_score": score,
        "max_score": MOST,
        "completeness_pct": round(100 * score / MOST, 1),
        "quality_tier": tier_of(score),
        "suggestions": _suggestions(parts),
        "field_stats": {
            "title_chars": len(note.title),
            "narrative_chars": len(body),
            "facts": len(note.facts),
            "concepts": len(note.labels),
            "files": len(note.files),
            "parts": parts,
        },
    }


def tier_of(score: float) -> str:
    return next(name for least, name in TIERS if score >= least)


def _suggestions(parts: Mapping[str, float]) -> list[str]:
    sentences = {
        "narrative": (1.5, "Say why, and where it applies, in more than 50 characters."),
        "facts": (1.0, "Add at least two facts, a sentence each."),
        "concepts": (0.75, "Add at least two concepts."),
        "files": (0.75, "Add the files that it is about."),
    }
    return [sentence for name, (most, sentence) in sentences.items() if parts[name] < most]


def legacy_score(note: Note, now: int) -> dict[str, float]:
    """The legacy score and its parts: `core_score`, `feedback_contrib`, `concept_contrib`,
    `retrieval_contrib` and `floor_contrib` add up to `final_score`.
    """
    age_days = max(0, now - note.created_at) / _DAY_MS
    weight = TYPE_WEIGHTS.get(type_of(note) or "", 1.0)
    decay = 0.5 ** (age_days / HALF_LIFE_DAYS)
    parts = {
        "core_score": round(weight * decay, 6),
        "feedback_contrib": round(FEEDBACK * note.feedback, 6),
        "concept_contrib": round(CONCEPTS * sum(CONCEPT_WEIGHTS.get(label, 0.0) for label in note.labels), 6),
        "retrieval_contrib": round(RETRIEVALS * math.log2(1 + note.use_count), 6),
    }
    parts["floor_contrib"] = round(max(0.0, LEAST - sum(parts.values())), 6)
    return {
        "final_score": round(sum(parts.values()), 6),
        "type_weight": weight,
        "recency_decay": round(decay, 6),
        **parts,
        "age_days": round(age_days, 3),
    }
