"""Calls of memory arrive although the worker fails meanwhile, and a write keeps its number."""

import asyncio
import time

import pytest

from cortex.ask.memory import Caller, MemoryContext
from cortex.system.errors import BadRequest, Unavailable
from ipc.client import Silent
from ipc.messages import MemoryAnswer

#: seconds of a call in these tests, and of one that must not use them up
SHORT_S, LONG_S = 0.3, 60.0


class Worker:
    """Answers after some silences; `messages` are its requests."""

    def __init__(self, *silences: bool, fault: Exception | None = None):
        self.silences, self.fault, self.messages = list(silences), fault, []

    async def ask(self, worker, message, deadline_s):
        assert worker == "memory"
        assert deadline_s >= 0
        self.messages.append(message)
        if self.silences:
            raise Silent("The memory worker is not running.", sent=self.silences.pop(0))
        if self.fault:
            raise self.fault
        return MemoryAnswer({"id": "1"})


def call(worker, operation="store", arguments=None, *, seconds=LONG_S, writes=True, starts=(), **options):
    """`starts`: whether the worker is starting, at each look; in the end it is not."""
    looks = list(starts)

    async def reach(_until):
        return worker

    async def is_starting():
        return bool(looks) and looks.pop(0)

    caller = Caller("here", "claude", "s1")
    context = MemoryContext(reach, time.monotonic() + seconds, lambda: caller, is_starting=is_starting)
    return asyncio.run(context.call(operation, arguments or {}, writes=writes, **options))


def test_a_write_keeps_its_number_through_every_try():
    worker = Worker(True, False, True)
    assert call(worker) == {"id": "1"}
    assert len(worker.messages) == 4
    assert len({message.operation_id for message in worker.messages}) == 1
    assert worker.messages[0].operation_id


def test_each_write_has_a_number_of_its_own_unless_the_caller_gives_one():
    worker = Worker()
    for operation_id in ("", "", "mine"):
        call(worker, operation_id=operation_id)
    numbers = [message.operation_id for message in worker.messages]
    assert len(set(numbers)) == 3
    assert numbers[2] == "mine"


def test_the_caller_travels_with_each_call():
    worker = Worker()
    call(worker, "stats", writes=False)
    message = worker.messages[0]
    assert (message.project, message.agent, message.session) == ("here", "claude", "s1")
    assert not message.operation_id


def test_a_write_that_may_have_been_carried_out_says_its_number():
    worker = Worker(*[True] * 1000)
    with pytest.raises(Unavailable, match=r"outcome unknown, operation mine\."):
        call(worker, seconds=SHORT_S, operation_id="mine")


def test_an_unsent_write_and_a_question_report_only_the_error():
    for options in ({}, {"writes": False}):
        worker = Worker(*[bool(options)] * 1000)
        with pytest.raises(Unavailable, match=r"^The memory's worker does not answer: .*ask again"):
            call(worker, seconds=SHORT_S, **options)


def test_a_worker_that_is_starting_is_waited_for_beyond_the_deadline():
    worker = Worker(False, False, True)
    assert call(worker, seconds=0.0, starts=[True] * 3) == {"id": "1"}
    assert len({message.operation_id for message in worker.messages}) == 1


def test_a_worker_that_dies_while_it_starts_is_waited_for_no_longer_and_the_error_says_what_was_lost():
    worker = Worker(*[False] * 1000)
    with pytest.raises(Unavailable, match=r"ask again.* Nothing was written\.$"):
        call(worker, seconds=0.0, starts=[True] * 3)
    assert len(worker.messages) == 4


def test_a_refused_call_is_not_sent_again():
    worker = Worker(fault=Unavailable("The disk is full."))
    with pytest.raises(Unavailable, match="disk is full"):
        call(worker)
    assert len(worker.messages) == 1


def test_lone_surrogates_in_arguments_are_dropped():
    worker = Worker()
    call(worker, arguments={"title": "a\ud800b", "tags": ["\udfff"], "metadata": {"k\ud800": 1}})
    assert worker.messages[0].arguments == {"title": "ab", "tags": [""], "metadata": {"k": 1}}


def test_arguments_that_are_not_json_are_refused_with_a_sentence():
    with pytest.raises(BadRequest, match="not valid JSON"):
        call(Worker(), arguments={"metadata": {"k": object()}})


class Near:
    """A running memory set that may be silent."""

    def __init__(self, worker):
        self.worker, self.silent = worker, 0

    def client(self):
        return None if self.silent else self.worker

    def was_silent(self):
        self.silent += 1


def glance(near):
    async def reach(_until):
        raise AssertionError("nothing is started for a glance")

    context = MemoryContext(reach, time.monotonic() + LONG_S, lambda: Caller("here", "claude", "s1"), near)
    return asyncio.run(context.glance("beside", {"paths": ["a.py"]}))


def test_a_glance_asks_a_memory_that_runs_and_starts_none():
    worker = Worker()
    assert glance(Near(worker)) == {"id": "1"}
    assert (worker.messages[0].operation, worker.messages[0].writes, worker.messages[0].project) == (
        "beside",
        False,
        "here",
    )
    assert glance(Near(None)) is None
    assert glance(None) is None


def test_a_memory_that_was_silent_is_not_glanced_at_again():
    near = Near(Worker(True))
    assert glance(near) is None
    assert glance(near) is None
    assert (near.silent, len(near.worker.messages)) == (1, 1)


def test_a_glance_that_is_refused_is_no_answer():
    assert glance(Near(Worker(fault=BadRequest("no")))) is None
