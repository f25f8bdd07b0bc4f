"""One question to several projects: all are asked and ranked once, absent ones are named."""

import asyncio
import time
from dataclasses import replace

import pytest
from msgspec import structs

from cortex.ask.exact import exact
from cortex.ask.query_context import Member, Starting
from cortex.ask.query_context import StoredProject as Place
from cortex.ask.questions import Exact, Search
from cortex.ask.search import find, search
from cortex.ranking.multi_project import join_hit, join_meaning, join_words, project_key
from cortex.settings.config import Config
from cortex.settings.table import Embedding
from cortex.system.errors import BadRequest, Damaged, Unavailable
from ipc.client import Silent
from ipc.codec import decode, encode
from ipc.messages import (
    Among,
    Answers,
    Apart,
    Bring,
    Brought,
    CountWords,
    ExactHits,
    ExactSearch,
    Fetch,
    MeaningSearch,
    Show,
    TextSignals,
)
from tests.ask.fake_workers import HITS, Workers, make_context, plain, publish


class MilvusWorkers(Workers):
    """The workers of one project, for several projects in one Milvus."""

    def answer(self, request):
        match request:
            case Bring(projects=projects):
                return Brought(
                    (self.generation,) * len(projects), (3,) * len(projects), ("",) * len(projects)
                )
            case Among(projects=projects, request=(frame,)):
                return self.of_all(range(len(projects)), decode(frame))
            case Apart(requests=requests):
                return Answers(
                    tuple(encode(super(MilvusWorkers, self).answer(decode(encoded))) for encoded in requests)
                )
        raise AssertionError(request)

    def of_all(self, numbers, request):
        match request:
            case Fetch(keys=keys):
                return super().answer(structs.replace(request, keys=tuple(map(project_key, keys))))
            case TextSignals():
                return join_words(dict.fromkeys(numbers, super().answer(request)), 90)
            case MeaningSearch():
                return join_meaning(dict.fromkeys(numbers, super().answer(request)), 45)
            case CountWords():
                return super().answer(request)
            case ExactSearch():
                reply = super().answer(request)
                hits = tuple(join_hit(number, hit) for number in numbers for hit in reply.hits)
                more = ("scores", "highlights", "highlight_lines", "chunks")
                columns = {name: getattr(reply, name) * len(numbers) for name in more}
                return structs.replace(reply, hits=hits, total_found=len(hits), **columns)
        raise AssertionError(request)


class Project:
    """A project with fake workers."""

    def __init__(self, folder, name, generation=1, served=True):
        self.name, self.workers = name, Workers(generation)
        self.config = Config(root=folder / name)
        self.config.root.mkdir(exist_ok=True)
        self.config.index_dir.mkdir(parents=True)
        self.config.run_dir.mkdir()
        if served:
            publish(self.config, generation)

    def member(self, deadline_s=10.0):
        return Member(self.name, make_context(self.config, self.workers, deadline_s))


@pytest.fixture
def api(tmp_path):
    return Project(tmp_path, "api", 3)


@pytest.fixture
def web(tmp_path):
    return Project(tmp_path, "web", 7)


def ask(projects, how=search, away=(), deadline_s=10.0, **question):
    """Return the answer of `projects`, which all begin at the same time."""

    async def others(patterns):
        assert patterns == ("*",)
        return [*(project.member(deadline_s) for project in projects), *away]

    kind = Exact if how is exact else Search
    question = kind(**({"query": "words", "detail": "full"} | question))
    context = replace(make_context(projects[0].config, None, deadline_s), others=others)
    return asyncio.run(how(context, question, ("*",)))


def requests_of(project, kind):
    return [request for request in project.workers.requests if isinstance(request, kind)]


def places(answer):
    return [
        (result["project"], result["chunk"]["metadata"]["file_path"]) for result in plain(answer)["results"]
    ]


def test_each_result_names_its_project_and_ties_follow_the_order_of_the_projects(api, web):
    answer = ask([api, web])
    # The same files in both: each pair ties, and ids decide, then the order of the projects.
    assert places(answer) == [(name, path) for path in ("b.py", "a.py", "c.py") for name in ("api", "web")]
    assert answer["index"]["generations"] == {"api": 3, "web": 7}
    assert answer["index"]["degraded"] == []
    assert {request.generation for request in requests_of(web, Fetch)} == {7}


