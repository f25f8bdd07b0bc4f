"""The ASGI application: routes, errors and compression behind the gate."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from cortex.front.http.access.gate import Gate
from cortex.front.http.access.origin_check import OriginCheck
from cortex.front.http.access.tokens import Tokens
from cortex.front.http.access.visits import Visits
from cortex.front.http.metrics import Indexes
from cortex.front.http.page.pages import Pages, failure_page, refusal_page
from cortex.front.http.projects import Projects
from cortex.front.http.replies import answers_of
from cortex.front.http.routes.calls import Routes
from cortex.front.http.routes.events import Events
from cortex.front.http.routes.mcp import McpRoutes
from cortex.front.http.routes.openapi import OpenApiRoutes

#: minimum of bytes of a compressed answer: a smaller one fits into a packet or two
COMPRESSED_FROM_BYTES = 2048
#: compression level: the best (9) takes twice the time and saves 2 % of the bytes
COMPRESSION = 4


def make_app(projects: Projects, origin_check: OriginCheck, tokens: Tokens, connections_max: int) -> Gate:
    """Make the ASGI application for `projects`. Make and use it in one event loop."""

    @contextlib.asynccontextmanager
    async def life(_app: Starlette) -> AsyncIterator[None]:
        async with projects.open():
            yield

    visits = Visits()
    route_groups: Any = (
        Routes(projects),
        McpRoutes(projects),
        Events(projects),
        OpenApiRoutes(projects),
        Pages(projects, visits, origin_check.scheme),
    )
    app = Starlette(
        routes=[route for group in route_groups for route in group.all()],
        lifespan=life,
        exception_handlers=answers_of(failure_page),
        middleware=[
            Middleware(GZipMiddleware, minimum_size=COMPRESSED_FROM_BYTES, compresslevel=COMPRESSION)
        ],
    )
    app.router.redirect_slashes = False
    gate = Gate(app, origin_check, tokens, visits, refusal_page, connections_max=connections_max)
    first = next(iter(projects.values()))
    first.metrics.watch(
        Indexes(
            {name: hosted.freshness for name, hosted in projects.items()},
            lambda: {
                "answering": gate.answering,
                "waiting": gate.waiting.total(),
                "streaming": gate.streams.total(),
            },
        )
    )
    return gate
