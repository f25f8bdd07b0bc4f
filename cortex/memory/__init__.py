"""What agents learned: notes and edges, the store that keeps them, and what finds them again."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """`from cortex.memory import Cortex` is how programs write it. A program is a front, so the
    class is in the room of fronts, above this one: it is looked up when somebody asks for it.
    """
    if name == "Cortex":
        return importlib.import_module("cortex.front.library").Cortex
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