def test_the_ranking_is_that_of_one_project_that_holds_all(api, web):
    alone = [result["combined_score"] for result in ask([api])["results"]]
    both = [result["combined_score"] for result in ask([api, web])["results"]]
    assert both == [score for score in alone for _ in range(2)]


@pytest.fixture
def in_milvus(tmp_path):
    """Two projects in one Milvus, asked through the workers of the first."""
    project = Project(tmp_path, "far", 5)
    project.workers = MilvusWorkers(5)
    member = project.member()
    return project, [
        replace(member, name=name, far=Place("there", name, "Milvus")) for name in ("far", "off")
    ]


@pytest.mark.parametrize("detail", ["full", "auto"])
def test_local_projects_and_those_in_milvus_are_ranked_together(api, in_milvus, detail):
    far, members = in_milvus
    answer = ask([api], away=members, detail=detail)
    assert places(answer) == [
        (name, path) for path in ("b.py", "a.py", "c.py") for name in ("api", "far", "off")
    ]
    assert answer["index"]["generations"] == {"api": 3, "far": 5, "off": 5}
    assert len(requests_of(far, Bring)) == 1
    assert {request.generation for request in requests_of(api, TextSignals)} == {3}


def test_lines_of_local_projects_and_of_milvus_have_one_order(api, in_milvus):
    answer = ask([api], exact, away=in_milvus[1])
    assert places(answer) == [(name, path) for path in ("a.py", "b.py") for name in ("api", "far", "off")]
    assert answer["total_found"] == 6


def test_local_projects_have_time_to_answer_while_milvus_is_silent(api, in_milvus):
    far, members = in_milvus
    far.workers.silent = {"text"}
    late = [
        replace(member, context=replace(member.context, until=time.monotonic() + 1.0)) for member in members
    ]
    answer = ask([api], away=late, deadline_s=1.0)
    assert {name for name, _ in places(answer)} == {"api"}
    assert answer["index"]["degraded"] == ["far", "off"]


def test_words_are_counted_in_all_before_any_is_scored_and_not_where_one_is_asked(api, web):
    ask([api, web])
    assert [len(requests_of(project, CountWords)) for project in (api, web)] == [1, 1]
    assert requests_of(api, TextSignals)[0].counts.chunks == 6
    assert requests_of(api, TextSignals)[0].counts.holding == {"lane_body words": 4}
    api.workers.requests.clear()
    ask([api])
    assert not requests_of(api, CountWords)


def test_words_of_a_keyword_query_are_counted_in_all_also_in_milvus_before_any_is_scored(api, in_milvus):
    ask([api], exact, away=in_milvus[1], query="words", match_type="phrase")
    (counted,) = requests_of(api, CountWords)
    assert (counted.keywords, counted.match_type) == (True, "phrase")
    assert requests_of(api, ExactSearch)[0].counts.chunks == 6
    api.workers.requests.clear()
    ask([api], exact)
    assert not requests_of(api, CountWords)
    assert not requests_of(api, ExactSearch)[0].counts.chunks


def test_a_project_that_cannot_be_asked_is_named_and_the_others_answer(api):
    answer = ask([api], away=[Member("web", None, Unavailable("The workers are still being started."))])
    assert {name for name, _ in places(answer)} == {"api"}
    assert answer["index"]["degraded"] == ["web"]
    assert answer["index"]["message"].startswith("web: The workers are still being started.")


def test_a_project_without_an_index_is_named_and_not_waited_for(api, tmp_path):
    new = Project(tmp_path, "new", served=False)
    began = time.monotonic()
    answer = ask([api, new], deadline_s=30.0)
    assert time.monotonic() - began < 30.0
    assert answer["index"]["degraded"] == ["new"]
    assert "new: Nothing is indexed yet" in answer["index"]["message"]
    assert places(answer)


def test_the_error_names_each_project_when_none_can_be_asked(api, tmp_path):
    with pytest.raises(Unavailable, match=r"new: Nothing is indexed yet.*old: It is away\."):
        ask(
            [Project(tmp_path, "new", served=False)],
            away=[Member("old", None, Unavailable("It is away."))],
            deadline_s=1.2,
        )


