"""Operations of the worker: arguments are checked with one sentence, a write is carried out once,
and each applies to the project and source of its request.
"""

import pytest

from cortex.memory.library import Library
from cortex.memory.note import Source
from cortex.memory.operations import OPERATIONS, carry_out
from cortex.system.errors import BadRequest, CortexError, NotFound


@pytest.fixture
def library(data):
    with Library.open(data) as library:
        yield library


def store(library, title, **others):
    return carry_out(library, "store", {"title": title}, **others)["id"]


def test_notes_stored_by_one_operation_are_found_by_others(library):
    first = store(library, "Retries use exponential back-off with jitter")
    second = store(library, "The payment provider limits calls")
    answer = carry_out(library, "relate", {"from_id": second, "to_id": first, "relation": "causes"})
    assert (
        answer["message"]
        == "Related: The payment provider limits calls → causes → Retries use exponential back-off with jitter"
    )
    assert carry_out(library, "recall", {"query": "back-off of retries"})["results"][0]["id"] == first
    walk = carry_out(library, "traverse", {"node_id": first, "direction": "incoming"})
    assert {node["id"] for node in walk["nodes"]} == {first, second}
    assert carry_out(library, "node", {"node_id": first})["related"][0]["id"] == second
    assert carry_out(library, "stats", {})["edge_count"] == 1
    carry_out(library, "forget", {"node_id": first})
    assert carry_out(library, "search", {"query": "back-off of retries"})["results"] == []
    assert "payment" in carry_out(library, "briefing", {})["briefing"]


def test_project_and_source_are_those_of_the_request(library):
    note_id = store(library, "The port is 8080", project="one", source=Source("claude", "s1", "mcp", "agent"))
    query = {"query": "which port"}
    assert carry_out(library, "search", query, project="two")["results"] == []
    assert carry_out(library, "search", query, project="one")["results"][0]["id"] == note_id
    note = carry_out(library, "node", {"node_id": note_id}, project="one")
    assert (note["source_agent"], note["session"], note["trust"]) == ("claude", "s1", "agent")


def test_the_stats_of_a_project_count_nothing_of_another(library):
    for project in ("one", "two"):
        ends = [store(library, f"Note {at} of {project}", project=project) for at in range(2)]
        carry_out(library, "relate", {"from_id": ends[0], "to_id": ends[1]}, project=project)
    for project, count in (("one", 1), ("two", 1), ("three", 0), ("", 2)):
        stats = carry_out(library, "stats", {}, project=project)
        assert (stats["node_count"], stats["edge_count"]) == (2 * count, count)


#: long work with the same result when it is repeated
SLICES = ("erase", "import", "export", "export_markdown", "backup", "doctor", "take_session")


def test_agents_are_refused_the_operations_of_people(library):
    commands = {
        "erase": "forget --hard",
        "reopen": "closed --reopen",
        "take_candidates": "candidates --take",
        "past_sessions": "past-sessions",
    }
    for name in (*SLICES, "link", "closed", "reopen", "take_candidates", "past_sessions", "accept"):
        command = commands.get(name, name)
        with pytest.raises(BadRequest, match=f"Only people .*`cortex memory {command}`"):
            carry_out(library, name, {}, source=Source(channel="mcp"))


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, operation in OPERATIONS.items()
        if operation.takes_number and name not in (*SLICES, "take_commits")
    ],
)
def test_a_repeated_write_with_the_same_operation_id_is_done_once(library, name):
    first, second = store(library, "The first of two notes"), store(library, "The second of two notes")
    arguments = {
        "store": {"title": "A third note"},
        "relate": {"from_id": first, "to_id": second},
        "forget": {"node_id": first},
        "undo": {},
        "link": {"other": "there"},
        "rate": {"node_id": first, "value": 1},
        "reopen": {},
        "take_candidates": {"numbers": ["all"]},
        "drop_candidates": {"numbers": ["all"]},
        "restore_candidates": {},
        "accept": {"numbers": ["all"]},
        "observation.edit_observation": {"id": first, "title": "Changed"},
        "observation.tag_observation": {"id": first, "tags": ["new"]},
        "observation.merge_observations": {"source_id": first, "target_id": second},
        "observation.bulk_delete_observations": {"ids": [first]},
        "observation.bulk_mark_superseded": {"ids": [first], "superseded_by": second},
        "observation.bulk_boost_observations": {"ids": [first], "boost": 0.1},
        "observation.batch_tag_by_pattern": {"pattern": "two", "tags": ["new"], "dry_run": False},
    }[name]
    store(library, "A note of another project", project="there")
    answer = carry_out(library, name, arguments, project="here", operation_id="op-1")
    assert carry_out(library, name, arguments, project="here", operation_id="op-1") == answer
    count = carry_out(library, "stats", {})
    assert (count["node_count"], count["edge_count"]) == {
        "store": (4, 0),
        "relate": (3, 1),
        "forget": (2, 0),
        "undo": (2, 0),
        "link": (3, 0),
        "observation.merge_observations": (3, 1),
        "observation.bulk_delete_observations": (2, 0),
        "observation.bulk_mark_superseded": (3, 1),
    }.get(name, (3, 0))


