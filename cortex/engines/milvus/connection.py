"""A client of Milvus, and what went wrong with it in one sentence. Asks who is there, no more."""

from __future__ import annotations

import logging
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from cortex.settings.milvus import MilvusPlace
from cortex.system.errors import Misconfigured, NotFound, Unavailable
from cortex.system.installation import how_to_add, is_installed

if TYPE_CHECKING:
    from pymilvus import MilvusClient

#: seconds for a connection
CONNECT_S = 4.0
#: seconds between two looks for a socket
LOOK_S = 0.02
#: how a server says that it refuses a token; what it is called may hold "auth" as well
_REFUSED = re.compile("permission|privilege|auth check|unauth|authentic|authoriz")
#: the first server that changes single fields of a row, and how one says which it is
OLDEST = (2, 6)
_VERSION = re.compile(r"v?([0-9]+)\.([0-9]+)\.")


def connect(place: MilvusPlace) -> MilvusClient:
    """A client of its own. Raises Misconfigured without the package, for a refused token and for a
    server that is too old, Unavailable.
    """
    if not is_installed("pymilvus"):
        raise Misconfigured(
            f"The index is to be in Milvus, and the package pymilvus is not installed: {how_to_add('milvus')}."
        )
    from pymilvus import MilvusClient
    from pymilvus.client import entity_helper
    from pymilvus.exceptions import MilvusException

    entity_helper.CHECK_STR_ARRAY = False  # it looks at each letter of a text by itself, for nothing
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # each failure is told by who asked
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
    numbers = _VERSION.match(version)  # of one that was built from a branch there is no number
    if numbers and (int(numbers[1]), int(numbers[2])) < OLDEST:
        client.close()
        raise Misconfigured(
            f"Milvus at {place.label} is {version}, and Cortex needs {OLDEST[0]}.{OLDEST[1]} or later, which changes "
            "single fields of a row: set milvus.uri to another, or bring it up to date."
        )
    return client


def _await_socket(path: Path) -> None:
    """Until the process of a file, which is perhaps being started with us, serves it: gRPC tries
    again ever more seldom.
    """
    until = time.monotonic() + CONNECT_S
    while not path.exists() and time.monotonic() < until:
        time.sleep(LOOK_S)  # not every system tells when a socket appears


def describe_error(place: MilvusPlace, what: str, error: Exception) -> Exception:
    """The failure in one sentence, without what was sent."""
    from grpc import RpcError

    # of a connection that is refused pymilvus says that nobody may be there, and below it why
    below = error.__cause__ if isinstance(error.__cause__, RpcError) else error
    details = getattr(below, "details", lambda: "")() or getattr(error, "message", "")
    if not details and isinstance(below, RpcError):  # who speaks gRPC and is no Milvus says no more
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
