"""What became of notes: revisions, why edges are there, what can be taken back, what was said."""

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


def test_a_note_tells_what_each_change_made_of_it_the_newest_first(library):
    ask(library, "store", title="The port is 8080", tags=["ops"])
    ask(library, "store", id="1", title="The port is 9090")
    ask(library, "store", id="1", body="The proxy took the other one.", tags=["ops", "net"])
    ask(library, "node", node_id="1")  # counts a use, which is no change
    answer = ask(library, "history", node_id="1")
    assert (answer["number"], answer["title"]) == (1, "The port is 9090")
    assert [revision["changed"] for revision in answer["revisions"]] == [
        {"body": ["", "The proxy took the other one."], "tags": [["ops"], ["ops", "net"]]},
        {"title": ["The port is 8080", "The port is 9090"]},
    ]


def test_an_edge_tells_who_says_so_and_what_is_at_its_other_end(library):
    for at in range(2):
        ask(library, "store", title=f"Note {at} of two")
    ask(library, "relate", from_id="1", to_id="2", relation="causes")
    ask(library, "forget", node_id="2")
    [edge] = ask(library, "history", node_id="1")["edges"]
    assert (edge["relation"], edge["detection"], edge["weight"]) == ("causes", "manual", 1.0)
    assert (edge["other"]["number"], edge["other"]["state"]) == (2, "deleted")


def test_operations_are_told_by_the_number_that_takes_them_back(library):
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


def test_an_operation_on_many_notes_names_some_and_counts_the_rest(library):
    ids = [ask(library, "store", title=f"Note {at} of seven")["id"] for at in range(7)]
    ask(library, "observation.bulk_delete_observations", ids=ids)
    newest = ask(library, "history", limit=1)["operations"][0]
    assert (len(newest["nodes"]), newest["more"]) == (5, 2)


@pytest.mark.parametrize("arguments", [{"limit": 0}, {"limit": 101}])
def test_a_history_out_of_range_is_refused(library, arguments):
    with pytest.raises(BadRequest):
        ask(library, "history", **arguments)


def test_a_history_of_what_is_not_there_says_so(library):
    with pytest.raises(NotFound):
        ask(library, "history", node_id="7")


def test_a_session_is_read_page_by_page_with_the_notes_that_came_of_it(life):
    life.ask("stats")
    life.write(
        "s1",
        user("Remember that staging runs Postgres 15."),
        agent("I will."),
        user("why do retries back off?"),
        agent("Because of the herd."),
    )
    life.read()
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


def test_what_is_forgotten_where_no_back_up_was_ever_made_is_forgotten(library):
    stored = ask(library, "store", title="Nobody copied this")
    erased = finish(library.erase([stored["id"]], back_ups=True))
    assert erased["back_ups_rewritten"] == 0
    assert library.stats()["node_count"] == 0


def test_a_character_that_no_text_holds_keeps_no_session_from_being_read(life):
    life.ask("stats")
    life.write("one", user("Why does the \x00build fail?", "2026-03-01T10:00:00Z"))
    life.read()
    assert life.search("why does the build fail")
