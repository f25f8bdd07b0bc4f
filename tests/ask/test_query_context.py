"""One question to one answer: its lanes, their failures, and its bounds."""

import orjson
import pytest

from cortex.ask.questions import Exact, Related, Search
from cortex.settings.config import Config
from cortex.system.errors import BadRequest, NotReady, Unavailable
from ipc.messages import (
    Embed,
    ExactSearch,
    Fetch,
    Filters,
    MeaningSearch,
    TextSignals,
    VectorSearch,
)
from tests.ask.fake_workers import BODIES, Workers, exact, publish, remote, result_paths, search


def test_an_answer_fuses_both_lanes_and_carries_the_chunks_as_they_are(config):
    publish(config)
    answer = search(config, Workers())
    assert result_paths(answer) == ["b.py", "a.py", "c.py"]
    assert [result["chunk"] for result in answer["results"]] == [BODIES[2], BODIES[1], BODIES[3]]
    assert answer["total"] == 3
    assert answer["index"] == {"generation": 1, "pending": [], "pending_count": 0, "degraded": []}
    assert list(answer) == ["results", "total", "index"]


def test_semantic_mode_asks_no_words_and_answers_with_cosines(config):
    publish(config)
    workers = Workers()
    answer = search(config, workers, mode="semantic")
    assert [result["combined_score"] for result in answer["results"]] == [0.9, 0.5, 0.1]
    assert not [request for request in workers.requests if isinstance(request, TextSignals)]


def test_the_words_do_not_wait_for_the_vector(config):
    publish(config)
    workers = Workers()
    search(remote(config), workers)
    assert {type(request) for request in workers.requests[:2]} == {TextSignals, Embed}


def test_with_the_built_in_embedder_the_vector_worker_is_asked_with_the_question_itself(config):
    publish(config)
    workers = Workers()
    filters = Filters(tags=("go",))
    search(config, workers, mode="semantic", filters=filters)
    assert workers.requests[0] == MeaningSearch("words", 64, filters, 1, alone=True)
    assert not [request for request in workers.requests if isinstance(request, Embed | VectorSearch)]


@pytest.mark.parametrize("worker", ["embed", "vector", "text"])
def test_a_lane_that_fails_is_left_out_and_named(config, worker):
    publish(config)
    workers = Workers()
    workers.faults[worker] = Unavailable(f"The {worker} worker is not running.")
    answer = search(remote(config), workers)
    assert answer["index"]["degraded"] == [worker]
    assert answer["index"]["message"] == f"The {worker} worker is not running."
    assert answer["total"] == 3


@pytest.mark.parametrize("worker", ["vector", "embed", "text"])
def test_a_silent_lane_costs_its_share_of_the_deadline_and_no_more(config, worker):
    publish(config)
    workers = Workers()
    workers.silent = {worker}
    short = remote(Config(root=config.root, server=type(config.server)(deadline_s=0.5)))
    answer = search(short, workers, deadline_s=0.5)
    assert answer["index"]["degraded"] == [worker]
    assert result_paths(answer)[0] == ("a.py" if worker == "text" else "b.py")


@pytest.mark.parametrize(
    ("mode", "down"),
    [
        ("hybrid", ("text", "vector")),
        ("hybrid", ("text", "embed")),
        ("semantic", ("vector",)),
        ("semantic", ("embed",)),
    ],
)
def test_without_a_lane_that_can_answer_the_question_fails_with_a_sentence(config, mode, down):
    publish(config)
    workers = Workers()
    workers.faults = {
        name: Unavailable(f"The {name} worker is not running; see `cortex status`.") for name in down
    }
    with pytest.raises(Unavailable, match=r"worker is not running; see `cortex status`\."):
        search(remote(config), workers, mode=mode)


def test_semantic_mode_does_not_need_the_words(config):
    publish(config)
    workers = Workers()
    workers.faults["text"] = Unavailable("The text worker is not running.")
    assert search(config, workers, mode="semantic")["index"]["degraded"] == []


def test_exact_needs_the_text_worker(config):
    publish(config)
    workers = Workers()
    workers.faults["text"] = Unavailable("The text worker is not running.")
    with pytest.raises(Unavailable, match="text worker"):
        exact(config, workers)


def test_a_bad_request_of_a_worker_is_the_callers(config):
    publish(config)
    workers = Workers()
    workers.faults["text"] = BadRequest("A path glob cannot be read.")
    with pytest.raises(BadRequest, match="glob"):
        search(config, workers)
    with pytest.raises(BadRequest, match="glob"):
        exact(config, workers)


class Moving(Workers):
    """A newer generation appears meanwhile: the worker refuses once, then CURRENT is newer."""

    def __init__(self, config):
        super().__init__(generation=2)
        self.config = config

    def answer(self, request):
        try:
            return super().answer(request)
        except NotReady:
            publish(self.config, number=2)
            raise


def test_a_generation_that_moved_on_is_asked_once_more(config):
    publish(config)
    assert search(config, Moving(config))["index"]["generation"] == 2


def test_exact_asks_once_more_when_the_generation_moved_on(config):
    publish(config)
    assert exact(config, Moving(config))["index"]["generation"] == 2


