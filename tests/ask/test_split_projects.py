"""One project, and its files as two projects: a question to both ranks as in the one."""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from cortex.ask.exact import exact
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
RESULTS = 5


@pytest.fixture(scope="module")
def undivided(tmp_path_factory, serve):
    folder = tmp_path_factory.mktemp("whole")
    for room in ROOMS:
        shutil.copytree(CODE / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    return serve(folder)


def copied(undivided, folder, numbers):
    """Copy every second file to the same relative path."""
    paths = sorted(path.relative_to(undivided.config.root) for path in undivided.config.root.rglob("*.py"))
    for path in (path for at, path in enumerate(paths) if at % 2 in numbers):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(undivided.config.root / path, folder / path)
    return folder


@pytest.fixture(scope="module")
def halves(undivided, tmp_path_factory, serve):
    return {
        name: serve(copied(undivided, tmp_path_factory.mktemp(name), numbers))
        for name, numbers in (("even", {0}), ("odd", {1}))
    }


@pytest.fixture(scope="module")
def twins(undivided, tmp_path_factory, serve):
    return {"one": undivided, "other": serve(copied(undivided, tmp_path_factory.mktemp("other"), {0, 1}))}


def search_all(projects, how=search, **question):
    async def others(_patterns):
        return [Member(name, project.context()) for name, project in projects.items()]

    kind = Exact if how is exact else Search
    context = replace(next(iter(projects.values())).context(), others=others)
    return orjson.loads(orjson.dumps(asyncio.run(how(context, kind(**question), ("*",)))))


def search_single(undivided, query, **more):
    question = Search(query=query, detail="location", limit=RESULTS, **more)
    return orjson.loads(orjson.dumps(asyncio.run(search(undivided.context(), question))))


def files(answer):
    return [result["chunk"]["metadata"]["file_path"] for result in answer["results"]]


def test_two_halves_that_are_asked_together_rank_nearly_as_the_whole(undivided, halves):
    first, shared = 0, 0
    for query in QUESTIONS:
        single = files(search_single(undivided, query))
        both = files(search_all(halves, query=query, detail="location", limit=RESULTS))
        first += single[0] == both[0]
        shared += len(set(single) & set(both))
    # Names of the other half are not resolved, so files have fewer references.
    assert first >= len(QUESTIONS) - 1
    assert shared >= 0.9 * RESULTS * len(QUESTIONS)


def test_both_halves_are_among_the_best_and_not_each_by_turns(undivided, halves):
    order = ""
    for query in QUESTIONS:
        answer = search_all(halves, query=query, detail="location", limit=RESULTS)
        order += " " + "".join(result["project"][0] for result in answer["results"])
    assert {"e", "o"} < set(order)
    assert any(run not in ("eoeoe", "oeoeo") for run in order.split())


def test_a_file_and_its_copy_in_another_project_are_worth_the_same_to_the_last_digit(undivided, twins):
    for query in QUESTIONS:
        both = search_all(twins, query=query, detail="location", limit=2 * RESULTS)
        scores = [result["combined_score"] for result in both["results"]]
        assert files(both)[0::2] == files(both)[1::2]
        assert scores[0::2] == scores[1::2]
        assert [result["project"] for result in both["results"]] == ["one", "other"] * RESULTS
        assert files(both)[0] == files(search_single(undivided, query))[0]


def test_one_project_that_is_named_among_several_answers_as_it_does_alone(undivided):
    for query in QUESTIONS:
        single = search_all({"one": undivided}, query=query, detail="location", limit=RESULTS)
        assert [result["combined_score"] for result in single["results"]] == [
            result["combined_score"] for result in search_single(undivided, query)["results"]
        ]
        assert files(single) == files(search_single(undivided, query))


@pytest.mark.parametrize("more", [{}, {"offset": 3}, {"detail": "snippet", "offset": 2, "limit": 4}])
def test_a_keyword_query_to_one_named_project_answers_as_to_it_alone(undivided, more):
    question = {"query": "tokens", "detail": "auto", "max_tokens": 900} | more
    named = search_all({"one": undivided}, exact, **question)
    plain = orjson.loads(orjson.dumps(asyncio.run(exact(undivided.context(), Exact(**question)))))
    assert [result.pop("project") for result in named["results"]] == ["one"] * len(plain["results"])
    for answer in (named, plain):
        del answer["metadata"], answer["index"]
    assert named == plain
    assert plain["results"]


def test_lines_of_halves_are_those_of_the_whole(undivided, halves):
    single = search_all({"one": undivided}, exact, query="tokens", detail="auto", max_tokens=20_000)
    both = search_all(halves, exact, query="tokens", detail="auto", max_tokens=20_000)
    kinds = [hit["chunk"]["metadata"]["kind"] for hit in both["results"]]
    assert sorted(set(files(single))) == sorted(set(files(both)))
    assert single["total_found"] == both["total_found"]
    assert kinds == sorted(kinds, key=[*dict.fromkeys(kinds)].index)


def test_chunks_of_halves_rank_nearly_as_in_the_whole(undivided, halves):
    first, shared, queries = 0, 0, ("words tokens", "score OR weight", '"the words" OR path', "file secret")
    for query in queries:
        arguments = {"query": query, "match_type": "boolean", "detail": "location", "limit": 10}
        single = search_all({"one": undivided}, exact, **arguments)
        both = search_all(halves, exact, **arguments)
        assert single["total_found"] == both["total_found"]
        first += files(single)[0] == files(both)[0]
        shared += len({*places(single)} & {*places(both)}) / len(single["results"])
    # The mean length of a field differs: each half has its own.
    assert first >= len(queries) - 1
    assert shared >= 0.8 * len(queries)


def places(answer):
    chunks = [result["chunk"]["metadata"] for result in answer["results"]]
    return [(place["file_path"], place["start_line"]) for place in chunks]


def test_lines_of_halves_fit_the_budget_of_one_answer(halves):
    for tokens in (400, 1_500):
        answer = search_all(halves, query=QUESTIONS[0], detail="auto", max_tokens=tokens)
        size = sum(len(orjson.dumps(result["chunk"])) for result in answer["results"])
        assert size <= 4 * tokens or len(answer["results"]) == 1
        assert answer["results"]
