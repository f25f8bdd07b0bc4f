"""The tools of observations after the simulated life of a project, against known answers."""

from shutil import copytree

import pytest

from cortex.memory.library import Library, finish
from cortex.memory.operations import carry_out
from cortex.terms.observations import ROWS
from tests.expected_observations import CHECKS, Expectations
from tests.front.conftest import Window
from tests.front.test_code_notes import Desk
from tests.generated_life import BEGIN, DAY_MS, generate_life, plant, store_life, write_project

LIFE = generate_life(observations=110)
PLANTED = plant(LIFE)


@pytest.fixture(scope="module")
def known_life(tmp_path_factory, serve, empty):
    """The life in a memory with upkeep, next to its project."""
    root = tmp_path_factory.mktemp("life") / "project"
    write_project(root)
    with Library.open(copytree(empty, root.parent / "data")) as library:
        numbers = store_life(library, LIFE)
        done = {"remaining": 1}
        while done["remaining"]:
            done = finish(carry_out(library, "run_consolidation", {}, project="shop"))
        desk = Desk(serve(root), Window(library, root, project="shop").memory)
        yield Expectations(desk.ask, LIFE, PLANTED, numbers)


def test_there_is_a_check_for_each_tool():
    assert set(CHECKS) == set(ROWS)


@pytest.mark.parametrize("tool", ROWS)
def test_a_tool_gives_the_known_answers_for_a_life(known_life, tool):
    CHECKS[tool](known_life)


def test_all_fields_are_anded(known_life):
    middle = BEGIN + LIFE.days * DAY_MS // 2
    matching_titles = known_life.all_titles(
        "search",
        obs_type="bugfix,feature",
        concepts="network,storage",
        files="src/net,src/cart",
        dateStart=str(middle),
    )
    assert matching_titles == known_life.titles(
        type=lambda note: note["obs_type"] in ("bugfix", "feature"),
        tag=lambda note: {"network", "storage"} & set(note["tags"]),
        file=lambda note: any(path.startswith(("src/net/", "src/cart/")) for path in note["files"]),
        time=lambda note: note["at"] >= middle,
    )


def test_the_notes_as_of_every_moment_are_right(known_life):
    assert LIFE.replaced
    assert LIFE.doubled
    for old, (new, moment) in LIFE.replaced.items():
        query = f"what did we decide on for {LIFE.notes[old]['topic']}"
        before = [
            row["title"] for row in known_life.ask("search", query=query, as_of=str(moment - 1))["results"]
        ]
        after = [row["title"] for row in known_life.ask("search", query=query, as_of=str(moment))["results"]]
        assert old in before
        assert new not in before
        assert old not in after
