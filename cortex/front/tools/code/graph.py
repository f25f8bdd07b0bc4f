"""The tool cortex_graph: answers questions about structure: who calls, what implements, what
depends on what.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.asking import Asking
from cortex.ask.questions import Graph
from cortex.ask.structure import graph
from ipc.messages import GraphOperation


async def cortex_graph(
    asking: Asking,
    *,
    operation: Annotated[GraphOperation, Meta(description="What to ask about the target.")],
    target: Annotated[
        str,
        Meta(
            description='A name: "Provider", "Provider.Embed", "embed.Provider", a full id, or a file\'s path. When it '
            "is not unique the answer lists what it may be."
        ),
    ],
    to: Annotated[str, Meta(description="Where a path ends; for the operation path only.")] = "",
    scope: Annotated[
        str, Meta(description='Only results in files that match this glob: "internal/**".')
    ] = "",
    exclude_patterns: Annotated[
        tuple[str, ...],
        Meta(description='No results in files that match any of these globs: "**/*_test.go".'),
    ] = (),
    include_context: Annotated[bool, Meta(description="Show the source lines around each result.")] = True,
    context_lines: Annotated[int, Meta(description="Lines on each side of it, 0 to 20.")] = 3,
    depth: Annotated[int, Meta(description="Levels to follow, 1 to 10: callers of callers and so on.")] = 1,
    max_results: Annotated[int, Meta(description="Results in all, 1 to 500.")] = 100,
    max_per_level: Annotated[int, Meta(description="Results of one level, 1 to 100.")] = 50,
) -> dict[str, Any]:
    """Query the structure of the code: relationships ("who calls X", "what implements Y"),
    dependencies, impact analysis.

    Requires the name of a definition or a file; no text search. Use cortex_exact to find a name,
    cortex_search to understand behaviour.

    Operations:
    - implementations: types that implement, extend or embed a type; methods that override a method
    - callers / callees: who calls a function, method or type; what it calls
    - dependencies / dependents: what a file, type or function needs; what needs it
    - type_usages: where a type is named in signatures, fields and bases
    - path: the shortest chain of calls from target to `to`
    - impact: what a change of the target may break, with impact_type and severity; use depth 2 or 3

    Each result has its node, the place of the reference, and how it was resolved: "confidence"
    exact, import, receiver or name (the only method of that name); a call that may mean several
    lists them as "candidates" instead of guessing. Calls through callbacks, reflection and untyped
    values are not in the graph.

    Examples:
    - {"operation": "callers", "target": "provider.Embed"} - what calls provider.Embed?
    - {"operation": "implementations", "target": "embed.Provider"}
    - {"operation": "impact", "target": "Config.load", "depth": 2, "exclude_patterns": ["tests/"]}
    - {"operation": "path", "target": "main", "to": "Store.save"}
    - {"operation": "dependents", "target": "src/auth/session.ts"}

    """
    return await graph(
        asking,
        Graph(
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
        ),
    )
