"""The only list of tools: MCP serves it and the command line is made from it.

One tool = one function = one file.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cortex.front.tool import Tool, make_tool
from ipc.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class Line:
    """One tool: its function as "module:name", its title, whether it changes nothing."""

    function: str
    title: str
    reads: bool = True

    @property
    def name(self) -> str:
        return self.function.rpartition(":")[2]


#: toolset → its tools, in the order in which agents see them. Imported when they are wanted: a
#: command loads what one tool needs
TOOLSETS: dict[str, tuple[Line, ...]] = {
    "code": (
        Line("cortex.front.tools.code.explore:cortex_explore", "See the whole picture of one question"),
        Line("cortex.front.tools.code.search:cortex_search", "Search code and documents by meaning"),
        Line("cortex.front.tools.code.exact:cortex_exact", "Search code and documents by keyword"),
        Line("cortex.front.tools.code.graph:cortex_graph", "Ask who calls, implements and depends on what"),
        Line("cortex.front.tools.code.outline:cortex_outline", "Map a file, a folder or the project"),
        Line("cortex.front.tools.code.pattern:cortex_pattern", "Find code by its shape"),
        Line("cortex.front.tools.code.context:code_context", "Find the lines that matter"),
        Line("cortex.front.tools.code.related:find_related", "Find what belongs to a piece of code"),
    ),
}


class _Tools(Mapping[str, Tool]):
    """Every tool by its name, made when it is first looked up."""

    def __init__(self) -> None:
        self._lines = {line.name: line for lines in TOOLSETS.values() for line in lines}
        self._make = functools.cache(_make)

    def __getitem__(self, name: str) -> Tool:
        return self._make(self._lines[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def _make(line: Line) -> Tool:
    module, _, name = line.function.partition(":")
    return make_tool(getattr(importlib.import_module(module), name), line.title, reads=line.reads)


TOOLS: Mapping[str, Tool] = _Tools()

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
    return {line.name: TOOLS[line.name] for name in toolsets for line in TOOLSETS[name]}
