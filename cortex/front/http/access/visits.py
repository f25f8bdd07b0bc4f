"""Visits of the page: a link with a code that works once, and the cookie of the visit.

A visit has the rights of the token that requested its link. Only the token's digest is stored, so
that a visit ends with its token. All are in memory, and end with the server.
"""

import secrets
from collections import OrderedDict

from starlette.datastructures import Headers

from cortex.front.http.access.tokens import TOKEN_BYTES, digest_of

#: path of a link
ENTER = "/enter"
#: seconds of life of a link, and of a visit
CODE_S, VISIT_S = 120.0, 12 * 3600.0
#: maxima of links and of visits; the oldest is dropped first
CODES_MAX, VISITS_MAX = 64, 256


class Visits:
    """Open links and visits. Use it in one event loop. Times are monotonic."""

    def __init__(self) -> None:
        self._codes: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._visits: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def invite(self, digest: str, now: float) -> str:
        """Return a code that works once, for the token with this digest."""
        return _add(self._codes, (digest, now + CODE_S), CODES_MAX)

    def enter(self, code: str, now: float) -> str:
        """Return the cookie of a new visit; "" for an unknown or expired code."""
        digest, until = self._codes.pop(digest_of(code), ("", 0.0))
        return _add(self._visits, (digest, now + VISIT_S), VISITS_MAX) if now < until else ""

    def digest(self, cookie: str, now: float) -> str:
        """Return the digest of the token behind a visit; "" for none."""
        digest, until = self._visits.get(digest_of(cookie), ("", 0.0))
        return digest if now < until else ""


def cookie_name(headers: Headers) -> str:
    """Return the cookie's name, with the port: browsers share cookies among all ports of a host."""
    _, _, port = headers.get("host", "").rpartition(":")
    return f"cortex-{port}" if port.isdecimal() else "cortex"


def request_cookie(headers: Headers) -> str:
    """Return the value of a request's visit cookie; "" for none."""
    pairs = (cookie.strip().partition("=") for cookie in headers.get("cookie", "").split(";"))
    name = cookie_name(headers)
    return next((value for key, _, value in pairs if key == name), "")


def _add(store: OrderedDict[str, tuple[str, float]], value: tuple[str, float], most: int) -> str:
    """Store a value under the hash of a new secret and return the secret.

    A lookup by hash leaks nothing about stored secrets by its duration.
    """
    secret = secrets.token_urlsafe(TOKEN_BYTES)
    store[digest_of(secret)] = value
    while len(store) > most:
        store.popitem(last=False)
    return secret
