"""The tool cortex_search: finds code and documents by meaning and words together."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from cortex.ask.asking import Asking
from cortex.ask.questions import Search
from cortex.ask.search import search
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


async def cortex_search(
    asking: Asking,
    *,
    query: Annotated[
        str, Meta(description="What you want to know, in plain words; names of code may be among them.")
    ],
    limit: Limit = 15,
    chunk_types: ChunkTypes = (),
    tags: Tags = (),
    paths: Paths = (),
    exclude_paths: ExcludePaths = (),
    mode: Annotated[
        Literal["hybrid", "semantic"],
        Meta(description='"hybrid": words and meaning, best file first. "semantic": meaning alone (cosine).'),
    ] = "hybrid",
    min_score: Annotated[
        float | None,
        Meta(description="Leave out results below this combined_score (0 to 1). Unset: no floor."),
    ] = None,
    detail: DetailLevel = "full",
    max_tokens: MaxTokens = 20_000,
    explain: Annotated[
        bool, Meta(description="Show each signal's value and weight for every result.")
    ] = False,
) -> dict[str, Any]:
    """Search for relevant context in the project codebase and documentation, by meaning.

    Use it for natural language questions ("how", "why", "explain", "where is ... handled"), to
    understand behaviour, for concepts whose exact names you don't know, and whenever you are unsure
    which tool fits: it is the safest for ambiguous queries. It finds similar patterns and connects
    code with documents. Use cortex_exact instead for exact identifiers (sync.RWMutex), boolean
    operators (AND, OR, NOT), phrases, wildcards (Prov*) and typos.

    Ask in English: translate a question of another language first, and keep names of code as they
    are. A stack trace, an error message or an issue's text can be passed as it is: the files,
    lines, names and quoted messages in it are used.

    Each result is a chunk (text, file path, lines, language, tags) with a combined_score; the best
    chunk of each file comes first, more chunks of the same files follow. "stale": true marks a file
    that was changed after it was indexed.

    Examples:
    - {"query": "how does authentication work"} - design rationale, code and configuration together
    - {"query": "authentication design decisions", "chunk_types": ["documentation"], "tags":
      ["architecture"]}
    - {"query": "authentication handler implementation", "chunk_types": ["symbols", "definitions"]}
    - {"query": "database connection settings", "chunk_types": ["data"]}
    - {"query": "error handling patterns", "tags": ["typescript", "code"]}
    - {"query": "mutex synchronization patterns", "tags": ["internal/mcp/searcher.go"]} - inside one
      file

    Find + understand: first cortex_exact for the name, then cortex_search with tags set to the file
    paths found.

    """
    return await search(
        asking,
        Search(
            query=query,
            limit=limit,
            filters=make_filters(chunk_types, tags, paths, exclude_paths),
            mode=mode,
            min_score=min_score,
            detail=detail,
            max_tokens=max_tokens,
            explain=explain,
        ),
    )
