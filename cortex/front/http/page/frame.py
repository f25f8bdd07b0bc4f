"""What every view of the page is made of: who visits, what is asked, how it is written out.

No view is here, and no route.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import orjson
from starlette.responses import HTMLResponse

from cortex import __version__
from cortex.ask.memory import Caller
from cortex.front.http.projects import Hosted
from cortex.front.http.tokens import Bearer
from cortex.front.tools import PEOPLE, TOOLS
from cortex.system.errors import BadRequest

if TYPE_CHECKING:
    import jinja2

#: nothing is loaded from elsewhere, no script or style stands in the page, nobody frames it
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of the page: who asks, and of which project. `is_local`: the visitor is on this
    machine, and may be told where the project is on it; `query`: what the address asks.
    """

    hosted: Hosted
    bearer: Bearer
    projects: tuple[str, ...]
    is_local: bool
    query: Mapping[str, str]

    @property
    def may_write(self) -> bool:
        return self.bearer.has_right("write")

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What the tool answers, one of agents or of people, as plain values. Raises what it
        raises, and Forbidden.
        """
        caller = Caller(agent="page", session=self.bearer.name)
        entry = TOOLS[tool] if tool in TOOLS else PEOPLE[tool]
        answer = await self.hosted.call(entry, arguments, self.bearer, caller)
        plain: dict[str, Any] = orjson.loads(orjson.dumps(answer))
        return plain


ShowView = Callable[[Visit], Awaitable[dict[str, Any]]]
RunAction = Callable[[Visit, dict[str, Any]], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Action:
    """What a view's module asks later, by POST /page/{view}/{part} with a JSON object: `run` makes
    what `template` shows, or without one the answer as JSON.
    """

    run: RunAction
    template: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """One view, at /{name}: `show` makes what templates/{name}.html shows; static/{name}.js is its
    module; `styles` are further style sheets, below static/ or vendor/.
    """

    name: str
    title: str
    show: ShowView
    actions: Mapping[str, Action]
    styles: tuple[str, ...] = ()


@functools.cache
def environment() -> jinja2.Environment:
    """Every value is escaped, and one that is not there is an error."""
    import jinja2  # a megabyte that a server needs only where somebody looks at its page

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("cortex.front.http.page"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals |= {"version": __version__, "address": address}
    templates.filters |= {"thousands": thousands, "ago": ago}
    return templates


def render(template: str, values: Mapping[str, Any]) -> str:
    return environment().get_template(template).render(values)


def page(template: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """A whole page."""
    return HTMLResponse(render(template, values), status, HEADERS)


def address(place: str, **query: object) -> str:
    """A local address: `place` below /, and what of `query` says something."""
    query_text = urlencode({name: value for name, value in query.items() if value not in ("", None)})
    return f"/{quote(place)}" + (f"?{query_text}" if query_text else "")


def thousands(number: int) -> str:
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def ago(seconds: float) -> str:
    """A time in the unit that people would say."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def text_of(body: Mapping[str, Any], name: str, default: str = "") -> str:
    """A text of a part's body. Raises BadRequest for what is none."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise BadRequest(f"`{name}` must be a text.")
    return value
