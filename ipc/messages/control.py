"""Messages for every worker: status, several requests at once, failures, events; and PROTOCOL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar, dataclass_transform

#: raised with every change that an older process would misread; part of the name of the sockets'
#: folder
PROTOCOL = 4

Blobs = tuple[bytes, ...]
T = TypeVar("T", bound="Message")


class Message:
    """Base of all messages, which are frozen dataclasses; the codec finds them by name."""

    __slots__ = ()
    by_name: ClassVar[dict[str, type]] = {}

    def __init_subclass__(cls) -> None:
        Message.by_name[cls.__name__] = cls

    @property
    def repeatable(self) -> bool:
        """Whether it may be sent again when its result is unknown."""
        return False


@dataclass_transform(frozen_default=True)
def repeatable(cls: type[T]) -> type[T]:
    """Make a class a message that may be sent again: a frozen dataclass."""
    message = dataclass(frozen=True, slots=True)(cls)
    message.repeatable = True  # type: ignore[method-assign, assignment]
    return message


@dataclass(frozen=True, slots=True)
class Failure(Message):
    """The reply when a handler raised: `code` of cortex.system.errors, `message` one sentence."""

    code: str
    message: str


@repeatable
class GetStatus(Message):
    """Request for a worker's status."""


@dataclass(frozen=True, slots=True)
class Status(Message):
    """A worker's status. `config`: hash of the settings in effect; `info`: for people."""

    worker: str
    pid: int
    version: str
    config: str
    generation: int
    uptime_s: float
    info: dict[str, Any] = field(default_factory=dict)


@repeatable
class Several(Message):
    """Request to any worker with several requests: the frames of repeatable messages.

    Each message costs both sides some tenths of a millisecond, whatever its content.
    """

    requests: Blobs


@dataclass(frozen=True, slots=True)
class Answers(Message):
    """Reply to Several: the frame of the reply to each of its requests, in their order."""

    replies: Blobs


@dataclass(frozen=True, slots=True)
class Reload(Message):
    """Event: generation `generation` is published. A hint only; the file CURRENT is the truth."""

    generation: int
