"""Requests to real worker processes: deadlines, replicas, a dead worker, a late reply, a second
binder.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cortex.system.errors import BadRequest, CortexError, Unavailable
from ipc.client import Client, Silent
from ipc.messages import Embed, Embedded, GetStatus, Message, Reload, Status
from ipc.service import answer
from tests.wait_until import BOUND_S, until, until_async

ROOT = Path(__file__).parents[2]
#: seconds until a worker must listen, on a busy machine; callers wait less
START_S = 20.0


class Note(Message, frozen=True):
    """A message that changes state and is not repeatable."""

    text: str


#: a real worker: answers Embed with its pid; "hang" takes long, "burn" never ends and ignores
#: signals, "bad" and "bug" fail. A Note takes long too
WORKER = """
import os, re, sys, time
import numpy as np
from pathlib import Path
from cortex.system.errors import BadRequest, CortexError
from ipc.messages import Embed, Embedded, Message, Status
from ipc.service import serve

class Note(Message, frozen=True):
    text: str

class Worker:
    def __init__(self):
        self.handlers = {Embed: self.embed, Note: self.take}
    def take(self, request):
        Path(sys.argv[1], f"hanging-{os.getpid()}").touch()
        time.sleep(30)
    def embed(self, request):
        if request.texts[0] == "hang":
            self.take(request)
        if request.texts[0] == "burn":
            re.match("(a+)+$", "a" * 60 + "b")
        if request.texts[0] == "bad":
            raise BadRequest("That is bad.")
        if request.texts[0] == "bug":
            raise ZeroDivisionError("oops")
        return Embedded(str(os.getpid()), np.ones((len(request.texts), 2), "<f4"))
    def reload(self):
        raise RuntimeError("a reload that fails must not end the worker")
    def status(self):
        return Status("embed", os.getpid(), "0", "", 0, 0.0)

try:
    sys.exit(serve("embed", Worker(), Path(sys.argv[1]), replica=int(sys.argv[2]), least_s=0.2))
except CortexError as error:
    sys.exit(f"{error}")
