"""Client of an MCP server over HTTP: sends a message and passes the answer on unread.

Repeated requests and errors for the client are in cortex.front.mcp.transport.bridge.
"""

import asyncio
import contextlib
import re
import ssl
import urllib.parse
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx2
import orjson

from cortex.front.http.access.server_proof import NoProof, NotProven, ServerCheck
from cortex.front.http.local_socket import find_socket
from cortex.front.mcp.errors import INTERNAL_ERROR, INVALID_PARAMS
from cortex.settings.folders.home import is_loopback
from cortex.system.errors import Misconfigured

#: seconds to connect, and to send; an answer has the server's own deadline
CONNECT_S, SEND_S = 2.0, 10.0
#: maximum of seconds without a byte of an answer: the server has a deadline of its own, and sends
#: keep-alives
SILENCE_S = 120.0
#: maximum of bytes of an answer and of an event, and the error of a larger one
ANSWER_BYTES_MAX = 16 << 20
TOO_LARGE = f"The server's answer is larger than {ANSWER_BYTES_MAX >> 20} MiB and was not read to its end; ask for less."
#: statuses after which the request may be repeated
LATER = frozenset((429, 502, 503, 504))
#: statuses for errors in the request's parameters
ABOUT_PARAMETERS = frozenset((400, 404, 413))
#: key of the version in a request of the newest protocol; a header repeats it
VERSION = "io.modelcontextprotocol/protocolVersion"
#: method → the parameter that a header of the newest protocol repeats
NAME_PARAMETERS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN = re.compile(r"[\x20-\x7e]*")

Message = dict[str, Any]
Say = Callable[[str], Awaitable[None]]


class ConnectionLost(Exception):  # noqa: N818 - errors name the condition
    """The server did not answer. `sent`: it may have received the message."""

    def __init__(
        self, sentence: str, *, sent: bool, session: bool = False, error: Message | None = None
    ) -> None:
        """`session`: the server has forgotten our session; `error`: the server's, for JSON-RPC."""
        super().__init__(sentence)
        self.sent, self.session, self.error = sent, session, error


class Denied(Exception):  # noqa: N818
    """The server refused the message, with one sentence; it would refuse it again."""

    def __init__(self, sentence: str, error: Message | None = None) -> None:
        """`error`: the server's, for JSON-RPC; None: the server sent none."""
        super().__init__(sentence)
        self.error = error


