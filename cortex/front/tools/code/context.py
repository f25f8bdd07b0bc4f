"""The tool code_context: the ranking of cortex_search in a flat shape, for editors and scripts."""

from typing import Annotated, Any

import orjson
from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.ask.questions import Search
from cortex.ask.search import find
from cortex.front.form import Form, Word
from cortex.front.text.code import draw_context
from cortex.front.text.parts import Drawer
from cortex.front.tools.arguments import Paths, Projects
from cortex.ranking import Ranked
from ipc.messages import Filters

#: arguments of make_tool for agents; the route /v1/search takes all
FOR_CLIENTS = {"omitted": ("paths", "explain")}

FORMS = {
    "code_context": Form(
        has_hits=lambda answer: bool(answer["hits"]),
        text=Drawer(draw_context, frozenset(("hits",)), needs=("hits",)),
        words=(Word("query", "question"),),
    )
}


async def code_context(
    context: QueryContext,
    *,
    query: Annotated[str, Meta(description="Words or names.")],
    k: Annotated[int, Meta(description="Results, 1 to 100.")] = 20,
    lang: Annotated[str, Meta(description="Only this language.")] = "",
    paths: Paths = (),
    explain: Annotated[bool, Meta(description="Show each score's signals.")] = False,
    projects: Projects = (),
) -> dict[str, Any]:
    """Search as cortex_search does, with a flat list of file, line number and excerpt, for editors
    and scripts; agents use cortex_search.
    """
    filters = Filters(language=lang, paths=paths)
    question = Search(query=query, limit=k, filters=filters, detail="snippet", explain=explain)
    page = await find(context, question, projects)
    hits = [
        page.fan_out.name_project(placed.hit.project)
        | _hit(placed.hit.ranked, placed.chunk, question, stale=placed.stale)
        for placed in page.results
    ]
    return {"hits": hits} | page.end(question)


def _hit(ranked: Ranked, raw: bytes, question: Search, *, stale: bool) -> dict[str, Any]:
    # The only place where a front parses chunks: this shape has some of their fields.
    chunk = orjson.loads(raw)
    hit = {
        "file": ranked.hit.path,
        "lno": (chunk.get("metadata") or {}).get("snippet_start_line") or ranked.hit.start_line,
        "text": chunk.get("text", ""),
        "score": round(ranked.score, 4),
        "source": ranked.source,
    }
    if question.explain:
        hit["explain"] = ranked.explanation()
    return hit | ({"stale": True} if stale else {})
