"""The rules of upkeep for notes and pairs of notes, without a store."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.memory.note import RELATIONS, Note, Source
from cortex.memory.upkeep.duplicates import groups
from cortex.memory.upkeep.patterns import describe, is_pattern, read_type
from cortex.memory.upkeep.relations import judge, relate
from cortex.memory.upkeep.scores import DAY_MS, FLOOR, MOST, Standing, is_expired, may_be_forgotten, relevance
from cortex.memory.upkeep.traits import trait_of

NOW = 1_800_000_000_000


def trait(number, title, body="", *, kind="discovery", at=0, session="", trust="agent", **fields):
    """A trait of a note from minute `at`."""
    source = Source("a", session, "mcp", trust)
    note = Note(title, body, number=number, id=f"id-{number}", obs_type=kind, source=source, **fields)
    return trait_of(
        Note(**{name: getattr(note, name) for name in Note.__slots__} | {"occurred_at": NOW + at * 60_000})
    )


def pair(first, second, **fields):
    """Two traits of these types about the login page: (newer, older)."""
    older = trait(1, "The login page keeps a cookie", kind=second, **fields)
    newer = trait(2, "The login page and its cookie", kind=first, at=1, **fields)
    return newer, older


@pytest.mark.parametrize(
    ("first", "second", "fields", "expected"),
    [
        ("bugfix", "feature", {"files": ("login.py",)}, ("fixes", "file_overlap")),
        ("refactor", "discovery", {"files": ("login.py",)}, ("evolves_from", "file_overlap")),
        ("feature", "decision", {"files": ("login.py",)}, ("depends_on", "file_overlap")),
        ("change", "change", {"files": ("login.py",)}, ("evolves_from", "file_overlap")),
        ("discovery", "discovery", {"files": ("login.py",)}, ("similar_to", "embedding_similarity")),
        (
            "discovery",
            "discovery",
            {"labels": ("login", "security")},
            ("similar_to", "embedding_similarity"),
        ),
        ("bugfix", "discovery", {}, ("leads_to", "type_progression")),
        ("bugfix", "feature", {}, ("fixes", "type_progression")),
        ("pattern", "discovery", {}, ("summarizes", "type_progression")),
        ("discovery", "discovery", {}, ("similar_to", "embedding_similarity")),
    ],
)
def test_each_detector_finds_its_relation(first, second, fields, expected):
    link = relate(*pair(first, second, **fields), 0.8)
    assert (link.relation, link.detection) == expected
    assert 0.5 <= link.confidence <= 1


@pytest.mark.parametrize(
    ("phrase", "relation", "back"),
    [
        ("This was caused by", "causes", True),
        ("This breaks", "causes", False),
        ("It fixes", "fixes", False),
        ("It replaces", "supersedes", False),
        ("It depends on", "depends_on", False),
        ("It builds on", "evolves_from", False),
        ("It led to", "leads_to", False),
        ("It contradicts", "contradicts", False),
        ("It confirms", "reinforces", False),
        ("It was invalidated by", "invalidated_by", False),
        ("It explains", "explains", False),
        ("A summary of", "summarizes", False),
        ("It is part of", "part_of", False),
        ("We want this rather than", "prefers_over", False),
        ("Evidence for", "supports", False),
        ("It is related to", "relates_to", False),
        ("The same theme as", "shares_theme", False),
        ("It was done at the same time as", "parallel_context", False),
        ("It is similar to", "similar_to", False),
    ],
)
def test_a_phrase_that_names_another_note_gives_their_relation(phrase, relation, back):
    older = trait(1, "Nightly export of invoices")
    for body in (f"{phrase} the nightly export of invoices.", f"{phrase} note 1."):
        link = relate(trait(2, "Clock drift", body, at=1), older, 0.0)
        assert (link.relation, link.detection, link.source == 1) == (relation, "narrative_mention", back)
        assert link.relation in RELATIONS
    other = trait(3, "Clock drift", f"{phrase} something else.\nThe nightly export of invoices is big.", at=1)
    assert relate(other, older, 0.0) is None


def test_each_type_of_relation_has_a_detector():
    phrases = test_a_phrase_that_names_another_note_gives_their_relation.pytestmark[0].args[1]
    assert {relation for _, relation, _ in phrases} == set(RELATIONS)


@pytest.mark.parametrize("first", ["bugfix", "refactor", "feature", "change", "discovery"])
def test_a_common_file_tag_or_session_does_not_relate_unrelated_notes(first):
    common = {"files": ("app.py",), "labels": ("ui", "security"), "session": "s"}
    older = trait(1, "Colours of the theme", kind="decision", **common)
    newer = trait(2, "Queue is drained slowly", kind=first, at=1, **common)
    assert relate(newer, older, 0.1) is None


def test_a_correction_contradicts_only_its_subject():
    older = trait(1, "Sessions are kept in Redis", kind="decision")
    newer = trait(2, "Sessions are no longer kept in Redis", kind="decision", at=1)
    conflict = judge(newer, older, 0.65)
    assert conflict.detection == "correction"
    assert judge(newer, trait(3, "Invoices are numbered per year", kind="decision"), 0.1) is None


def test_two_unrelated_decisions_are_no_contradiction():
    older, newer = (
        trait(1, "Use PostgreSQL", kind="decision"),
        trait(2, "Never use tabs", kind="decision", at=1),
    )
    assert judge(newer, older, -0.1) is None


def test_an_opposite_change_of_the_same_file_contradicts_the_first():
    older = trait(1, "Added the rate limiter", kind="feature", modified=("limit.py",), files=("limit.py",))
    newer = trait(
        2, "Removed the rate limiter", kind="change", at=1, modified=("limit.py",), files=("limit.py",)
    )
    conflict = judge(newer, older, 0.9)
    assert conflict.detection == "opposition"
    elsewhere = trait(3, "Removed the rate limiter", kind="change", at=1, modified=("b.py",), files=("b.py",))
    assert judge(elsewhere, older, 0.9).detection == "negation"


def test_an_opposite_change_of_another_thing_in_the_same_file_is_no_conflict():
    where = {"modified": ("sums.py",), "files": ("sums.py",)}
    older = trait(1, "The parser splits totals", kind="change", **where)
    newer = trait(2, "The cart merges totals", kind="change", at=1, **where)
    conflict = judge(newer, older, 0.9)
    assert conflict is None or conflict.detection != "opposition"


@pytest.mark.parametrize(("cosine", "expected"), [(0.85, "negation"), (0.5, None)])
def test_a_negation_of_a_similar_note_is_a_conflict(cosine, expected):
    older = trait(1, "The parser accepts trailing commas in maps")
    newer = trait(2, "Trailing commas: maps in our grammar can not have them", at=1)
    conflict = judge(newer, older, cosine)
    assert (conflict and conflict.detection) == expected


share = st.floats(0, 1)
days = st.floats(0, 5_000)


@given(share, days, days, st.tuples(st.integers(0, 50), share), st.floats(1, 500))
def test_relevance_keeps_its_bounds_and_falls_with_age_and_with_time_without_use(
    importance, age, idle, related, more
):
    relations, confidence = related
    value = relevance(importance, age, idle, relations, confidence)
    assert round(FLOOR * importance, 4) <= value <= MOST
    assert relevance(importance, age + more, idle, relations, confidence) <= value
    assert relevance(importance, age, idle + more, relations, confidence) <= value
    assert relevance(importance, age, idle, relations + 1, 1.0) >= relevance(
        importance, age, idle, relations, 1.0
    )


@given(share)
def test_the_relevance_of_a_new_note_is_its_importance(importance):
    assert relevance(importance, 0, 0, 0, 0) == pytest.approx(importance, abs=1e-4)


FADED = {
    "type": "change",
    "importance": 0.2,
    "relevance": 0.06,
    "created_at": NOW - 200 * DAY_MS,
    "used_at": 0,
}


@pytest.mark.parametrize(
    "other",
    [
        {"importance": 0.7},
        {"relevance": 0.1},
        {"created_at": NOW - 89 * DAY_MS},
        {"type": "decision"},
        {"type": "discovery"},
        {"used_at": NOW - 29 * DAY_MS},
        {"is_connected": True},
        {"is_liked": True},
    ],
)
def test_a_protected_note_is_not_forgotten(other):
    assert may_be_forgotten(Standing(**FADED), NOW)
    assert not may_be_forgotten(Standing(**FADED | other), NOW)


@given(st.integers(1, 3_650), st.integers(0, 4_000))
def test_retention_counts_days_of_milliseconds(limit, age):
    standing = Standing("change", 0.5, 0.5, NOW - age * DAY_MS, 0)
    assert is_expired(standing, NOW, limit) == (age > limit)
    assert not is_expired(standing, NOW, 0)


def flaky(number, session, **fields):
    return trait(number, f"Flaky test around midnight {number}", session=session, kind="bugfix", **fields)


def test_a_pattern_needs_three_notes_of_two_sessions_each_counted_once():
    once = flaky(1, "monday")
    assert not is_pattern([once] * 5)
    assert not is_pattern([flaky(at, "monday") for at in range(5)])
    assert not is_pattern([once, flaky(2, "tuesday")])
    assert not is_pattern([once, once, flaky(2, "tuesday")])
    three = [once, flaky(2, "tuesday"), flaky(3, "monday")]
    assert is_pattern(three)
    pattern = describe(three, "", 3)
    assert (pattern.type, pattern.confidence, pattern.active) == ("bug", 0.42, True)
    assert {"flaki", "midnight"} <= set(pattern.signature)


def test_both_spellings_of_a_type_are_one():
    assert read_type("anti-pattern") == read_type("Anti_Pattern") == "anti_pattern"


@given(st.integers(0, 8), st.randoms(use_true_random=False), st.floats(0.5, 1))
def test_each_note_is_in_one_group_of_duplicates_at_most(count, random, least):
    cosines = np.eye(count)
    for row in range(count):
        for other in range(row):
            cosines[row, other] = cosines[other, row] = random.random()
    clusters = groups([trait(at + 1, f"note {at}") for at in range(count)], cosines, least)
    numbers = [
        number for group in clusters for number in (group.primary, *(other for other, _ in group.similar))
    ]
    assert len(numbers) == len(set(numbers))
    assert all(value >= least for group in clusters for _, value in group.similar)
