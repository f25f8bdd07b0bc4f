"""A worker served by a thread of a program, and long work that lets requests pass."""

import asyncio
import itertools
import os
import threading

import pytest
import zmq

from cortex.system.errors import BadRequest, Misconfigured
from ipc.client import Client
from ipc.codec import decode, encode
from ipc.events import Announcer
from ipc.messages import Embed, Failure, GetStatus, MemoryAnswer, MemoryCall, Reload, Several, Status
from ipc.service import Serving
from tests.wait_until import until_async

#: deadline of a reply in seconds, which bounds a failure, not a pass
BOUND_S = 60.0


class Worker:
    """A worker with long work that ends after another request."""

    def __init__(self):
        self.count, self.closed, self.thread = 0, False, threading.current_thread()
        self.handlers = {MemoryCall: self.call}
        self.began, self.laid = False, threading.Event()
        self.looks, self.patient_s = 0, 3600.0

    def call(self, request):
        if request.operation == "long":
            return self.work(request)
        self.count += 1
        return MemoryAnswer({"asked": self.count})

    def work(self, request):
        while self.count < request.arguments["until"]:
            yield
        if request.arguments.get("fails"):
            raise BadRequest("It cannot be done.")
        return MemoryAnswer({"done": self.count})

    def background(self):
        if self.began:
            return None
        self.began = True
        return self.lay()

    def lay(self):
        while self.count < 1:
            yield
        self.laid.set()
        raise BadRequest("It cannot be done.")

    def reload(self):
        self.looks += 1
        return False

    def patience(self):
        return self.patient_s

    def status(self):
        return Status("memory", os.getpid(), "0", "", 0, 0.0)

    def close(self):
        self.closed = True


@pytest.fixture
def served(tmp_path):
    workers = []

    def make():
        workers.append(Worker())
        return workers[0]

    serving = Serving("memory", make, tmp_path)
    yield workers[0]
    serving.close()
    serving.close()
    assert workers[0].closed
    assert not list(tmp_path.glob("memory.*.sock"))


def talk(folder, conversation):
    async def run():
        client = Client(folder)
        try:
            async with asyncio.timeout(BOUND_S):
                return await conversation(lambda message: client.ask("memory", message, BOUND_S))
        finally:
            await client.close()

    return asyncio.run(run())


def test_questions_are_answered_between_the_slices_of_long_work(served, tmp_path):
    async def conversation(ask):
        long = [asyncio.create_task(ask(MemoryCall("long", {"until": count}, False))) for count in (3, 2)]
        short = [await ask(MemoryCall("short", {}, False)) for _ in range(3)]
        return [await task for task in long], short

    long, short = talk(tmp_path, conversation)
    assert [reply.answer["asked"] for reply in short] == [1, 2, 3]
    assert [reply.answer["done"] >= 2 for reply in long] == [True, True]


def test_long_work_that_fails_says_so_and_nothing_else_is_disturbed(served, tmp_path):
    async def conversation(ask):
        long = asyncio.create_task(ask(MemoryCall("long", {"until": 1, "fails": True}, False)))
        await ask(MemoryCall("short", {}, False))
        with pytest.raises(BadRequest, match="cannot be done"):
            await long
        return await ask(GetStatus())

    assert talk(tmp_path, conversation).worker == "memory"


def test_requests_in_one_message_are_answered_in_order_and_independently(served, tmp_path):
    long = MemoryCall("long", {"until": 0}, False)
    messages = (MemoryCall("short", {}, False), Embed(("a",)), long, GetStatus())

    async def conversation(ask):
        return await ask(Several(tuple(map(encode, messages))))

    first, refused, alone, status = map(decode, talk(tmp_path, conversation).replies)
    assert first == MemoryAnswer({"asked": 1})
    assert refused == Failure("bad_request", "This worker does not answer Embed.")
    assert (type(alone), alone.code) == (Failure, "bad_request")
    assert status.worker == "memory"


def test_work_in_the_background_lets_questions_pass_and_may_fail(served, tmp_path):
    async def conversation(ask):
        first = await ask(MemoryCall("short", {}, False))
        assert served.laid.wait(BOUND_S)
        return first, await ask(MemoryCall("short", {}, False))

    assert [reply.answer["asked"] for reply in talk(tmp_path, conversation)] == [1, 2]


def test_a_worker_is_made_and_served_in_a_separate_thread(served):
    assert served.thread is not threading.current_thread()


def test_a_place_that_is_held_is_refused_with_the_holders_number(served, tmp_path):
    with pytest.raises(Misconfigured, match=str(os.getpid())):
        Serving("memory", Worker, tmp_path)


def test_a_worker_that_cannot_be_made_leaves_the_place_free(tmp_path):
    def refuse():
        raise BadRequest("There is no store.")

    for _ in range(2):
        with pytest.raises(BadRequest, match="no store"):
            Serving("memory", refuse, tmp_path)


def test_the_disk_is_checked_at_shorter_intervals_only_while_the_worker_asks_for_it(served, tmp_path):
    async def conversation(ask):
        served.patient_s = 0.001
        await ask(GetStatus())
        await until_async(lambda: served.looks > 5)
        served.patient_s = 3600.0
        await ask(GetStatus())  # the loop has run, and waits for nothing any more
        looks = served.looks
        for _ in range(20):
            await ask(GetStatus())
        return looks

    looks = talk(tmp_path, conversation)
    assert served.looks == looks


def test_an_event_makes_a_worker_check_the_disk_at_once(served, tmp_path):
    async def conversation(ask):
        await ask(GetStatus())
        before = served.looks
        context = zmq.Context()
        announcer = Announcer(context, tmp_path)
        try:
            for number in itertools.count(1):  # until the listener has connected
                announcer.announce(Reload(number))
                await ask(GetStatus())
                if served.looks > before:
                    return True
        finally:
            announcer.close()
            context.term()

    assert talk(tmp_path, conversation)


def test_an_unsupported_message_is_refused(served, tmp_path):
    async def conversation(ask):
        with pytest.raises(BadRequest, match="does not answer Embed"):
            await ask(Embed(("x",)))

    talk(tmp_path, conversation)
