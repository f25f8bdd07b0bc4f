"""The history of notes: revisions, reasons of edges, operations to undo, exchanges."""

import pytest

from cortex.memory.library import Library, finish
from cortex.memory.note import Source
from cortex.memory.operations import carry_out
from cortex.system.errors import BadRequest, NotFound
from tests.sample_sessions import agent, user


@pytest.fixture
def library(data):
    with Library.open(data) as library:
        yield library


def ask(library, name, operation_id="", **arguments):
    return carry_out(library, name, arguments, project="here", operation_id=operation_id)


def test_the_history_of_a_note_lists_its_changes_the_newest_first(library):
    ask(library, "store", title="The port is 8080", tags=["ops"])
    ask(library, "store", id="1", title="The port is 9090")
    ask(library, "store", id="1", body="The proxy took the other one.", tags=["ops", "net"])
    ask(library, "node", node_id="1")  # counts a use, which is no revision
    answer = ask(library, "history", node_id="1")
    assert (answer["number"], answer["title"]) == (1, "The port is 9090")
    assert [revision["changed"] for revision in answer["revisions"]] == [
        {"body": ["", "The proxy took the other one."], "tags": [["ops"], ["ops", "net"]]},
        {"title": ["The port is 8080", "The port is 9090"]},
    ]


def test_the_history_lists_the_detection_and_other_end_of_each_edge(library):
    for at in range(2):
        ask(library, "store", title=f"Note {at} of two")
    ask(library, "relate", from_id="1", to_id="2", relation="causes")
    ask(library, "forget", node_id="2")
    [edge] = ask(library, "history", node_id="1")["edges"]
    assert (edge["relation"], edge["detection"], edge["weight"]) == ("causes", "manual", 1.0)
    assert (edge["other"]["number"], edge["other"]["state"]) == (2, "deleted")


def test_the_history_lists_operations_with_the_id_that_undoes_them(library):
    for at in range(2):
        ask(library, "store", title=f"Note {at} of two", operation_id=f"store-{at}")
    ask(library, "relate", from_id="1", to_id="2", operation_id="relate")
    carry_out(library, "store", {"title": "A note of another project"}, project="there", operation_id="else")
    operations = ask(library, "history")["operations"]
    assert [(operation["id"], operation["what"]) for operation in operations] == [
        ("relate", "relate"),
        ("store-1", "put"),
        ("store-0", "put"),
    ]
    assert [node["number"] for node in operations[0]["nodes"]] == [1, 2]
    assert [operation["id"] for operation in ask(library, "history", node_id="1")["operations"]] == [
        "relate",
        "store-0",
    ]
    ask(library, "undo", undone="relate")
    assert [operation["id"] for operation in ask(library, "history")["operations"]] == ["store-1", "store-0"]


def test_an_operation_on_many_notes_lists_some_and_counts_the_others(library):
    ids = [ask(library, "store", title=f"Note {at} of seven")["id"] for at in range(7)]
    ask(library, "observation.bulk_delete_observations", ids=ids)
    newest = ask(library, "history", limit=1)["operations"][0]
    assert (len(newest["nodes"]), newest["more"]) == (5, 2)


@pytest.mark.parametrize("arguments", [{"limit": 0}, {"limit": 101}])
def test_a_history_out_of_range_is_refused(library, arguments):
    with pytest.raises(BadRequest):
        ask(library, "history", **arguments)


def test_a_history_of_an_unknown_note_is_refused(library):
    with pytest.raises(NotFound):
        ask(library, "history", node_id="7")


def test_a_session_is_read_page_by_page_with_its_notes(life):
    life.ask("stats")
    life.write(
        "s1",
        user("Remember that staging runs Postgres 15."),
        agent("I will."),
        user("why do retries back off?"),
        agent("Because of the herd."),
    )
    life.read()
    life.ask("take_candidates", writes=True, numbers=["all"])
    others = {"title": "A note of another project from a session of that name"}
    carry_out(life.worker.ready(), "store", others, project="there", source=Source(session="s1"))
    answer = life.ask("read_session", session_id="s1", limit=1)
    assert (answer["exchange_count"], answer["next_offset"]) == (2, 1)
    [first] = answer["exchanges"]
    assert (first["asked"], first["said"]) == ("Remember that staging runs Postgres 15.", "I will.")
    assert [note["title"] for note in answer["notes"]] == ["Staging runs Postgres 15."]
    answer = life.ask("read_session", session_id=answer["id"], offset=1)
    assert [exchange["said"] for exchange in answer["exchanges"]] == ["Because of the herd."]
    assert "next_offset" not in answer


def test_no_session_of_another_project_is_read(life):
    life.ask("stats")
    life.write("s1", user("why do retries back off?"), agent("Because of the herd."))
    life.read()
    life.project = "another-project"
    with pytest.raises(NotFound, match="no session"):
        life.ask("read_session", session_id="s1")


def test_erasing_works_without_any_back_up(library):
    stored = ask(library, "store", title="Nobody copied this")
    erased = finish(library.erase([stored["id"]], back_ups=True))
    assert erased["back_ups_rewritten"] == 0
    assert library.stats()["node_count"] == 0


def test_a_nul_character_does_not_prevent_reading_a_session(life):
    life.ask("stats")
    life.write("one", user("Why does the \x00build fail?", "2026-03-01T10:00:00Z"))
    life.read()
    assert life.search("why does the build fail")
