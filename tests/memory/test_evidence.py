"""An answer has the notes that evidence supports, and outdated rows of every tool say so."""

from __future__ import annotations

import pytest

from cortex.front.text import render
from cortex.memory.find.newer.newer_notes import read_waiting
from cortex.memory.library import finish
from cortex.memory.operations import carry_out
from tests.memory.small_memory import open_small

FARM = (
    "Goats are milked at six in the morning and at five in the evening",
    "Cheese ripens for nine weeks in the cellar",
    "The tractor takes 15W-40 oil",
    "Hay comes from the meadow behind the chapel",
    "Lena drives the milk to the dairy on Tuesdays",
    "The vet vaccinates the kids in April",
    "The fence of the upper pasture carries 5000 volts",
    "Whey goes to the pigs of the neighbour",
    "Orders of the restaurant arrive by fax",
    "Salt licks are bought from the mine in Bex",
    "The web shop is closed in August",
    "Ear tags are yellow for goats and green for sheep",
)
OLD, NEW = "Alarm mails leave through Mailgun", "We dropped Mailgun; alarms go out through Postmark"


@pytest.fixture
def library(data):
    with open_small(data) as opened:
        for title in FARM:
            opened.store(title)
        yield opened


@pytest.fixture
def changed(library):
    """The library, and the numbers of a note and of the one that outdates it."""
    old = library.store(OLD)["number"]
    for _ in range(100):
        library.memory.now()
    new = library.store(NEW)["number"]
    finish(read_waiting(library.memory))
    return library, old, new


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("When are the goats milked?", FARM[0]),
        ("How long does cheese ripen?", FARM[1]),
        ("Who brings the milk to the dairy?", FARM[4]),
        ("What colour are ear tags?", FARM[11]),
    ],
)
def test_an_answer_has_no_rows_about_something_else(library, question, title):
    rows = library.recall(question)
    assert rows[0]["title"] == title
    assert len(rows) <= 7
    assert not any(row.get("unsure") for row in rows)
    searched = carry_out(library, "observation.search", {"query": question})["results"]
    assert title in [row["title"] for row in searched]
    assert len(searched) <= 7


@pytest.mark.parametrize(
    "question",
    ["When do the chickens lay?", "How many litres does the tank hold?", "What was last year's profit?"],
)
def test_the_nearest_notes_on_a_subject_that_nobody_noted_are_called_so(library, question):
    rows = library.recall(question)
    assert len(rows) == 3
    assert all(row["unsure"] for row in rows)
    text = render("cortex_recall", {"results": rows})
    assert text.endswith("Perhaps nothing is noted about this: these are the nearest notes.")


def test_a_note_connected_by_hand_stays_in_an_answer(library):
    numbers = {title: at for at, title in enumerate(FARM, 6)}
    question = "How long does cheese ripen?"
    assert FARM[8] not in [row["title"] for row in library.recall(question)]
    library.relate(numbers[FARM[1]], numbers[FARM[8]])
    assert FARM[8] in [row["title"] for row in library.recall(question)]


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("observation.timeline", {"anchor_id": OLD, "before": 1, "after": 0}),
        ("observation.get_observation", {"id": OLD}),
        ("observation.find_similar_observations", {"query": OLD, "min_similarity": 0.9}),
        ("node", {"node_id": OLD}),
        ("timeline", {"anchor": OLD, "before": 1, "after": 0}),
        ("traverse", {"node_id": OLD}),
    ],
)
def test_a_row_that_a_later_note_outdates_says_so(changed, operation, arguments):
    library, old, new = changed
    arguments = {
        name: str(old) if value == OLD and name != "query" else value for name, value in arguments.items()
    }
    answer = carry_out(library, operation, arguments, project="here")
    rows = [row for name in ("results", "items", "nodes", "observations") for row in answer.get(name) or ()]
    by_number = {row.get("number", row["id"]): row for row in rows or [answer]}
    mark = by_number[old]["may_be_outdated_by"]
    assert (mark["number"], mark["title"]) == (new, NEW)
    assert not any("may_be_outdated_by" in row for number, row in by_number.items() if number != old)


def test_a_row_as_of_a_day_is_not_outdated_by_what_came_later(changed):
    library, old, _ = changed
    arguments = {"query": "alarm mails", "as_of": library.node(old)["created_at"]}
    [row, *_] = carry_out(library, "observation.search", arguments, project="here")["results"]
    assert row["id"] == old
    assert "may_be_outdated_by" not in row


def test_an_answer_names_no_older_note_that_it_does_not_show(changed):
    library, old, new = changed
    [row] = library.recall("How do alarm mails leave?", limit=1)
    assert (row["number"], row.get("may_disagree")) in {(new, None), (old, None)}
    rows = library.recall("How do alarm mails leave?")
    assert old in [number for row in rows for number in (*row.get("may_disagree", ()), row["number"])]


def test_observations_as_text_name_the_later_note(changed):
    library, old, new = changed
    answer = carry_out(
        library, "observation.timeline", {"anchor_id": str(old), "before": 0, "after": 0}, project="here"
    )
    assert f"{old} may be outdated by {new}, of 2026-03-" in render("timeline", answer)
    assert f": {NEW}" in render("timeline", answer)


def test_a_search_of_notes_without_hits_is_no_empty_text(library):
    answer = carry_out(library, "search", {"query": "Which insurance covers hail?"}, project="here")
    assert render("cortex_search", answer).startswith("Nothing is noted about this.")
