"""The tool cortex_recall: notes that match a question, and notes connected to them."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.front.tools.memory.arguments import LIMIT, LIMIT_MAX, AsOf, Limit, Whose, drop_empty
from cortex.front.tools.memory.fence import fence_rows
from cortex.front.tools.memory.place_checks import judge_rows
from cortex.terms.bounds import clamp


async def cortex_recall(
    context: QueryContext,
    *,
    query: Annotated[str, Meta(description="A question.")],
    limit: Limit = LIMIT,
    alpha: Annotated[float, Meta(description="1: similarity alone; 0: connections.")] = 0.7,
    as_of: AsOf = "",
    project: Whose = "",
    explain: Annotated[bool, Meta(description="Show each score's signals.")] = False,
) -> dict[str, Any]:
    """Recall what earlier sessions learned about a question, by words, meaning and connections:
    decisions, preferences, events, reasons that no file holds. No result means nothing noted.

    Example: {"query": "why do we back off before a retry"}
    """
    arguments = drop_empty(alpha=alpha, as_of=as_of, project=project, explain=explain or None)
    arguments |= {"query": query, "limit": clamp(limit, 1, LIMIT_MAX)}
    answer = await context.remember("recall", arguments)
    return answer | {"results": fence_rows(await judge_rows(context, answer["results"]))}
