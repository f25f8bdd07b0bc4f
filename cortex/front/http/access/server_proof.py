"""The proof that a server knows a client's token, before the client sends it.

`GET /health` with the header Cortex-Challenge (a nonce and the token's mark) is answered with the
header Cortex-Proof: the port that the server listens on, and a MAC over nonce, Host and port. The
key of both MACs is the token's digest, so that neither side sends the token. Host and port are in
the MAC because another process could forward the challenge to the real server.
"""

import asyncio
import hashlib
import hmac
import re
import secrets
import urllib.parse
from collections.abc import Callable
from typing import Any

import h11
import orjson

from cortex.front.http.access.tokens import digest_of
from cortex.settings.folders.home import is_loopback
from cortex.system import hosts
from cortex.system.process.ports import peer_uid, socket_uid, user_name

CHALLENGE, PROOF = "cortex-challenge", "cortex-proof"
#: the ends of a connection without TLS, in httpx2's traces
_CONNECTED = frozenset(("connection.connect_tcp.complete", "connection.connect_unix_socket.complete"))
#: seconds for a server's proof
PROOF_S = 10.0
#: maximum of bytes of the answer with a proof, headers included
PROOF_BYTES_MAX = 64 * 1024
#: statuses of a server that does not know the token, and of one that cannot answer yet
UNKNOWN_TOKEN, NOT_YET = frozenset((401, 429)), frozenset((502, 503, 504))
NONCE_BYTES = 32
_CHALLENGE = re.compile(r"([0-9a-f]{64}) ([0-9a-f]{64})")
_PROOF = re.compile(r"[0-9]{1,5} [0-9a-f]{64}")


class NotProven(Exception):  # noqa: N818 - errors name the condition
    """The server is not the token's own; the message is one sentence."""


class NoProof(Exception):  # noqa: N818
    """The server did not answer; a later try may succeed."""


def read_challenge(header: str) -> tuple[str, str]:
    """Return (nonce, mark) of a challenge; ("", "") for an invalid one."""
    match = _CHALLENGE.fullmatch(header)
    return (match[1], match[2]) if match else ("", "")


def mark_of(digest: str, nonce: str) -> str:
    """Return the mark by which a server finds the token with this digest, hex."""
    return _mac(digest, "mark", nonce)


def prove(digest: str, nonce: str, host: str, port: int) -> str:
    """Return the value of Cortex-Proof. `host`: the request's Host; `port`: the server's own."""
    return f"{port} {_mac(digest, 'proof', nonce, host.lower(), str(port))}"