def test_a_generation_that_moved_on_twice_is_not_followed_any_more(config):
    publish(config)

    class Ahead(Workers):
        def answer(self, request):
            if isinstance(request, Fetch | ExactSearch):
                raise NotReady("Generation 1 is not open here.")
            return super().answer(request)

    # The last turn asks each worker with rows for the chunks.
    for ask, kind, times in ((search, Fetch, 3), (exact, ExactSearch, 2)):
        workers = Ahead()
        with pytest.raises(Unavailable, match="Generation 1 is not open here"):
            ask(config, workers)
        assert len([sent for sent in workers.requests if isinstance(sent, kind)]) == times


def test_a_lane_that_stays_behind_is_left_out(config):
    publish(config)

    class Behind(Workers):
        def answer(self, request):
            if isinstance(request, MeaningSearch):
                raise NotReady("Generation 1 is not open here.")
            return super().answer(request)

    answer = search(config, Behind())
    assert answer["index"]["degraded"] == ["vector"]


def test_a_fetch_goes_to_the_other_worker_when_the_first_is_gone(config):
    publish(config)

    class Dying(Workers):
        async def ask(self, worker, message, deadline_s):
            if worker == "text" and isinstance(message, Fetch):
                raise Unavailable("The text worker is not running.")
            return await super().ask(worker, message, deadline_s)

    assert result_paths(search(config, Dying())) == ["b.py", "a.py", "c.py"]


def test_a_chunk_that_the_generation_lacks_is_left_out(config):
    publish(config)
    workers = Workers()
    del workers.chunks[2]
    assert result_paths(search(config, workers)) == ["a.py", "c.py"]


@pytest.mark.parametrize("limit", [-5, 0, 1, 2, 1000])
def test_limits_are_clamped(config, limit):
    publish(config)
    workers = Workers()
    assert search(config, workers, limit=limit)["total"] == min(max(limit, 1), 3)
    exact(config, workers, limit=limit)
    assert workers.requests[-1].limit == min(max(limit, 1), 100)


@pytest.mark.parametrize(
    ("limit", "clamped"), [(-5, 1), (0, 1), (1, 1), (100, 100), (101, 100), (1 << 40, 100)]
)
def test_no_question_has_a_limit_out_of_its_bounds(limit, clamped):
    assert Search("a", limit=limit).checked().limit == clamped
    assert Related("a.py", limit=limit).checked().limit == clamped
    assert Exact("a", limit=limit).checked().request(1).limit == clamped


@pytest.mark.parametrize("query", ["", "  \n", "a\0b", "x" * 65_537, "é" * 40_000, "\ud800"])
@pytest.mark.parametrize("ask", [search, exact])
def test_an_unusable_query_is_refused(config, ask, query):
    publish(config)
    with pytest.raises(BadRequest, match="The query"):
        ask(config, Workers(), query=query)


def test_emoji_are_words_like_any_other(config):
    publish(config)
    assert search(config, Workers(), query="🦀 crab")["total"] == 3


def test_results_below_the_floor_are_left_out_with_a_reason(config):
    publish(config)
    answer = search(config, Workers(), min_score=0.99)
    assert answer["results"] == []
    assert "min_score 0.99" in answer["suggestion"]


def test_explanations_are_given_when_asked_for(config):
    publish(config)
    plain_answer, explained = search(config, Workers()), search(config, Workers(), explain=True)
    assert "explain" not in plain_answer["results"][0]
    signals = explained["results"][0]["explain"]["signals"]
    assert sum(s["product"] for s in signals.values()) == pytest.approx(
        explained["results"][0]["explain"]["sum"]
    )


def test_an_answer_that_would_be_too_long_ends_earlier_and_says_so(config):
    publish(config)
    workers = Workers()
    workers.chunks[1] = orjson.dumps(BODIES[1] | {"text": "x" * 1000})
    answer = search(config, workers, max_tokens=100)
    assert (answer["total"], answer["truncated"]) == (1, True)
    assert next(request for request in workers.requests if isinstance(request, Fetch)).max_bytes == 400


def test_filters_and_detail_reach_the_workers(config):
    publish(config)
    workers = Workers()
    filters = Filters(chunk_types=("code",), tags=("go",), paths=("src/**",), exclude_paths=("test/",))
    search(config, workers, filters=filters, detail="snippet")
    exact(config, workers, filters=filters, detail="location", offset=3)
    requests = {type(request): request for request in workers.requests}
    assert (
        requests[TextSignals].filters
        == requests[MeaningSearch].filters
        == requests[ExactSearch].filters
        == filters
    )
    assert (requests[Fetch].detail, requests[Fetch].query) == ("snippet", "words")
    assert (requests[ExactSearch].detail, requests[ExactSearch].offset) == ("location", 3)


def test_an_exact_answer_has_the_fields_of_the_contract(config):
    publish(config)
    answer = exact(config, Workers(), match_type="phrase")
    assert list(answer) == [
        "query", "match_type", "results", "total_found", "total_returned", "truncated", "suggestion", "metadata", "index",
    ]  # fmt: skip
    assert answer["results"][0] == {
        "chunk": BODIES[1], "score": 0.9, "highlights": ["<em>a</em>"], "highlight_lines": [1],
    }  # fmt: skip
    assert (answer["match_type"], answer["total_found"], answer["total_returned"]) == ("phrase", 2, 2)
    assert answer["metadata"]["source"] == "exact"
