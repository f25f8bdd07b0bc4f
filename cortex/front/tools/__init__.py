"""The only list of tools: MCP serves it and the command line is made from it.

One tool = one function = one file.
"""

from __future__ import annotations

from cortex.front.tool import Tool, make_tool
from cortex.front.tools.code.context import code_context
from cortex.front.tools.code.exact import cortex_exact
from cortex.front.tools.code.explore import cortex_explore
from cortex.front.tools.code.graph import cortex_graph
from cortex.front.tools.code.outline import cortex_outline
from cortex.front.tools.code.pattern import cortex_pattern
from cortex.front.tools.code.related import find_related
from cortex.front.tools.code.search import cortex_search
from ipc.errors import Misconfigured

#: toolset → its tools, in the order in which agents see them
TOOLSETS: dict[str, tuple[Tool, ...]] = {
    "code": (
        make_tool(cortex_explore, "See the whole picture of one question", reads=True),
        make_tool(cortex_search, "Search code and documents by meaning", reads=True),
        make_tool(cortex_exact, "Search code and documents by keyword", reads=True),
        make_tool(cortex_graph, "Ask who calls, implements and depends on what", reads=True),
        make_tool(cortex_outline, "Map a file, a folder or the project", reads=True),
        make_tool(cortex_pattern, "Find code by its shape", reads=True),
        make_tool(code_context, "Find the lines that matter", reads=True),
        make_tool(find_related, "Find what belongs to a piece of code", reads=True),
    ),
}

TOOLS: dict[str, Tool] = {tool.name: tool for tools in TOOLSETS.values() for tool in tools}

#: what an agent reads once, when it connects
INSTRUCTIONS = """\
Cortex answers from a local index of this project's code and documents that follows every saved file. Ask it before you
grep or read files.

Choose by intent:
- "how does …", "trace …", "which tests …", "what breaks if …", a diff: cortex_explore first (the whole picture)
- natural language question ("how", "why", "explain"): cortex_search (semantic understanding)
- exact identifier, its definition or uses: cortex_exact (faster for exact matches)
- exact identifier, its behaviour: cortex_search (semantic context)
- boolean operators, a phrase, a wildcard, a likely typo: cortex_exact (boolean, prefix and fuzzy matching)
- asks about architecture, dependencies, relationships ("who calls", "what implements"), impact: cortex_graph (structural query)
- what is in a file or folder: cortex_outline
- code at hand, before you change it: find_related
- code of a certain shape: cortex_pattern
- ambiguous: cortex_search (safest for ambiguous queries)

Ask in English. Combine: find by cortex_exact, then understand by cortex_search with `tags` set to the files found.

"index" says what an answer lacks: `pending` files are not indexed yet, `degraded` workers did not answer. Read files with
"stale": true yourself."""


def choose(toolsets: tuple[str, ...]) -> dict[str, Tool]:
    """The tools of `toolsets`, by name. Raises Misconfigured for a set that does not exist."""
    unknown = [name for name in toolsets if name not in TOOLSETS]
    if unknown or not toolsets:
        named = ", ".join(map(repr, unknown)) or "none"
        raise Misconfigured(f"There is no toolset {named}; server.toolsets takes: {', '.join(TOOLSETS)}.")
    return {tool.name: tool for name in toolsets for tool in TOOLSETS[name]}
