"""An ONNX model in a process of its own: it takes memory only while it is used, and its native
library cannot end this process. Frames of `ipc.codec` with their length, over two pipes.
"""

import contextlib
import os
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import orjson

from cortex.embedders.onnx import describe_onnx, open_onnx
from cortex.embedders.protocol import estimate_tokens
from cortex.settings.config import Config
from cortex.settings.table import Embedding
from cortex.system import hosts
from cortex.system.arrays import Array
from cortex.system.errors import BY_CODE, CortexError, Unavailable
from ipc.codec import decode, encode
from ipc.frames import LENGTH, pack, receive
from ipc.messages import Embed, Embedded, Failure, Mode

#: the command line of the process
COMMAND = (sys.executable, "-P", "-c", "from cortex.embedders.child import serve; serve()")
#: variables of the process: glibc returns the memory of each call, which it would keep (40 MB)
ALLOCATOR = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "131072"}
#: seconds for one call; the first one loads the model
ANSWER_S = 20.0
#: seconds without a call after which `rest` ends the process
REST_S = 300.0
#: texts in one call
CALL_TEXTS = 8


class ChildEmbedder:
    """See `protocol.Embedder`; for one thread. The first text starts the process."""

    #: no text is cut by it
    count_tokens = staticmethod(estimate_tokens)

    def __init__(self, config: Config) -> None:
        """Raises Misconfigured as `open_onnx`, as far as that needs no loading of the model."""
        self.identity, self.dimensions = describe_onnx(config)
        self._setup = orjson.dumps({"root": str(config.root), "embedding": config.embedding})
        self._child: subprocess.Popen[bytes] | None = None
        self._used_at = 0.0
        #: whether the model is loaded
        self.is_ready = False

    def embed(self, texts: Sequence[str], mode: Mode = "passage") -> Array:
        """See the protocol. Raises Unavailable when the process ends again and again, or hangs."""
        parts = [
            self._embed_some(texts[at : at + CALL_TEXTS], mode) for at in range(0, len(texts), CALL_TEXTS)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimensions), np.float32)

    def _embed_some(self, texts: Sequence[str], mode: Mode) -> Array:
        request = encode(Embed(tuple(texts), mode))
        self._used_at = time.monotonic()
        answer = self._ask(request) or self._ask(request)
        self.is_ready = isinstance(answer, Embedded)
        if isinstance(answer, Failure):
            raise BY_CODE.get(answer.code, CortexError)(answer.message)
        if answer is None or answer.vectors.shape != (len(texts), self.dimensions):
            self.close()
            raise Unavailable(f"The process that runs the model {self.identity} does not answer.")
        return answer.vectors

    def _ask(self, request: bytes) -> Embedded | Failure | None:
        """Return the answer; None if the process does not give any and was ended."""
        until = time.monotonic() + ANSWER_S
        try:
            child = self._child or self._start()
            _send(child, request)
            assert child.stdout
            head, _ = hosts.read_within(child.stdout.fileno(), until, LENGTH.size)
            (length,) = LENGTH.unpack(head)
            frame, _ = hosts.read_within(child.stdout.fileno(), until, length)
            return cast("Embedded | Failure", decode(frame))
        except (OSError, struct.error, CortexError):  # it ended, or its answer is cut
            self.close()
            return None

    def _start(self) -> subprocess.Popen[bytes]:
        self._child = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=os.sep,
            bufsize=0,
            env=os.environ | ALLOCATOR,
        )
        _send(self._child, self._setup)
        return self._child

    def wake(self) -> None:
        """Start the process, so that it loads the model before the first text comes."""
        self._used_at = time.monotonic()
        if self._child is None:
            with contextlib.suppress(OSError):
                self._start()

    def rest(self) -> None:
        """End the process if nothing was embedded for a while."""
        if time.monotonic() - self._used_at > REST_S:
            self.close()

    def close(self) -> None:
        """End the process; the next text starts another one."""
        child, self._child, self.is_ready = self._child, None, False
        if child is None:
            return
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            with contextlib.suppress(OSError):
                if pipe:
                    pipe.close()


def _send(child: subprocess.Popen[bytes], frame: bytes) -> None:
    assert child.stdin
    remaining = memoryview(pack(frame))
    while remaining:
        remaining = remaining[child.stdin.write(remaining) or 0 :]


def serve() -> None:
    """Run the process: answer requests until standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may write between the frames
    setup = orjson.loads(_receive())
    config = Config(root=Path(setup["root"]), embedding=Embedding(**setup["embedding"]))
    embedder = None
    with contextlib.suppress(CortexError):  # the first answer tells it
        embedder = open_onnx(config)
    while True:
        request = cast("Embed", decode(_receive()))
        reply: Embedded | Failure
        try:
            embedder = embedder or open_onnx(config)
            reply = Embedded(embedder.identity, embedder.embed(list(request.texts), request.mode))
        except CortexError as error:
            reply = Failure(error.code, str(error))
        frame = encode(reply)
        answers.write(pack(frame))
        answers.flush()


def _receive() -> bytes:
    """Return the next frame; the process ends with its standard input."""
    if (frame := receive(sys.stdin.buffer)) is None:
        sys.exit()
    return frame
