"""Upkeep over months: edges that fade, and patterns that merge."""

import sqlite3

import pytest

from cortex.memory.library import finish
from cortex.memory.note import Source
from cortex.memory.store.database import NAME
from tests.memory.upkeep.test_upkeep_runs import Clock, edges, fill, open_library, patterns, run


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(data, clock):
    with open_library(data, clock) as memory:
        yield memory


def reached(memory, number):
    """The numbers of the notes within one step of this one."""
    return {node["number"] for node in memory.traverse(number, depth=1)["nodes"]} - {number}


def test_an_unconfirmed_edge_stops_counting_and_is_then_removed(data, clock):
    with open_library(data, clock) as memory:
        fill(memory)
        memory.relate(10, 5)
        clock.now += 1
        run(memory)
        edges_before = edges(memory)
        assert reached(memory, 5) == {6, 10}
        clock.pass_days(390)
        faded = run(memory, "decay")["steps"]["edges"]
        assert (faded["faded"], faded["removed"]) == (4, 0)
        assert run(memory, "decay")["changes"] == 0
        assert reached(memory, 5) == {10}
        assert edges(memory) == edges_before
    with open_library(data, clock) as memory:
        assert reached(memory, 5) == {10}
        clock.pass_days(200)
        assert run(memory, "decay")["steps"]["edges"]["removed"] == 4
        assert set(edges(memory)) == {(2, "contradicts", 1), (4, "contradicts", 3), (10, "relates_to", 5)}
        assert run(memory)["steps"]["edges"] == {"looked": 0, "faded": 0, "removed": 0}
        assert finish(memory.doctor())["healthy"]


def test_using_a_note_confirms_its_edges(memory, clock):
    fill(memory)
    run(memory)
    clock.pass_days(390)
    run(memory, "decay")
    memory.node(5)
    memory.memory.count_use([5])
    run(memory, "decay")
    assert reached(memory, 5) == {6}
    assert reached(memory, 8) == set()


def test_edges_of_important_notes_stay_longer(memory, clock):
    fill(memory)
    memory.edit(6, importance=1.0)
    run(memory)
    clock.pass_days(590)
    run(memory, "decay")
    assert {key for key, how in edges(memory).items() if how == "embedding_similarity"} == {
        (6, "similar_to", 5)
    }


def test_fading_in_a_dry_run_changes_nothing(memory, clock):
    fill(memory)
    run(memory)
    clock.pass_days(390)
    assert run(memory, "decay", dry_run=True)["steps"]["edges"]["faded"] == 4
    assert reached(memory, 5) == {6}


def plant_two_patterns(memory):
    """Store two patterns; the second later reads like the first."""
    fill(memory)
    for session in ("x", "y", "z"):
        of = memory.of(source=Source("agent", session, "mcp"))
        of.store(f"The backup disk is full on Sundays, week {session}", "Old archives stay.", kind="event")
    run(memory)
    assert sorted(row["frequency"] for row in patterns(memory)) == [3, 3]
    for number, what in ((11, "payments"), (12, "letters"), (13, "prices")):
        title = f"Flaky test around midnight in {what}"
        memory.edit(number, title=title, body="The clock is not frozen.")


def test_two_patterns_with_the_same_meaning_are_merged(memory, data):
    plant_two_patterns(memory)
    foreseen = run(memory, dry_run=True)["steps"]["patterns"].get("merged", 0)
    assert len(patterns(memory)) == 2
    answer = run(memory)
    assert answer["steps"]["patterns"]["merged"] == 1 >= foreseen
    assert [row["observation_ids"] for row in patterns(memory)] == [[7, 8, 9, 11, 12, 13]]
    assert sorted(row["status"] for row in patterns(memory, status="")) == ["active", "merged"]
    assert run(memory)["changes"] == 0
    finish(memory.erase([12]))
    with sqlite3.connect(data / NAME) as connection:
        assert connection.execute("SELECT count(*) FROM pattern").fetchone() == (0,)
    connection.close()


def test_patterns_of_two_projects_stay_two(memory):
    for project in ("one", "two"):
        for session in ("a", "b", "c"):
            of = memory.of(project=project, source=Source("agent", session, "mcp"))
            of.store(f"Flaky test around midnight, {session}", "The clock is not frozen.", kind="event")
    run(memory)
    assert [row["status"] for row in patterns(memory, project="all", status="")] == ["active", "active"]
