"""The tool cortex_pattern: search for code by its syntax."""

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.ask.structure import pattern as find
from cortex.front.form import Form, Word
from cortex.front.text.code import draw_pattern
from cortex.front.text.parts import Drawer
from cortex.front.tools.arguments import ExcludePaths, Paths
from ipc.messages import PatternSearch

_SHOWN = frozenset(("pattern", "language", "results", "total_found", "total_returned", "files_searched"))
FORMS = {
    "cortex_pattern": Form(
        text=Drawer(draw_pattern, _SHOWN, needs=("results",)),
        words=(Word("pattern", "pattern"), Word("language", "language")),
    )
}


async def cortex_pattern(
    context: QueryContext,
    *,
    pattern: Annotated[str, Meta(description="Code; $NAME is one node, $$$NAME any number.")],
    language: Annotated[str, Meta(description="python, go, typescript, tsx, …")],
    paths: Paths = (),
    exclude_paths: ExcludePaths = (),
    limit: Annotated[int, Meta(description="Results, 1 to 200.")] = 50,
) -> dict[str, Any]:
    """Find code by syntax, in any layout: calls with certain arguments, statements to change
    everywhere.

    Example: {"pattern": "requests.get($URL, $$$REST)", "language": "python"}
    """
    return await find(context, PatternSearch(pattern, language, paths, exclude_paths, limit))
