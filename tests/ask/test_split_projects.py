"""One project, and the same files as two: what is asked of both together ranks as in the one."""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from cortex.ask.multi_project.exact import exact_together
from cortex.ask.multi_project.search import search_together
from cortex.ask.query_context import Member
from cortex.ask.questions import Exact, Search
from cortex.ask.search import search

ROOMS = ("ranking", "query", "terms")
CODE = Path(__file__).parents[2] / "cortex"
QUESTIONS = (
    "how is the score of a file added up",
    "which words of a question are compared with names",
    "where is a query turned into a tree",
    "what does a path say of tests and examples",
    "how many edits lie between two words",
    "read a stack trace that was pasted",
    "expand braces in a glob",
    "which languages are known by their endings",
    "mean and deviation of cosines",
    "find secrets in a text",
)
SHOWN = 5


@pytest.fixture(scope="module")
def whole(tmp_path_factory, serve):
    folder = tmp_path_factory.mktemp("whole")
    for room in ROOMS:
        shutil.copytree(CODE / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    return serve(folder)


def copied(whole, folder, numbers):
    """Those of the files, each where it was."""
    paths = sorted(path.relative_to(whole.config.root) for path in whole.config.root.rglob("*.py"))
    for path in (path for at, path in enumerate(paths) if at % 2 in numbers):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(whole.config.root / path, folder / path)
    return folder


@pytest.fixture(scope="module")
def halves(whole, tmp_path_factory, serve):
    return {
        name: serve(copied(whole, tmp_path_factory.mktemp(name), numbers))
        for name, numbers in (("even", {0}), ("odd", {1}))
    }


@pytest.fixture(scope="module")
def twins(whole, tmp_path_factory, serve):
    return {"one": whole, "other": serve(copied(whole, tmp_path_factory.mktemp("other"), {0, 1}))}


def together(projects, how=search_together, **question):
    async def others(_patterns):
        return [Member(name, one.asking()) for name, one in projects.items()]

    kind = Exact if how is exact_together else Search
    own = replace(next(iter(projects.values())).asking(), others=others)
    return orjson.loads(orjson.dumps(asyncio.run(how(own, ("*",), kind(**question)))))


def alone(whole, query, **more):
    question = Search(query=query, detail="location", limit=SHOWN, **more)
    return orjson.loads(orjson.dumps(asyncio.run(search(whole.asking(), question))))


def files(answer):
    return [one["chunk"]["metadata"]["file_path"] for one in answer["results"]]


def test_two_halves_that_are_asked_together_rank_nearly_as_the_whole(whole, halves):
    first, shared = 0, 0
    for query in QUESTIONS:
        one = files(alone(whole, query))
        both = files(together(halves, query=query, detail="location", limit=SHOWN))
        first += one[0] == both[0]
        shared += len(set(one) & set(both))
    # Names that one half refers to in the other are not resolved, so files are less referred to.
    assert first >= len(QUESTIONS) - 1
    assert shared >= 0.9 * SHOWN * len(QUESTIONS)


def test_both_halves_are_among_the_best_and_not_each_by_turns(whole, halves):
    order = ""
    for query in QUESTIONS:
        answer = together(halves, query=query, detail="location", limit=SHOWN)
        order += " " + "".join(one["project"][0] for one in answer["results"])
    assert {"e", "o"} < set(order)
    assert any(part not in ("eoeoe", "oeoeo") for part in order.split())


def test_a_file_and_its_copy_in_another_project_are_worth_the_same_to_the_last_digit(whole, twins):
    for query in QUESTIONS:
        both = together(twins, query=query, detail="location", limit=2 * SHOWN)
        scores = [one["combined_score"] for one in both["results"]]
        assert files(both)[0::2] == files(both)[1::2]
        assert scores[0::2] == scores[1::2]
        assert [one["project"] for one in both["results"]] == ["one", "other"] * SHOWN
        assert files(both)[0] == files(alone(whole, query))[0]


def test_one_project_that_is_named_among_several_answers_as_it_does_alone(whole):
    for query in QUESTIONS:
        own = together({"one": whole}, query=query, detail="location", limit=SHOWN)
        assert [one["combined_score"] for one in own["results"]] == [
            one["combined_score"] for one in alone(whole, query)["results"]
        ]
        assert files(own) == files(alone(whole, query))


def test_lines_of_halves_are_those_of_the_whole(whole, halves):
    one = together({"one": whole}, exact_together, query="tokens", detail="auto", max_tokens=20_000)
    both = together(halves, exact_together, query="tokens", detail="auto", max_tokens=20_000)
    kinds = [hit["chunk"]["metadata"]["kind"] for hit in both["results"]]
    assert sorted(set(files(one))) == sorted(set(files(both)))
    assert one["total_found"] == both["total_found"]
    assert kinds == sorted(kinds, key=[*dict.fromkeys(kinds)].index)


def test_chunks_of_halves_stand_nearly_as_in_the_whole(whole, halves):
    first, shared, queries = 0, 0, ("words tokens", "score OR weight", '"the words" OR path', "file secret")
    for query in queries:
        asked = {"query": query, "match_type": "boolean", "detail": "location", "limit": 10}
        one = together({"one": whole}, exact_together, **asked)
        both = together(halves, exact_together, **asked)
        assert one["total_found"] == both["total_found"]
        first += files(one)[0] == files(both)[0]
        shared += len({*places(one)} & {*places(both)}) / len(one["results"])
    # What differs is the mean length of a field, which each half has of its own.
    assert first >= len(queries) - 1
    assert shared >= 0.8 * len(queries)


def places(answer):
    chunks = [one["chunk"]["metadata"] for one in answer["results"]]
    return [(one["file_path"], one["start_line"]) for one in chunks]


def test_lines_of_halves_fit_the_budget_of_one_answer(halves):
    for tokens in (400, 1_500):
        answer = together(halves, query=QUESTIONS[0], detail="auto", max_tokens=tokens)
        size = sum(len(orjson.dumps(one["chunk"])) for one in answer["results"])
        assert size <= 4 * tokens or len(answer["results"]) == 1
        assert answer["results"]
