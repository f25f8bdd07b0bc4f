"""Upkeep runs over small stores with planted relations, corrections and repetitions."""

import sqlite3

import pytest

from cortex.embedders.static import open_static
from cortex.memory.find.recall import Memory
from cortex.memory.library import Library, finish
from cortex.memory.note import Source
from cortex.memory.operations import carry_out
from cortex.memory.serving import MemoryWorker
from cortex.memory.store.database import NAME
from cortex.memory.upkeep.scores import DAY_MS
from cortex.settings.data import DataFolder
from cortex.settings.table import Memory as Settings
from cortex.system.errors import BadRequest, Unavailable
from ipc.messages import MemoryCall

NOW = 1_800_000_000_000
#: session, kind, type, title, body, files
WORLD = (
    ("a", "decision", "", "Sessions are kept in Redis", "The web servers are stateless.", ()),
    (
        "b",
        "decision",
        "",
        "Sessions are no longer kept in Redis",
        "Actually that was wrong: they are lost.",
        (),
    ),
    (
        "a",
        "event",
        "feature",
        "Added the rate limiter to the gateway",
        "A token bucket.",
        ("gateway/limit.py",),
    ),
    (
        "b",
        "event",
        "change",
        "Removed the rate limiter from the gateway",
        "No bucket.",
        ("gateway/limit.py",),
    ),
    ("a", "fact", "", "The staging database runs PostgreSQL 15", "It is restored each Monday.", ()),
    ("b", "fact", "", "Staging runs on PostgreSQL 15", "Restored each Monday.", ()),
    ("a", "event", "bugfix", "Flaky test around midnight in invoices", "The clock is not frozen.", ()),
    ("b", "event", "bugfix", "Flaky test around midnight in reports", "The clock is not frozen.", ()),
    ("c", "event", "bugfix", "Flaky test around midnight in exports", "The clock is not frozen.", ()),
    ("c", "fact", "", "The logo is green", "", ()),
)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        return self.now

    def pass_days(self, count):
        self.now += count * DAY_MS


@pytest.fixture
def clock():
    return Clock()


def open_library(data, clock, **settings):
    memory = Memory(data, open_static(), clock)
    memory.upkeep.settings = Settings(**settings)
    return Library(memory, project="here")


@pytest.fixture
def memory(data, clock):
    with open_library(data, clock) as memory:
        yield memory


def fill(memory, world=WORLD):
    for session, kind, note_type, title, body, files in world:
        view = memory.of(source=Source("agent", session, "mcp"))
        view.store(title, body, kind=kind, obs_type=note_type, files=files)


def run(memory, cycle="all", **arguments):
    return finish(carry_out(memory, "run_consolidation", {"cycle": cycle} | arguments))


def edges(memory):
    return {
        (edge.source, edge.relation, edge.target): edge.detection
        for edge in memory.memory.store.edges_after(0, 10_000)
    }


def states(memory):
    notes = memory.memory.store.notes_by_number(list(range(1, 200)))
    return {note.number: note.state for note in notes}


def reset(data):
    """Reset the cursors of all jobs."""
    with sqlite3.connect(data / NAME) as connection:
        connection.execute("UPDATE upkeep SET cursor = 0")
    connection.close()


def patterns(memory, **arguments):
    return carry_out(memory, "get_patterns", arguments)["patterns"]


EXPECTED = {
    (2, "contradicts", 1): "correction",
    (4, "contradicts", 3): "opposition",
    (6, "similar_to", 5): "embedding_similarity",
    (8, "similar_to", 7): "embedding_similarity",
    (9, "similar_to", 7): "embedding_similarity",
    (9, "similar_to", 8): "embedding_similarity",
}


def test_upkeep_finds_the_planted_relations_and_no_others(memory):
    fill(memory)
    answer = run(memory)
    assert edges(memory) == EXPECTED
    assert set(states(memory).values()) == {"active"}
    assert (answer["status"], answer["remaining"]) == ("completed", 0)
    assert answer["steps"]["relations"]["edges"] == len(EXPECTED)
    assert [(row["number"], row["suggest"][:15]) for row in answer["disputed"]] == [
        (1, "supersedes: [1]"),
        (3, "supersedes: [3]"),
    ]
    assert [pattern["observation_ids"] for pattern in patterns(memory)] == [[7, 8, 9]]


def test_a_second_run_changes_nothing_even_from_the_start(data, clock):
    with open_library(data, clock) as memory:
        fill(memory)
        run(memory)
        reached = memory.memory.store.reached
        assert run(memory)["changes"] == 0
    reset(data)
    with open_library(data, clock) as memory:
        assert run(memory)["changes"] == 0
        assert memory.memory.store.reached == reached
        assert edges(memory) == EXPECTED


