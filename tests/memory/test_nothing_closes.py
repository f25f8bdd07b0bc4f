"""Upkeep marks notes in conflict and closes none; those of earlier versions can be reopened."""

from dataclasses import replace

import pytest

from cortex.memory.library import Library, finish
from cortex.memory.note import Edge, Source
from cortex.memory.operations import carry_out
from cortex.memory.review.closed_notes import closed, closed_hint, reopen

#: an older note, and a newer one that corrects another aspect of the same thing
STILL_TRUE = (
    (
        "The cache of prices lives in Redis",
        "The cache of customers is no longer needed and was removed; the cache of prices stays",
    ),
    (
        "Login tokens are signed with RS256",
        "It is no longer true that login tokens can be signed with HS256: tokens are signed with RS256 only",
    ),
    (
        "Background mail is sent by the worker mailer",
        "Correction: the worker mailer sends background mail from two queues, not one",
    ),
    (
        "The ferry leaves from pier four",
        "Actually, the ferry from pier four no longer sells tickets on board",
    ),
    (
        "Invoices are numbered per year",
        "Correction: invoices are numbered per year, and credit notes are, too",
    ),
    (
        "The greenhouse is heated with gas",
        "The greenhouse is no longer used for tomatoes; it is heated with gas as before",
    ),
    (
        "Nightly exports go to the archive bucket",
        "We do not copy nightly exports to the old share any more, only to the archive bucket",
    ),
    (
        "The parser accepts trailing commas",
        "That was wrong: the parser accepts trailing commas in lists and in maps",
    ),
)


@pytest.fixture
def memory(data):
    with Library.open(data, project="here") as memory:
        yield memory


def run(memory):
    return finish(carry_out(memory, "run_consolidation", {}))


@pytest.mark.parametrize(("older", "newer"), STILL_TRUE)
def test_a_correction_of_another_aspect_hides_no_note(memory, older, newer):
    memory.store(older, kind="fact")
    memory.store(newer, kind="fact")
    run(memory)
    assert {row["title"] for row in memory.search(older)} == {older, newer}
    assert older in memory.briefing()["briefing"]


def test_a_conflict_is_marked_on_both_notes_and_proposed(memory):
    memory.store("Sessions are kept in Redis", kind="decision")
    memory.store("Sessions are no longer kept in Redis", kind="decision")
    answer = run(memory)
    [row] = answer["disputed"]
    assert (row["number"], row["why"]) == (1, "says that it is no longer true")
    assert "supersedes: [1]" in row["suggest"]
    rows = {row["number"]: row for row in memory.recall("where are sessions kept")}
    assert (rows[1]["disputed_by"], rows[2]["disputed_by"]) == ([2], [1])
    assert memory.node(1)["disputed_by"] == [2]
    memory.edit(2, supersedes=[1])
    assert "disputed_by" not in memory.node(2)
    run(memory)
    assert run(memory)["changes"] == 0


def test_two_short_remarks_without_a_common_word_are_no_contradiction(memory):
    for title in ("Have fun!", "I can't wait to catch up!", "Never seen that before", "What a lovely day"):
        memory.store(title, kind="event")
    assert run(memory)["steps"]["relations"].get("contradictions", 0) == 0


def close_as_earlier_versions_did(memory, older, newer, detection, relation):
    """Close a note with the edge that upkeep of earlier versions made."""
    with memory.memory.store.transaction() as records:
        [note] = records.get([older])
        records.connect(Edge(newer, older, relation, 0.8, detection, reason="says that it is no longer true"))
        ended = replace(note, state="superseded", superseded_by=newer, valid_until=records.now)
        records.change(note, ended)
    memory.memory.follow()


def test_notes_that_upkeep_closed_are_listed_once_and_reopened_in_one_call(memory):
    for title in (
        "The cache lives in Redis",
        "The port is 80",
        "The logo is green",
        "No, the cache was moved",
    ):
        memory.store(title, kind="fact")
    close_as_earlier_versions_did(memory, 1, 4, "correction", "contradicts")
    close_as_earlier_versions_did(memory, 2, 4, "opposition", "supersedes")
    memory.edit(4, supersedes=[3])
    assert "2 notes" in carry_out(memory, "briefing", {})["briefing"]
    answer = closed(memory)
    assert [(row["number"], row["by"]) for row in answer["closed"]] == [(1, 4), (2, 4)]
    assert closed_hint(memory) == ""
    assert reopen(memory, operation_id="op-1") == reopen(memory, operation_id="op-1") == {"reopened": 2}
    assert {row["number"] for row in memory.search("cache port logo")} >= {1, 2, 4}
    assert memory.memory.store.need(3).state == "superseded"
    memory.undo()
    assert memory.memory.store.need(1).state == "superseded"


def test_a_project_reopens_no_note_of_another(memory):
    other = memory.of(project="there", source=Source())
    other.store("The port is 80")
    other.store("The port is no longer 80")
    close_as_earlier_versions_did(memory, 1, 2, "correction", "contradicts")
    assert (closed(memory)["count"], reopen(memory)) == (0, {"reopened": 0})
    assert reopen(other) == {"reopened": 1}
