"""The tool cortex_exact: keyword search in code and documents."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from cortex.ask.exact import exact
from cortex.ask.query_context import QueryContext
from cortex.ask.questions import Exact
from cortex.front.form import Form, Offer, Word
from cortex.front.text.code import RESULTS
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

MatchKind = Literal["exact", "phrase", "prefix", "fuzzy", "regex", "substring"]

#: arguments of make_tool for programs and agents; the page counts hits by language and folder
FOR_CLIENTS = {"omitted": ("facets",)}

FORMS = {
    "cortex_exact": Form(
        text=RESULTS,
        words=(Word("query", "question", completes="symbol"),),
        places=True,
        offer=Offer(
            'Find a literal text or name. Takes AND, OR, NOT, "a phrase", prefix*, typo~1, path and '
            "language fields: file_path:, language:.",
            {"query": "", "match_type": "For a query without operators."} | OFFERED,
        ),
    )
}


async def cortex_exact(
    context: QueryContext,
    *,
    query: Annotated[str, Meta(description="In the syntax above.")],
    limit: Limit = LIMIT,
    offset: Annotated[int, Meta(description="Results to skip.")] = 0,
    match_type: Annotated[MatchKind | None, Meta(description="For a query without operators.")] = None,
    chunk_types: ChunkTypes = (),
    tags: Tags = (),
    paths: Paths = (),
    exclude_paths: ExcludePaths = (),
    detail: Shape = "auto",
    max_tokens: Size = None,
    projects: Projects = (),
    facets: bool = False,
) -> dict[str, Any]:
    """Full-text keyword search, when you know a name or the literal text; not for questions.

    - Boolean operators: AND, OR, NOT, +required, -excluded; a space means AND
    - Phrase "error handling", literal "save(", nearby "a b"~3, Prov* (prefix), Provdier~1 (fuzzy)
    - Fields: text: (default), title:, symbols:, file_path:, tags:, chunk_type:, language:

    Example: text:handler AND tags:go AND -file_path:test
    """
    question = Exact(
        query=query,
        match_type=match_type,
        limit=limit,
        counted=limit != LIMIT,
        offset=offset,
        filters=make_filters(chunk_types, tags, paths, exclude_paths),
        detail=detail,
        max_tokens=max_tokens,
        facets=facets,
    )
    return await exact(context, question, projects)