def _mac(digest: str, *parts: str) -> str:
    text = "\n".join(("cortex-1", *parts))
    return hmac.new(digest.encode(), text.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()


class ServerCheck:
    """The check of each new connection to one server, before any request goes over it.

    Pass `on_connection` as the `trace` extension of every request of httpx2.
    """

    def __init__(self, url: str, token: str, on_version: Callable[[str], None]) -> None:
        """`url`: the URL of MCP; `on_version`: gets the version that the server reports."""
        self._digest, self._on_version = digest_of(token) if token else "", on_version
        parts = urllib.parse.urlsplit(url)
        self._is_tls, self._is_local = parts.scheme == "https", is_loopback(url)
        self._name, usual_port = parts.hostname or "", 443 if parts.scheme == "https" else 80
        self._port = parts.port or usual_port
        name = f"[{self._name}]" if ":" in self._name else self._name
        self._host = name if self._port == usual_port else f"{name}:{self._port}"
        self._path = urllib.parse.urlsplit(urllib.parse.urljoin(url, "health")).path

    async def on_connection(self, event: str, info: dict[str, Any]) -> None:
        """Check a new connection; ignore other events. Raises NotProven and NoProof."""
        # a server proves but never checks: it does without the client's modules (5 MB)
        import httpcore2

        stream = info.get("return_value")
        if stream is None or not self._is_new(event, stream):
            return
        try:
            async with asyncio.timeout(PROOF_S):
                await self._check(stream)
        except BaseException as error:
            await stream.aclose()
            if isinstance(error, TimeoutError | httpcore2.NetworkError | httpcore2.TimeoutException):
                raise NoProof("Nothing answers there.") from error
            if isinstance(error, h11.RemoteProtocolError):
                raise NotProven(self._unproven()) from error
            raise

    def _is_new(self, event: str, stream: Any) -> bool:
        """Whether `stream` is a finished connection to the server itself, not to a proxy."""
        if not self._is_tls:
            return event in _CONNECTED
        if not event.endswith(".start_tls.complete"):
            return False
        tls = stream.get_extra_info("ssl_object")
        return getattr(tls, "server_hostname", self._name) == self._name

    async def _check(self, stream: Any) -> None:
        nonce = secrets.token_hex(NONCE_BYTES)
        headers = [("Host", self._host), ("Accept", "application/json")]
        if self._digest:
            headers.append((CHALLENGE, f"{nonce} {mark_of(self._digest, nonce)}"))
        parser = h11.Connection(h11.CLIENT)
        request = parser.send(h11.Request(method="GET", target=self._path, headers=headers))
        await stream.write((request or b"") + (parser.send(h11.EndOfMessage()) or b""))
        reply, body = await self._read(stream, parser)
        # An accepted connection has an owner, one in the queue has none: look after the answer.
        if self._is_local:
            self._check_owner(stream)
        proof = next((value.decode("latin-1") for name, value in reply.headers if name == PROOF.encode()), "")
        if self._digest:
            self._check_proof(reply.status_code, nonce, proof)
        if parser.their_state is not h11.DONE:
            raise NoProof("The server closed the connection.")
        try:
            self._on_version(str(orjson.loads(body)["version"]))
        except (ValueError, KeyError, TypeError):
            self._on_version("")

    async def _read(self, stream: Any, parser: h11.Connection) -> tuple[h11.Response, bytes]:
        """Return the server's answer. Raises NotProven if it is too large."""
        reply: h11.Response | None = None
        body, size = bytearray(), 0
        while True:
            event = parser.next_event()
            if event is h11.NEED_DATA:
                data = await stream.read(PROOF_BYTES_MAX)
                size += len(data)
                if not data and reply is None:
                    raise NoProof("The server closed the connection.")
                if size > PROOF_BYTES_MAX:
                    raise NotProven(self._unproven())
                parser.receive_data(data)
            elif isinstance(event, h11.Response):
                reply = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage) and reply is not None:
                return reply, bytes(body)

    def _check_owner(self, stream: Any) -> None:
        """Raise NotProven if the other end belongs to another user; root's counts as ours."""
        ends = stream.get_extra_info("client_addr"), stream.get_extra_info("server_addr")
        uid = socket_uid(stream.get_extra_info("socket")) if isinstance(ends[1], str) else peer_uid(*ends)
        if uid is not None and uid not in (0, hosts.user_id()):
            raise NotProven(
                f"The server at {self._host} belongs to {user_name(uid)}, so your token was not sent to it; "
                "start `cortex serve` on another port."
            )

    def _check_proof(self, status: int, nonce: str, proof: str) -> None:
        if not proof and status in NOT_YET:
            raise NoProof(f"The server answered {status}.")
        if not proof and status in UNKNOWN_TOKEN:
            raise NotProven("The token is wrong; `cortex token` prints the right one.")
        port = int(proof.partition(" ")[0]) if _PROOF.fullmatch(proof) else 0
        if not hmac.compare_digest(proof.encode(), prove(self._digest, nonce, self._host, port).encode()):
            raise NotProven(self._unproven())
        if self._is_local and port != self._port:
            raise NotProven(
                f"Port {self._port} leads to a server that listens on port {port}, so your token was not sent; "
                "use the same port at both ends."
            )

    def _unproven(self) -> str:
        return (
            f"The server at {self._host} did not prove that it knows your token, so the token was not sent: "
            "it is another program, or an older Cortex."
        )
