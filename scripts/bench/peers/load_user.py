"""A client of the load tests, for Locust: one call after another, over /v1 and /mcp.

LOAD_CALLS names the file of calls, LOAD_TIMES the file for their times; the token is in
CORTEX_TOKEN. load.py runs it, in a separate environment.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from pathlib import Path
from typing import Any

import gevent
from locust import FastHttpUser, constant, events, task

CALLS = json.loads(Path(os.environ["LOAD_CALLS"]).read_text())
TOKEN = {"Authorization": f"Bearer {os.environ['CORTEX_TOKEN']}"}
BOTH = {"Accept": "application/json, text/event-stream"}
VERSION = "2025-11-25"
#: seconds until an answer must arrive
ANSWER_S = 60.0
#: distance between the places of the list at which users begin
APART = 137
#: (way, tool, start, milliseconds, outcome: "ok", "refused", or the error)
TIMES: list[tuple[str, str, float, float, str]] = []
NUMBERS = itertools.count()


class Agent(FastHttpUser):
    """A user with its own MCP session. It calls again when it has its answer."""

    wait_time = constant(0)
    connection_timeout = network_timeout = ANSWER_S

    def on_start(self) -> None:
        self.at = next(NUMBERS) * APART
        self.session: dict[str, str] = {}
        if any(call["way"] == "mcp" for call in CALLS):
            self._greet()

    @task
    def ask(self) -> None:
        call = CALLS[self.at % len(CALLS)]
        self.at += 1
        path, body, headers = self._request(call)
        asked_at, began = time.time(), time.perf_counter()
        with self.client.post(
            path, json=body, headers=TOKEN | headers, name=call["way"], catch_response=True
        ) as reply:
            outcome = _outcome(reply, call["way"])
            took = 1000 * (time.perf_counter() - began)
            reply.success() if outcome == "ok" else reply.failure(outcome)
        TIMES.append((call["way"], call["tool"], asked_at, took, outcome))
        if outcome == "refused":
            gevent.sleep(float(reply.headers.get("Retry-After") or 1))

    def _request(self, call: dict[str, Any]) -> tuple[str, dict[str, Any], dict[str, str]]:
        """Return (path, body, headers)."""
        if call["way"] == "search":
            return "/v1/search", call["arguments"], {}
        if call["way"] == "tools":
            return f"/v1/tools/{call['tool']}", call["arguments"], {}
        params = {"name": call["tool"], "arguments": call["arguments"]}
        body = {"jsonrpc": "2.0", "id": self.at, "method": "tools/call", "params": params}
        return "/mcp", body, BOTH | self.session

    def _greet(self) -> None:
        client_info = {"name": "load", "version": "1"}
        params = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client_info}
        hello = {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params}
        reply = self.client.post("/mcp", json=hello, headers=TOKEN | BOTH)
        self.session = {"Mcp-Session-Id": reply.headers["Mcp-Session-Id"], "Mcp-Protocol-Version": VERSION}
        notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self.client.post("/mcp", json=notification, headers=TOKEN | BOTH | self.session)


def _outcome(reply: Any, way: str) -> str:
    if reply.status_code == 429:
        return "refused"
    if reply.status_code != 200:
        return f"{reply.status_code} {(reply.text or '')[:200]}"
    if way != "mcp":
        return "ok"
    events_lines = [line[6:] for line in reply.text.splitlines() if line.startswith("data: {")]
    answer = json.loads(events_lines[-1] if events_lines else reply.text)
    result = answer.get("result") or {}
    return "ok" if result and not result.get("isError") else json.dumps(answer)[:200]


@events.quitting.add_listener
def write_times(**_: Any) -> None:
    Path(os.environ["LOAD_TIMES"]).write_text(json.dumps(TIMES))
