"""The tool cortex_outline: symbols of a file or folder, the most referenced first."""

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.ask.questions import budget
from cortex.ask.structure import outline
from cortex.front.form import Form, Word
from cortex.front.text.code import draw_outline
from cortex.front.text.parts import Drawer
from cortex.front.tools.arguments import MaxTokens
from ipc.messages import OutlineSearch

_SHOWN = frozenset(
    "path results total_found total_returned symbols_shown entry_points entry_points_total".split()
)
FORMS = {
    "cortex_outline": Form(
        text=Drawer(draw_outline, _SHOWN, needs=("results",)),
        words=(Word("path", "path", optional=True, completes="path"),),
    )
}


async def cortex_outline(
    context: QueryContext,
    *,
    path: Annotated[str, Meta(description="File or folder; empty for the project.")] = "",
    max_tokens: MaxTokens = 4_000,
) -> dict[str, Any]:
    """Map a file, folder or the project: types, functions and methods with signatures and lines,
    the most referenced first. Use it before you read a file, and on unknown code.

    Example: {"path": "src/auth", "max_tokens": 2000}
    """
    return await outline(context, OutlineSearch(path, budget(max_tokens)))
