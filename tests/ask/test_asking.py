"""One question to one answer, over workers that are made up but speak through the real codec."""

import asyncio
import os
import time

import numpy as np
import orjson
import pytest

from cortex.ask import exact as exactly
from cortex.ask import search as searching
from cortex.ask.asking import FIRST_GENERATION_S, Asking
from cortex.ask.freshness import Freshness
from cortex.ask.questions import Exact, Related, Search
from cortex.generation import current as generations
from cortex.generation.current import Generation, SegmentRef
from cortex.settings.config import Config
from cortex.terms.records import IndexerState
from ipc.client import Silent
from ipc.codec import decode, encode
from ipc.errors import BY_CODE, BadRequest, CortexError, NotReady, Unavailable
from ipc.messages import (
    Chunks,
    Embed,
    Embedded,
    ExactHits,
    ExactSearch,
    Failure,
    Fetch,
    Filters,
    Hit,
    Reload,
    Signals,
    TextSignals,
    VectorSearch,
)

HITS = tuple(
    Hit(key, f"code-{path}~1", "code", path, 1, 9) for key, path in ((1, "a.py"), (2, "b.py"), (3, "c.py"))
)
BODIES = {
    hit.key: {
        "id": hit.id,
        "chunk_type": "code",
        "text": f"text of {hit.path}\n",
        "metadata": {"file_path": hit.path},
    }
    for hit in HITS
}


class Workers:
    """Answers as the workers do, from HITS, each request and reply through the codec.

    `faults` is who raises what.
    """

    def __init__(self, generation=1):
        self.generation = generation
        self.faults: dict[str, CortexError] = {}
        self.silent: set[str] = set()
        self.asked: list[object] = []
        self.reloads_on_ask = False
        self.chunks = {key: orjson.dumps(body) for key, body in BODIES.items()}

    async def ask(self, worker, message, deadline_s):
        if worker in self.silent:
            await asyncio.sleep(deadline_s)
            raise Unavailable(f"The {worker} worker did not answer within {deadline_s:.1f} s.")
        request = decode([bytes(frame) for frame in encode(message, 1)])
        self.asked.append(request)
        try:
            if worker in self.faults:
                raise self.faults[worker]
            reply = self.answer(request)
        except CortexError as error:
            reply = Failure(error.code, str(error))
        reply = decode([bytes(frame) for frame in encode(reply, 1)])
        if isinstance(reply, Failure):
            raise BY_CODE[reply.code](reply.message)
        return reply

    def answer(self, request):
        wanted = getattr(request, "generation", 0)
        if wanted and wanted != self.generation:
            raise NotReady(f"Generation {wanted} is not open here.")
        match request:
            case Embed():
                return Embedded("fake@1", np.ones((1, 4), np.float32))
            case VectorSearch():
                values = np.array([[0.9, 0.5, 0.1]], np.float32)
                stats = {"cosine_mean": 0.2, "cosine_std": 0.2, "rows": 3.0, "left_out": 0.0}
                return Signals(self.generation, HITS, ("cosine",), values, stats)
            case TextSignals():
                return Signals(self.generation, HITS, ("body",), np.array([[1.0, 9.0, 0.0]], np.float32))
            case Fetch():
                return Chunks(
                    self.generation, False, tuple(self.chunks.get(key, b"") for key in request.keys)
                )
            case ExactSearch():
                return ExactHits(
                    generation=self.generation,
                    match_type=request.match_type or "exact",
                    hits=HITS[:2],
                    scores=(0.9, 0.5),
                    highlights=(("<em>a</em>",), ()),
                    highlight_lines=((1,), ()),
                    total_found=2,
                    truncated=False,
                    suggestion="",
                    chunks=tuple(self.chunks[hit.key] for hit in HITS[:2]),
                )
            case _:
                raise AssertionError(request)


@pytest.fixture
def config(tmp_path):
    made = Config(root=tmp_path)
    made.index_dir.mkdir(parents=True)
    made.run_dir.mkdir()
    return made


def publish(config, number=1, sequence=5):
    made = Generation(number=number, segments=(SegmentRef("s", 3, 3),), sequence=sequence)
    generations.publish(config.index_dir, made)
    return made


def asking(config, workers, deadline_s=10.0, settled=0.0):
    return Asking(config, workers, Freshness(config), time.monotonic() + deadline_s, settled)


def search(config, workers, deadline_s=10.0, **question):
    question = Search(**({"query": "words"} | question))
    return plain(asyncio.run(searching.search(asking(config, workers, deadline_s), question)))


def exact(config, workers, deadline_s=10.0, **question):
    question = Exact(**({"query": "words"} | question))
    return plain(asyncio.run(exactly.exact(asking(config, workers, deadline_s), question)))


def plain(answer):
    return orjson.loads(orjson.dumps(answer))


def found(answer):
    return [result["chunk"]["metadata"]["file_path"] for result in answer["results"]]


