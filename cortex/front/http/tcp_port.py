"""The TCP port of the HTTP server, without the server: for `cortex up` and `cortex open` too."""

import errno
import socket

from cortex.system.errors import Misconfigured
from cortex.system.process.ports import holder_of

HOST, PORT = "127.0.0.1", 37777
#: connections that the system queues until they are accepted
BACKLOG = 1024


def listen(host: str, port: int | None) -> socket.socket:
    """Return a listening socket on `port`, None: on PORT. Another port would leave the clients of
    the usual one to its holder.

    Raises Misconfigured, for a taken port with its holder: a supervisor does not try again.
    """
    wanted = PORT if port is None else port
    if (listener := bind(host, wanted)) is not None:
        return listener
    raise Misconfigured(
        f"Port {wanted} of {host} is taken{say_holder(wanted)}; choose another with `cortex serve --port`."
    )


def bind(host: str, port: int, *, listens: bool = True) -> socket.socket | None:
    """Return a bound socket that `listens`, None if taken. Raises Misconfigured (bad address)."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's algorithm off only if the protocol is given: otherwise each answer
    # waits for the client's delayed acknowledgement, 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        if listens:
            bound.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        bound.close()
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            return None
        why = getattr(error, "strerror", None) or error
        raise Misconfigured(
            f"Cannot listen on {host}:{port}: {why}; choose another address or port."
        ) from error
    bound.setblocking(False)
    return bound


def say_holder(port: int) -> str:
    """Return ` by ` and the holder of a port, "" if unknown."""
    holder = holder_of(port)
    return f" by {holder}" if holder else ""
