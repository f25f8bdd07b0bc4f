"""By what both ends of a connection to PostgreSQL notice that the other one is gone."""

from __future__ import annotations

from typing import Any

#: seconds after which what was sent and is not acknowledged ends a connection
SENT_S = 10
#: seconds of quiet after which one end looks whether the other is there, seconds between two looks,
#: and how many are in vain before it is gone
_ALIVE = {"idle": 30, "interval": 10, "count": 3}
#: arguments of a connection: a server that is gone is noticed here
CLIENT_KEEPALIVE: dict[str, Any] = {
    "tcp_user_timeout": SENT_S * 1000,
    **{f"keepalives_{name}": value for name, value in _ALIVE.items()},
}
#: settings of a session: the server lets go of what a machine that is gone held, as its locks
SERVER_KEEPALIVE: dict[str, Any] = {f"tcp_keepalives_{name}": value for name, value in _ALIVE.items()}
