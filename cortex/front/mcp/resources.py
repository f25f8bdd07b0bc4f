"""The resources: outlines of the project, its files and folders; counts of memory and its notes."""

from __future__ import annotations

import urllib.parse
from typing import TYPE_CHECKING, Any

import orjson

from cortex.front.tools import PEOPLE, TOOLS
from cortex.front.tools.memory.fence import fence_rows
from cortex.system.errors import NotFound

if TYPE_CHECKING:
    import mcp_types as types

    from cortex.front.mcp.project import ToolCaller

OUTLINE = "cortex://outline/"
TEMPLATE = "cortex://outline/{path}"
#: counts of notes and edges; one note by id or number
STATS, NODE = "cortex://stats", "cortex://node/"
NODE_TEMPLATE = "cortex://node/{id}"
JSON = "application/json"


def list_resources(*, memory: bool = False) -> dict[str, Any]:
    """Return the answer of resources/list: the outline, with `memory` its counts; no templates."""
    described = "The types and functions of the project, the most referenced first."
    outline = _entry("outline", "Map of the project", described, uri=OUTLINE)
    stats = _entry("stats", "Memory", "Numbers of notes and edges of this project.", uri=STATS)
    return {"resources": [outline, stats] if memory else [outline]}


def list_templates(*, memory: bool = False) -> dict[str, Any]:
    described = "The types and functions of a file or folder, with signatures and lines."
    outline = _entry("outline-of", "Map of a file", described, uriTemplate=TEMPLATE)
    described = "A note with its edges and the notes at their other ends."
    node = _entry("node", "A note", described, uriTemplate=NODE_TEMPLATE)
    return {"resourceTemplates": [outline, node] if memory else [outline]}


def _entry(name: str, title: str, described: str, **address: str) -> dict[str, str]:
    return {"description": described, "mimeType": JSON, "name": name, "title": title} | address


async def read_resource(link: ToolCaller, uri: str) -> types.ReadResourceResult:
    """Read a resource. Raises NotFound for an unknown one, and the tool's errors."""
    import mcp_types as types

    if uri == STATS:
        answer = await link.call(PEOPLE["memory_stats"], {})
    elif uri.startswith(NODE):
        note = await link.call(
            PEOPLE["memory_show"], {"node_id": urllib.parse.unquote(uri.removeprefix(NODE))}
        )
        [answer] = fence_rows([note])
    elif uri.startswith(OUTLINE):
        answer = await read_outline(link, urllib.parse.unquote(uri.removeprefix(OUTLINE)))
    else:
        raise NotFound(f"There is no resource {uri!r}; there are {TEMPLATE}, {STATS} and {NODE_TEMPLATE}.")
    content = types.TextResourceContents(uri=uri, mime_type=JSON, text=orjson.dumps(answer).decode())
    return types.ReadResourceResult(contents=[content])


async def read_outline(link: ToolCaller, path: str) -> dict[str, Any]:
    """Return the answer of cortex_outline. Raises NotFound for a path that is not in the index."""
    answer: dict[str, Any] = await link.call(TOOLS["cortex_outline"], {"path": path})
    if not answer["results"] and answer["index"]["generation"]:
        raise NotFound(answer["suggestion"])
    return answer
