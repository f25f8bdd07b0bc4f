"""What Cortex warns of, for a client that asked for it by logging/setLevel. Handshake clients only:
the newest protocol has no such request.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.server.session import ServerSession

#: MCP's levels → Python's
LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL,
    "emergency": logging.CRITICAL,
}


class ClientLog(logging.Handler):
    """Tells one client what the logger `cortex` is told. Make it in the event loop."""

    def __init__(self) -> None:
        super().__init__(logging.CRITICAL + 1)
        self._loop = asyncio.get_running_loop()
        self._session: ServerSession | None = None
        self._sending: set[asyncio.Task[None]] = set()

    def follow(self, session: ServerSession, level: str) -> None:
        """Tell the client of `session` what is at least as grave as `level`, from now on."""
        self._session = session
        self.setLevel(LEVELS[level])
        logging.getLogger("cortex").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """From any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._send, record.levelname.lower(), record.getMessage())

    def _send(self, level: Any, sentence: str) -> None:
        if self._session is None:
            return
        from mcp.shared.exceptions import MCPDeprecationWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            sent = self._session.send_log_message(level, sentence, "cortex")
        task = asyncio.ensure_future(sent)
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)


def serve_logs(server: Server) -> None:
    """Answer logging/setLevel."""
    import mcp_types as types

    logs: ClientLog | None = None

    async def set_level(context: Any, params: types.SetLevelRequestParams) -> types.EmptyResult:
        nonlocal logs
        logs = logs or ClientLog()
        logs.follow(context.session, params.level)
        return types.EmptyResult()

    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    described = server.get_request_handler("server/discover")
    if described is None:
        return

    async def discover(context: Any, params: Any) -> Any:
        """Without what only handshake clients can ask for."""
        found: Any = await described.handler(context, params)
        return found.model_copy(
            update={"capabilities": found.capabilities.model_copy(update={"logging": None})}
        )

    server.add_request_handler("server/discover", described.params_type, discover)
