"""Arguments that several tools share, with the descriptions that agents read."""

from typing import Annotated, Literal

from msgspec import Meta

from ipc.messages import Filters

#: default number of hits; with this value, detail `auto` decides itself how many it shows
LIMIT = 15

Limit = Annotated[int, Meta(description="Results, 1 to 100.")]
ChunkTypes = Annotated[
    tuple[str, ...], Meta(description="Any of: code, documentation, symbols, definitions, data.")
]
Tags = Annotated[
    tuple[str, ...], Meta(description='Match all: "go", "test", "documentation", a top folder, a path.')
]
Paths = Annotated[tuple[str, ...], Meta(description='Globs: "src/auth/**".')]
ExcludePaths = Annotated[tuple[str, ...], Meta(description="Globs to exclude.")]
Projects = Annotated[
    tuple[str, ...], Meta(description='Several projects at once, by names and globs: "api-*".')
]
Shape = Annotated[
    Literal["auto", "full", "snippet", "location"], Meta(description='"auto": the lines that answer.')
]
Size = Annotated[int | None, Meta(description="Answer size; auto: 1 500.")]
MaxTokens = Annotated[int, Meta(description="Answer size.")]
#: arguments in the offers of tools that find hits
OFFERED = {
    "limit": "Results.",
    "chunk_types": "code, documentation, symbols, definitions or data.",
    "tags": 'Match all: "go", "test", a path.',
    "paths": 'Globs: "src/**".',
    "max_tokens": "Size of the answer.",
}


def make_filters(
    chunk_types: tuple[str, ...],
    tags: tuple[str, ...],
    paths: tuple[str, ...],
    exclude_paths: tuple[str, ...],
) -> Filters:
    return Filters(chunk_types=chunk_types, tags=tags, paths=paths, exclude_paths=exclude_paths)
