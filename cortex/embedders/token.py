"""The token of an embedding server: from the environment, or created by the server when it starts,
in a file that only its user can read.
"""

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

from cortex.settings.folders.home import EMBED_TOKEN, cache_base
from cortex.system import files
from cortex.system.errors import Misconfigured, Unavailable

#: random bytes of a new token
TOKEN_BYTES = 32
#: the form of a token: it goes into a header, and a short one could be guessed
_TOKEN = re.compile(r"[\x21-\x7e]{16,512}")


def given_token() -> str:
    """Return the token of the environment, or "". Raises Misconfigured for an unusable one."""
    token = os.environ.get(EMBED_TOKEN, "")
    if token and not _TOKEN.fullmatch(token):
        raise Misconfigured(f"{EMBED_TOKEN} must be 16 to 512 visible ASCII characters without blanks.")
    return token


def find_token(port: int) -> str:
    """Return the token for a server on this machine: from the environment, else from the file of a
    Cortex server on this port; "" for none, because a server of another program may need none.
    """
    if token := given_token():
        return token
    try:
        token = files.read_ours(_token_path(port), 1024).decode("ascii")
    except (OSError, UnicodeDecodeError):
        return ""
    return token if _TOKEN.fullmatch(token) else ""


@contextlib.contextmanager
def offered_token(port: int) -> Iterator[str]:
    """Yield the token of a server on `port`: from the environment; else a new one, in a file that
    exists as long as the `with` lasts.

    Raises Unavailable when the file cannot be written.
    """
    if token := given_token():
        yield token
        return
    token, place = secrets.token_urlsafe(TOKEN_BYTES), _token_path(port)
    try:
        files.make_private(place.parent)
        files.replace(place, token.encode())
    except OSError as error:
        raise Unavailable(f"Cannot write {place}: {error.strerror or error}; make it writable.") from error
    try:
        yield token
    finally:
        with contextlib.suppress(OSError):
            files.remove(place)


def _token_path(port: int) -> Path:
    return cache_base() / "embed" / f"{port}.token"
