"""The tool cortex_search: search for code, documents and notes by meaning and words."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from cortex.ask.code_notes.merged_order import merge_rows
from cortex.ask.exploring.unit_answer import answer_with_code
from cortex.ask.query_context import QueryContext
from cortex.ask.questions import Search
from cortex.ask.search import search
from cortex.front.form import Form, Offer, Word
from cortex.front.text.code import RESULTS
from cortex.front.tool import Sets
from cortex.front.tools.arguments import (
    LIMIT,
    OFFERED,
    ChunkTypes,
    ExcludePaths,
    Limit,
    Paths,
    Projects,
    Shape,
    Size,
    Tags,
    make_filters,
)
from cortex.front.tools.memory.arguments import LIMIT as NOTES
from cortex.front.tools.memory.arguments import LIMIT_MAX, AsOf, Whose, drop_empty
from cortex.front.tools.memory.fence import fence_rows
from cortex.front.tools.memory.place_checks import judge_rows
from cortex.system.errors import BadRequest, Unavailable
from cortex.terms.bounds import clamp


def _sets_of(arguments: Mapping[str, Any]) -> Sets:
    """Return the sets that a search asks: `kind` implies notes, as only they have one."""
    scope = arguments.get("scope", "code")
    if scope == "all":
        return "both"
    return "memory" if scope == "memory" or arguments.get("kind") else "code"


#: arguments for notes alone, and for code alone
_ABOUT_NOTES = ("scope", "kind", "as_of", "project")
_ABOUT_CODE = tuple(
    "chunk_types paths exclude_paths mode min_score detail max_tokens explain projects".split()
)
#: arguments of `make_tool` for the tool in the toolset of code, in that of memory, and in both
IN_CODE = {"omitted": _ABOUT_NOTES}
IN_MEMORY = {
    "asks": _sets_of,
    "omitted": _ABOUT_CODE,
    "defaults": {"scope": "memory", "limit": NOTES},
    "description": "Search notes of earlier sessions, by meaning and words; or code, with `scope`.\n\n"
    'Example: {"query": "retries", "kind": "decision"}',
}
IN_BOTH = {"asks": _sets_of}

FORMS = {
    "cortex_search": Form(
        has_hits=lambda answer: bool(answer.get("results") or answer.get("map") or answer.get("sites")),
        text=RESULTS,
        words=(Word("query", "question"),),
        places=True,
        offer=Offer(
            "Find code by meaning, name, error or issue text. Answers with a map of functions, best first, and "
            "then the code of the best. Ask in English and in the code's own words.",
            {"query": "A question, names, or a pasted text."} | OFFERED,
        ),
    )
}


async def cortex_search(
    context: QueryContext,
    *,
    query: Annotated[str, Meta(description="A question, names, or a pasted text.")],
    scope: Annotated[Literal["code", "memory", "all"], Meta(description="memory searches notes.")] = "code",
    kind: Annotated[str, Meta(description="Kind of note; implies memory.")] = "",
    limit: Limit = LIMIT,
    chunk_types: ChunkTypes = (),
    tags: Tags = (),
    paths: Paths = (),
    exclude_paths: ExcludePaths = (),
    mode: Annotated[
        Literal["hybrid", "semantic"], Meta(description="semantic: by meaning alone.")
    ] = "hybrid",
    min_score: Annotated[float | None, Meta(description="Score, 0 to 1.")] = None,
    detail: Shape = "auto",
    max_tokens: Size = None,
    explain: Annotated[bool, Meta(description="Show each score's signals.")] = False,
    as_of: AsOf = "",
    project: Whose = "",
    projects: Projects = (),
) -> dict[str, Any]:
    """Search for relevant context in the project codebase and documentation, by meaning and words.
    For "how", "why", "where is … handled", and when unsure which tool fits. A stack trace, error
    message or issue text can be passed unchanged.

    Example: {"query": "how does authentication work"}
    """
    asks = _sets_of({"scope": scope, "kind": kind})
    if projects and asks != "code":
        raise BadRequest("`projects` searches code alone. Leave out `scope` and `kind`, or `projects`.")
    note_arguments = {"query": query} | drop_empty(kind=kind, tags=tags or None, as_of=as_of, project=project)
    if asks == "memory":
        return await _search_notes(context, note_arguments, NOTES if limit == LIMIT else limit)
    question = Search(
        query=query,
        limit=limit,
        counted=limit != LIMIT,
        filters=make_filters(chunk_types, tags, paths, exclude_paths),
        mode=mode,
        min_score=min_score,
        detail=detail,
        max_tokens=max_tokens,
        explain=explain,
    )
    if asks == "code" and not projects and context.audience == "agent" and question.is_plain:
        answer = await answer_with_code(context, question)
        if answer is not None:
            return answer
    if asks == "code":
        return await search(context, question, projects)
    code, notes = await asyncio.gather(
        search(context, question), _notes_or_reason(context, note_arguments, limit)
    )
    return _merge_notes(code, notes)


async def _search_notes(context: QueryContext, arguments: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Return {"results": rows} of matching notes; the list may be empty."""
    answer = await context.remember("search", dict(arguments) | {"limit": clamp(limit, 1, LIMIT_MAX)})
    return answer | {"results": fence_rows(await judge_rows(context, answer["results"]))}


async def _notes_or_reason(context: QueryContext, arguments: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """As `_search_notes`; if memory does not answer, no rows, and its error under "memory"."""
    try:
        return await _search_notes(context, arguments, limit)
    except Unavailable as error:
        return {"results": [], "memory": str(error)}


def _merge_notes(code: dict[str, Any], notes: Mapping[str, Any]) -> dict[str, Any]:
    rows = merge_rows(code["results"], notes["results"])
    return code | {"results": rows} | ({"memory": notes["memory"]} if "memory" in notes else {})
