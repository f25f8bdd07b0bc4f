"""Frames over a pipe between a process and its child: a length, then as many bytes."""

import struct
from typing import IO

#: the length of a frame
LENGTH = struct.Struct("<I")


def pack(raw: bytes) -> bytes:
    return LENGTH.pack(len(raw)) + raw


def receive(pipe: IO[bytes]) -> bytes | None:
    """Read one frame; None at the end of the pipe."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    frame = pipe.read(length)
    return frame if len(frame) == length else None
