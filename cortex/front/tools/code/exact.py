"""The tool cortex_exact: finds code and documents by keywords, literally."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from cortex.ask.asking import Asking
from cortex.ask.exact import exact
from cortex.ask.questions import Exact
from cortex.front.tools.arguments import (
    ChunkTypes,
    DetailLevel,
    ExcludePaths,
    Limit,
    MaxTokens,
    Paths,
    Tags,
    make_filters,
)

MatchKind = Literal["exact", "phrase", "prefix", "fuzzy", "regex", "substring"]


async def cortex_exact(
    asking: Asking,
    *,
    query: Annotated[str, Meta(description="Keywords in the syntax described above.")],
    limit: Limit = 15,
    offset: Annotated[int, Meta(description="Results to skip, for the next page.")] = 0,
    match_type: Annotated[
        MatchKind | None,
        Meta(description="How a plain query is matched; an operator or wildcard in the query wins over it."),
    ] = None,
    chunk_types: ChunkTypes = (),
    tags: Tags = (),
    paths: Paths = (),
    exclude_paths: ExcludePaths = (),
    detail: DetailLevel = "full",
    max_tokens: MaxTokens = 20_000,
) -> dict[str, Any]:
    """Full-text keyword search: exact identifiers, boolean queries, phrases, prefixes and typos.

    Use it to find definitions and uses of a name you know (Provider, sync.RWMutex), for boolean
    operators, wildcards and misspelled names; it is faster than cortex_search for exact matches.
    Use cortex_search for questions in natural language ("how", "why", "explain") and to understand
    behaviour.

    Supports:
    - Field scoping: text:provider, tags:go, chunk_type:definitions, file_path:auth, title:,
      symbols:, language:
    - Boolean operators: AND, OR, NOT, +required, -excluded; a space means AND
    - Phrase search: "error handling"; words near each other: "error handling"~3
    - Wildcards: Prov* (prefix matching)
    - Fuzzy: Provdier~1 (edit distance)
    - Grouping and boosts: (text:A OR text:B^2) AND tags:go
    - Combinations: text:handler AND tags:go AND -file_path:test

    Default: searches the 'text' field only, to avoid path and metadata noise. Case does not matter;
    sync.RWMutex, snake_case and CamelCase are found as written and by their parts.

    Examples:
    - text:Provider - find "Provider" in code and documents
    - sync.RWMutex - all uses of an identifier
    - Provider AND interface - boolean keyword search
    - text:handler AND tags:go AND chunk_type:definitions - Go definitions only
    - text:authentication AND -file_path:test - exclude test files
    - text:"error handling" - exact phrase
    - (text:handler OR text:controller) AND tags:typescript AND -tags:test - exclude tests
    - Prov* interface - prefix matching

    """
    return await exact(
        asking,
        Exact(
            query=query,
            match_type=match_type,
            limit=limit,
            offset=offset,
            filters=make_filters(chunk_types, tags, paths, exclude_paths),
            detail=detail,
            max_tokens=max_tokens,
        ),
    )
