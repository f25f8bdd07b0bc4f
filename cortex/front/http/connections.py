"""Connections that hold no server up: bounds on what a client leaves unsaid or unread."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

#: seconds until the headers of a request must be here, and until what was answered must be read
HEADERS_S, UNREAD_S = 10.0, 30.0
#: bytes of the headers of a request
HEADER_BYTES_MAX = 32 * 1024


class Connection(H11Protocol):
    """One connection. It ends when a request's headers do not come, and when nothing is read."""

    _waits: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._expect_headers()
        else:
            self._headers_are_here()

    def pause_writing(self) -> None:
        """The client does not read as fast as it is answered."""
        super().pause_writing()
        if self._stuck is None:
            self._stuck = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        self._is_read()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._headers_are_here()
        self._is_read()
        super().connection_lost(exc)

    def _expect_headers(self) -> None:
        if self._waits is None:
            self._waits = self.loop.call_later(HEADERS_S, self.transport.abort)

    def _headers_are_here(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None

    def _is_read(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None
