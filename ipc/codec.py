"""Message ⇄ frames `[envelope, kind, JSON, *raw]`. No sockets here; docs/PROTOCOL.md.

`envelope` is 16 bytes: request id (u64 BE) and deadline (f64 BE, seconds of CLOCK_MONOTONIC, which
all processes of one machine share; 0 for none). Vectors and chunk bytes are raw frames, never JSON;
nothing is ever pickled.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args, get_type_hints

import msgspec
import orjson

from ipc.arrays import Array, from_frame, to_frame
from ipc.errors import BadRequest, TooLarge
from ipc.messages import Blobs, Message

#: bytes of all frames of one message; a query vector has 2 kB, a full answer well under 1 MB
MESSAGE_BYTES_MAX = 64 * 1024 * 1024

_ENVELOPE = struct.Struct(">Qd")

Frame = bytes | memoryview


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of message: its class and the names of its fields, by how they travel."""

    cls: type
    plain: tuple[str, ...]
    arrays: tuple[str, ...]
    blobs: tuple[str, ...]


#: the classes of messages that travel, by their names
_CLASSES: dict[str, type] = {cls.__name__: cls for cls in get_args(Message)}


def register(cls: type) -> None:
    """Let messages of the dataclass `cls` travel, under the name of the class."""
    _CLASSES[cls.__name__] = cls


@functools.cache
def _kind_of(cls: type) -> _Kind:
    """Looked at when the first message of its kind travels: most processes send a few kinds."""
    hints = get_type_hints(cls)
    arrays = tuple(name for name, hint in hints.items() if hint == Array)
    blobs = tuple(name for name, hint in hints.items() if hint == Blobs)
    plain = tuple(f.name for f in dataclasses.fields(cls) if f.name not in arrays + blobs)
    return _Kind(cls, plain, arrays, blobs)


def encode(
    message: Message, request: int = 0, deadline: float = 0.0, *, max_bytes: int = MESSAGE_BYTES_MAX
) -> list[Frame]:
    """Frames of `message`.

    Raises TooLarge above `max_bytes`, TypeError for an array of a dtype that does not travel.
    """
    name = type(message).__name__
    kind = _kind_of(_CLASSES[name])
    raw: list[Frame] = []
    layout: dict[str, Any] = {}
    for field in kind.arrays:
        layout[field], frame = to_frame(f"{name}.{field}", getattr(message, field))
        raw.append(frame)
    for field in kind.blobs:
        blobs: Sequence[bytes] = getattr(message, field)
        layout[field] = [len(blob) for blob in blobs]
        raw.append(b"".join(blobs))  # a frame for each would cost more to send than to copy
    fields = {field: getattr(message, field) for field in kind.plain}
    body = orjson.dumps({"fields": fields, "raw": layout} if layout else {"fields": fields})
    frames: list[Frame] = [_ENVELOPE.pack(request, deadline), name.encode(), body, *raw]
    size = sum(len(frame) for frame in frames)
    if size > max_bytes:
        raise TooLarge(f"A {name} of {size} bytes is over the limit of {max_bytes}; ask for less.")
    return frames


def read_envelope(frames: Sequence[Frame]) -> tuple[int, float]:
    """(request id, deadline) of a message. Raises BadRequest for anything that is not ours."""
    if len(frames) < 3 or len(frames[0]) != _ENVELOPE.size:
        raise BadRequest("A message must have an envelope, a kind and a body.")
    request, deadline = _ENVELOPE.unpack(frames[0])
    return request, deadline


def decode(frames: Sequence[Frame]) -> Message:
    """The message in `frames`, every field checked against its type.

    Raises BadRequest, naming kind and field.
    """
    read_envelope(frames)
    name = bytes(frames[1]).decode("ascii", "replace")
    if name not in _CLASSES:
        raise BadRequest(f"Unknown message kind {name[:80]!r}.")
    kind = _kind_of(_CLASSES[name])
    try:
        body = orjson.loads(frames[2])
        plain = body["fields"]
        fields = {field: plain[field] for field in kind.plain if field in plain}
        fields |= _raw_fields(kind, body.get("raw", {}), frames[3:])
        message: Any = msgspec.convert(fields, kind.cls, builtin_types=(bytes,))
    except (
        msgspec.ValidationError,
        orjson.JSONDecodeError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
    ) as error:
        raise BadRequest(f"Malformed {name}: {error}.") from error
    return cast("Message", message)


def _raw_fields(kind: _Kind, layout: dict[str, Any], raw: Sequence[Frame]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    at = 0
    for name in kind.arrays:
        dtype, shape = layout[name]
        fields[name] = from_frame(name, dtype, shape, raw[at])
        at += 1
    for name in kind.blobs:
        sizes, data = layout[name], bytes(raw[at])
        if sum(sizes) != len(data) or min(sizes, default=0) < 0:
            raise ValueError(f"{name} has {len(data)} bytes for sizes that add up to {sum(sizes)}")
        ends = list(itertools.accumulate(sizes))
        fields[name] = tuple(data[end - size : end] for end, size in zip(ends, sizes, strict=True))
        at += 1
    if at != len(raw):
        raise ValueError(f"{len(raw)} raw frames where {at} are announced")
    return fields
