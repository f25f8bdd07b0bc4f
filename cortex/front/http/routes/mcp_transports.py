"""MCP over HTTP: Streamable HTTP with resumable sessions, and the older HTTP+SSE.

The protocol itself is in cortex.front.mcp.server; the transports are the SDK's.
"""

import asyncio
from collections import OrderedDict
from typing import Any
from weakref import WeakSet

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, AuthorizationContext
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import JSONRPCMessage
from starlette.datastructures import QueryParams
from starlette.requests import Request

from cortex.ask.memory import Caller
from cortex.ask.query_context import Audience
from cortex.front.audience import check_audience
from cortex.front.http.access.gate import BODY_BYTES_MAX, Receive, Scope, Send
from cortex.front.http.access.tokens import Bearer
from cortex.front.http.projects import ClientLink, Hosted, Projects
from cortex.front.http.replies import RequestRefused
from cortex.front.mcp.server import make_server
from cortex.front.mcp.updates import Updates

#: maximum of sessions of one token in all projects
SESSIONS_MAX = 256
#: seconds after which a client with too many should ask again
RETRY_SESSION_S = 60
#: maximum of messages stored for clients that reconnect, of all sessions of a project; of their
#: bytes
KEPT_MAX, KEPT_BYTES_MAX = 256, 4 << 20
#: milliseconds after which a client should reconnect a broken stream
RETRY_MS = 1000


class Messages:
    """The last messages to all clients of a project; bounded, in memory."""

    def __init__(self) -> None:
        #: number → (session, stream, message, bytes)
        self.stored: OrderedDict[int, tuple[object, str, JSONRPCMessage | None, int]] = OrderedDict()
        self._number = self._bytes = 0

    def keep(self, session: object, stream: str, message: JSONRPCMessage | None) -> int:
        """Store a message and return its number."""
        size = len(message.model_dump_json()) if message is not None else 0
        self._number += 1
        self.stored[self._number] = (session, stream, message, size)
        self._bytes += size
        while len(self.stored) > KEPT_MAX or self._bytes > KEPT_BYTES_MAX:
            _, (*_, gone) = self.stored.popitem(last=False)
            self._bytes -= gone
        return self._number


class SessionEvents(EventStore):
    """The part of `messages` from one session, to replay a broken stream. Streams are named by the
    request's id, and every client counts from 1, so sessions are kept apart.
    """

    def __init__(self, messages: Messages | None = None) -> None:
        self._messages = messages or Messages()

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        return str(self._messages.keep(self, stream_id, message))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        number = int(last_event_id) if last_event_id.isdecimal() else 0
        session, stream, *_ = self._messages.stored.get(number, (None, ""))
        if session is not self:
            return None
        for later, (owner, name, message, _) in list(self._messages.stored.items()):
            if later > number and owner is self and name == stream and message is not None:
                await send_callback(EventMessage(message, str(later)))
        return stream


class Sessions(StreamableHTTPSessionManager):
    """The SDK's manager, with a store of events for each session instead of one for all, and a
    bound for each token. `managers`: those of all projects of the server.
    """

    _messages: Messages

    def __init__(self, server: Server, managers: "WeakSet[Sessions]") -> None:
        super().__init__(
            server, retry_interval=RETRY_MS, max_request_body_size=BODY_BYTES_MAX, max_sessions=None
        )
        self._managers = managers
        managers.add(self)

    def count_of(self, requestor: AuthorizationContext | None) -> int:
        """Return the number of sessions of one owner."""
        return sum(owner == requestor for owner in self._session_owners.values())

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        """See the SDK. Raises RequestRefused where the token has too many sessions."""
        if sum(manager.count_of(requestor) for manager in self._managers) >= SESSIONS_MAX:
            sentence = (
                f"This token has {SESSIONS_MAX} open MCP sessions; end one with DELETE /mcp, or wait: an unused one "
                "ends after 30 minutes."
            )
            raise RequestRefused(429, "too_many", sentence, retry_after=str(RETRY_SESSION_S))
        return super()._admit_session(requestor)

    @property
    def event_store(self) -> EventStore | None:
        return SessionEvents(self._messages)

    @event_store.setter
    def event_store(self, _none: EventStore | None) -> None:
        self._messages = Messages()


class ProjectServer:
    """MCP of a project for one audience (None: by the client's name): server and its sessions."""

    def __init__(
        self, hosted: Hosted, projects: Projects, audience: Audience | None, managers: WeakSet[Sessions]
    ) -> None:
        self._hosted, self._projects = hosted, projects
        self._updates = Updates(self)
        self.server: Server = make_server(
            hosted.tools, self, self._updates, alone=False, project_names=self, audience=audience
        )
        self.manager = Sessions(self.server, managers)
        self._end, self._ready = asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def reach(self, context: Any) -> ClientLink:
        """See cortex.front.mcp.project.ProjectRouter: the request identifies the client."""
        request: Request = context.request
        params = context.session.client_params
        name = params.client_info.name if params is not None else request.headers.get("user-agent", "http")
        session = request.headers.get("mcp-session-id") or request.query_params.get("session_id", "")
        bearer: Bearer = request.scope["bearer"]
        return ClientLink(
            self._projects, self._hosted, bearer, Caller(agent=name, session=session or bearer.name)
        )

    async def names(self, context: Any) -> tuple[str, ...]:
        """See cortex.front.mcp.project.ProjectNames: the projects of the request's token."""
        return self._projects.choices(self._hosted, context.request.scope["bearer"])

    async def ready(self) -> None:
        await self._ready.wait()

    async def close(self) -> None:
        self._updates.close()
        self._end.set()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        async with self.manager.run():
            self._ready.set()
            await self._end.wait()


class Transports:
    """Both transports. Use them in one event loop."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._managers = WeakSet[Sessions]()
        self._sse = SseServerTransport("/message", max_request_body_size=BODY_BYTES_MAX)

    async def streamable(self, scope: Scope, receive: Receive, send: Send) -> None:
        hosted = self._find(scope)
        with hosted.use():
            await (await self._project_server(hosted, scope)).manager.handle_request(
                _with_user(scope), receive, send
            )

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        hosted = self._find(scope)
        with hosted.use():
            server = (await self._project_server(hosted, scope)).server
            async with self._sse.connect_sse(_with_user(scope), receive, send) as (read, write):
                await server.run(read, write, server.create_initialization_options())

    async def message(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._sse.handle_post_message(_with_user(scope), receive, send)

    def _find(self, scope: Scope) -> Hosted:
        return self._projects.find(QueryParams(scope["query_string"]).get("project", ""), scope["bearer"])

    async def _project_server(self, hosted: Hosted, scope: Scope) -> ProjectServer:
        """Return the server for the audience that `for` of the URL names. Raises BadRequest."""
        name = QueryParams(scope["query_string"]).get("for", "")
        audience: Audience | None = None if not name else check_audience(name)
        project_server = hosted.resources.get(f"mcp {name}")
        if not isinstance(project_server, ProjectServer):
            project_server = ProjectServer(hosted, self._projects, audience, self._managers)
            hosted.resources[f"mcp {name}"] = project_server
        await project_server.ready()
        return project_server


def _with_user(scope: Scope) -> Scope:
    """Add the token's holder in the SDK's form: the SDK then refuses sessions of other holders."""
    bearer: Bearer = scope["bearer"]
    token = AccessToken(token="", client_id=bearer.name, scopes=[bearer.right])
    scope["user"] = AuthenticatedUser(token)
    return scope
