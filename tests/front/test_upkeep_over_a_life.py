"""Upkeep after the simulated life of a project: it finds the planted patterns and conflicts."""

import orjson
import pytest

from cortex.memory.library import Library, finish
from cortex.memory.operations import carry_out
from tests.generated_life import SECRET, generate_life, plant, store_life

LIFE = generate_life(days=3, sessions=3, observations=40, seed=4)
PLANTED = plant(LIFE)


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """(the memory after the life, title → number, reports of upkeep in order)."""
    with Library.open(tmp_path_factory.mktemp("planted") / "memory") as library:
        numbers, shop = store_life(library, LIFE), library.of(project="shop")
        answers = [
            finish(carry_out(shop, f"observation.{name}", arguments))
            for name, arguments in (
                ("suggest_consolidations", {"min_similarity": 0.9, "limit": 50}),
                ("run_consolidation", {}),
                ("run_consolidation", {}),
            )
        ]
        yield library, numbers, answers


@pytest.fixture
def ask(lived, open_window):
    window = open_window(project="shop")
    window.memory.library = lived[0]
    return window.ask


def pairs(lived, relation):
    """Return (older title, newer title) of each relation of a kind."""
    titles = {number: title for title, number in lived[1].items()}
    edges = lived[0].memory.store.edges_after(0, 10_000)
    return {(titles[edge.target], titles[edge.source]) for edge in edges if edge.relation == relation}


def test_only_near_duplicates_are_suggested(lived):
    groups = [
        {note["title"] for note in (group["primary"], *group["similar"])} for group in lived[2][0]["groups"]
    ]
    near = [group for group in groups if not group <= PLANTED.recurring]
    planted = PLANTED.alike | PLANTED.contradicted | PLANTED.undone
    assert sorted(map(sorted, near)) == sorted(sorted(pair) for pair in planted)


def test_corrected_notes_are_contradicted_and_no_others(ask, lived):
    assert pairs(lived, "contradicts") == PLANTED.contradicted | PLANTED.undone
    for old, new in PLANTED.contradicted | PLANTED.undone:
        relations = ask("get_observation_relationships", id=str(lived[1][old]), max_depth=1)["relations"]
        assert (new, "contradicts") in {(edge["source_title"], edge["type"]) for edge in relations}


def test_upkeep_closes_no_note_and_says_with_which_one_it_disputes(ask, lived):
    assert pairs(lived, "supersedes") == set()
    for old, new in PLANTED.undone:
        note = ask("get_observation", id=str(lived[1][old]))
        assert (note["state"], note["superseded_by"]) == ("active", None)
        rows = ask("find_by_file", files=note["files"][0])["results"]
        assert {row["title"] for row in rows} == {old, new}


def test_near_duplicates_stay_active(ask, lived):
    for title in {member for pair in PLANTED.alike for member in pair} | PLANTED.recurring:
        assert ask("get_observation", id=str(lived[1][title]))["state"] == "active"


def test_an_event_of_several_sessions_is_one_pattern(ask, lived):
    numbers = {lived[1][title] for title in PLANTED.recurring}
    patterns = [
        pattern for pattern in ask("get_patterns")["patterns"] if numbers & set(pattern["observation_ids"])
    ]
    assert [set(pattern["observation_ids"]) for pattern in patterns] == [numbers]
    assert (patterns[0]["type"], patterns[0]["frequency"]) == ("bug", len(numbers))


def test_a_second_run_changes_nothing(lived):
    assert lived[2][1]["changes"]
    assert (lived[2][2]["changes"], lived[2][2]["remaining"]) == (0, 0)


def test_nothing_that_was_planted_tells_its_secret(ask, lived):
    for title in {member for pair in PLANTED.alike | PLANTED.undone for member in pair}:
        observation = ask("get_observation", id=str(lived[1][title]))
        assert observation["facts"]
        assert SECRET not in orjson.dumps(observation).decode()
