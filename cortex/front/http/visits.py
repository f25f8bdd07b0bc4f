"""Visits of the page: a link with a code that opens once, and the cookie that it becomes.

What a visit may is what the token may that the link was asked with: of it only the digest is kept,
so that a visit ends with its token. Nothing is kept of them when the server ends.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict

from starlette.datastructures import Headers

from cortex.front.http.tokens import TOKEN_BYTES, digest_of

#: where a link leads
ENTER = "/enter"
#: seconds until a link must be opened, and until a visit ends
CODE_S, VISIT_S = 120.0, 12 * 3600.0
#: links and visits at the same time; the oldest goes first
CODES_MAX, VISITS_MAX = 64, 256


class Visits:
    """Use it in one event loop. Times are monotonic."""

    def __init__(self) -> None:
        self._codes: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._visits: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def invite(self, digest: str, now: float) -> str:
        """A code that opens once, for who showed the token of this digest."""
        return _add(self._codes, (digest, now + CODE_S), CODES_MAX)

    def enter(self, code: str, now: float) -> str:
        """The cookie of a new visit; "" for a code that opens nothing, or does not any more."""
        digest, until = self._codes.pop(digest_of(code), ("", 0.0))
        return _add(self._visits, (digest, now + VISIT_S), VISITS_MAX) if now < until else ""

    def digest(self, cookie: str, now: float) -> str:
        """That of the token behind a visit; "" for none."""
        digest, until = self._visits.get(digest_of(cookie), ("", 0.0))
        return digest if now < until else ""


def cookie_name(headers: Headers) -> str:
    """One for each port: browsers keep them for a machine, and two servers may be on it."""
    _, _, port = headers.get("host", "").rpartition(":")
    return f"cortex-{port}" if port.isdecimal() else "cortex"


def request_cookie(headers: Headers) -> str:
    """The cookie of a visit that a request shows; "" for none."""
    pairs = (cookie.strip().partition("=") for cookie in headers.get("cookie", "").split(";"))
    name = cookie_name(headers)
    return next((value for key, _, value in pairs if key == name), "")


def _add(store: OrderedDict[str, tuple[str, float]], value: tuple[str, float], most: int) -> str:
    """Found again by its hash: what is looked up says nothing of what is kept by its time."""
    secret = secrets.token_urlsafe(TOKEN_BYTES)
    store[digest_of(secret)] = value
    while len(store) > most:
        store.popitem(last=False)
    return secret
