"""Settings that name a variable of the environment in place of a secret."""

from __future__ import annotations

import os

from cortex.system.errors import Misconfigured


def read_reference(told: str, setting: str) -> str:
    """What is told, or for `$NAME` what the variable NAME holds. Raises Misconfigured when it
    holds nothing.
    """
    if not told.startswith("$"):
        return told
    if found := os.environ.get(told[1:].strip("{}")):
        return found
    raise Misconfigured(f"{setting} is {told}, and the environment has no such variable: set it.")
