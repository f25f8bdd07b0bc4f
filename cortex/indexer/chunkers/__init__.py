"""SOURCE → CHUNKS: the five kinds. Every kind is a pure function of one `Frame`."""

from __future__ import annotations

import dataclasses

from cortex.indexer.chunkers.code import code_chunks
from cortex.indexer.chunkers.documentation import documentation_chunks
from cortex.indexer.chunkers.frame import Frame, embed_text
from cortex.indexer.chunkers.tiles import CountTokens
from cortex.indexer.chunkers.views import data_chunks, definitions_chunks, symbols_chunks
from cortex.indexer.languages import sniff
from cortex.indexer.parse import parse
from cortex.indexer.source import Source
from cortex.records import Chunk

__all__ = ["CHUNKERS_VERSION", "chunk", "embed_text"]

#: raised with every change of what chunks hold: all files are then cut anew
CHUNKERS_VERSION = 1


def chunk(source: Source, count_tokens: CountTokens, budget: int, *, plain: bool = False) -> list[Chunk]:
    """All chunks of one file, none of more than `budget` tokens; ids are unique. `plain`: without a parser."""
    if not source.lines:
        return []
    language = sniff(source.path, source.lines)
    if plain:
        language = dataclasses.replace(language, grammar=None)
    frame = Frame(source, language, parse(source, language), count_tokens, budget)
    if language.kind == "document":
        return documentation_chunks(frame)
    return [*symbols_chunks(frame), *definitions_chunks(frame), *data_chunks(frame), *code_chunks(frame)]
