"""Linked projects: a clone shares another project's notes only after a person links it."""

import itertools

import pytest

from cortex.embedders.static import open_static
from cortex.memory.find.recall import Memory
from cortex.memory.library import Library, finish
from cortex.memory.note import Source
from cortex.memory.operations import carry_out
from cortex.system.errors import BadRequest, NotFound

SHOP, CLONE, OTHER = "shop-0123456789abcdef", "shop-clone-fedcba9876543210", "other-0000000000000000"


@pytest.fixture
def library(data):
    moments = itertools.count(1_700_000_000_000, 1000)
    with Library(Memory(data, open_static(), lambda: next(moments))) as library:
        yield library


def ask(library, project, name, *, operation_id="", **arguments):
    return carry_out(library, name, arguments, project=project, operation_id=operation_id)


def titles(library, whose, **others):
    rows = carry_out(library, "search", {"query": "which port"} | others, project=whose)["results"]
    return {row["title"] for row in rows}


def filled(library):
    for project, port in ((SHOP, 8080), (CLONE, 9090), (OTHER, 7070)):
        ask(library, project, "store", title=f"The port is {port}")
    return library


def test_a_clone_has_notes_of_its_own_until_it_is_linked(library):
    filled(library)
    assert titles(library, CLONE) == {"The port is 9090"}
    answer = ask(library, CLONE, "link", other=SHOP)
    assert (answer["project"], answer["home"], answer["moved"]) == (CLONE, SHOP, 1)
    both = {"The port is 8080", "The port is 9090"}
    assert titles(library, CLONE) == titles(library, SHOP) == both
    ask(library, CLONE, "store", title="The port was 6060 once")
    assert titles(library, SHOP) == {*both, "The port was 6060 once"}
    assert titles(library, SHOP, project=CLONE) == titles(library, SHOP)
    assert titles(library, OTHER) == {"The port is 7070"}
    assert ask(library, CLONE, "stats")["node_count"] == 3


def test_a_note_of_both_linked_projects_is_merged_when_stored_again(library):
    filled(library)
    ask(library, CLONE, "link", other=SHOP)
    assert ask(library, CLONE, "store", title="the PORT is 8080")["deduplicated"]


def test_notes_of_an_earlier_moment_are_still_found_after_a_link(library):
    number = ask(library, CLONE, "store", title="The port is 9090")["number"]
    then = library.memory.now()
    ask(library, CLONE, "store", id=number, title="The harbour is closed")
    ask(library, SHOP, "store", title="Another note")
    ask(library, CLONE, "link", other=SHOP)
    assert titles(library, SHOP, as_of=then) == {"The port is 9090"}


def test_a_link_is_one_operation_that_can_be_undone(library):
    filled(library)
    done = ask(library, CLONE, "link", other=SHOP, operation_id="one")
    assert ask(library, CLONE, "link", other=SHOP, operation_id="one") == done
    assert ask(library, CLONE, "undo")["what"] == "link"
    assert titles(library, CLONE) == {"The port is 9090"}
    assert titles(library, SHOP) == {"The port is 8080"}


def test_notes_that_joined_stay_when_a_link_ends(library):
    filled(library)
    ask(library, CLONE, "link", other=SHOP)
    assert ask(library, CLONE, "link", remove=True)["home"] == CLONE
    assert titles(library, CLONE) == set()
    ask(library, CLONE, "store", title="The port is 5050")
    assert titles(library, SHOP) == {"The port is 8080", "The port is 9090"}
    with pytest.raises(BadRequest, match="shares no other"):
        ask(library, CLONE, "link", remove=True)


def test_a_linked_project_follows_when_its_target_is_linked(library):
    filled(library)
    ask(library, CLONE, "link", other=SHOP)
    ask(library, SHOP, "link", other=OTHER)
    assert titles(library, CLONE) == titles(library, OTHER)
    assert len(titles(library, OTHER)) == 3
    with pytest.raises(BadRequest, match="share their notes already"):
        ask(library, OTHER, "link", other=CLONE)


def test_links_survive_a_restart_and_the_indexes_agree(library, data):
    filled(library)
    ask(library, CLONE, "link", other=SHOP)
    assert finish(library.doctor(mend=False))["findings"] == []
    library.close()
    with Library.open(data) as reopened:
        assert len(titles(reopened, CLONE)) == 2


@pytest.mark.parametrize(
    ("project", "arguments", "error", "sentence"),
    [
        (CLONE, {"other": "nobody"}, NotFound, "'nobody' has no notes"),
        (CLONE, {"other": CLONE}, BadRequest, "share their notes already"),
        ("", {"other": SHOP}, BadRequest, "No project: run this"),
    ],
)
def test_an_invalid_link_is_refused_with_a_sentence(library, project, arguments, error, sentence):
    filled(library)
    with pytest.raises(error, match=sentence):
        ask(library, project, "link", **arguments)


def test_no_agent_can_link(library):
    with pytest.raises(BadRequest, match="cortex memory link"):
        carry_out(library, "link", {}, source=Source(channel="mcp"))