def test_starting_is_raised_while_no_project_can_be_asked_yet(tmp_path, in_milvus):
    class Absent:
        async def ask(self, worker, _message, _deadline_s):
            raise Silent(f"No {worker} worker runs.", absent=True)

    async def standing(_worker):
        return "starting"

    far = [
        replace(member, context=replace(member.context, client=Absent(), standing=standing))
        for member in in_milvus[1]
    ]
    other = Member("other", None, Starting("The workers are still being started."))
    new = Project(tmp_path, "new", served=False)
    for away in ([other], far, [other, *far]):
        late = [
            replace(member, context=member.context and replace(member.context, until=time.monotonic() + 1.2))
            for member in away
        ]
        with pytest.raises(Starting, match="start"):
            ask([new], away=late, deadline_s=1.2)


def test_a_silent_project_costs_the_lanes_share_of_the_deadline_and_is_named(api, web):
    web.workers.silent = {"text", "vector"}
    answer = ask([api, web], deadline_s=1.0)
    assert {name for name, _ in places(answer)} == {"api"}
    assert set(answer["index"]["degraded"]) == {"web:text", "web:vector"}


def test_one_lane_of_a_project_is_enough_for_it(api, web):
    web.workers.faults["text"] = Unavailable("The text worker is gone.")
    answer = ask([api, web])
    assert {name for name, _ in places(answer)} == {"api", "web"}
    assert answer["index"]["degraded"] == ["web:text"]
    assert "web: The text worker is gone." in answer["index"]["message"]


def test_the_error_holds_each_reason_when_all_projects_fail(api, web):
    for project in (api, web):
        project.workers.faults = dict.fromkeys(("text", "vector"), Damaged(f"{project.name} is broken."))
    with pytest.raises(Unavailable, match=r"api is broken\. web is broken\."):
        ask([api, web])


def test_a_project_lost_between_ranking_and_reading_is_left_out_and_named(api, web):
    class Lost(Workers):
        def answer(self, request):
            if isinstance(request, Fetch):
                raise Unavailable("It ended.")
            return super().answer(request)

    web.workers = Lost(7)
    answer = ask([api, web])
    assert places(answer) == [("api", path) for path in ("b.py", "a.py", "c.py")]
    assert answer["index"]["degraded"] == ["web"]


@pytest.mark.parametrize("how", [search, exact])
def test_a_refusal_of_one_project_is_noted_and_a_refusal_of_all_is_an_error(api, web, how):
    refusal = BadRequest("There are no chunks of the kind 'recipe' in the index.")
    web.workers.faults["text"] = refusal
    answer = ask([api, web], how)
    assert {name for name, _ in places(answer)} == {"api"}
    assert answer["index"]["degraded"] == ["web"]
    assert "web: There are no chunks of the kind 'recipe'" in answer["index"]["message"]
    api.workers.faults["text"] = refusal
    with pytest.raises(BadRequest, match="recipe"):
        ask([api, web], how)


def test_a_generation_that_moved_on_is_asked_once_more(api, web):
    class Ahead(Workers):
        def answer(self, request):
            if getattr(request, "generation", 0) == 7:
                self.generation = 8
                publish(web.config, 8)
            return super().answer(request)

    web.workers = Ahead(7)
    answer = ask([api, web])
    assert answer["index"]["generations"] == {"api": 3, "web": 8}
    assert {name for name, _ in places(answer)} == {"api", "web"}


def test_limit_tokens_floor_and_offset_are_of_the_whole_answer(api, web):
    few = ask([api, web], limit=3)
    assert places(few) == [("api", "b.py"), ("web", "b.py"), ("api", "a.py")]
    assert few["truncated"] is True
    best = ask([api, web])["results"][0]["combined_score"]
    assert len(ask([api, web], min_score=best - 0.01)["results"]) == 2
    for project in (api, web):
        project.workers.chunks = {
            key: body[:-1] + b" " * 900 + b"}" for key, body in project.workers.chunks.items()
        }
    small = ask([api, web], max_tokens=500)
    assert 1 <= len(small["results"]) < 6
    assert small["truncated"] is True


def test_semantic_search_over_projects_of_different_models_is_refused(api, web):
    assert len(ask([api, web], mode="semantic")["results"]) == 6
    web.config = replace(web.config, embedding=Embedding("http", "http://localhost:8121/embed"))
    with pytest.raises(BadRequest, match="embedded by different models"):
        ask([api, web], mode="semantic")
    assert len(ask([api, web])["results"]) == 6


def test_a_flat_answer_has_the_same_results(api, web):
    page = ask([api, web], find, detail="snippet")
    assert [(result.hit.project, result.hit.ranked.hit.path) for result in page.results] == places(
        ask([api, web])
    )


