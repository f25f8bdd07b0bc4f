"""Connections to Milvus, and its errors in one sentence each. Sends only the handshake."""

from __future__ import annotations

import logging
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from cortex.engines.milvus.place import MilvusPlace
from cortex.system.errors import Misconfigured, NotFound, Unavailable
from cortex.system.installation import how_to_add, is_installed

if TYPE_CHECKING:
    from pymilvus import MilvusClient

#: seconds to connect
CONNECT_S = 4.0
#: seconds between two checks for a socket
LOOK_S = 0.02
#: how a server reports a refused token; the server's name may contain "auth" as well
_REFUSED = re.compile("permission|privilege|auth check|unauth|authentic|authoriz")
#: the first version that updates single fields of a row, and the pattern of a version
OLDEST = (2, 6)
_VERSION = re.compile(r"v?([0-9]+)\.([0-9]+)\.")


def connect(place: MilvusPlace) -> MilvusClient:
    """A new client.

    Raises Misconfigured without the package, for a refused token and for a server that is too old;
    Unavailable when no server answers.
    """
    if not is_installed("pymilvus"):
        raise Misconfigured(
            f"The index is configured for Milvus, but the package pymilvus is not installed: {how_to_add('milvus')}."
        )
    from pymilvus import MilvusClient
    from pymilvus.client import entity_helper
    from pymilvus.exceptions import MilvusException

    entity_helper.CHECK_STR_ARRAY = False  # slow: it checks each letter of a text for nothing
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # the caller reports each failure
    if place.file is not None and not place.address.startswith("unix:"):
        raise Misconfigured(f"{place.address} is no socket.")
    if place.file is not None:
        _await_socket(Path(place.address.removeprefix("unix:")))
    client = None
    try:
        client = MilvusClient(place.address, token=place.token, timeout=CONNECT_S)
        version = "" if place.file else client.get_server_version(timeout=CONNECT_S)
    except MilvusException as error:
        if client is not None:
            client.close()
        raise describe_error(place, "connect", error) from error
    numbers = _VERSION.match(version)  # a build from a branch has no number
    if numbers and (int(numbers[1]), int(numbers[2])) < OLDEST:
        client.close()
        raise Misconfigured(
            f"Milvus at {place.label} is {version}, and Cortex needs {OLDEST[0]}.{OLDEST[1]} or later, which changes "
            "single fields of a row: set milvus.uri to another, or bring it up to date."
        )
    return client


def _await_socket(path: Path) -> None:
    """Wait for the socket of a file's process, which may be starting at the same time: gRPC retries
    ever more seldom.
    """
    until = time.monotonic() + CONNECT_S
    while not path.exists() and time.monotonic() < until:
        time.sleep(LOOK_S)  # not every system reports a new socket


def describe_error(place: MilvusPlace, what: str, error: Exception) -> Exception:
    """An exception that describes the failure in one sentence, without the data of the request."""
    from grpc import RpcError

    # for a refused connection pymilvus only guesses; the cause below has the reason
    below = error.__cause__ if isinstance(error.__cause__, RpcError) else error
    details = getattr(below, "details", lambda: "")() or getattr(error, "message", "")
    if not details and isinstance(below, RpcError):  # a gRPC server other than Milvus gives no details
        details = f"it answers {below.code().name}"
    details = details or error
    reason = str(details).split("\n", 1)[0].strip().rstrip(".")[:200]
    lower = reason.lower()
    if "vector field" in lower and "limited" in lower:
        return Misconfigured(
            f"Milvus at {place.label} takes too few vector fields in a collection, and Cortex needs six ({reason}): set "
            "proxy.maxVectorFieldNum to 6 or more in its configuration."
        )
    if _REFUSED.search(lower):
        return Misconfigured(
            f"Milvus at {place.label} refuses the token of milvus.token for {place.project} ({reason}): ask for the "
            "right to it, or set another."
        )
    if "collection" in lower and ("not found" in lower or "does not exist" in lower):
        return NotFound(
            f"Milvus at {place.label} has nothing of {place.collection}: run `cortex index --to milvus` first."
        )
    advice = "its process may be starting" if place.file else "start it, or correct milvus.uri"
    return Unavailable(
        f"Milvus at {place.label} cannot be asked to {what} ({reason}): {advice}; ask again then."
    )
