"""Message ⇄ one frame: envelope, kind, JSON, raw bytes. No sockets; docs/PROTOCOL.md.

The envelope has request id (u64 BE), deadline (f64 BE, seconds of CLOCK_MONOTONIC, which all
processes of one machine share; 0 for none), and the lengths of kind (u8) and JSON (u32 BE). Vectors
and chunk bytes are raw, never JSON; nothing is ever pickled. A message is one frame, because each
further frame would cost as much as a small message.
"""

import functools
import itertools
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

import msgspec
import orjson

from cortex.system.arrays import Array, from_frame, to_frame
from cortex.system.errors import BadRequest, TooLarge
from ipc.messages import Blobs, Message

#: largest message, in bytes; a query vector has 2 kB, a full answer well under 1 MB
MESSAGE_BYTES_MAX = 64 * 1024 * 1024

_ENVELOPE = struct.Struct(">QdBI")
#: alignment of each array's raw bytes
_ALIGNED = 8

Frame = bytes | memoryview


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of message: its class, and the names of its fields by their form on the wire."""

    cls: type[Message]
    plain: tuple[str, ...]
    arrays: tuple[str, ...]
    blobs: tuple[str, ...]


@functools.cache
def _kind_of(cls: type[Message]) -> _Kind:
    """Return a class's kind, computed at its first message: most processes send few."""
    hints = get_type_hints(cls)
    arrays = tuple(name for name, hint in hints.items() if hint == Array)
    blobs = tuple(name for name, hint in hints.items() if hint == Blobs)
    plain = tuple(name for name in cls.__struct_fields__ if name not in arrays + blobs)
    return _Kind(cls, plain, arrays, blobs)


def encode(
    message: Message, request: int = 0, deadline: float = 0.0, *, max_bytes: int = MESSAGE_BYTES_MAX
) -> bytes:
    """Return the frame of `message`. Raises TooLarge above `max_bytes`, TypeError for an array of a
    dtype without wire form.
    """
    name = type(message).__name__
    kind = _kind_of(Message.by_name[name])
    raw: list[Frame] = []
    layout: dict[str, Any] = {}
    for field in kind.arrays:
        layout[field], data = to_frame(f"{name}.{field}", getattr(message, field))
        raw += (data, bytes(-len(data) % _ALIGNED))
    for field in kind.blobs:
        blobs: Sequence[bytes] = getattr(message, field)
        layout[field] = [len(blob) for blob in blobs]
        raw += blobs
    fields = {field: getattr(message, field) for field in kind.plain}
    body = orjson.dumps(
        {"fields": fields, "raw": layout} if layout else {"fields": fields}, msgspec.structs.asdict
    )
    if layout:
        body += b" " * (-(_ENVELOPE.size + len(name) + len(body)) % _ALIGNED)
    envelope = _ENVELOPE.pack(request, deadline, len(name), len(body))
    frame = b"".join((envelope, name.encode(), body, *raw))
    if len(frame) > max_bytes:
        raise TooLarge(f"A {name} of {len(frame)} bytes is over the limit of {max_bytes}; ask for less.")
    return frame


def read_envelope(frame: Frame) -> tuple[int, float]:
    """Return (request id, deadline) of a message. Raises BadRequest for anything else."""
    request, deadline, _, _ = _read_envelope(frame)
    return request, deadline


def _read_envelope(frame: Frame) -> tuple[int, float, int, int]:
    """Return (request id, deadline, end of the kind, end of the body)."""
    if len(frame) < _ENVELOPE.size:
        raise BadRequest("A message must have an envelope, a kind and a body.")
    request, deadline, kind, body = _ENVELOPE.unpack_from(frame)
    kind_end = _ENVELOPE.size + kind
    if len(frame) < kind_end + body:
        raise BadRequest("A message must have an envelope, a kind and a body.")
    return request, deadline, kind_end, kind_end + body


def decode(frame: Frame) -> Message:
    """Return the message, all types checked. Raises BadRequest, naming kind and field."""
    _, _, kind_end, body_end = _read_envelope(frame)
    name = bytes(frame[_ENVELOPE.size : kind_end]).decode("ascii", "replace")
    if name not in Message.by_name:
        raise BadRequest(f"Unknown message kind {name[:80]!r}.")
    kind = _kind_of(Message.by_name[name])
    try:
        body = orjson.loads(frame[kind_end:body_end])
        plain = body["fields"]
        fields = {field: plain[field] for field in kind.plain if field in plain}
        fields |= _raw_fields(kind, body.get("raw", {}), memoryview(frame)[body_end:])
        return msgspec.convert(fields, kind.cls, builtin_types=(bytes,))
    except (
        msgspec.ValidationError,
        LookupError,
        TypeError,
        ValueError,
        OverflowError,
        AttributeError,
    ) as error:
        raise BadRequest(f"Malformed {name}: {error}.") from error


def _raw_fields(kind: _Kind, layout: dict[str, Any], raw: memoryview) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    at = 0
    for name in kind.arrays:
        dtype, shape = layout[name]
        fields[name], size = from_frame(name, dtype, shape, raw[at:])
        at += size + -size % _ALIGNED
    for name in kind.blobs:
        ends = list(itertools.accumulate(layout[name], initial=at))
        if min(layout[name], default=0) < 0 or ends[-1] > len(raw):
            raise ValueError(f"{name} has {len(raw) - at} bytes for sizes that add up to {ends[-1] - at}")
        fields[name] = tuple(bytes(raw[begin:end]) for begin, end in itertools.pairwise(ends))
        at = ends[-1]
    if at != len(raw):
        raise ValueError(f"{len(raw)} raw bytes where {at} are announced")
    return fields
