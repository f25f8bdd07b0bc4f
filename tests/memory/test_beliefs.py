"""Memory over time: edits, superseded notes, queries about a moment, undo, timelines."""

import itertools

import pytest

from cortex.embedders.static import open_static
from cortex.memory.find.recall import Memory
from cortex.memory.library import Library
from cortex.memory.note import Source
from cortex.memory.times import format_moment
from cortex.system.errors import BadRequest, NotFound

#: the moment of the first write, in milliseconds; each reading of the clock is a second later
BEGIN = 1_700_000_000_000


@pytest.fixture
def clock():
    return itertools.count(BEGIN, 1000)


@pytest.fixture
def memory(data, clock):
    with Library(Memory(data, open_static(), lambda: next(clock)), project="here") as memory:
        yield memory


def titles(rows):
    return [row["title"] for row in rows]


def test_an_edit_changes_search_results_and_keeps_the_old_text_as_a_revision(memory, clock):
    stored = memory.store("The cache is kept for 5 minutes", "measured on staging", tags=["cache"])
    before = next(clock)
    memory.edit(stored["id"], title="The cache is kept for 10 minutes", importance=0.9)
    row = memory.node(stored["id"])
    assert (row["title"], row["body"], row["tags"]) == (
        "The cache is kept for 10 minutes",
        "measured on staging",
        ["cache"],
    )
    assert titles(memory.recall("how long is the cache kept")) == ["The cache is kept for 10 minutes"]
    assert titles(memory.recall("how long is the cache kept", as_of=before)) == [
        "The cache is kept for 5 minutes"
    ]


def test_a_moment_from_an_answer_finds_the_notes_of_that_moment(data):
    moments = itertools.count(BEGIN + 700, 1000)
    with Library(Memory(data, open_static(), lambda: next(moments))) as memory:
        first = memory.node(memory.store("The cache is kept for 5 minutes")["id"])
        memory.edit(first["id"], title="The cache is kept for 10 minutes")
        edited = memory.node(first["id"])
        query = "how long is the cache kept"
        assert titles(memory.recall(query, as_of=first["created_at"])) == [first["title"]]
        assert titles(memory.recall(query, as_of=edited["updated_at"])) == [edited["title"]]
        assert titles(memory.timeline(until=first["created_at"])["items"]) == [edited["title"]]
        assert memory.recall(query, as_of=f"{first['created_at'][:-1]}.600Z") == []
        assert memory.recall(query, as_of=BEGIN) == []


def test_a_superseded_note_is_found_only_by_id_by_moment_or_on_request(memory, clock):
    old = memory.store("Deploys go out by hand on Fridays", kind="decision")
    before = next(clock)
    new = memory.store(
        "Deploys go out by the pipeline on each merge", kind="decision", supersedes=[old["id"]]
    )
    assert titles(memory.search("how do deploys go out")) == ["Deploys go out by the pipeline on each merge"]
    assert titles(memory.search("how do deploys go out", as_of=before)) == [
        "Deploys go out by hand on Fridays"
    ]
    both = memory.search("how do deploys go out", include=["superseded"])
    assert {row["id"]: row.get("state", "active") for row in both} == {
        old["id"]: "superseded",
        new["id"]: "active",
    }
    row = memory.node(old["id"])
    assert row["state"] == "superseded"
    assert row["valid_until"]
    assert [edge["relation"] for edge in row["edges"]] == ["supersedes"]


def test_a_query_about_a_moment_ignores_later_notes_and_deletions(memory, clock):
    early = next(clock)
    stored = memory.store("The gateway listens on port 8443")
    between = next(clock)
    memory.forget(stored["id"])
    assert memory.search("which port has the gateway", as_of=early) == []
    assert titles(memory.search("which port has the gateway", as_of=between)) == [
        "The gateway listens on port 8443"
    ]
    assert memory.search("which port has the gateway") == []


