"""The tool code_context: the ranking of cortex_search in a flat shape, for editors and scripts."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from msgspec import Meta

from cortex.ask.asking import Asking
from cortex.ask.questions import Search
from cortex.ask.search import find
from ipc.messages import Filters


async def code_context(
    asking: Asking,
    *,
    query: Annotated[str, Meta(description="Words or names.")],
    k: Annotated[int, Meta(description="1 to 100.")] = 20,
    lang: Annotated[str, Meta(description="Only this language.")] = "",
) -> dict[str, Any]:
    """The ranking of cortex_search as a flat list of file, line number and excerpt, for editors and
    scripts; agents use cortex_search.
    """
    question = Search(query=query, limit=k, filters=Filters(language=lang), detail="snippet")
    return await flat(asking, question)


async def flat(asking: Asking, question: Search) -> dict[str, Any]:
    """The answer of `question`, whose detail is "snippet", in the flat shape. Raises as `find`."""
    # The only place where a front reads chunks: this shape holds parts of them.
    turn, found = await find(asking, question)
    stale = turn.stale(one.hit.path for one in found.hits)
    hits = []
    for one, raw in zip(found.hits, found.chunks, strict=True):
        chunk = orjson.loads(raw)
        line = (chunk.get("metadata") or {}).get("snippet_start_line") or one.hit.start_line
        hit = {
            "file": one.hit.path,
            "lno": line,
            "text": chunk.get("text", ""),
            "score": round(one.score, 4),
            "source": one.source,
        }
        if question.explain:
            hit["explain"] = one.explanation()
        hits.append(hit | {"stale": True} if one.hit.path in stale else hit)
    answer: dict[str, Any] = {"hits": hits}
    if found.truncated:
        answer["truncated"] = True
    if not hits:
        answer["suggestion"] = turn.explain_nothing(question.filters)
    answer["index"] = turn.index(found.notes)
    return answer
