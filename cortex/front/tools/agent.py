"""The toolset `agent`: the short form in which an agent is offered a tool, and the instructions.

An offer (cortex.front.form) lists a part of the tool's arguments. A call takes all of them, and
`format`.
"""

from dataclasses import replace
from typing import Any

from cortex.front.tool import Tool

#: one line for each tool of code
INSTRUCTIONS = """\
Cortex answers from an index of this project that follows every saved file. Lines are numbered as in the file.
- cortex_search: where something is, how it works
- cortex_read: whole functions, by the names and places of an answer, all in one call; instead of whole files
- cortex_uses: what breaks if a symbol changes, who calls it
- cortex_exact: a literal text"""


def shorten(tool: Tool) -> Tool:
    """Return the tool as an agent is offered it: with a short description, and a schema of the
    listed arguments alone; one without an offer stays.
    """
    if (offer := tool.form.offer) is None:
        return tool
    properties = {}
    for name, text in offer.arguments.items():
        field = {key: value for key, value in tool.schema["properties"][name].items() if key != "description"}
        properties[name] = field | ({"description": text} if text else {})
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [name for name in tool.schema.get("required", ()) if name in properties]:
        schema["required"] = required
    return replace(tool, description=offer.description, schema=schema)
