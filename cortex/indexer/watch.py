"""Follows a source tree and keeps its chunk files up to it."""

from __future__ import annotations

import threading

from cortex.config import Config


def watch(config: Config, stop: threading.Event) -> int:
    """Runs until `stop` is set. Returns the exit code."""
    from cortex.indexer.run import index

    while not stop.is_set():
        index(config)
        stop.wait(1.0)
    return 0