def test_a_query_about_a_moment_follows_no_later_edges(memory, clock):
    near = memory.store("Retries use exponential back-off with jitter")
    far = memory.store("Imports take most of a cold start")
    before = next(clock)
    memory.relate(near["id"], far["id"])
    assert far["id"] in [row["id"] for row in memory.recall("back-off of retries", alpha=0.5)]
    assert far["id"] not in [row["id"] for row in memory.recall("back-off", alpha=0.5, as_of=before)]


def test_undo_reverts_a_note_an_edit_an_edge_and_a_state(memory):
    first, second = memory.store("one of two", operation_id="a"), memory.store("two of two", operation_id="b")
    memory.edit(first["id"], body="changed", operation_id="c")
    memory.relate(first["id"], second["id"], operation_id="d")
    memory.edit(second["id"], state="archived", operation_id="e")
    assert memory.undo()["undone"] == "e"
    assert memory.node(second["id"])["state"] == "active"
    assert memory.undo()["undone"] == "d"
    assert memory.node(first["id"])["edges"] == []
    assert [row["title"] for row in memory.undo("c")["nodes"]] == ["one of two"]
    assert memory.node(first["id"])["body"] == ""
    memory.undo("b")
    assert memory.node(second["id"])["state"] == "deleted"
    with pytest.raises(NotFound, match="no operation 'b'"):
        memory.undo("b")


def test_undo_refuses_to_revert_a_note_that_was_changed_since(memory):
    stored = memory.store("a note")
    memory.edit(stored["id"], body="first", operation_id="first")
    memory.edit(stored["id"], body="second")
    with pytest.raises(BadRequest, match="changed again since"):
        memory.undo("first")
    assert memory.node(stored["id"])["body"] == "second"


def test_undoing_a_superseding_note_makes_the_old_note_active_again(memory):
    old = memory.store("the old way")
    memory.store("the new way", supersedes=[old["id"]], operation_id="new")
    memory.undo("new")
    assert memory.node(old["id"])["state"] == "active"
    assert memory.node(old["id"])["edges"] == []


def test_a_timeline_is_around_its_anchor_in_order_of_time(memory):
    days = [4, 1, 3, 2, 5]
    ids = {day: memory.store(f"day {day}", occurred_at=f"2024-01-0{day}")["id"] for day in days}
    timeline = memory.timeline(ids[3], before=1, after=1)
    assert titles(timeline["items"]) == ["day 2", "day 3", "day 4"]
    assert [row.get("anchor", False) for row in timeline["items"]] == [False, True, False]
    assert (timeline["anchor"], timeline["earlier"], timeline["later"]) == (ids[3], 1, 1)
    assert titles(memory.timeline(query="day 3", before=0, after=0)["items"]) == ["day 3"]


def test_a_timeline_of_equal_moments_goes_by_number_and_pages_lose_nothing(memory):
    wanted = [f"step {at}" for at in range(7)]
    for title in wanted:
        memory.store(title, occurred_at="2024-01-01")
    memory.store("much later", occurred_at="2025-01-01")
    listed, offset = [], 0
    while offset is not None:
        page = memory.timeline(until="2024-12-31", limit=3, offset=offset)
        listed += titles(page["items"])
        offset = page.get("next_offset")
    assert listed == wanted
    assert titles(memory.timeline(limit=2, newest_first=True)["items"]) == ["much later", "step 6"]


def test_a_view_has_the_given_project_and_source(memory):
    other = memory.of(project="there", source=Source("codex", "s1", "mcp", "agent"))
    stored = other.store("Only there: the queue is drained at night")
    assert other.node(stored["id"])["source_agent"] == "codex"
    assert memory.search("when is the queue drained") == []
    assert titles(memory.of(project="").search("when is the queue drained")) == [
        "Only there: the queue is drained at night"
    ]