def test_an_answer_fuses_both_lanes_and_carries_the_chunks_as_they_are(config):
    publish(config)
    answer = search(config, Workers())
    assert found(answer) == ["b.py", "a.py", "c.py"]
    assert [result["chunk"] for result in answer["results"]] == [BODIES[2], BODIES[1], BODIES[3]]
    assert answer["total"] == 3
    assert answer["index"] == {"generation": 1, "pending": [], "pending_count": 0, "degraded": []}
    assert list(answer) == ["results", "total", "index"]


def test_semantic_mode_asks_no_words_and_answers_with_cosines(config):
    publish(config)
    workers = Workers()
    answer = search(config, workers, mode="semantic")
    assert [result["combined_score"] for result in answer["results"]] == [0.9, 0.5, 0.1]
    assert not [asked for asked in workers.asked if isinstance(asked, TextSignals)]


def test_the_words_do_not_wait_for_the_vector(config):
    publish(config)
    workers = Workers()
    search(config, workers)
    assert {type(asked) for asked in workers.asked[:2]} == {TextSignals, Embed}


@pytest.mark.parametrize("worker", ["embed", "vector", "text"])
def test_a_lane_that_fails_is_left_out_and_named(config, worker):
    publish(config)
    workers = Workers()
    workers.faults[worker] = Unavailable(f"The {worker} worker is not running.")
    answer = search(config, workers)
    assert answer["index"]["degraded"] == [worker]
    assert answer["index"]["message"] == f"The {worker} worker is not running."
    assert answer["total"] == 3


@pytest.mark.parametrize("worker", ["vector", "embed", "text"])
def test_a_silent_lane_costs_its_share_of_the_deadline_and_no_more(config, worker):
    publish(config)
    workers = Workers()
    workers.silent = {worker}
    short = Config(root=config.root, server=type(config.server)(deadline_s=0.5))
    answer = search(short, workers, deadline_s=0.5)
    assert answer["index"]["degraded"] == [worker]
    assert found(answer)[0] == ("a.py" if worker == "text" else "b.py")


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
        search(config, workers, mode=mode)


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
    """The generation moves on meanwhile: the worker refuses once, then CURRENT is newer."""

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
        assert len([one for one in workers.asked if isinstance(one, kind)]) == times


def test_a_lane_that_stays_behind_is_left_out(config):
    publish(config)

    class Behind(Workers):
        def answer(self, request):
            if isinstance(request, VectorSearch):
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

    assert found(search(config, Dying())) == ["b.py", "a.py", "c.py"]


def test_a_chunk_that_the_generation_lacks_is_left_out(config):
    publish(config)
    workers = Workers()
    del workers.chunks[2]
    assert found(search(config, workers)) == ["a.py", "c.py"]


@pytest.mark.parametrize("limit", [-5, 0, 1, 2, 1000])
def test_limits_are_clamped(config, limit):
    publish(config)
    workers = Workers()
    assert search(config, workers, limit=limit)["total"] == min(max(limit, 1), 3)
    exact(config, workers, limit=limit)
    assert workers.asked[-1].limit == min(max(limit, 1), 100)


@pytest.mark.parametrize(("asked", "kept"), [(-5, 1), (0, 1), (1, 1), (100, 100), (101, 100), (1 << 40, 100)])
def test_no_question_has_a_limit_out_of_its_bounds(asked, kept):
    assert Search("a", limit=asked).checked().limit == kept
    assert Related("a.py", limit=asked).checked().limit == kept
    assert Exact("a", limit=asked).checked().request(1).limit == kept


@pytest.mark.parametrize("query", ["", "  \n", "a\0b", "x" * 65_537, "é" * 40_000, "\ud800"])
@pytest.mark.parametrize("ask", [search, exact])
def test_a_query_that_nothing_can_be_made_of_is_refused(config, ask, query):
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
    assert next(asked for asked in workers.asked if isinstance(asked, Fetch)).max_bytes == 400


def test_filters_and_detail_reach_the_workers(config):
    publish(config)
    workers = Workers()
    filters = Filters(chunk_types=("code",), tags=("go",), paths=("src/**",), exclude_paths=("test/",))
    search(config, workers, filters=filters, detail="snippet")
    exact(config, workers, filters=filters, detail="location", offset=3)
    asked = {type(request): request for request in workers.asked}
    assert asked[TextSignals].filters == asked[VectorSearch].filters == asked[ExactSearch].filters == filters
    assert (asked[Fetch].detail, asked[Fetch].query) == ("snippet", "words")
    assert (asked[ExactSearch].detail, asked[ExactSearch].offset) == ("location", 3)


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


def test_before_the_first_generation_the_answer_is_a_sentence(config):
    answer = search(config, Workers(), deadline_s=1.0)
    assert answer["results"] == []
    assert "Nothing is indexed yet" in answer["suggestion"]
    assert exact(config, Workers(), deadline_s=1.0)["suggestion"] == answer["suggestion"]


def test_a_query_that_cannot_be_read_is_refused_also_before_the_first_generation(config):
    with pytest.raises(BadRequest, match="distance"):
        exact(config, Workers(), query="word~9", deadline_s=1.0)


