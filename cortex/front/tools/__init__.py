"""The only list of tools: MCP serves it and the command line is made from it.

One tool = one function = one file.
"""

from __future__ import annotations

from cortex.front.tool import Tool, make_tool
from cortex.front.tools.code.context import code_context
from cortex.front.tools.code.exact import cortex_exact
from cortex.front.tools.code.graph import cortex_graph
from cortex.front.tools.code.outline import cortex_outline
from cortex.front.tools.code.pattern import cortex_pattern
from cortex.front.tools.code.related import find_related
from cortex.front.tools.code.search import cortex_search
from ipc.errors import Misconfigured

#: toolset → its tools, in the order in which agents see them
TOOLSETS: dict[str, tuple[Tool, ...]] = {
    "code": (
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
Cortex answers questions about this project's code and documents from a local index that follows every saved file. Ask
it before you grep or read files.

Choose the tool by the intent of the question:
- A natural language question ("how", "why", "explain"): cortex_search (semantic understanding).
- An exact identifier (Provider, sync.RWMutex) whose definition or uses you want: cortex_exact (faster for exact matches).
- An exact identifier whose behaviour you want to understand: cortex_search (semantic context).
- Boolean operators (AND, OR, NOT), a phrase, a wildcard (*) or a likely typo: cortex_exact (boolean, prefix and fuzzy matching).
- Relationships ("who calls", "what implements"), dependencies, what a change may break: cortex_graph (structural query).
- What is in a file or folder, an overview of unknown code: cortex_outline.
- What belongs to code at hand (similar code, callers, tests, documents), before you change it: find_related.
- Code of a certain shape (calls with certain arguments, statements to change everywhere): cortex_pattern.
- Anything ambiguous: cortex_search (safest for ambiguous queries).

Examples:
- "Find all uses of sync.RWMutex": cortex_exact, an exact match.
- "How does the mutex protect the collection?": cortex_search, it needs semantic understanding.
- "What calls provider.Embed?": cortex_graph, it asks about relationships.
- "Provider AND interface": cortex_exact, boolean keyword search.
- "Prov* interface": cortex_exact, prefix matching.

Ask in English, whatever the language of the conversation: code and its comments mostly are, and so is the model. Stack
traces, error messages and whole issue texts can be passed to cortex_search as they are.

Combine them: find with cortex_exact, then understand with cortex_search and `tags` set to the file paths found.

Every answer ends with "index": `pending` names saved files that it does not hold yet, `indexing` says how far a running
index is, `degraded` names workers that did not answer, and a result with "stale": true was changed since it was
indexed; read such files yourself."""


def choose(toolsets: tuple[str, ...]) -> dict[str, Tool]:
    """The tools of `toolsets`, by name. Raises Misconfigured for a set that does not exist."""
    unknown = [name for name in toolsets if name not in TOOLSETS]
    if unknown or not toolsets:
        named = ", ".join(map(repr, unknown)) or "none"
        raise Misconfigured(f"There is no toolset {named}; server.toolsets takes: {', '.join(TOOLSETS)}.")
    return {tool.name: tool for name in toolsets for tool in TOOLSETS[name]}
