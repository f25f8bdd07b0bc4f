"""The tool cortex_graph: callers, implementations and dependencies of definitions and files."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.ask.structure import graph
from cortex.front.form import Form, Word
from cortex.front.text.graph import draw_graph
from cortex.front.text.parts import Drawer
from ipc.messages import GraphOperation, GraphSearch

_SHOWN = frozenset(
    "operation target file results total_found total_returned summary candidates next_offset".split()
)
FORMS = {
    "cortex_graph": Form(
        text=Drawer(draw_graph, _SHOWN, needs=("results",)),
        words=(Word("operation", "operation"), Word("target", "target", spared_by="routes")),
        for_people={"context_lines": 0},
    )
}


async def cortex_graph(
    context: QueryContext,
    *,
    operation: Annotated[GraphOperation, Meta(description="Query type.")],
    target: Annotated[str, Meta(description="Symbol or path.")] = "",
    to: Annotated[str, Meta(description="Last symbol of `path`.")] = "",
    scope: Annotated[str, Meta(description="Path glob.")] = "",
    exclude_patterns: Annotated[tuple[str, ...], Meta(description="Globs.")] = (),
    include_context: Annotated[bool, Meta(description="Show lines.")] = True,
    context_lines: Annotated[int, Meta(description="Lines around, 0 to 20.")] = 2,
    depth: Annotated[int, Meta(description="Steps, 1 to 10.")] = 1,
    max_results: Annotated[int, Meta(description="Results, 1 to 500.")] = 100,
    max_per_level: Annotated[int, Meta(description="Per step, 1 to 100.")] = 50,
    offset: Annotated[int, Meta(description="Results to skip.")] = 0,
    detail: Annotated[Literal["compact", "full"], Meta(description="full shows text.")] = "compact",
) -> dict[str, Any]:
    """Find callers, implementations or dependents of a definition or file; no text search.

    callers / callees; implementations and overrides; dependencies / dependents; type_usages;
    path: shortest calls to `to`; impact: what a change may break (depth 2 or 3);
    routes: HTTP endpoints; target: part of a path.

    Example: {"operation": "callers", "target": "provider.Embed"}
    """
    return await graph(
        context,
        GraphSearch(
            operation=operation,
            target=target,
            to=to,
            scope=scope,
            exclude_patterns=exclude_patterns,
            include_context=include_context,
            context_lines=context_lines,
            depth=depth,
            max_results=max_results,
            max_per_level=max_per_level,
            offset=offset,
        ),
        detail,
    )
