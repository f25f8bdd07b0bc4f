"""Which client a request comes from, and what ends when that client goes."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.server.connection import Connection

#: the client in whose name this task works; None in what belongs to nobody alone
_CURRENT_CLIENT: contextvars.ContextVar[Connection | None] = contextvars.ContextVar("speaking", default=None)


def client_of(context: Any) -> Connection:
    """What is the same for all requests of a client's connection or session, and ends with it."""
    connection: Connection = context.session._connection  # noqa: SLF001 - the SDK names it nowhere else
    return connection


def on_disconnect(client: Connection, ending: Callable[[Connection], None]) -> None:
    """Call `ending` when the client has gone, by whatever."""
    client.exit_stack.callback(ending, client)


def current_client() -> Connection | None:
    return _CURRENT_CLIENT.get()


async def note_client(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
    """Around every request: what it does is done in its client's name. A middleware of the SDK."""
    before = _CURRENT_CLIENT.set(client_of(ctx))
    try:
        return await call_next(ctx)
    finally:
        _CURRENT_CLIENT.reset(before)
