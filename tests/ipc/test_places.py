"""ZeroMQ sockets over loopback TCP with keys, as on Windows, for real."""

from __future__ import annotations

import asyncio
import contextlib
import stat
import threading

import orjson
import pytest
import zmq

from cortex.system.process import sockets
from ipc.client import Client
from ipc.events import NAME, Announcer, Listener
from ipc.messages import GetStatus, Reload, Status
from ipc.places import address_of, bind, connect
from ipc.service import Identity, Serving
from tests.wait_until import BOUND_S, until

MS = int(BOUND_S * 1000)


@pytest.fixture(autouse=True)
def loopback(monkeypatch):
    monkeypatch.setenv(sockets.LOOPBACK, "1")


class Plain:
    """A worker with a status only."""

    def __init__(self) -> None:
        self.handlers = {}
        self._identity = Identity("plain", "0", "c")

    def reload(self) -> bool:
        return False

    def status(self) -> Status:
        return self._identity.status(1, {})


@contextlib.contextmanager
def bound(folder):
    """Bind a PULL socket at a path."""
    context = zmq.Context()
    socket = context.socket(zmq.PULL)
    leave = bind(context, socket, folder / "p.sock")
    try:
        yield socket
    finally:
        socket.close(0)
        leave()
        context.term()


@contextlib.contextmanager
def pushing():
    with zmq.Context() as context, context.socket(zmq.PUSH) as socket:
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.IMMEDIATE, 1)
        yield socket


def test_a_port_file_is_readable_by_its_owner_alone(tmp_path):
    with bound(tmp_path):
        place = tmp_path / "p.sock"
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        assert address_of(place).startswith("tcp://127.0.0.1:")
        assert [path.name for path in tmp_path.iterdir()] == ["p.sock"]


def test_a_failed_bind_does_not_keep_the_context_from_ending(tmp_path):
    before = threading.active_count()
    with zmq.Context() as context, context.socket(zmq.PULL) as socket:
        with pytest.raises(FileNotFoundError):
            bind(context, socket, tmp_path / "gone" / "p.sock")
        assert threading.active_count() == before


def test_messages_of_a_client_with_the_keys_arrive(tmp_path):
    with bound(tmp_path) as socket, pushing() as caller:
        assert connect(caller, tmp_path / "p.sock") == address_of(tmp_path / "p.sock")
        caller.send(b"hello")
        assert socket.poll(MS)
        assert socket.recv() == b"hello"


def _no_keys(_caller, _note):
    pass


def _the_servers_key_alone(caller, note):
    public, secret = zmq.curve_keypair()
    caller.setsockopt(zmq.CURVE_SERVERKEY, note["server"].encode())
    caller.setsockopt(zmq.CURVE_PUBLICKEY, public)
    caller.setsockopt(zmq.CURVE_SECRETKEY, secret)


def _anothers_server(caller, note):
    caller.setsockopt(zmq.CURVE_SERVERKEY, zmq.curve_keypair()[0])
    caller.setsockopt(zmq.CURVE_PUBLICKEY, note["client"].encode())
    caller.setsockopt(zmq.CURVE_SECRETKEY, note["secret"].encode())


@pytest.mark.parametrize("keys", [_no_keys, _the_servers_key_alone, _anothers_server])
def test_messages_of_a_client_without_a_key_do_not_arrive(keys, tmp_path):
    """The handshake refuses it, and a later message from a client with keys arrives."""
    with bound(tmp_path) as socket, pushing() as stranger, pushing() as caller:
        note = orjson.loads((tmp_path / "p.sock").read_bytes())
        keys(stranger, note)
        refused = zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
        monitor = stranger.get_monitor_socket(
            refused | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_DISCONNECTED
        )
        stranger.connect(note["address"])
        assert monitor.poll(MS)
        connect(caller, tmp_path / "p.sock")
        caller.send(b"friend")
        assert socket.poll(MS)
        assert socket.recv() == b"friend"
        assert not socket.poll(0)
        stranger.disable_monitor()


def test_one_client_finds_the_worker_that_replaces_another(tmp_path):
    """The new worker has another port and other keys."""

    async def ask() -> None:
        client = Client(tmp_path)
        try:
            for _ in range(2):
                worker = Serving("plain", Plain, tmp_path)
                try:
                    assert (await client.ask("plain", GetStatus(), BOUND_S)).worker == "plain"
                finally:
                    worker.close()
                assert not (tmp_path / "plain.0.sock").exists()
        finally:
            await client.close()

    asyncio.run(ask())


def test_events_of_a_new_announcer_arrive(tmp_path):
    with zmq.Context() as ears:
        listener = Listener(ears, tmp_path)
        assert listener.patience_s < 1
        for generation in (1, 2):  # the second announcer has another port
            with zmq.Context() as context:
                announcer = Announcer(context, tmp_path)

                def hears(number=generation, speaker=announcer):
                    listener.follow()
                    speaker.announce(Reload(number))
                    return any(event == Reload(number) for event in listener.drain())

                until(hears, "the announcer is heard")
                announcer.close()
        listener.close()


def test_a_path_without_a_port_file_has_no_address(tmp_path):
    place = tmp_path / NAME
    assert address_of(place) == ""
    for text in ("", "{}", "[]", '{"address": '):
        place.write_text(text)
        assert address_of(place) == ""


def test_the_supervisors_socket_admits_a_client_that_read_its_port_file(tmp_path):
    path = str(tmp_path / "s.sock")
    listener, words = sockets.listen(path)
    with listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                connection.sendall(sockets.greeting_reply(words, lines.readline().rstrip(b"\n")) + b"hello\n")

        thread = threading.Thread(target=serve)
        thread.start()
        with sockets.open_socket(path, BOUND_S) as link, link.makefile("rb") as lines:
            assert lines.readline() == b"hello\n"
        thread.join()
    assert sockets.greeting_reply(words, b"") is None
    assert sockets.greeting_reply(words, words.encode()) is None


def test_another_program_on_the_port_of_a_killed_process_is_recognised(tmp_path):
    path = str(tmp_path / "s.sock")
    listener, _ = sockets.listen(path)
    with listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                connection.sendall(lines.readline())  # an echo

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(PermissionError):
            sockets.open_socket(path, BOUND_S)
        thread.join()
