"""HTTP connections with timeouts for slow clients."""

import asyncio
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from cortex.front.http.replies import RequestRefused, error_response

#: maximum of seconds to send the headers of a request, and to read an answer
HEADERS_S, UNREAD_S = 10.0, 30.0
#: maximum of seconds to answer running requests when the server ends
ANSWER_S = 4
#: maximum of bytes of the headers of a request
HEADER_BYTES_MAX = 32 * 1024
#: answer to a request while all connections are busy
BUSY = error_response(
    RequestRefused(503, "unavailable", "All connections are busy; try again in a second.", connection="close")
)


def make_settings(app: Any, connections_max: int, **options: Any) -> uvicorn.Config:
    """Return the settings of a server that answers by HTTP alone, at most `connections_max` clients
    at once, and logs nothing: requests have the user's code. Raises OSError as uvicorn.
    """
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=HEADER_BYTES_MAX,
        limit_concurrency=connections_max,
        timeout_graceful_shutdown=ANSWER_S,
        **options,
    )


class Connection(H11Protocol):
    """One connection; it is aborted when headers or reads take too long."""

    _header_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Uvicorn's own bound answers in plain text.
        self._connections_max, self.limit_concurrency = self.limit_concurrency or 0, None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.made_at = self.loop.time()
        if self._is_over_bound():
            self._drop_oldest()
        self._start_header_timer()

    def handle_events(self) -> None:
        """Handle requests; one over the bound is answered as busy."""
        app = self.app
        if self._is_over_bound():
            self.app = BUSY
        try:
            super().handle_events()
        finally:
            self.app = app

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

    @property
    def has_token(self) -> bool:
        """Whether the last request had a right token."""
        scope: Any = self.scope
        return scope is not None and "bearer" in scope

    @property
    def may_be_dropped(self) -> bool:
        """Whether it has no token, or waits for a request or a reader."""
        return not self.has_token or self.cycle.response_complete or self._write_timer is not None

    def _is_over_bound(self) -> bool:
        return len(self.connections) > self._connections_max

    def _drop_oldest(self) -> None:
        """Drop the oldest connection without a token, else the oldest that waits: clients without a
        token could hold all connections otherwise.
        """
        others = (line for line in self.connections if isinstance(line, Connection) and line is not self)
        if lines := [line for line in others if line.may_be_dropped]:
            dropped = min(lines, key=lambda line: (line.has_token, line.made_at))
            self.connections.discard(dropped)
            dropped.transport.abort()

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