def test_parts_of_an_explanation_add_up_to_the_score(memory):
    first = memory.store("Retries use exponential back-off", importance=0.9)
    second = memory.store("The provider limits calls")
    memory.relate(first["id"], second["id"])
    for row in memory.recall("back-off of retries", alpha=0.6, explain=True):
        assert sum(row["explain"].values()) == pytest.approx(row["score"], abs=2e-3)


def test_using_a_note_counts_and_being_briefed_does_not(memory):
    stored = memory.store("Prefer small commits", kind="preference")
    memory.briefing()
    memory.briefing()
    assert memory.node(stored["id"])["access_count"] == 0
    assert memory.node(stored["id"])["access_count"] == 1


def test_a_briefing_reserves_lines_for_notes_that_no_briefing_had_yet(memory):
    for at in range(20):
        memory.store(f"Preference number {at:02}", kind="preference", importance=0.9 if at < 10 else 0.4)
    first, second = (set(memory.briefing()["briefing"].splitlines()) for _ in range(2))
    assert len(second - first) == 2
    assert {line for line in first if "number 0" in line} - {*second} <= first


def test_a_briefing_fits_its_tokens_and_lists_open_questions_and_contradictions(memory):
    first = memory.store("The limit is 20 calls a second", importance=0.1)
    second = memory.store("The limit is 50 calls a second", importance=0.1)
    memory.relate(first["id"], second["id"], "contradicts")
    memory.store("Does the provider count failed calls?", importance=0.1)
    memory.store("An event of today: the release went out", kind="event")
    text = memory.briefing()["briefing"]
    day = f"({format_moment(memory.memory.now())[:10]})"
    sides = f"- The limit is 20 calls a second {day} ↔ The limit is 50 calls a second {day}"
    assert f"## Contradictions\n{sides}" in text
    assert "## Open questions\n- Does the provider count failed calls?" in text
    assert "## Recent events" in text
    assert len(memory.briefing(tokens=50)["briefing"]) <= 200


def test_a_briefing_of_an_agent_begins_with_the_notes_about_it(memory):
    agent = memory.store("reviewer", kind="agent")
    preference = memory.store("Reviews are short and name the line", kind="preference")
    far = memory.store("When tests are slow look for sleeps", kind="pattern")
    memory.relate(preference["id"], agent["id"], "applies_to")
    memory.store("A preference of all", kind="preference")
    lines = memory.briefing("reviewer")["briefing"].splitlines()
    assert lines[:3] == [
        "## Identity and preferences",
        "- reviewer",
        "- Reviews are short and name the line",
    ]
    assert lines.index("## Preferences") < lines.index("## Other patterns")
    memory.relate(preference["id"], far["id"], "leads_to")
    assert "## Patterns" in memory.briefing("reviewer")["briefing"]
    assert memory.briefing("reviewer", compact=True)["briefing"].startswith("# reviewer\n- reviewer\n")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda memory, note: memory.edit(note, state="gone"), "state is 'gone'"),
        (lambda memory, note: memory.edit(note, superseded_by=note), "supersede itself"),
        (lambda memory, note: memory.edit(note, trust="user"), "'trust' cannot be changed"),
        (lambda memory, _: memory.store("x", scope="all"), "scope is 'all'"),
        (lambda memory, _: memory.store("x", supersedes=["no-such"]), "no note 'no-such'"),
        (lambda memory, _: memory.search("x", include=["deleted"]), "include is 'deleted'"),
        (lambda memory, _: memory.search("x", as_of="never"), "as_of is 'never'"),
        (lambda memory, _: memory.timeline(limit=0), "limit is 0"),
        (lambda memory, _: memory.timeline(offset=-1), "offset is -1"),
        (lambda memory, _: memory.timeline("no-such"), "no note"),
        (lambda memory, _: memory.briefing(tokens=1), "tokens is 1"),
    ],
)
def test_unusable_arguments_are_refused_with_a_sentence(memory, call, sentence):
    note = memory.store("a note to try it on")["id"]
    with pytest.raises((BadRequest, NotFound), match=sentence):
        call(memory, note)
