"""The tool cortex_read: definitions, lines, files and folders by their names and places."""

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.ask.reading.read import TOKENS, Read, read
from cortex.front.form import Form, Offer, Word

FORMS = {
    "cortex_read": Form(
        has_hits=lambda answer: bool(answer.get("code") or answer.get("map")),
        words=(Word("places", "place", completes="path", many=True),),
        offer=Offer(
            "Read definitions or lines, whole and numbered, several at once: a symbol, `path:line`, `path:a-b`. A "
            "file or folder gives its outline; a file with `query`, its functions that fit, too.",
            {"places": 'As ["Store.save", "src/app.py:40-90"].', "query": "What to look for in long ones."},
        ),
    )
}


async def cortex_read(
    context: QueryContext,
    *,
    places: Annotated[tuple[str, ...], Meta(description="Symbols, path:line, path:a-b, files, folders.")],
    query: Annotated[str, Meta(description="What to look for in long ones.")] = "",
    max_tokens: Annotated[int, Meta(description="Size of the answer.")] = TOKENS,
) -> dict[str, Any]:
    """Read definitions and lines, whole and numbered as in the file now, several at once. A long
    definition is its outline and the blocks around the line or the `query`; a file or folder is its
    outline.

    Example: {"places": ["Store.save", "src/app.py:40-90"]}
    """
    return await read(context, Read(places, query, max_tokens))
