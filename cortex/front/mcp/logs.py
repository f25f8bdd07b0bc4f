"""Log messages for clients that sent logging/setLevel.

Handshake clients only: the newest protocol has no such request.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import warnings
from typing import TYPE_CHECKING, Any

from cortex.front.mcp.clients import client_of, current_client, on_disconnect

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.connection import Connection
    from mcp.server.lowlevel import Server
    from mcp.server.session import ServerSession

#: MCP's levels → Python's
LEVELS = {
    "debug": logging.DEBUG, "info": logging.INFO, "notice": logging.INFO,
    "warning": logging.WARNING, "error": logging.ERROR, "critical": logging.CRITICAL,
    "alert": logging.CRITICAL, "emergency": logging.CRITICAL,
}  # fmt: skip


class ClientLog(logging.Handler):
    """Sends records of the logger `cortex` to clients. Make it in the event loop."""

    def __init__(self, *, alone: bool) -> None:
        """`alone`: there is one client, and it gets all records. Otherwise each client gets only
        records from its own requests: the others may concern another client.
        """
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._alone = alone
        self._following: dict[Connection, tuple[ServerSession, int]] = {}
        self._sending: set[asyncio.Task[None]] = set()

    def follow(self, context: Any, level: str) -> None:
        """Send the client of `context` records of at least `level`, from now on."""
        client = client_of(context)
        if client not in self._following:
            on_disconnect(client, self._forget)
        self._following[client] = (context.session, LEVELS[level])
        logging.getLogger("cortex").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record to the clients; called from any thread."""
        speaks = current_client()
        for client, (session, least) in list(self._following.items()):
            if record.levelno >= least and (self._alone or client is speaks):
                with contextlib.suppress(RuntimeError):  # the loop has ended
                    self._loop.call_soon_threadsafe(
                        self._send, session, record.levelname.lower(), record.getMessage()
                    )

    def _forget(self, client: Connection) -> None:
        self._following.pop(client, None)
        if not self._following:
            logging.getLogger("cortex").removeHandler(self)

    def _send(self, session: ServerSession, level: Any, sentence: str) -> None:
        from mcp.shared.exceptions import MCPDeprecationWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            sent = session.send_log_message(level, sentence, "cortex")
        task = asyncio.ensure_future(sent)
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)


def serve_logs(server: Server, *, alone: bool) -> None:
    """Answer logging/setLevel. `alone`: see ClientLog."""
    import mcp_types as types

    logs: ClientLog | None = None

    async def set_level(context: Any, params: types.SetLevelRequestParams) -> types.EmptyResult:
        nonlocal logs
        logs = logs or ClientLog(alone=alone)
        logs.follow(context, params.level)
        return types.EmptyResult()

    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    described = server.get_request_handler("server/discover")
    if described is None:
        return

    async def discover(context: Any, params: Any) -> Any:
        """Answer without the capability `logging`, which only handshake clients have."""
        answer: Any = await described.handler(context, params)
        return answer.model_copy(
            update={"capabilities": answer.capabilities.model_copy(update={"logging": None})}
        )

    server.add_request_handler("server/discover", described.params_type, discover)
