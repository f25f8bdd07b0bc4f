"""Waiting for a state, with a bound: never for a fixed time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

#: seconds in which a state must be reached; generous, because it bounds a failure, not a pass
BOUND_S = 60.0
#: seconds between two checks: a bound on load, not a guess at a time
LOOK_S = 0.02


def until(state: Callable[[], Any], what: str = "what is waited for", bound_s: float = BOUND_S) -> Any:
    """Return the value of `state` as soon as it is true."""
    deadline = time.monotonic() + bound_s
    while not (outcome := state()):
        assert time.monotonic() < deadline, f"not within {bound_s} s: {what}"
        time.sleep(LOOK_S)
    return outcome


async def until_async(state: Callable[[], Any], what: str = "what is waited for") -> Any:
    """Do the same while the event loop of a test runs."""
    deadline = time.monotonic() + BOUND_S
    while not (outcome := state()):
        assert time.monotonic() < deadline, f"not within {BOUND_S} s: {what}"
        await asyncio.sleep(LOOK_S)
    return outcome
