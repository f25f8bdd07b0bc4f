"""HTTP connections with timeouts for slow clients."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

#: maximum of seconds to send the headers of a request, and to read an answer
HEADERS_S, UNREAD_S = 10.0, 30.0
#: maximum of bytes of the headers of a request
HEADER_BYTES_MAX = 32 * 1024


class Connection(H11Protocol):
    """One connection; it is aborted when headers or reads take too long."""

    _header_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._start_header_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._start_header_timer()
        else:
            self._stop_header_timer()

    def pause_writing(self) -> None:
        """Start the timer: the client reads slower than it is answered."""
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_write_timer()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_header_timer()
        self._stop_write_timer()
        super().connection_lost(exc)

    def _start_header_timer(self) -> None:
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(HEADERS_S, self.transport.abort)

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
