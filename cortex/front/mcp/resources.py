"""The resources: the map of the project, and that of each file and folder."""

from __future__ import annotations

import urllib.parse
from typing import TYPE_CHECKING, Any

import orjson

from cortex.front.tools import TOOLS
from ipc.errors import NotFound

if TYPE_CHECKING:
    import mcp_types as types

    from cortex.front.link import Link

OUTLINE = "cortex://outline/"
TEMPLATE = "cortex://outline/{path}"
JSON = "application/json"


def list_resources() -> types.ListResourcesResult:
    """Only the project's map: that of each file is a template's, completed as it is typed."""
    import mcp_types as types

    told = "The types and functions of the project, the most referred-to first."
    one = types.Resource(
        uri=OUTLINE, name="outline", title="Map of the project", description=told, mime_type=JSON
    )
    return types.ListResourcesResult(resources=[one])


def list_templates() -> types.ListResourceTemplatesResult:
    import mcp_types as types

    told = "The types and functions of a file or folder, with signatures and lines."
    one = types.ResourceTemplate(
        uri_template=TEMPLATE, name="outline-of", title="Map of a file", description=told, mime_type=JSON
    )
    return types.ListResourceTemplatesResult(resource_templates=[one])


async def read_resource(link: Link, uri: str) -> types.ReadResourceResult:
    """Raises NotFound for a resource that does not exist, and what the tool raises."""
    import mcp_types as types

    if not uri.startswith(OUTLINE):
        raise NotFound(f"There is no resource {uri!r}; there is {TEMPLATE}.")
    path = urllib.parse.unquote(uri.removeprefix(OUTLINE))
    answer: dict[str, Any] = await link.call(TOOLS["cortex_outline"], {"path": path})
    if not answer["results"] and answer["index"]["generation"]:
        raise NotFound(answer["suggestion"])
    content = types.TextResourceContents(uri=uri, mime_type=JSON, text=orjson.dumps(answer).decode())
    return types.ReadResourceResult(contents=[content])
