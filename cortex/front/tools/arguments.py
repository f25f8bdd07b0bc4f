"""The arguments that several tools share, with the descriptions that agents read."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ipc.messages import Filters

ChunkType = Literal["documentation", "symbols", "definitions", "data", "code"]

Limit = Annotated[int, Meta(description="How many results, 1 to 100.")]
ChunkTypes = Annotated[
    tuple[ChunkType, ...],
    Meta(
        description="Any of these kinds; leave empty for all. documentation: READMEs, guides, design documents. symbols: "
        "an overview of a file's types and functions. definitions: full signatures and type bodies with comments. "
        "data: constants, configuration, enum values. code: the source itself."
    ),
]
Tags = Annotated[
    tuple[str, ...],
    Meta(
        description='All of these tags: a language ("go"), "code" or "documentation", a kind ("definitions"), "test", the '
        "first folders of the path, or a document's own tags. An entry that equals a file's path keeps that file."
    ),
]
Paths = Annotated[
    tuple[str, ...],
    Meta(description='Only files that match any of these globs, as in .gitignore: "src/auth/**", "*.go".'),
]
ExcludePaths = Annotated[
    tuple[str, ...],
    Meta(description='No file that matches any of these globs: "**/test/**", "vendor/".'),
]
DetailLevel = Annotated[
    Literal["full", "snippet", "location"],
    Meta(
        description='How much text each result carries: "full" chunks, "snippet" (the best ~10 lines), "location" (none).'
    ),
]
MaxTokens = Annotated[
    int,
    Meta(
        description="Size of the answer, in tokens of about 4 bytes; long texts are cut, last results first."
    ),
]


def make_filters(
    chunk_types: tuple[str, ...],
    tags: tuple[str, ...],
    paths: tuple[str, ...],
    exclude_paths: tuple[str, ...],
) -> Filters:
    return Filters(chunk_types=chunk_types, tags=tags, paths=paths, exclude_paths=exclude_paths)