def test_a_dry_run_reports_the_changes_and_makes_none(memory):
    fill(memory)
    reached = memory.memory.store.reached
    foreseen = run(memory, dry_run=True)
    assert memory.memory.store.reached == reached
    assert (edges(memory), patterns(memory)) == ({}, [])
    done = run(memory)
    assert foreseen["disputed"] == done["disputed"]
    for step in ("relations", "patterns"):
        assert foreseen["steps"][step] == done["steps"][step]


@pytest.mark.parametrize("slices", [1, 9, 23, 40])
def test_interrupted_upkeep_goes_on_from_its_cursor(data, clock, slices):
    with open_library(data, clock) as memory:
        fill(memory)
        steps = carry_out(memory, "run_consolidation", {})
        for _ in range(slices):
            next(steps)
        steps.close()
        assert memory.memory.upkeep.running == ""
    with open_library(data, clock) as memory:
        run(memory)
        assert edges(memory) == EXPECTED
        assert [pattern["frequency"] for pattern in patterns(memory)] == [3]
        assert finish(memory.doctor())["healthy"]


def test_queries_and_writes_between_two_slices_are_respected(memory):
    fill(memory)
    steps = carry_out(memory, "run_consolidation", {})
    assert carry_out(memory, "get_maintenance_stats", {})["running"] is False
    for at, _ in enumerate(steps):
        assert memory.search("the logo")[0]["number"] == 10
        assert at or finish(carry_out(memory, "run_consolidation", {}))["status"] == "running"
        if at == 3:
            finish(memory.erase([8]))
    assert all(8 not in (source, target) for source, _, target in edges(memory))
    assert finish(memory.doctor())["healthy"]


def test_a_changed_note_is_examined_again(memory):
    fill(memory)
    run(memory)
    memory.edit(6, title="Release notes are written by hand", body="Nobody generates them.")
    memory.edit(10, title="The staging host runs PostgreSQL 15", body="It is restored each Monday.")
    run(memory)
    related = {key for key in edges(memory) if {5, 6, 10} & {key[0], key[2]}}
    assert related == {(10, "similar_to", 5)}


def test_edges_made_or_undone_by_people_are_left_alone(memory):
    fill(memory)
    memory.relate(6, 5, "supports")
    run(memory)
    assert [key for key in edges(memory) if key[0] == 6] == [(6, "supports", 5)]
    before = edges(memory)
    memory.edit(2, tags=["sessions"])
    run(memory)
    assert edges(memory) == before


@pytest.mark.of_the_file
def test_undo_reverts_the_latest_write_and_upkeep_only_by_its_id(memory, data):
    fill(memory)
    run(memory)
    assert memory.undo()["nodes"][0]["number"] == 10
    with sqlite3.connect(data / NAME) as connection:
        rows = connection.execute("SELECT id, did FROM operation WHERE what = 'upkeep'").fetchall()
    connection.close()
    for name, _ in rows:
        memory.undo(name)
    assert edges(memory) == {}


def test_notes_of_other_projects_are_never_related_nor_make_a_pattern(memory):
    for at, project in enumerate(("one", "two", "three", "one")):
        of = memory.of(project=project, source=Source("agent", f"s{at}", "mcp"))
        of.store(f"Flaky test around midnight, seen {at} times", "The clock is not frozen.", kind="event")
    run(memory)
    assert set(edges(memory)) == {(4, "similar_to", 1)}
    assert patterns(memory, project="all") == []


def test_a_note_similar_to_very_many_is_similar_to_none(memory):
    memory.import_records(
        [{"note": {"title": f"Nightly build number {at} passed", "kind": "event"}} for at in range(40)]
    )
    answer = run(memory, "associations")
    assert "similar_to" not in answer["steps"]["relations"]


def test_a_pattern_counts_notes_and_not_how_often_they_were_read(data, clock):
    with open_library(data, clock) as memory:
        fill(memory)
    for _ in range(3):
        with open_library(data, clock) as memory:
            run(memory, "associations")
            assert [pattern["frequency"] for pattern in patterns(memory)] == [3]
        reset(data)
    with open_library(data, clock) as memory:
        memory.of(source=Source("agent", "d", "mcp")).store(
            "Flaky test around midnight in backups",
            "The clock is not frozen.",
            kind="event",
            obs_type="bugfix",
        )
        answer = run(memory, "associations")
        assert answer["steps"]["patterns"]["joined"] == 1
        assert [(pattern["frequency"], pattern["confidence"]) for pattern in patterns(memory)] == [(4, 0.46)]


