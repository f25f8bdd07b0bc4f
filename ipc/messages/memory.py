"""Messages of the memory worker: one pair for every operation on the store.

Only cortex.memory knows the operations and the meaning of their arguments.
"""

from typing import Any

from msgspec import field

from ipc.messages.control import Message


class MemoryCall(Message, frozen=True):
    """Request to the owner of the store for one operation, on behalf of a project and of an agent.

    `operation_id` identifies a write over all its tries; the owner executes it once and answers a
    repetition as it answered the first time. `place`: the project's folder, "" if it has none.
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
        """Whether it may be sent again: it only reads, or its number identifies repetitions."""
        return not self.writes or bool(self.operation_id)


class MemoryAnswer(Message, frozen=True):
    """Reply with the operation's result. A fault is a Failure."""

    answer: dict[str, Any] = field(default_factory=dict)