def test_a_call_waits_for_the_first_generation(config):
    async def ask():
        under_way = asyncio.create_task(searching.search(asking(config, Workers()), Search("words")))
        await asyncio.sleep(0)
        publish(config)
        return plain(await under_way)

    assert asyncio.run(ask())["total"] == 3


def at_once(coroutine):
    """What it returns without waiting for anything."""
    with pytest.raises(StopIteration) as done:
        coroutine.send(None)
    return done.value.value


def know(config, files, **fields):
    """A manifest of so many files, each with a chunk."""
    seen = {f"f{n}.py": {"size": 1, "mtime_ns": 1, "chunks": 1} for n in range(files)}
    config.manifest.write_bytes(orjson.dumps({"files": seen} | fields))


@pytest.mark.parametrize("state", ["idle", "indexing", "stopped"])
@pytest.mark.parametrize("backlog", [0, 9])
def test_no_call_waits_for_a_generation_while_there_is_one_to_answer_from(config, state, backlog):
    made = Generation(1, segments=(SegmentRef("s", 3, 3),), sequence=1, backlog=backlog, sources=2)
    generations.publish(config.index_dir, made)
    know(config, 8, sequence=7)
    told = IndexerState(state, 3, 8, 7, time.time(), os.getpid(), files=8)
    config.indexer_state.write_bytes(orjson.dumps(told))
    starting = asking(config, Workers(), deadline_s=600.0, settled=time.monotonic() + 600)
    assert at_once(starting.first_generation()) == made


def test_an_answer_from_a_part_of_the_project_says_how_much_of_it_that_is(config):
    made = Generation(1, segments=(SegmentRef("s", 3, 3),), sources=12)
    generations.publish(config.index_dir, made)
    state = IndexerState("indexing", 30, 4274, 6, time.time(), os.getpid(), files=4274)
    config.indexer_state.write_bytes(orjson.dumps(state))
    know(config, 12)
    index = search(config, Workers())["index"]
    assert index["searchable"] == {"done": 12, "total": 4274}
    assert "12 of 4 274 files" in index["message"]


def test_the_wait_for_the_very_first_generation_ends_long_before_the_deadline(config):
    async def ask():
        async with asyncio.timeout(60):
            return await asking(config, Workers(), deadline_s=10.0).first_generation()

    assert asyncio.run(ask()).number == 0
    assert FIRST_GENERATION_S <= 3


def test_how_far_indexing_is_is_said(config):
    publish(config)
    state = IndexerState("indexing", 30, 120, 6, time.time(), os.getpid(), {f"f{n}.py": 6 for n in range(7)})
    config.indexer_state.write_bytes(orjson.dumps(state))
    index = search(config, Workers())["index"]
    assert index["indexing"] == {"done": 30, "total": 120}
    assert index["pending"] == [f"f{n}.py" for n in range(5)]
    assert index["pending_count"] == 7
    assert "25 % (30 of 120 files)" in index["message"]


def test_a_chunk_count_without_vectors_is_said(config):
    publish(config)

    class Partly(Workers):
        def answer(self, request):
            reply = super().answer(request)
            if isinstance(request, VectorSearch):
                reply.stats["left_out"] = 12.0
            return reply

    assert "12 chunks have no vector" in search(config, Partly())["index"]["message"]


class Starting(Workers):
    """The text worker is not there yet for the first questions."""

    refusals = 2

    async def ask(self, worker, message, deadline_s):
        if worker == "text" and self.refusals:
            self.refusals -= 1
            raise Silent("The text worker is not running.")
        return await super().ask(worker, message, deadline_s)


def test_a_worker_that_is_still_starting_is_waited_for(config):
    publish(config)
    made = asking(config, Starting(), settled=time.monotonic() + 5)
    assert asyncio.run(searching.search(made, Search("words")))["index"]["degraded"] == []


def test_a_worker_that_says_why_it_cannot_answer_is_not_waited_for_while_workers_start(config):
    """A server for embeddings that refuses cost each question of the first ten seconds six."""
    publish(config)
    workers = Workers()
    workers.faults["embed"] = Unavailable("http://localhost:8121/embed refused the connection.")
    made = asking(config, workers, deadline_s=600.0, settled=time.monotonic() + 600)
    answer = asyncio.run(asyncio.wait_for(searching.search(made, Search("words")), 60))
    assert answer["results"]
    assert answer["index"]["degraded"] == ["embed"]
    assert "refused the connection" in answer["index"]["message"]
    assert sum(isinstance(one, Embed) for one in workers.asked) == 1


def test_a_message_that_is_not_repeatable_is_asked_once_even_while_workers_start(config):
    workers = Starting()
    made = asking(config, workers, settled=time.monotonic() + 5)
    with pytest.raises(Unavailable):
        asyncio.run(made.ask("text", Reload(1), Reload, time.monotonic() + 5))
    assert workers.refusals == 1
