"""Messages for every worker: status, several requests at once, failures, events; and PROTOCOL."""

from typing import Any, ClassVar, TypeVar

from msgspec import Struct, field

#: raised with every change that an older process would misread; part of the name of the sockets'
#: folder
PROTOCOL = 4

Blobs = tuple[bytes, ...]
T = TypeVar("T", bound="Message")


class Message(Struct, frozen=True):
    """Base of all messages; the codec finds them by name.

    A class costs a process 20 µs at its start; as a dataclass, it would cost 1 ms.
    """

    by_name: ClassVar[dict[str, type["Message"]]] = {}

    def __init_subclass__(cls) -> None:
        Message.by_name[cls.__name__] = cls

    @property
    def repeatable(self) -> bool:
        """Whether it may be sent again when its result is unknown."""
        return False


def repeatable(cls: type[T]) -> type[T]:
    """Make a class a message that may be sent again."""
    cls.repeatable = True  # type: ignore[method-assign, assignment]
    return cls


class Failure(Message, frozen=True):
    """The reply when a handler raised: `code` of cortex.system.errors, `message` one sentence."""

    code: str
    message: str


@repeatable
class GetStatus(Message, frozen=True):
    """Request for a worker's status."""


class Status(Message, frozen=True):
    """A worker's status. `config`: hash of the settings in effect; `info`: for people."""

    worker: str
    pid: int
    version: str
    config: str
    generation: int
    uptime_s: float
    info: dict[str, Any] = field(default_factory=dict)


@repeatable
class Several(Message, frozen=True):
    """Request to any worker with several requests: the frames of repeatable messages.

    Each message costs both sides some tenths of a millisecond, whatever its content.
    """

    requests: Blobs


class Answers(Message, frozen=True):
    """Reply to Several: the frame of the reply to each of its requests, in their order."""

    replies: Blobs


class Reload(Message, frozen=True):
    """Event: generation `generation` is published. A hint only; the file CURRENT is the truth."""

    generation: int
