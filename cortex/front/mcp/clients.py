"""The client of a request, and callbacks for its end."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.server.connection import Connection

#: the client that this task works for; None for a task of no client
_CURRENT_CLIENT: contextvars.ContextVar[Connection | None] = contextvars.ContextVar("speaking", default=None)


def client_of(context: Any) -> Connection:
    """Return the connection: one object for all requests of a connection or session."""
    connection: Connection = context.session._connection  # noqa: SLF001 - the SDK names it nowhere else
    return connection


def name_of(context: Any) -> str:
    """Return the name that a client gives itself in `initialize` or in each request, or ""."""
    if context.method == "initialize":
        client = (context.params or {}).get("clientInfo")
        return str(client.get("name", "")) if isinstance(client, dict) else ""
    params = context.session.client_params
    return "" if params is None else str(params.client_info.name)


def on_disconnect(client: Connection, ending: Callable[[Connection], None]) -> None:
    """Call `ending` when the client's connection ends, for any reason."""
    client.exit_stack.callback(ending, client)


def current_client() -> Connection | None:
    return _CURRENT_CLIENT.get()


async def note_client(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
    """Set the current client during a request. A middleware of the SDK."""
    before = _CURRENT_CLIENT.set(client_of(ctx))
    try:
        return await call_next(ctx)
    finally:
        _CURRENT_CLIENT.reset(before)
