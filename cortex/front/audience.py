"""The audience of an answer: an agent reads text, a program reads JSON."""

import contextlib
import contextvars
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cortex.ask.query_context import Audience
from cortex.front.agents.table import CLIENTS
from cortex.front.tool import Tool
from cortex.system.errors import BadRequest

#: an addition of a proxy to the client's name, as in "claude-ai (via mcp-remote 0.1.37)"
_PROXY = re.compile(r"\s*\(via [^)]*\)\s*$")

#: the argument of every tool that overrides the audience for one call
FORMAT = "format"
#: value of `format` → its audience
FORMATS: Mapping[str, Audience] = {"text": "agent", "json": "program"}

_CURRENT: contextvars.ContextVar[Audience] = contextvars.ContextVar("audience", default="program")


def current_audience() -> Audience:
    """Return the audience of the call that this task answers."""
    return _CURRENT.get()


@contextlib.contextmanager
def answering(audience: Audience) -> Iterator[None]:
    """Set the audience of the calls in the block."""
    before = _CURRENT.set(audience)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def audience_of(client: str) -> Audience:
    """Return the audience of a client by its name: an agent if its beginning is in the table."""
    name = re.sub(r"[\s_]+", "-", _PROXY.sub("", client).strip().lower())
    is_agent = any(name == prefix or name.startswith((f"{prefix}-", f"{prefix}/")) for prefix in CLIENTS)
    return "agent" if is_agent else "program"


def check_audience(name: str) -> Audience:
    """Return the audience called `name`. Raises BadRequest for another name."""
    audience = next((audience for audience in FORMATS.values() if audience == name), None)
    if audience is None:
        raise BadRequest(f"`for` is {name!r}; it takes agent or program.")
    return audience


def split_format(
    tool: Tool, arguments: Mapping[str, Any] | None, audience: Audience
) -> tuple[dict[str, Any], Audience]:
    """Return the arguments without `format`, and the audience after it.

    A value that the tool's own argument `format` takes stays. Raises BadRequest for an unknown
    value.
    """
    own_arguments = dict(arguments or {})
    value = own_arguments.get(FORMAT)
    field = tool.schema["properties"].get(FORMAT)
    if FORMAT not in own_arguments or (field is not None and value not in FORMATS):
        return own_arguments, audience
    if field is not None and value in field.get("enum", ()):
        return own_arguments, audience
    del own_arguments[FORMAT]
    if value is None:
        return own_arguments, audience
    if not isinstance(value, str) or value.strip().lower() not in FORMATS:
        raise BadRequest(f"The argument `{FORMAT}` is {value!r}; it takes {', '.join(FORMATS)}.")
    return own_arguments, FORMATS[value.strip().lower()]
