"""What the memory worker is asked and answers: one pair for every operation on the store.

What the operations are, and what their arguments mean, is known to cortex.memory alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class MemoryCall:
    """Asks the owner of the store for one operation, in the name of a project and of an agent.

    `operation_id`: of a write, made up once for each write and not for each try; its owner carries
    it out once and answers a repetition as it answered the first time. `place`: the project's
    folder, "" when it has none.
    """

    operation: str
    arguments: dict[str, Any] = field(default_factory=dict)
    writes: bool = True
    operation_id: str = ""
    project: str = ""
    agent: str = ""
    session: str = ""
    channel: str = "mcp"
    place: str = ""

    @property
    def repeatable(self) -> bool:
        """Whether it may be sent again: it reads only, or its number says that it was sent."""
        return not self.writes or bool(self.operation_id)


@dataclass(frozen=True, slots=True)
class MemoryAnswer:
    """What the operation answers, for whoever asked. A fault is a Failure."""

    answer: dict[str, Any] = field(default_factory=dict)
