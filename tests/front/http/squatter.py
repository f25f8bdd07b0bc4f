"""A hostile server in a process of its own: `python -m tests.front.http.squatter PORT ACT [ARG]`.

It prints its port, and then each request that it gets, as one line of JSON. Acts: `lie` answers
everything as a healthy server; `prove TOKEN` proves the token as a real server does; `relay PORT`
forwards /health to another server. Any other message of MCP is answered by an empty result.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from cortex.front.http.access.server_proof import CHALLENGE, prove, read_challenge
from cortex.front.http.access.tokens import digest_of

#: nobody, on Linux
ANOTHER_UID = 65534
#: variable with the user that a squatter becomes, "" for this one
UID = "SQUATTER_UID"


class Squatter(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        message = self.rfile.read(length).decode()
        request = {"line": self.requestline, "headers": dict(self.headers), "body": message}
        print(json.dumps(request), flush=True)
        act, argument = sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
        body, proof = b'{"alive": true, "ready": true, "version": "0.1.0"}', ""
        if self.path == "/health" and act == "prove":
            nonce, _ = read_challenge(self.headers[CHALLENGE])
            proof = prove(digest_of(argument), nonce, self.headers["Host"], self.server.server_address[1])
        if self.path == "/health" and act == "relay":
            line = http.client.HTTPConnection("127.0.0.1", int(argument), timeout=20)
            line.request("GET", "/health", headers=dict(self.headers))
            proof = line.getresponse().headers.get("Cortex-Proof", "")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        if proof:
            self.send_header("Cortex-Proof", proof)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer  # noqa: N815 - names of http.server

    def log_message(self, *_args):
        """Log nothing."""


class Running:
    """A squatter that runs: its port, and its requests after `end`."""

    def __init__(self, process: subprocess.Popen) -> None:
        self._process = process
        self.port = int(process.stdout.readline())

    def end(self) -> list[dict]:
        self._process.kill()
        lines = self._process.stdout.read().splitlines()
        self._process.wait()
        return [json.loads(line) for line in lines]


@contextlib.contextmanager
def squatting(*act: str, uid: int | None = None, port: int = 0) -> Iterator[Running]:
    command = [sys.executable, "-m", "tests.front.http.squatter", str(port), *act]
    place = Path(__file__).parents[3]
    environment = os.environ | {"PYTHONPATH": str(place), UID: str(uid or "")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=place, env=environment) as process:
        try:
            yield Running(process)
        finally:
            process.kill()


if __name__ == "__main__":
    with http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Squatter) as server:
        # Late: another user may be unable to read the interpreter's folder.
        if os.environ[UID]:
            os.setuid(int(os.environ[UID]))
        print(server.server_address[1], flush=True)
        server.serve_forever()