"""


@pytest.fixture
def start(tmp_path_factory):
    folder = Path(tmp_path_factory.mktemp("s"))
    started = []

    def run(replica=0):
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", WORKER, folder, str(replica)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        started.append(process)
        socket = folder / f"embed.{replica}.sock"
        until(lambda: socket.exists() or process.poll() is not None, "the socket of a worker")
        return process

    run.folder = folder
    yield run
    for process in started:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stderr.close()


def ask_all(folder, *questions, deadline_s=20.0):
    async def run():
        client = Client(folder)
        try:
            out = []
            for question in questions:
                try:
                    out.append(await client.ask("embed", question, deadline_s))
                except CortexError as error:
                    out.append(error)
            return out
        finally:
            await client.close()

    return asyncio.run(run())


async def answering(client, number):
    """Return the process numbers of so many replicas, once each has answered; they take turns, so a
    few rounds are enough.
    """
    pids, deadline = set(), time.monotonic() + BOUND_S
    while len(pids) < number:
        assert time.monotonic() < deadline, f"only {pids} answer"
        pids.add(int((await client.ask("embed", Embed(("a",)), START_S)).model))
    return pids


def test_a_question_is_answered_and_errors_come_back_as_themselves(start):
    process = start()
    fine, bad, bug, status, unknown = ask_all(
        start.folder, Embed(("a", "b")), Embed(("bad",)), Embed(("bug",)), GetStatus(), Reload(1)
    )
    assert fine.model == str(process.pid)
    assert fine.vectors.shape == (2, 2)
    assert isinstance(bad, BadRequest)
    assert str(bad) == "That is bad."
    assert "ZeroDivisionError" in str(bug)
    assert status.pid == process.pid
    assert isinstance(unknown, BadRequest)


def test_without_a_worker_a_request_is_unavailable_within_the_deadline(tmp_path):
    (error,) = ask_all(tmp_path, Embed(("a",)), deadline_s=0.3)
    assert isinstance(error, Unavailable)
    assert "cortex status" in str(error)


def test_sockets_that_vanish_under_many_askers_are_forgotten_once(tmp_path):
    async def run():
        client = Client(tmp_path)
        try:
            for name in ("embed.0.sock", "embed.1.sock"):
                (tmp_path / name).touch()
            with pytest.raises(Unavailable):
                await client.ask("embed", Embed(("hi",)), 0.2)
            for path in tmp_path.glob("*.sock"):
                path.unlink()
            calls = [client.ask("embed", Embed(("hi",)), 0.3) for _ in range(8)]
            return await asyncio.gather(*calls, return_exceptions=True)
        finally:
            await client.close()

    assert {type(error) for error in asyncio.run(run())} == {Silent}


def test_a_request_to_a_silent_worker_ends_at_its_deadline_and_others_go_on(start):
    start()
    ask_all(start.folder, Embed(("a",)))
    (error,) = ask_all(start.folder, Embed(("hang",)), deadline_s=0.5)
    assert isinstance(error, Unavailable)


def test_a_request_that_never_ends_ends_its_worker_and_nothing_else(start):
    burning = start()
    (error,) = ask_all(start.folder, Embed(("burn",)), deadline_s=1.0)
    assert isinstance(error, Unavailable)
    assert burning.wait(60) == -signal.SIGPROF
    assert b"in embed" in burning.stderr.read()  # the log has a trace
    start()
    (reply,) = ask_all(start.folder, Embed(("a",)))
    assert isinstance(reply, Embedded)


def test_a_request_that_waits_may_outlast_its_caller_and_the_worker_lives(start):
    process = start()
    ask_all(start.folder, Embed(("hang",)), deadline_s=0.3)
    assert process.poll() is None


def test_replicas_take_turns_and_a_request_to_a_killed_one_is_sent_again(start):
    processes = {p.pid: p for p in (start(0), start(1))}

    async def run():
        client = Client(start.folder)
        try:
            assert await answering(client, 2) == set(processes)
            question = asyncio.create_task(client.ask("embed", Embed(("hang",)), 60))
            hanging = await until_async(lambda: list(start.folder.glob("hanging-*")))
            processes[int(hanging[0].name.split("-")[1])].kill()
            await until_async(lambda: len(list(start.folder.glob("hanging-*"))) == 2)
            question.cancel()
        finally:
            await client.close()

    asyncio.run(run())


def test_a_message_to_a_killed_worker_is_not_sent_again_unless_repeatable(start):
    processes = {p.pid: p for p in (start(0), start(1))}

    async def run():
        client = Client(start.folder)
        try:
            await answering(client, 2)
            noting = asyncio.create_task(client.ask("embed", Note("remember"), 60))
            taken = await until_async(lambda: list(start.folder.glob("hanging-*")))
            pid = int(taken[0].name.split("-")[1])
            processes[pid].kill()
            with pytest.raises(Unavailable, match="its result is unknown"):
                await noting
            # The other worker answers in the order of arrival: it would have received the note by
            # now.
            other = int((await client.ask("embed", Embed(("a",)), 20)).model)
            assert other != pid
        finally:
            await client.close()

    asyncio.run(run())
    assert len(list(start.folder.glob("hanging-*"))) == 1


def test_a_request_ends_with_its_worker_if_the_next_one_notices_the_end_first(start):
    worker = start()

    async def run():
        client = Client(start.folder)
        try:
            await client.ask("embed", Embed(("a",)), 20)
            waiting = asyncio.create_task(client.ask("embed", Embed(("hang",)), 60))
            await until_async(lambda: list(start.folder.glob("hanging-*")))
            # All without a turn of the loop, which would read the event of the end.
            worker.kill()
            worker.wait()
            for path in start.folder.glob("*.sock"):
                path.unlink()
            time.sleep(0.5)  # noqa: ASYNC251
            with pytest.raises(Silent):
                await client.ask("embed", Embed(("a",)), 20)
            with pytest.raises(Silent):
                await asyncio.wait_for(waiting, 20)
        finally:
            await client.close()

    asyncio.run(run())


def test_silence_after_a_message_that_is_not_repeatable_reports_an_unknown_result(start):
    start()
    ask_all(start.folder, Embed(("a",)))
    (error,) = ask_all(start.folder, Note("remember"), deadline_s=0.5)
    assert isinstance(error, Unavailable)
    assert "its result is unknown" in str(error)


def test_a_worker_that_comes_back_is_found(start):
    first = start()
    ask_all(start.folder, Embed(("a",)))

    async def run():
        client = Client(start.folder)
        try:
            await client.ask("embed", Embed(("a",)), 20)
            first.kill()
            first.wait()
            second = start()
            return second.pid, int((await client.ask("embed", Embed(("a",)), 20)).model)
        finally:
            await client.close()

    expected, got = asyncio.run(run())
    assert got == expected


def test_a_second_binder_is_refused_with_the_holders_name(start):
    first = start()
    ask_all(start.folder, Embed(("a",)))
    second = start()
    _, stderr = second.communicate()
    assert second.returncode != 0
    assert str(first.pid) in stderr.decode()
    (fine,) = ask_all(start.folder, Embed(("a",)))
    assert fine.model == str(first.pid)


def test_the_end_of_the_life_line_ends_the_worker(start):
    process = start()
    ask_all(start.folder, Embed(("a",)))
    process.stdin.close()
    assert process.wait(20) == 0
    assert not list(start.folder.glob("*.sock"))


def test_sigterm_ends_the_worker(start):
    process = start()
    ask_all(start.folder, Embed(("a",)))
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0


def test_expired_requests_are_dropped_and_a_late_reply_reaches_nobody(start):
    process = start()
    ask_all(start.folder, Embed(("a",)))

    async def run():
        client = Client(start.folder)
        try:
            os.kill(process.pid, signal.SIGSTOP)
            with pytest.raises(Unavailable):
                await client.ask("embed", Embed(("late",)), 0.3)
            os.kill(process.pid, signal.SIGCONT)
            return await client.ask("embed", Embed(("a", "b", "c")), 20)
        finally:
            await client.close()

    assert asyncio.run(run()).vectors.shape == (3, 2)


class InProcess:
    """A worker without a socket, for `answer`."""

    handlers = {Embed: lambda request: Embedded("m", np.zeros((len(request.texts), 1), "<f4"))}  # noqa: RUF012

    def reload(self):
        return False

    def status(self):
        return Status("embed", 1, "0", "", 0, time.monotonic())


def test_answer_never_raises():
    assert answer(InProcess(), [b"junk"]).code == "bad_request"
    assert answer(InProcess(), []).code == "bad_request"
