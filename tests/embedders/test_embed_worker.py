"""The embed worker with a failing server: it survives, reports the reason, and continues when it
can.
"""

from __future__ import annotations

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import orjson
import pytest

from cortex.embedders.static import open_static
from cortex.settings.config import Config
from cortex.settings.table import Embedding, Server
from cortex.system.errors import Misconfigured, Unavailable
from ipc.messages import Embed
from workers.embed import EmbedWorker

QUESTION = Embed(("a question",))


def make_worker(root, port: int) -> EmbedWorker:
    embedding = Embedding(provider="http", endpoint=f"http://127.0.0.1:{port}", dimensions=2)
    return EmbedWorker(Config(root=root, embedding=embedding, server=Server(deadline_s=1.0)))


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = orjson.dumps({"embeddings": [[3.0, 4.0]], "model": "theirs@1"})
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def test_a_silent_server_is_told_within_a_lanes_time_and_is_not_waited_for_by_each_question(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        worker = make_worker(tmp_path, listener.getsockname()[1])
        listener.settimeout(0)
        listener.accept()[0].close()  # the probe at the start
        for _ in range(5):
            with pytest.raises(Unavailable, match="timed out"):
                worker.embed(QUESTION)
        assert "timed out" in worker.status().info["fault"]
        with pytest.raises(BlockingIOError):
            listener.accept()  # no query opened a new connection


def test_what_came_back_is_used_without_a_restart(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    worker = make_worker(tmp_path, port)
    with pytest.raises(Unavailable, match="refused"):
        worker.embed(QUESTION)
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        until = time.monotonic() + 30
        while worker.status().info.get("fault") and time.monotonic() < until:
            worker.reload()
        embedded = worker.embed(QUESTION)
        assert (embedded.model, embedded.vectors.tolist()[0]) == ("theirs@1", pytest.approx([0.6, 0.8]))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_started_by_hand_it_answers_with_the_built_in_embedder(tmp_path):
    embedded = EmbedWorker(Config(root=tmp_path)).embed(QUESTION)
    assert embedded.model == open_static().identity
    assert np.array_equal(embedded.vectors, open_static().embed(["a question"]))


def test_vectors_of_another_size_are_told_with_both_numbers_in_every_answer(tmp_path):
    worker = EmbedWorker(Config(root=tmp_path, embedding=Embedding(dimensions=300)))
    for _ in range(2):
        with pytest.raises(Misconfigured, match=r"384.*300"):
            worker.embed(QUESTION)
