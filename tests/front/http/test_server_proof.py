"""A token is shown to its own server alone, and a server's answers are bounded."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import orjson
import psutil
import pytest

from cortex.front.cli.commands import run as cortex
from cortex.front.http.access.server_proof import mark_of, prove
from cortex.front.http.access.tokens import WRONG_MAX, digest_of
from cortex.front.http.local_socket import HOSTS, find_socket, listening
from cortex.system.errors import Unavailable
from cortex.system.process.ports import socket_uid
from tests.front.http.conftest import TOKEN, serving
from tests.front.http.squatter import ANOTHER_UID, squatting
from tests.front.http.test_bridge import bridged, call
from tests.front.http.test_mcp_transports import INITIALIZE
from tests.wait_until import BOUND_S, until

NONCE = "ab" * 32
as_root = pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can start a process of another user"
)


def fault_of(port, token=TOKEN):
    """Return the sentence that a client of the bridge gets for `initialize`."""
    url = f"http://127.0.0.1:{port}"
    return bridged(url, lambda line: line.ask(INITIALIZE), token)["error"]["message"]


def check_hidden(requests):
    """Check that a squatter was asked for its health, and got neither the token nor a message."""
    assert {request["line"] for request in requests} == {"GET /health HTTP/1.1"}
    assert TOKEN not in str(requests)
    assert digest_of(TOKEN) not in str(requests)


def test_a_server_without_the_token_does_not_get_it():
    with squatting("lie") as squatter:
        assert "did not prove that it knows your token, so the token was not sent" in fault_of(squatter.port)
        check_hidden(squatter.end())


def test_the_command_says_so_in_one_sentence_and_goes_on(tmp_path):
    environment = os.environ | {
        "CORTEX_TOKEN": TOKEN,
        "CORTEX_HOME": str(tmp_path),
        "PYTHONPATH": os.getcwd(),
    }
    with squatting("lie") as squatter:
        url = f"http://127.0.0.1:{squatter.port}"
        lines = orjson.dumps(INITIALIZE) + b"\n" + orjson.dumps(call(2, "cortex_exact", query="x")) + b"\n"
        done = subprocess.run(
            [sys.executable, "-m", "cortex", "mcp", "--server", url],
            input=lines,
            env=environment,
            capture_output=True,
            timeout=BOUND_S,
            check=True,
        )
        check_hidden(squatter.end())
    answers = [orjson.loads(line) for line in done.stdout.splitlines()]
    assert all("the token was not sent" in answer["error"]["message"] for answer in answers)
    assert len(answers) == 2


@as_root
def test_another_users_server_is_refused_even_if_it_proves_the_token():
    with squatting("prove", TOKEN, uid=ANOTHER_UID) as squatter:
        sentence = fault_of(squatter.port)
        assert "belongs to user " in sentence
        assert "your token was not sent" in sentence
        check_hidden(squatter.end())


def test_the_proof_of_the_real_server_is_of_no_use_on_another_port(server):
    with squatting("relay", str(server.port)) as squatter:
        sentence = fault_of(squatter.port)
        assert f"listens on port {server.port}, so your token was not sent" in sentence
        check_hidden(squatter.end())


def test_each_connection_is_checked_and_not_the_first_alone(sample):
    """A squatter takes the port after the real server has ended."""

    async def talk(line):
        assert (await line.greet())["result"]
        first.close()
        with squatting("lie", port=port) as squatter:
            sentence = (await line.ask(call(11, "cortex_exact", query="x")))["error"]["message"]
            return sentence, squatter.end()

    with contextlib.ExitStack() as first:
        real = first.enter_context(serving(sample))
        port = real.port
        sentence, requests = bridged(real.url, talk)
    assert "the token was not sent" in sentence
    check_hidden(requests)


def test_cortex_open_shows_the_token_to_its_own_server_alone(monkeypatch):
    monkeypatch.setenv("CORTEX_TOKEN", TOKEN)
    with squatting("lie") as squatter:
        with pytest.raises(Unavailable, match="the token was not sent"):
            cortex(["open", "--print", "--server", f"http://127.0.0.1:{squatter.port}"])
        check_hidden(squatter.end())


def proof_of(server, token, nonce=NONCE, **headers):
    return server.ask(
        "GET",
        "/health",
        Authorization=None,
        Cortex_Challenge=f"{nonce} {mark_of(digest_of(token), nonce)}",
        **headers,
    )


def test_a_server_proves_its_own_and_named_tokens_with_host_and_port(own_server, tmp_path, monkeypatch):
    host = f"127.0.0.1:{own_server.port}"
    assert proof_of(own_server, TOKEN)[1]["Cortex-Proof"] == prove(
        digest_of(TOKEN), NONCE, host, own_server.port
    )
    _, headers, _ = proof_of(own_server, TOKEN, Host="localhost:1")
    assert headers["Cortex-Proof"] == prove(digest_of(TOKEN), NONCE, "localhost:1", own_server.port)
    assert headers["Cortex-Proof"] != prove(digest_of(TOKEN), NONCE, host, own_server.port)
    assert own_server.ask("GET", "/health", Authorization=None)[1]["Cortex-Proof"] is None


def test_wrong_challenges_count_as_wrong_tokens(own_server):
    answers = [proof_of(own_server, "another-token-of-a-test") for _ in range(WRONG_MAX)]
    answers += [own_server.ask("GET", "/health", Authorization=None, Cortex_Challenge="x y")]
    assert [status for status, _, _ in answers] == [401] * WRONG_MAX + [429]
    assert all(headers["Cortex-Proof"] is None for _, headers, _ in answers)
    assert proof_of(own_server, TOKEN)[1]["Cortex-Proof"]


#: heads of answers that never end, and the piece that repeats
ENDLESS = {
    "json": (b'200 OK\r\nContent-Type: application/json\r\n\r\n{"a":"', b"x" * 65536),
    "event": (b"200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ", b"x" * 65536),
    "error": (b'400 Bad\r\nContent-Type: application/json\r\n\r\n{"a":"', b"x" * 65536),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_endless_answer_is_one_sentence_and_takes_little_memory(kind):
    head, piece = ENDLESS[kind]
    with endless(head, piece) as port:
        before = psutil.Process().memory_info().rss
        sentence = fault_of(port)
        assert psutil.Process().memory_info().rss - before < 300 << 20
    assert sentence.startswith("The server's answer is larger than 16 MiB")


def test_an_endless_answer_about_health_is_refused():
    with endless(b"", b"", health=(b"200 OK\r\n\r\n", b"x" * 65536)) as port:
        assert "the token was not sent" in fault_of(port)


@contextlib.contextmanager
def endless(head, piece, health=None):
    """A server that proves the token, and answers all else with `head` and endless `piece`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        listener.settimeout(0.1)
        ended = threading.Event()

        def serve(line):
            with line, contextlib.suppress(OSError):
                line.settimeout(BOUND_S)
                request = b""
                while b"\r\n\r\n" not in request:
                    request += line.recv(65536)
                if health is None:
                    challenge = request.partition(b"cortex-challenge: ")[2].split()[0].decode()
                    proof = prove(digest_of(TOKEN), challenge, f"127.0.0.1:{port}", port).encode()
                    line.sendall(
                        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCortex-Proof: " + proof + b"\r\n\r\n{}"
                    )
                    assert line.recv(65536)
                line.sendall(b"HTTP/1.1 " + (health or (head,))[0])
                until_s = time.monotonic() + BOUND_S
                while not ended.is_set() and time.monotonic() < until_s:
                    line.sendall((health or (b"", piece))[1])

        def accept():
            while not ended.is_set():
                with contextlib.suppress(TimeoutError):
                    threads.append(threading.Thread(target=serve, args=(listener.accept()[0],)))
                    threads[-1].start()

        threads = []
        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield port
        finally:
            ended.set()
            thread.join()
            for line_thread in threads:
                line_thread.join()


