"""Wire garbage: lines that are no message, between good ones. Each is answered with its error, good
lines are answered, and the end of standard input ends the front.
"""

from __future__ import annotations

import json
import queue
import random
import time
from dataclasses import dataclass

from torture.front import END_S, EVER_S, Front
from torture.kills import load
from torture.record import Record
from torture.world import World, open_world

SCENARIO = "wire"
FILES = 3
#: lines of a front
LINES = 40
#: seconds until the error for a line arrives
ERROR_S = 5.0
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602


@dataclass(frozen=True)
class Garbage:
    """A line; the code of its error, None if it is not answered; the id in the error."""

    line: bytes
    code: int | None
    number: object = None


def run(record: Record, until: float) -> None:
    """Run steps until `until` (monotonic); each is a front and its lines."""
    with open_world(record, SCENARIO, FILES) as world:
        while time.monotonic() < until:
            draws = record.draws(SCENARIO)
            _talk(world, record, draws)
        if left := world.wait_for_exit():
            record.breaks(SCENARIO, "no process outlives its purpose", ", ".join(left))


def _talk(world: World, record: Record, draws: random.Random) -> None:
    front = world.front()
    front.initialize()
    garbage = None
    for _ in range(draws.randrange(1, LINES)):
        garbage = draw_garbage(draws)
        if not front.send(garbage.line):
            record.breaks(SCENARIO, "a front lives on", f"it ended after {garbage.line[:150]!r}")
            break
        record.count("garbage lines")
        if fault := _answer(front, garbage):
            record.breaks(
                SCENARIO, "a line that is no message has its error", f"{garbage.line[:150]!r}: {fault}"
            )
        if draws.random() < 0.2 and front.request("ping", {}, ERROR_S).kind != "answer":
            record.breaks(SCENARIO, "good lines go on after bad ones", f"{garbage.line[:150]!r}; {load()}")
    if draws.random() < 0.3:
        front.send(b'{"jsonrpc":"2.0","id":"half","method":"tools/call","par')
    started = time.monotonic()
    ended = front.close()
    took = time.monotonic() - started
    record.measure("end of a front after garbage, s", took)
    if not ended:
        last = garbage.line[:150] if garbage else b""
        record.breaks(
            SCENARIO,
            f"the end of the input ends a front within {END_S:g} s",
            f"{took:.1f} s after {last!r}; {load()}",
        )


def _answer(front: Front, garbage: Garbage) -> str:
    """Return the fault in the response to a line, "" for none."""
    if garbage.code is None:
        return ""
    deadline = time.monotonic() + EVER_S
    while True:
        try:
            response = front.others.get(timeout=max(0.01, deadline - time.monotonic()))
        except queue.Empty:
            return f"no error within {EVER_S:g} s; {load()}"
        if "method" in response:
            continue  # a notification
        error = response.get("error", {})
        if (error.get("code"), response.get("id")) != (garbage.code, garbage.number):
            return f"expected {garbage.code} for {garbage.number!r}, got {json.dumps(response)[:300]}"
        return "" if str(error.get("message", "")).strip() else "its error has no sentence"


def draw_garbage(draws: random.Random) -> Garbage:
    """Draw a line and the response to expect. Ids are strings, so that no call waits for them."""
    number = f"g{draws.randrange(10**9)}"
    name = json.dumps(number).encode()
    head = b'{"jsonrpc":"2.0","id":' + name + b',"method":"ping","params":'
    call = b'{"jsonrpc":"2.0","id":' + name + b',"method":"tools/call","params":'
    deep = draws.choice((300, 5_000, 100_000))
    drawn = (
        Garbage(
            bytes(draws.choices(range(33, 127), k=draws.randrange(1, 200))).replace(b'"', b"'") + b"!",
            PARSE_ERROR,
        ),
        Garbage(
            draws.randbytes(draws.randrange(1, 300)).replace(b"\n", b"").replace(b'"', b"") + b"\xff!",
            PARSE_ERROR,
        ),
        Garbage(head[: draws.randrange(len(head) - 9, len(head))], PARSE_ERROR, number),
        Garbage(call + b'{"name":"\\ud800"}}', PARSE_ERROR, number),
        Garbage(head + b'{"a":' * deep + b"1" + b"}" * deep + b"}", PARSE_ERROR, number),
        Garbage(head + b'{"a":"' + b"x" * 17_000_000 + b'"}}', INVALID_REQUEST, number),
        Garbage(
            draws.choice((b"[]", b"[" + head + b"{}}]", b"3", b"{}", b'"text"', b"null", b"true")),
            INVALID_REQUEST,
        ),
        Garbage(head.replace(b"2.0", b"1.0") + b"{}}", INVALID_REQUEST, number),
        Garbage(head + draws.choice((b"[1]", b'"a"', b"5")) + b"}", INVALID_REQUEST, number),
        Garbage(
            head.replace(b'"ping"', draws.choice((b"4", b"null", b"[]"))) + b"{}}", INVALID_REQUEST, number
        ),
        Garbage(
            head.replace(name, draws.choice((b"null", b"1.5", b"true", b"{}"))) + b"{}}", INVALID_REQUEST
        ),
        Garbage(draws.choice((b"", b"   ", b"\t", b"\r")), None),
        Garbage(b'{"jsonrpc":"2.0","method":"notifications/nonsense"}', None),
        Garbage(b'{"jsonrpc":"2.0","id":"nobody","result":{}}', None),
    )
    return draws.choice(drawn)