def test_patterns_match_all_given_arguments(memory):
    fill(memory)
    advice = (("x", "One"), ("y", "Two"), ("z", "Three"))
    for session, word in advice:
        memory.of(source=Source("agent", session, "mcp")).store(
            f"{word} retry loops need jitter",
            "Else all clients come back at once.",
            tags=["anti-pattern", "retries"],
        )
    run(memory)
    rows = patterns(memory)
    assert {row["type"] for row in rows} == {"bug", "anti_pattern"}
    for spelling in ("anti-pattern", "anti_pattern"):
        assert [row["type"] for row in patterns(memory, type=spelling)] == ["anti_pattern"]
        assert patterns(memory, type=spelling, query="midnight") == []
    assert [row["type"] for row in patterns(memory, query="midnight")] == ["bug"]
    assert patterns(memory, project="elsewhere") == []


@pytest.mark.of_the_file
def test_a_pattern_goes_with_its_notes_and_quotes_nothing_erased(memory, data):
    fill(memory)
    run(memory)
    copy = finish(memory.back_up())["file"]
    memory.forget(9)
    run(memory)
    assert patterns(memory) == []
    assert [row["status"] for row in patterns(memory, status="deprecated")] == ["deprecated"]
    finish(memory.erase([7], back_ups=True))
    assert patterns(memory, status="") == []
    for database in (data / NAME, copy):
        with sqlite3.connect(database) as connection:
            assert connection.execute("SELECT count(*) FROM pattern").fetchone() == (0,)
        connection.close()


def test_relevance_fades_importance_stays_and_a_faded_note_ranks_after_its_equal(memory, clock):
    memory.store("Deploys go through the blue cluster", importance=0.6)
    run(memory, "decay")
    assert memory.memory.store.need(1).relevance == 0.6
    clock.pass_days(300)
    memory.store("Deploys go through the green cluster", importance=0.6)
    memory.recall("deploys through the cluster")
    answer = run(memory, "decay")
    old = memory.memory.store.need(1)
    assert memory.memory.notes.get([1]) == [old]
    memory.node(1)
    assert memory.memory.notes.get([1]) == [memory.memory.store.need(1)]
    assert answer["steps"]["decay"]["faded"] == 1
    assert (old.importance, old.relevance) == (0.6, pytest.approx(0.18))
    assert run(memory, "decay")["changes"] == 0
    rows = memory.recall("deploys through the cluster", explain=True)
    assert [row["number"] for row in rows] == [2, 1]
    assert [row["explain"]["relevance"] < 0 for row in rows] == [False, True]
    assert memory.memory.store.revisions(1) == []


def test_relevance_is_as_it_was_after_a_restart(data, clock):
    with open_library(data, clock) as memory:
        memory.store("Deploys go through the blue cluster")
        clock.pass_days(300)
        run(memory, "decay")
        before = memory.recall("deploys", explain=True)
    with open_library(data, clock) as memory:
        assert memory.recall("deploys", explain=True) == before


def plant_faded(memory):
    memory.store("Renamed a variable in the old script", kind="event", obs_type="change", importance=0.1)
    memory.store("Chose tabs in the old script", kind="decision", importance=0.1)
    memory.store("Moved the old script", kind="event", obs_type="change", importance=0.8)


def test_forgetting_must_be_switched_on_and_archives(data, clock):
    with open_library(data, clock) as memory:
        plant_faded(memory)
        clock.pass_days(400)
        assert [row["number"] for row in run(memory, "forgetting", dry_run=True)["archived"]] == [1]
        assert run(memory)["steps"]["decay"]["faded"] == 3
        assert set(states(memory).values()) == {"active"}
    with open_library(data, clock, forgetting=True) as memory:
        assert [row["number"] for row in run(memory, "forgetting")["archived"]] == [1]
        assert states(memory) == {1: "archived", 2: "active", 3: "active"}
        assert run(memory, "forgetting")["changes"] == 0
        assert memory.search("renamed a variable", include=["archived"])[0]["number"] == 1


def maintain(memory, **arguments):
    return finish(carry_out(memory, "trigger_maintenance", arguments))