@pytest.fixture
def runtime(monkeypatch):
    """A short runtime folder for this test; sockets' paths are bounded."""
    with tempfile.TemporaryDirectory(prefix="cx-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder, f"cortex-{os.getuid()}")


def greet(url):
    return bridged(url, lambda line: line.ask(INITIALIZE))


def test_clients_on_this_machine_use_the_servers_unix_socket_first(sample, runtime, monkeypatch):
    """The bridge and `cortex open` do not even ask the one who sits on the port."""
    monkeypatch.setenv("CORTEX_TOKEN", TOKEN)
    with squatting("lie") as squatter, listening(squatter.port, 16) as sockets:
        path = runtime / "http" / f"{squatter.port}.sock"
        assert [oct(place.lstat().st_mode & 0o777) for place in (path, path.parent)] == ["0o600", "0o700"]
        with serving(sample, sockets=sockets):
            for host in HOSTS:
                assert greet(f"http://{host}:{squatter.port}")["result"]
            cortex(["open", "--print", "--server", f"http://127.0.0.1:{squatter.port}"])
        assert squatter.end() == []


def test_the_server_at_the_socket_has_to_prove_the_token_too(sample, runtime):
    with listening(1, 16) as sockets, serving(sample, sockets=sockets):
        sentence = bridged("http://127.0.0.1:1", lambda line: line.ask(INITIALIZE), "another-token-of-a-test")
        assert "The token is wrong" in sentence["error"]["message"]


def dead(path):
    path.parent.mkdir(mode=0o700, parents=True)
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(str(path))


def link_to_another(path):
    """A link in place of the folder, to a hostile server's socket."""
    elsewhere = path.parents[2] / "elsewhere"
    dead(elsewhere / path.name)
    path.parents[1].mkdir(mode=0o700)
    path.parent.symlink_to(elsewhere)


def a_file(path):
    path.parent.mkdir(mode=0o700, parents=True)
    path.write_text("no socket")


@pytest.mark.parametrize("place", [dead, link_to_another, a_file])
def test_without_a_socket_of_ours_the_port_is_used(server, runtime, place):
    place(runtime / "http" / f"{server.port}.sock")
    assert greet(server.url)["result"]


@as_root
def test_a_socket_in_another_users_folder_is_not_used(server, runtime):
    path = runtime / "http" / f"{server.port}.sock"
    dead(path)
    os.chown(path.parent, ANOTHER_UID, ANOTHER_UID)
    assert find_socket(server.url) == ""
    assert greet(server.url)["result"]


def test_a_killed_servers_socket_gives_way_and_a_running_ones_does_not(runtime):
    dead(runtime / "http" / "1.sock")
    with listening(1, 16) as first, listening(1, 16) as second:
        assert (len(first), len(second)) == (1, 0)
        assert find_socket("http://localhost:1") == str(runtime / "http" / "1.sock")
        for other in ("http://[::1]:1", "https://127.0.0.1:1", "http://127.0.0.1:2", "http://example.org:1"):
            assert find_socket(other) == ""
    assert find_socket("http://localhost:1") == ""


def test_the_command_serves_at_a_socket_of_its_port(sample, runtime, tmp_path):
    environment = os.environ | {
        "CORTEX_TOKEN": TOKEN,
        "CORTEX_HOME": str(tmp_path),
        "PYTHONPATH": os.getcwd(),
    }
    command = [sys.executable, "-m", "cortex", "serve", "--port", "0", "--sse-port", "0"]
    with subprocess.Popen(
        [*command, "--project", str(sample.config.root)], env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            port = int(process.stderr.readline().rpartition(":")[2])
            path = runtime / "http" / f"{port}.sock"
            until(path.exists, "the server listens at its socket")
            line = socket.socket(socket.AF_UNIX)
            until(lambda: line.connect_ex(str(path)) in (0, errno.EISCONN), "the server accepts")
            with line:
                assert socket_uid(line) == os.getuid()
            assert greet(f"http://127.0.0.1:{port}")["result"]
        finally:
            process.terminate()
    assert not path.exists()
