"""Answers as text for agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson


def render(tool: str, answer: Mapping[str, Any]) -> str:  # noqa: ARG001 - each tool gets a form of its own
    """Return the text of a tool's answer."""
    return orjson.dumps(answer).decode()
