"""A project with a configuration of its own, over real processes: no connection to a server that it
names before the user has agreed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import orjson
import pytest

from cortex.embedders.static import open_static
from tests.wait_until import until

pytestmark = pytest.mark.e2e


class Server:
    """An embedding server without a token. Counts connections; replies as configured."""

    def __init__(self) -> None:
        self.connections = 0
        self.status = 200
        self.body = b""
        server, static = self, open_static()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                texts = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
                vectors = {"embeddings": static.embed(texts).tolist(), "model": "theirs"}
                body = server.body or orjson.dumps(vectors)
                self.send_response(server.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        class Counting(ThreadingHTTPServer):
            def process_request(self, request, client_address):
                server.connections += 1
                super().process_request(request, client_address)

        self.http = Counting(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/embed"


@pytest.fixture
def server() -> Iterator[Server]:
    embedding_server = Server()
    thread = threading.Thread(target=embedding_server.http.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield embedding_server
    finally:
        embedding_server.http.shutdown()
        thread.join()
        embedding_server.http.server_close()


def configure(project, text: str) -> None:
    folder = project.root / ".cortex"
    folder.mkdir(exist_ok=True)
    (folder / "config.yml").write_text(text)


def served(project) -> tuple[str, str]:
    """Return (message of the first answer, the serving model) of a front that is then closed."""

    async def ask():
        async with project.front() as front:
            first = await front.call("cortex_search", query="check password")
            await front.until_complete()
            second = await front.call("cortex_search", query="check password")
            assert "cortex trust" not in second["index"].get("message", "")
            status = orjson.loads(project.run("status", "--json").stdout)
            return first["index"].get("message", ""), status["index"]["model"]

    message: tuple[str, str] = asyncio.run(ask())
    project.run("down")
    return message


def test_a_cloned_repository_may_not_send_code_away(project, server):
    configure(project, f"embedding: {{endpoint: '{server.url}'}}\nserver: {{chunks_dir: .cortex/chunks}}\n")
    message, model = served(project)
    assert "embedding.endpoint, server.chunks_dir" in message
    assert "`cortex trust`" in message
    assert model.startswith("cortex-static")
    status = project.run("status", "--json")
    assert orjson.loads(status.stdout)["ignored"] == ["embedding.endpoint", "server.chunks_dir"]
    assert "embedding.endpoint" in project.run("doctor").stdout
    assert server.connections == 0
    assert [path.name for path in (project.root / ".cortex").iterdir()] == ["config.yml"]


def test_an_endpoint_is_used_after_consent_and_not_after_a_change_of_the_file(project, server):
    text = f"embedding: {{endpoint: '{server.url}'}}\n"
    configure(project, text)
    assert project.run("trust", "--yes").returncode == 0
    assert server.connections == 0
    message, model = served(project)
    assert ("trust" in message, model.partition("@")[0]) == (False, "theirs")
    counted = server.connections
    assert counted > 0
    configure(project, text + "fusion: {bm25_weight: 0.4}\n")
    message, model = served(project)
    assert "embedding.endpoint" in message
    assert model.startswith("cortex-static")
    assert server.connections == counted


def test_no_embedding_server_is_started_for_a_project_without_consent(project):
    configure(project, "embedding: {provider: local, endpoint: 'http://localhost:8121'}\n")
    code = project.run("index", "--no-wait")
    assert code.returncode == 0
    assert "embedding.provider" in code.stderr
    assert not [process for process in project.processes() if "serve" in process.cmdline()]


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("\n", 1), ("no\n", 1)])
def test_trust_shows_the_settings_that_would_count_and_asks_a_person(project, answer, code):
    configure(
        project, 'embedding: {endpoint: "http://127.0.0.1:9/\\e]0;owned\\a"}\nserver: {debounce_ms: 7}\n'
    )
    ours, theirs = pty.openpty()
    try:
        trusting = project.spawn(
            "trust", "--project", str(project.root), stdin=theirs, stdout=subprocess.PIPE
        )
        os.write(ours, answer.encode())
        printed = trusting.communicate(timeout=60)[0].decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert trusting.returncode == code, printed
    assert "embedding.endpoint" in printed
    assert "sends the project's text" in printed
    assert "debounce_ms" not in printed
    assert "\x1b" not in printed
    assert project.config.ignored == (() if code == 0 else ("embedding.endpoint",))


def test_consent_needs_a_terminal_and_can_be_shown_and_withdrawn(project):
    configure(project, "embedding: {provider: local}\n")
    refused = project.run("trust")
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    assert "are ignored without it" in project.run("trust", "--show").stdout
    assert project.run("trust", "--yes").returncode == 0
    assert "you agreed to" in project.run("trust", "--show").stdout
    assert project.config.embedding.provider == "local"
    assert project.run("trust", "--revoke").returncode == 0
    assert project.config.ignored == ("embedding.provider",)


def test_a_file_written_by_init_counts_as_agreed_to(project):
    assert project.run("init").returncode == 0
    assert "Nothing in" in project.run("trust").stdout
    notes = list((project.config.home.parent.parent / "trust").iterdir())
    assert any(str(project.root) in note.read_text() for note in notes)


def test_an_embedding_server_that_fails_later_is_reported_in_the_answer(project, server):
    project.environment["CORTEX_EMBEDDING_ENDPOINT"] = server.url

    async def ask():
        async with project.front() as front:
            await front.until_complete()
            for status, body, words in (
                (500, b"", "answers HTTP 500"),
                (200, b'{"vectors": []}', "does not answer with"),
                (200, b'{"embeddings": [[0.5, 0.5]]}', "2 dimensions"),
            ):
                server.status, server.body = status, body
                answer = await front.call("cortex_search", query="check password")
                assert answer["results"]
                assert answer["index"]["degraded"] == ["embed"]
                assert words in answer["index"]["message"]
                server.status, server.body = 200, b""
                await front.until_complete()

    asyncio.run(ask())


@pytest.mark.parametrize("body", [b'{"embeddings": [[0.5, 0.5]]}', b'{"vectors": []}'])
def test_an_unsuitable_embedding_server_ends_the_start_with_a_sentence(project, server, body):
    server.body = body
    project.environment["CORTEX_EMBEDDING_ENDPOINT"] = server.url
    result = project.run("mcp")
    assert result.returncode == 2
    assert server.url in result.stderr if b"vectors" in body else "2 dimensions" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not project.processes()


def test_a_worker_that_starts_while_the_server_is_away_says_why(project, server):
    project.environment["CORTEX_EMBEDDING_ENDPOINT"] = server.url

    async def ask():
        async with project.front() as front:
            await front.until_complete()
            server.status = 503
            first = project.member("embed")["pid"]
            os.kill(first, 9)
            until(lambda: project.member("embed")["pid"] != first, "another embed worker")
            async with asyncio.timeout(60):
                while True:
                    with contextlib.suppress(Exception):
                        answer = await front.call("cortex_search", query="check password")
                        if "HTTP 503" in answer["index"].get("message", ""):
                            return
                    await asyncio.sleep(0.05)

    asyncio.run(ask())
