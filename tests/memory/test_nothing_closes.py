"""Upkeep marks notes in conflict and closes none; those of earlier versions can be reopened."""

import pytest

from cortex.memory.library import Library, finish
from cortex.memory.operations import carry_out

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