class RemoteServer:
    """A server over HTTP. Use it in one event loop. `say` sends a line to the client."""

    def __init__(self, url: str, token: str, say: Say, on_version: Callable[[str], None]) -> None:
        """`on_version`: gets the version that the server reports, "" for none."""
        self.url, self._say = url, say
        #: extensions of each request: the token goes over checked connections only
        self._checked = {"trace": ServerCheck(url, token, on_version).on_connection}
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        timeout = httpx2.Timeout(SILENCE_S, connect=CONNECT_S, write=SEND_S)
        self._http = make_client(url, headers=headers, timeout=timeout)
        #: for protocols of the handshake: the session, and the protocol version
        self.session = self.version = ""

    async def close(self) -> None:
        if self.session:
            with contextlib.suppress(httpx2.HTTPError, TimeoutError, NotProven, NoProof):
                async with asyncio.timeout(CONNECT_S):
                    await self._http.delete(self.url, headers=self._headers({}), extensions=self._checked)
        await self._http.aclose()

    async def send(self, message: Message, say: Say | None = None) -> None:
        """Send one message, and pass on its answer. Raises ConnectionLost and Denied."""
        asks = "method" in message and "id" in message
        raw = orjson.dumps(message)
        headers = self._headers(message) | {"Content-Type": "application/json"}
        async with (
            self._network_faults(),
            self._http.stream(
                "POST", self.url, content=raw, headers=headers, extensions=self._checked
            ) as reply,
        ):
            await _check(reply, bool(self.session))
            if message.get("method") == "initialize":
                self.session = reply.headers.get("mcp-session-id", "")
            if asks and not await self._pass_on(reply, message, say or self._say):
                raise ConnectionLost("The server ended before it answered.", sent=True)

    async def listen(self, last: str) -> AsyncIterator[tuple[str, str]]:
        """Yield (id, message) of each event that answers no request, after the event `last`. Raises
        ConnectionLost and Denied.
        """
        headers = self._headers({}) | {"Accept": "text/event-stream"}
        headers |= {"Last-Event-ID": last} if last else {}
        async with (
            self._network_faults(),
            self._http.stream("GET", self.url, headers=headers, extensions=self._checked) as reply,
        ):
            await _check(reply, bool(self.session))
            async for event in _events(reply):
                if event.data:
                    yield event.id or "", event.data

    async def _pass_on(self, reply: httpx2.Response, message: Message, say: Say) -> bool:
        """Pass on all messages of a reply; return whether the answer was among them."""
        if reply.headers.get("content-type", "").startswith("application/json"):
            answer = orjson.loads(await _read_bounded(reply))
            if not isinstance(answer, dict):
                raise ConnectionLost("The server's answer is no message of MCP.", sent=True)
            await say(orjson.dumps(answer | {"id": message["id"]}).decode() + "\n")
            return True
        async for event in _events(reply):
            if not event.data:
                continue
            await say(event.data + "\n")
            if _answers(event.data, message["id"]):
                return True
        return False

    def _headers(self, message: Message) -> dict[str, str]:
        headers = {"Accept": "application/json, text/event-stream"}
        params = message.get("params") or {}
        if newest := (params.get("_meta") or {}).get(VERSION):
            headers |= {"MCP-Protocol-Version": newest, "Mcp-Method": message["method"]}
            name = params.get(NAME_PARAMETERS.get(message["method"], ""))
            return headers | ({"Mcp-Name": _header_value(name)} if isinstance(name, str) else {})
        if self.session and message.get("method") != "initialize":
            headers["Mcp-Session-Id"] = self.session
        return headers | ({"MCP-Protocol-Version": self.version} if self.version else {})

    @contextlib.asynccontextmanager
    async def _network_faults(self) -> AsyncIterator[None]:
        """Convert network errors to ConnectionLost, and refused certificates to Denied."""
        try:
            yield
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            if refused := _certificate_fault(error):
                place = urllib.parse.urlsplit(self.url).netloc
                sentence = f"The certificate of {place} is not trusted ({refused}); name its authority in SSL_CERT_FILE."
                raise Denied(sentence) from error
            raise ConnectionLost("Nothing answers there.", sent=False) from error
        except NotProven as error:
            raise Denied(str(error)) from error
        except NoProof as error:
            raise ConnectionLost(str(error), sent=False) from error
        except httpx2.SSEError as error:
            raise Denied(TOO_LARGE) from error
        except (httpx2.HTTPError, orjson.JSONDecodeError) as error:
            raise ConnectionLost(f"The connection broke ({type(error).__name__}).", sent=True) from error


def make_client(url: str, **options: Any) -> httpx2.AsyncClient:
    """Return a client for requests to the server at `url` alone."""
    secure, is_local = ssl.create_default_context(), is_loopback(url)
    transport = _SocketFirst(url, secure) if is_local and url.startswith("http:") else None
    return httpx2.AsyncClient(verify=secure, trust_env=not is_local, transport=transport, **options)


class _SocketFirst(httpx2.AsyncBaseTransport):
    """Connections to a server on this machine: by its Unix socket, else by its port."""

    def __init__(self, url: str, secure: ssl.SSLContext) -> None:
        self._url, self._secure = url, secure
        self._by_port = httpx2.AsyncHTTPTransport(verify=secure)
        self._by_socket: httpx2.AsyncHTTPTransport | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if path := find_socket(self._url):
            self._by_socket = self._by_socket or httpx2.AsyncHTTPTransport(verify=self._secure, uds=path)
            with contextlib.suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await self._by_socket.handle_async_request(request)
        return await self._by_port.handle_async_request(request)

    async def aclose(self) -> None:
        for transport in filter(None, (self._by_socket, self._by_port)):
            await transport.aclose()