def test_nothing_is_deleted_by_age_before_it_was_listed(data, clock):
    with open_library(data, clock) as memory:
        plant_faded(memory)
        clock.pass_days(40)
        memory.store("Renamed another variable", kind="event")
        assert maintain(memory)["deleted_count"] == 0
    with open_library(data, clock, retention_days=30) as memory:
        preview = maintain(memory)
        assert (preview["status"], preview["deleted_count"]) == ("shown", 2)
        assert set(states(memory).values()) == {"active"}
        assert maintain(memory)["status"] == "completed"
        assert states(memory) == {1: "deleted", 2: "deleted", 3: "active", 4: "active"}
        assert maintain(memory)["deleted_count"] == 0
        stats = carry_out(memory, "get_maintenance_stats", {})
        assert (stats["total_cleaned_obs"], stats["retention_days"], stats["running"]) == (2, 30, False)
        assert stats["total_optimizes"] == 4


def test_notes_superseded_long_ago_are_deleted_if_that_is_switched_on(data, clock):
    with open_library(data, clock, cleanup_superseded=True) as memory:
        fill(memory)
        memory.edit(2, supersedes=[1])
        memory.edit(4, supersedes=[3])
        maintain(memory)
        clock.pass_days(31)
        assert maintain(memory)["deleted_count"] == 2
        assert states(memory)[1] == states(memory)[3] == "deleted"


def test_near_duplicates_are_suggested_and_stay(memory):
    fill(memory)
    answer = finish(carry_out(memory, "suggest_consolidations", {}))
    groups = [{row["number"] for row in (group["primary"], *group["similar"])} for group in answer["groups"]]
    assert {5, 6} in groups
    assert answer["total_analyzed"] == len(WORLD)
    assert set(states(memory).values()) == {"active"}
    assert finish(carry_out(memory, "suggest_consolidations", {"min_similarity": 1.0}))["groups"] == []


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("run_consolidation", {"cycle": "everything"}, "cycle"),
        ("suggest_consolidations", {"min_similarity": 0.2}, "min_similarity is 0.2; it must be between"),
        ("suggest_consolidations", {"limit": 51}, "limit is 51; it must be between 1 and 50"),
        ("get_patterns", {"limit": 0}, "limit is 0; it must be between 1 and 100"),
    ],
)
def test_invalid_arguments_are_one_sentence(memory, name, arguments, sentence):
    with pytest.raises(BadRequest, match=sentence):
        carry_out(memory, name, arguments)


def call(operation, **arguments):
    return MemoryCall(operation=operation, arguments=arguments, project="here", writes=operation == "store")


@pytest.fixture
def worker(data):
    worker = MemoryWorker(DataFolder(data), upkeep_quiet_s=0)
    yield worker
    worker.close()


def test_upkeep_by_the_clock_runs_while_idle_and_ends_at_a_call(worker):
    for _, kind, _, title, body, _ in WORLD:
        worker.call(call("store", title=title, body=body, kind=kind))
    slices = worker.background()
    next(slices)
    worker.call(call("recall", query="the logo"))
    assert len(list(slices)) == 0
    assert worker.ready().memory.upkeep.running == ""
    for _ in range(3):  # on a slow machine notes wait to be read meanwhile
        for _ in worker.background() or ():
            pass
    assert (6, "similar_to", 5) in edges(worker.ready())
    assert worker.background() is None


def test_upkeep_by_the_clock_can_be_switched_off(data):
    worker = MemoryWorker(DataFolder(data, Settings(upkeep_hours=0)), upkeep_quiet_s=0)
    worker.call(call("store", title="The logo is green"))
    assert worker.background() is None
    worker.close()


def test_long_work_ends_when_its_store_is_closed(worker):
    for _, kind, _, title, body, _ in WORLD:
        worker.call(call("store", title=title, body=body, kind=kind))
    for slices in (worker.background(), worker.call(call("suggest_consolidations"))):
        next(slices)
        worker.close()
        with pytest.raises(Unavailable, match="was closed meanwhile"):
            next(slices)
        worker.ready()
    assert worker.ready().memory.upkeep.running == ""


def test_a_note_has_at_most_fifty_automatic_edges(memory):
    files = [f"src/part{at}.py" for at in range(3)]
    memory.import_records(
        [
            {
                "note": {
                    "title": f"Part {at % 3} of {at}",
                    "files": [files[at % 3]],
                    "kind": "event",
                    "obs_type": "feature",
                    "labels": ["parts"],
                }
            }
            for at in range(75)
        ]
    )
    memory.store("All parts", files=files, tags=["parts"], kind="event", obs_type="bugfix")
    answer = run(memory, "associations")
    ends = [end for source, _, target in edges(memory) for end in (source, target)]
    assert max(ends.count(number) for number in set(ends)) == 50
    assert answer["remaining"] == 0
