"""Keep-alive settings by which both ends of a PostgreSQL connection notice that the
other is gone.
"""

from typing import Any

#: seconds after which unacknowledged data ends a connection
SENT_S = 10
#: seconds of silence before the first probe, seconds between two probes, and unanswered probes
#: after which the other end counts as gone
_ALIVE = {"idle": 30, "interval": 10, "count": 3}
#: arguments of a connection, so that the client notices a lost server
CLIENT_KEEPALIVE: dict[str, Any] = {
    "tcp_user_timeout": SENT_S * 1000,
    **{f"keepalives_{name}": value for name, value in _ALIVE.items()},
}
#: settings of a session, so that the server releases the locks of a lost machine
SERVER_KEEPALIVE: dict[str, Any] = {f"tcp_keepalives_{name}": value for name, value in _ALIVE.items()}
