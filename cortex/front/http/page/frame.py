"""The base of all views of the page: requests, views, actions, and rendering of templates."""

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
from cortex.front.http.access.tokens import Bearer
from cortex.front.http.projects import Hosted
from cortex.front.tools import PAGE as PAGE_TOOLS
from cortex.front.tools import PEOPLE, TOOLS
from cortex.front.usage import PAGE
from cortex.system.errors import BadRequest

if TYPE_CHECKING:
    import jinja2
import hashlib
import hmac
import re
import secrets
from collections import OrderedDict

from cortex.system.errors import NotFound

#: maximum of texts; the oldest is dropped first
TEXTS_MAX = 4096
_KEY = re.compile(r"~[0-9a-f]{32}")


class HiddenTexts:
    """Key → text, in memory, until the server ends. Use it in one event loop."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._texts: OrderedDict[str, str] = OrderedDict()

    def key(self, text: str) -> str:
        """Return the key of a text, the same for equal texts."""
        key = "~" + hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()[:32]
        self._texts[key] = text
        self._texts.move_to_end(key)
        if len(self._texts) > TEXTS_MAX:
            self._texts.popitem(last=False)
        return key

    def text(self, value: str) -> str:
        """Return the text behind a key, and any other value itself. Raises NotFound."""
        if not _KEY.fullmatch(value):
            return value
        if value not in self._texts:
            raise NotFound(
                "The text of this address is gone: the project is sealed, and the server forgot it."
            )
        return self._texts[value]


#: nothing is loaded from other servers, no script or style is inline, no site may frame the page
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


#: parameters of URLs with a text or a question, by view or "" for all; `path` of /files is a file's
#: name, and stays
_TEXTS = frozenset((("", "q"), ("", "tag"), ("", "of"), ("", "to"), ("entries", "path")))


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of the page: project and token. `projects`: names that the token opens;
    `is_local`: the visitor is on this machine, and may see paths; `query`: parameters of the URL;
    `texts`: those behind keys in the URLs of a sealed project, None for others.
    """

    hosted: Hosted
    bearer: Bearer
    projects: tuple[str, ...]
    is_local: bool
    query: Mapping[str, str]
    texts: HiddenTexts | None = None

    @property
    def form_method(self) -> str:
        """The method of forms with texts: `dialog` sends nothing, and page.js asks for the URL."""
        return "get" if self.texts is None else "dialog"

    def address(self, place: str, /, **query: object) -> str:
        """Return a URL as `address` does, with keys in place of texts about a sealed project."""
        if self.texts is not None:
            for name, value in query.items():
                if value and not _TEXTS.isdisjoint((("", name), (place, name))):
                    query[name] = self.texts.key(str(value))
        return address(place, **query)

    @property
    def may_write(self) -> bool:
        return self.bearer.has_right("write")

    async def call(
        self, tool: str, arguments: Mapping[str, Any], *, as_person: bool = False
    ) -> dict[str, Any]:
        """Return the answer of a tool (of agents or of people) as plain values. `as_person`: a
        visitor on this machine asks as in a shell. Raises the tool's errors, and Forbidden.
        """
        channel = "cli" if as_person and self.is_local else "mcp"
        caller = Caller(agent=PAGE, session=self.bearer.name, channel=channel)
        entry = PAGE_TOOLS.get(tool) or TOOLS.get(tool) or PEOPLE[tool]
        answer = await self.hosted.call(entry, arguments, self.bearer, caller)
        plain: dict[str, Any] = orjson.loads(orjson.dumps(answer))
        return plain


ShowView = Callable[[Visit], Awaitable[dict[str, Any]]]
RunAction = Callable[[Visit, dict[str, Any]], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Action:
    """A later request of a view's module: POST /page/{view}/{part} with a JSON object. `run` makes
    the values for `template`, or without one the JSON answer.
    """

    run: RunAction
    template: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """One view, at /{name}. `show` makes the values for templates/{name}.html; static/{name}.js is
    its module; `styles` are further style sheets, below static/ or vendor/.
    """

    name: str
    title: str
    show: ShowView
    actions: Mapping[str, Action]
    styles: tuple[str, ...] = ()


@functools.cache
def environment() -> jinja2.Environment:
    """Return the templates: every value is escaped, and a missing one is an error."""
    import jinja2  # a megabyte that only a server with visitors needs

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
    return HTMLResponse(render(template, values), status, HEADERS)


def form_address(view: str) -> Action:
    """Return the action that makes {"address"} of a view's form, for a sealed project."""

    async def make_address(visit: Visit, body: dict[str, Any]) -> dict[str, Any]:
        return {"address": visit.address(view, **{name: text_of(body, name) for name in body})}

    return Action(make_address)


def address(place: str, /, **query: object) -> str:
    """Return a local URL: `place` below /, with the parameters in `query` that are not empty."""
    query_text = urlencode({name: value for name, value in query.items() if value not in ("", None)})
    return f"/{quote(place)}" + (f"?{query_text}" if query_text else "")


def thousands(number: int) -> str:
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def ago(seconds: float) -> str:
    """Return a duration in days, hours, minutes or seconds."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def number_in(text: str, default: int) -> int:
    """Return the number in a parameter of a URL; `default` for anything else."""
    return int(text[:9]) if text.isascii() and text.isdecimal() else default


def text_of(body: Mapping[str, Any], name: str, default: str = "") -> str:
    """Return a text field of an action's body. Raises BadRequest for another type."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise BadRequest(f"`{name}` must be a text.")
    return value