def check_url(url: str) -> str:
    """Return the URL of MCP at a server; `/mcp` is the default path.

    Raises Misconfigured for an invalid URL, and for one that would send the token unencrypted.
    """
    try:
        parts = urllib.parse.urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise Misconfigured(
            f"--server is {url!r}; pass a URL as http://127.0.0.1:37777 or https://cortex.example.org."
        )
    if parts.scheme == "http" and not is_loopback(url):
        raise Misconfigured(f"--server {url} would send the token in the clear; use https.")
    return parts._replace(path=parts.path if parts.path.strip("/") else "/mcp").geturl()


async def _check(reply: httpx2.Response, session: bool) -> None:
    """Raise ConnectionLost or Denied for a status that is no success."""
    if reply.status_code < 300:
        return
    error = _read_error(await _read_bounded(reply), reply.status_code)
    sentence = error["message"]
    if reply.status_code in LATER:
        raise ConnectionLost(sentence, sent=False, error=error)
    if reply.status_code == 404 and session:
        raise ConnectionLost(sentence, sent=False, session=True, error=error)
    raise Denied(sentence, error)


async def _read_bounded(reply: httpx2.Response) -> bytes:
    """Return the body of a reply. Raises Denied if it is too large."""
    body = bytearray()
    async for piece in reply.aiter_bytes():
        body += piece
        if len(body) > ANSWER_BYTES_MAX:
            raise Denied(TOO_LARGE)
    return bytes(body)


def _events(reply: httpx2.Response) -> AsyncIterator[httpx2.ServerSentEvent]:
    """Return the events of a stream. Raises ConnectionLost for a reply that is none; the iterator
    raises SSEError for an event that is too large.
    """
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "text/event-stream":
        raise ConnectionLost("The server's answer is no stream of events.", sent=True)
    return aiter(httpx2.EventSource(reply, ANSWER_BYTES_MAX))


def _read_error(raw: bytes, status: int) -> Message:
    """Return the error in the body of a reply, for JSON-RPC: one of JSON-RPC with its own code and
    data; else one whose data has the status of HTTP, and the word that the server has for it.
    """
    error: Any = None
    with contextlib.suppress(ValueError, KeyError, TypeError):
        error = orjson.loads(raw)["error"]
    fields = error if isinstance(error, dict) else {}
    sentence, code = str(fields.get("message") or f"The server answered {status}."), fields.get("code")
    if isinstance(code, int) and not isinstance(code, bool):
        data = {"data": fields["data"]} if "data" in fields else {}
        return {"code": code, "message": sentence} | data
    word = {"code": code} if isinstance(code, str) else {}
    number = INVALID_PARAMS if status in ABOUT_PARAMETERS else INTERNAL_ERROR
    return {"code": number, "message": sentence, "data": {"status": status} | word}


def _certificate_fault(error: BaseException) -> str:
    """Return the fault of a certificate, "" if the error has another cause."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause.verify_message
        if isinstance(cause, ssl.SSLError):
            return str(cause.reason or cause).lower().replace("_", " ")
        cause = cause.__cause__ or cause.__context__
    return ""


def _answers(data: str, number: Any) -> bool:
    with contextlib.suppress(ValueError, AttributeError):
        message = orjson.loads(data)
        return "method" not in message and message.get("id") == number
    return False


def _header_value(name: str) -> str:
    """Encode a name for a header: the newest protocol uses base64 for other than plain ASCII."""
    if _PLAIN.fullmatch(name) and name == name.strip() and not name.startswith("=?base64?"):
        return name
    import base64

    return f"=?base64?{base64.b64encode(name.encode()).decode()}?="
