"""A thousand projects in one collection of a real milvus-lite: each sees only its rows."""

from __future__ import annotations

import contextlib
import os

import pytest

from cortex.engines.milvus.engine import MilvusEngine
from cortex.engines.milvus.entries import make_entry
from cortex.engines.milvus.place import milvus_place
from cortex.engines.milvus.storage.collection import Collection
from cortex.engines.vector.usearch import KEPT_MAX
from cortex.generation.write import Row
from cortex.ranking import rank, weigh
from cortex.ranking.multi_project import join_meaning, join_words, split_hit
from ipc.messages import ExactSearch, Filters, TextSignals, VectorSearch
from tests.engines.forest import DIMENSIONS, TREES, World, chunk, vector
from tests.milvus_lite import with_milvus

PROJECTS = 1_000


class Crowded(MilvusEngine):
    """The engine over the tests' file, in a collection that only this module fills."""

    def __init__(self, config):
        super().__init__(with_milvus(config, os.environ["CORTEX_TESTS_MILVUS"], collection="crowd"))


def neighbours(count):
    """A row for each of so many projects, with the files and words of our projects."""
    for number in range(count):
        tree = TREES[number % len(TREES)]
        body = {name: value for name, value in chunk(tree).items() if name != "embedding"}
        yield make_entry(
            f"crowd-{number:04}", Row(1, body, "chunks.json", b"x", vector(tree), "m@1"), 1, DIMENSIONS
        )


@pytest.fixture(scope="module")
def worlds(milvus, tmp_path_factory):
    """Two projects among a thousand: one has all trees, one the oak alone."""
    folder = tmp_path_factory.mktemp("crowd")
    with contextlib.ExitStack() as stack:
        created = [stack.enter_context(contextlib.closing(World(folder / name, Crowded))) for name in "ab"]
        created[0].publish(*TREES)
        collection = Collection(milvus_place(created[0].make()._config))
        stack.callback(collection.close)
        collection.insert(neighbours(PROJECTS - len(created)))
        created[1].publish("oak")
        # separate names: on a rerun the collection still holds two older worlds
        assert collection.count('project like "crowd-%"') == PROJECTS - len(created)
        yield created


@pytest.fixture(scope="module")
def opened(worlds):
    return [world.open() for world in worlds]


QUESTIONS = {
    "words": lambda tree: TextSignals(tree, 10),
    "meaning": lambda tree: VectorSearch(vector(tree), "m@1", 10),
    "exact": ExactSearch,
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_each_of_a_thousand_projects_finds_only_its_rows(opened, kind):
    for handlers, trees in zip(opened, (TREES, ("oak",)), strict=True):
        for tree in trees:
            request = QUESTIONS[kind](tree)
            hits = handlers[type(request)](request).hits
            assert hits[0].path == f"{tree}.py"
            assert {hit.path for hit in hits} <= {f"{name}.py" for name in trees}
            assert len(hits) == len({hit.key for hit in hits}) <= len(trees)


def test_rows_of_the_last_few_filters_are_remembered(opened):
    search = opened[0][VectorSearch]
    for number in range(2 * KEPT_MAX):
        filters = Filters(exclude_paths=(f"{number}.py",))
        assert search(VectorSearch(vector("oak"), "m@1", 10, filters)).hits[0].path == "oak.py"
    assert 0 < len(search.__self__.filter_cache) <= KEPT_MAX


def test_a_change_of_one_project_among_a_thousand_is_seen_by_it_alone(worlds, opened):
    world = worlds[0]
    world.publish("oak", "birch")
    handlers = world.open()
    assert not handlers[TextSignals](TextSignals("maple", 10)).hits
    assert [hit.path for hit in handlers[TextSignals](TextSignals("oak", 10)).hits] == ["oak.py"]
    # a reader of the previous generation sees its rows, and the neighbours all of theirs
    assert [hit.path for hit in opened[0][TextSignals](TextSignals("maple", 10)).hits] == ["maple.py"]
    assert [hit.path for hit in opened[1][TextSignals](TextSignals("oak", 10)).hits] == ["oak.py"]


def test_two_projects_searched_together_are_ranked_once(opened):
    text = {number: answering[TextSignals](TextSignals("oak", 90)) for number, answering in enumerate(opened)}
    near = {
        number: answering[VectorSearch](VectorSearch(vector("oak"), "m@1", 45))
        for number, answering in enumerate(opened)
    }
    ranking = rank("oak", join_words(text, 90), join_meaning(near, 45), weigh(vectors=True), 2)
    assert {(split_hit(ranked.hit)[0], split_hit(ranked.hit)[1].path) for ranked in ranking} == {
        (0, "oak.py"),
        (1, "oak.py"),
    }
    # the meaning is the same; milvus-lite counts words per project
    assert (
        ranking[0].values[ranking[0].names.index("smax")] == ranking[1].values[ranking[1].names.index("smax")]
    )
