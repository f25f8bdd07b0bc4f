"""What agents learned: notes and edges, the store that keeps them, and what finds them again."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """`from cortex.memory import Cortex`; whoever needs a part of it alone does not pay for all."""
    if name == "Cortex":
        from cortex.memory.library import Cortex

        return Cortex
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