def test_an_edit_with_state_and_superseded_notes_is_one_operation_all_or_nothing(library):
    first, second, third = (store(library, f"Note {at} of three") for at in range(3))
    arguments = {"id": first, "title": "Changed", "state": "archived", "supersedes": [second, "nobody"]}
    with pytest.raises(NotFound):
        carry_out(library, "store", arguments, operation_id="one")
    note = carry_out(library, "node", {"node_id": first})
    assert (note["title"], note["state"]) == ("Note 0 of three", "active")
    assert carry_out(library, "node", {"node_id": second})["state"] == "active"

    arguments["supersedes"] = [second, third]
    done = carry_out(library, "store", arguments, operation_id="one")
    assert carry_out(library, "store", arguments, operation_id="one") == done
    assert done["id"] == first
    assert done["message"] == "Changed: title. Now archived. It supersedes 2."
    states = [carry_out(library, "node", {"node_id": note_id})["state"] for note_id in (first, second, third)]
    assert states == ["archived", "superseded", "superseded"]

    assert carry_out(library, "undo", {})["undone"] == "one"
    for at, note_id in enumerate((first, second, third)):
        note = carry_out(library, "node", {"node_id": note_id})
        assert (note["title"], note["state"], note["edges"]) == (f"Note {at} of three", "active", [])


def test_a_repeated_edit_reports_the_removed_secrets_again(library):
    arguments = {"id": store(library, "Where the key is"), "body": f"AKIA{'ABCD' * 4}", "anchors": ["a:b"]}
    done = carry_out(library, "store", arguments, operation_id="one")
    assert done["removed"] == ["AWS key"]
    carry_out(library, "store", {"id": arguments["id"], "metadata": {"more": 1}}, operation_id="two")
    assert carry_out(library, "store", arguments, operation_id="one") == done


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("remember", {}, "Memory has no operation 'remember'; it has: store, search"),
        ("recall", {}, "`query` is required; recall takes: query, limit"),
        ("store", {}, "The title is empty"),
        ("store", {"title": "x", "colour": "red"}, "There is no argument `colour`; store takes"),
        ("store", {"title": ["x"]}, r"`title` cannot be used: expected `str . null`, got `array`\."),
        ("store", {"title": "x", "importance": 7}, "importance is 7.0; it must be between 0 and 1"),
        ("store", {"title": "x", "occurred_at": "soon"}, "occurred_at is 'soon'; pass epoch milliseconds"),
        ("store", {"title": "x", "scope": "mine"}, "`scope` cannot be used: invalid enum value 'mine'"),
        ("recall", {"query": " "}, "The query is empty"),
        ("traverse", {"node_id": "nobody"}, "There is no note 'nobody'"),
        ("traverse", {"node_id": "1", "depth": 70}, "depth is 70; it must be between 1 and 6"),
    ],
)
def test_arguments_that_cannot_be_used_are_one_sentence(library, name, arguments, sentence):
    with pytest.raises((BadRequest, NotFound), match=sentence) as caught:
        carry_out(library, name, arguments)
    assert isinstance(caught.value, CortexError)
    assert "\n" not in str(caught.value)
