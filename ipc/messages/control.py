"""What every worker is asked and told, whatever it is for; failures, events, PROTOCOL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

#: raised with every change that an older process would misread; in the name of the sockets' folder
PROTOCOL = 4

Blobs = tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """The reply when a handler raised: `code` of cortex.system.errors, `message` one sentence."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class GetStatus:
    """Asks any worker how it is."""

    repeatable = True


@dataclass(frozen=True, slots=True)
class Status:
    """How a worker is. `config`: hash of the settings in effect; `info`: free-form, for people."""

    worker: str
    pid: int
    version: str
    config: str
    generation: int
    uptime_s: float
    info: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Several:
    """Asks any worker several questions at once: `requests` are the frames of repeatable messages.

    Each message that travels costs both sides some tenths of a millisecond, whatever is in it.
    """

    repeatable = True

    requests: Blobs


@dataclass(frozen=True, slots=True)
class Answers:
    """The answer to Several: the frame of the reply to each of its requests, in their order."""

    replies: Blobs


@dataclass(frozen=True, slots=True)
class Reload:
    """Event: generation `generation` is published. A hint only; the file CURRENT is the truth."""

    generation: int


def is_repeatable(message: object) -> bool:
    """Whether `message` says that it may be sent again when nobody knows what became of it."""
    return bool(getattr(message, "repeatable", False))