def test_lines_are_asked_of_each_project_with_its_share_of_the_budget(api, web):
    answer = ask([api, web], detail="auto", max_tokens=1_000)
    assert places(answer)[:2] == [("api", "b.py"), ("web", "b.py")]
    [mine], [theirs] = requests_of(api, Show), requests_of(web, Show)
    assert mine.max_bytes == theirs.max_bytes == 2_000
    assert mine.scores == theirs.scores


def test_without_several_projects_the_argument_is_refused(api):
    with pytest.raises(BadRequest, match="leave `projects` out"):
        asyncio.run(search(make_context(api.config, api.workers), Search("words"), ("x",)))


def lines(*kinds, score=0.5):
    """The answer of a text worker: an entry of two lines for each (place before scores, path)."""
    chunks = tuple(
        b'{"id":"%d","text":"3: a\\n9: b","metadata":{"file_path":"%s","start_line":3,"end_line":9,"kind":"text"}}'
        % (at, path.encode())
        for at, (_, path) in enumerate(kinds)
    )
    return ExactHits(
        generation=1,
        hits=tuple(replace(HITS[0], path=path) for _, path in kinds),
        scores=(score,) * len(kinds),
        highlights=((),) * len(kinds),
        highlight_lines=((3, 9),) * len(kinds),
        total_found=2 * len(kinds),
        chunks=chunks,
        omitted={"alike": 1},
        classes=tuple(place for place, _ in kinds),
    )


def answering(project, reply):
    class Exactly(Workers):
        def answer(self, _request):
            return structs.replace(reply, generation=self.generation)

    project.workers = Exactly(project.workers.generation)


def test_lines_of_all_projects_have_the_order_of_one_worker(api, web):
    answering(api, lines(((0, 0, 0, 0), "defines.py"), ((0, 0, 4, 0), "uses.py"), ((1, 0, 0, 0), "built.js")))
    answering(web, lines(((0, 0, 0, 1), "beside.py"), ((0, 0, 4, 0), "better.py"), score=0.9))
    answer = ask([api, web], exact, detail="auto")
    assert places(answer) == [
        ("api", "defines.py"),
        ("web", "beside.py"),
        ("web", "better.py"),
        ("api", "uses.py"),
        ("api", "built.js"),
    ]
    assert (answer["total_found"], answer["total_returned"]) == (10, 10)
    assert answer["omitted"] == {"alike": 2}
    assert answer["index"]["generations"] == {"api": 3, "web": 7}


def test_a_limit_counts_the_lines_of_all_projects(api, web):
    for project in (api, web):
        answering(project, lines(((0, 0, 0, 0), "a.py"), ((0, 0, 1, 0), "b.py")))
    answer = plain(ask([api, web], exact, detail="auto", limit=3, counted=True))
    assert [result["chunk"]["text"] for result in answer["results"]] == ["3: a\n9: b", "3: a"]
    assert answer["results"][1]["chunk"]["metadata"]["end_line"] == 3
    assert (answer["total_found"], answer["total_returned"], answer["truncated"]) == (8, 3, True)


def test_pages_of_chunks_are_pages_of_all_projects(api, web):
    def page(offset):
        answer = ask([api, web], exact, detail="snippet", limit=2, offset=offset)
        return places(answer), answer["total_found"], answer["truncated"]

    assert page(0) == ([("api", "a.py"), ("web", "a.py")], 4, True)
    assert page(2) == ([("api", "b.py"), ("web", "b.py")], 4, False)
    assert page(4) == ([], 4, False)


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ({"detail": "auto", "offset": 3}, "`offset` counts the lines of one"),
        ({"offset": 90}, "their first 100"),
    ],
)
def test_pages_beyond_the_bounds_of_several_projects_are_refused(api, web, question, why):
    with pytest.raises(BadRequest, match=why):
        ask([api, web], exact, **question)


def test_exact_search_names_absent_projects_and_fails_when_all_are_absent(api, web):
    web.workers.faults["text"] = Unavailable("The text worker is gone.")
    answer = ask([api, web], exact)
    assert {name for name, _ in places(answer)} == {"api"}
    assert answer["index"]["degraded"] == ["web"]
    api.workers.faults["text"] = Unavailable("This one, too.")
    with pytest.raises(Unavailable, match=r"web: The text worker is gone|This one, too"):
        ask([api, web], exact)
