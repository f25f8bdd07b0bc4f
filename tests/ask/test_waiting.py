"""The waits of a question: for a first generation, and for starting workers; and their progress."""

import asyncio
import os
import time
from dataclasses import replace

import orjson
import pytest

from cortex.ask import exact as exacting
from cortex.ask import search as searching
from cortex.ask.query_context import FIRST_GENERATION_S, REST_S, Starting, Turn
from cortex.ask.questions import Exact, Search
from cortex.generation import current as generations
from cortex.generation.current import Generation, SegmentRef
from cortex.system.errors import BadRequest, Unavailable
from cortex.terms.records import IndexerState
from ipc.client import Silent
from ipc.messages import (
    Embed,
    ExactHits,
    MeaningSearch,
    Reload,
)
from tests.ask.fake_workers import Workers, exact, make_context, plain, publish, remote, search


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
        under_way = asyncio.create_task(searching.search(make_context(config, Workers()), Search("words")))
        await asyncio.sleep(0)
        publish(config)
        return plain(await under_way)

    assert asyncio.run(ask())["total"] == 3


def at_once(coroutine):
    """Return the result of a coroutine that waits for nothing."""
    with pytest.raises(StopIteration) as done:
        coroutine.send(None)
    return done.value.value


def write_manifest(config, files, **fields):
    """Write a manifest of some files, each with a chunk."""
    records = {f"f{n}.py": {"size": 1, "mtime_ns": 1, "chunks": 1} for n in range(files)}
    config.manifest.write_bytes(orjson.dumps({"files": records} | fields))


@pytest.mark.parametrize("state", ["idle", "indexing", "stopped"])
@pytest.mark.parametrize("backlog", [0, 9])
def test_no_call_waits_for_a_generation_while_there_is_one_to_answer_from(config, state, backlog):
    generation = Generation(1, segments=(SegmentRef("s", 3, 3),), sequence=1, backlog=backlog, sources=2)
    generations.publish(config.index_dir, generation)
    write_manifest(config, 8, sequence=7)
    indexer_state = IndexerState(state, 3, 8, 7, time.time(), os.getpid(), files=8)
    config.indexer_state.write_bytes(orjson.dumps(indexer_state))
    starting = make_context(config, Workers(), deadline_s=600.0, settled=time.monotonic() + 600)
    assert at_once(starting.first_generation()) == generation


def test_an_answer_from_a_part_of_the_project_says_how_much_of_it_that_is(config):
    generation = Generation(1, segments=(SegmentRef("s", 3, 3),), sources=12)
    generations.publish(config.index_dir, generation)
    state = IndexerState("indexing", 30, 4274, 6, time.time(), os.getpid(), files=4274)
    config.indexer_state.write_bytes(orjson.dumps(state))
    write_manifest(config, 12)
    index = search(config, Workers())["index"]
    assert index["searchable"] == {"done": 12, "total": 4274}
    assert "12 of 4 274 files" in index["message"]


def test_the_wait_for_the_very_first_generation_ends_long_before_the_deadline(config):
    async def ask():
        async with asyncio.timeout(60):
            return await make_context(config, Workers(), deadline_s=10.0).first_generation()

    assert asyncio.run(ask()).number == 0
    assert FIRST_GENERATION_S <= 3


def test_the_progress_of_indexing_is_reported(config):
    publish(config)
    state = IndexerState("indexing", 30, 120, 6, time.time(), os.getpid(), {f"f{n}.py": 6 for n in range(7)})
    config.indexer_state.write_bytes(orjson.dumps(state))
    index = search(config, Workers())["index"]
    assert index["indexing"] == {"done": 30, "total": 120}
    assert index["pending"] == [f"f{n}.py" for n in range(5)]
    assert index["pending_count"] == 7
    assert "25 % (30 of 120 files)" in index["message"]


def test_chunks_without_vectors_are_counted_in_the_message(config):
    publish(config)

    class Partly(Workers):
        def answer(self, request):
            reply = super().answer(request)
            if isinstance(request, MeaningSearch):
                reply.stats["left_out"] = 12.0
            return reply

    assert "12 chunks have no vector" in search(config, Partly())["index"]["message"]


class Late(Workers):
    """The text worker is absent for the first questions."""

    refusals = 2

    async def ask(self, worker, message, deadline_s):
        if worker == "text" and self.refusals:
            self.refusals -= 1
            raise Silent("The text worker is not running.", absent=True)
        return await super().ask(worker, message, deadline_s)


def test_a_worker_that_is_still_starting_is_waited_for(config):
    publish(config)
    context = make_context(config, Late(), settled=time.monotonic() + 5)
    assert asyncio.run(searching.search(context, Search("words")))["index"]["degraded"] == []


def test_a_query_does_not_wait_for_a_worker_that_reports_a_reason(config):
    """Otherwise a refusing embedding server costs each question of the first ten seconds six."""
    publish(config)
    workers = Workers()
    workers.faults["embed"] = Unavailable("http://localhost:8121/embed refused the connection.")
    context = make_context(remote(config), workers, deadline_s=600.0, settled=time.monotonic() + 600)
    answer = asyncio.run(asyncio.wait_for(searching.search(context, Search("words")), 60))
    assert answer["results"]
    assert answer["index"]["degraded"] == ["embed"]
    assert "refused the connection" in answer["index"]["message"]
    assert sum(isinstance(request, Embed) for request in workers.requests) == 1


def test_a_message_that_is_not_repeatable_is_asked_once_even_while_workers_start(config):
    workers = Late()
    context = make_context(config, workers, settled=time.monotonic() + 5)
    with pytest.raises(Unavailable):
        asyncio.run(context.ask("text", Reload(1), Reload, time.monotonic() + 5))
    assert workers.refusals == 1


class Absent(Workers):
    """The text worker is always absent."""

    async def ask(self, worker, message, deadline_s):
        if worker == "text":
            raise Silent("The text worker is not running.", absent=True)
        return await super().ask(worker, message, deadline_s)


def report_state(state):
    async def standing(worker):
        assert worker == "text"
        return state

    return standing


@pytest.mark.parametrize(
    ("state", "kind", "sentence"),
    [
        ("starting", Starting, "The text worker is starting"),
        ("restarting", Unavailable, "is being started again"),
        ("", Unavailable, "The text worker is not running"),
    ],
)
def test_the_state_of_an_absent_worker_is_reported(config, state, kind, sentence):
    publish(config)
    context = replace(make_context(config, Absent(), deadline_s=REST_S), standing=report_state(state))
    with pytest.raises(Unavailable, match=sentence) as raised:
        asyncio.run(exacting.exact(context, Exact("words")))
    assert type(raised.value) is kind


def test_a_worker_that_is_starting_is_waited_for_longer_than_a_lane_has(config):
    """A lane has six of a call's ten seconds, and a loaded machine needs more for a start."""
    publish(config)
    workers = Late()
    context = replace(make_context(config, workers), standing=report_state("starting"))
    turn = Turn(context, publish(config), time.monotonic() + 0.01, final=True)
    reply = asyncio.run(turn.ask("text", Exact("words").request(1), ExactHits))
    assert (reply.total_found, workers.refusals) == (2, 0)
