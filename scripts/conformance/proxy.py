"""A proxy that adds the token to every request for a server of this machine, for the suite and
other programs that cannot send it.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from collections.abc import Iterator

#: bytes that are forwarded at once
PIECE_BYTES = 1 << 16
_CONNECTION = re.compile(rb"(?im)^connection:.*\r\n")


@contextlib.contextmanager
def run_proxy(port: int, token: str) -> Iterator[int]:
    """Run a proxy to `port`, and return its port; each connection brings one request."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            first, _, headers = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")
            upstream, upstream_writer = await asyncio.open_connection("127.0.0.1", port)
            added = f"Connection: close\r\nAuthorization: Bearer {token}\r\n".encode()
            upstream_writer.write(first + b"\r\n" + added + _CONNECTION.sub(b"", headers))
            sending = asyncio.ensure_future(_pass_on(reader, upstream_writer))
            try:
                await _pass_on(upstream, writer)
            finally:
                sending.cancel()
                upstream_writer.close()
        writer.close()

    async def listen() -> asyncio.Server:
        return await asyncio.start_server(take, "127.0.0.1", 0)

    server = asyncio.run_coroutine_threadsafe(listen(), loop).result()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Forward all bytes, and then their end."""
    while piece := await reader.read(PIECE_BYTES):
        writer.write(piece)
        await writer.drain()
    writer.write_eof()
