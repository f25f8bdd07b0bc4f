"""SOURCE → CHUNKS: the five kinds. Every kind is a pure function of one `Frame`."""

from __future__ import annotations

import dataclasses

from cortex.indexer.chunkers.code import code_chunks
from cortex.indexer.chunkers.documentation import documentation_chunks
from cortex.indexer.chunkers.frame import Frame, embed_text
from cortex.indexer.chunkers.notebook import cells, moved
from cortex.indexer.chunkers.tiles import CountTokens
from cortex.indexer.chunkers.views import data_chunks, definitions_chunks, symbols_chunks
from cortex.indexer.languages import Language, sniff
from cortex.indexer.parse import parse
from cortex.indexer.source import Source
from cortex.records import COVERING_TYPES, Chunk

__all__ = ["CHUNKERS_VERSION", "chunk", "embed_text"]

#: raised with every change of what chunks hold: all files are then cut anew
CHUNKERS_VERSION = 3


def chunk(source: Source, count_tokens: CountTokens, budget: int, *, plain: bool = False) -> list[Chunk]:
    """All chunks of one file, none of more than `budget` tokens; ids are unique. `plain`: without a parser."""
    if not source.lines:
        return []
    language = sniff(source.path, source.lines)
    if language.name == "notebook" and not plain and (inside := cells(source)):
        return [
            moved(one, cell, number)
            for number, cell in enumerate(inside, 1)
            for one in _chunks(cell.source, cell.language, count_tokens, budget)
            if one.chunk_type in COVERING_TYPES
        ]
    if plain:
        language = dataclasses.replace(language, grammar=None)
    return _chunks(source, language, count_tokens, budget)


def _chunks(source: Source, language: Language, count_tokens: CountTokens, budget: int) -> list[Chunk]:
    frame = Frame(source, language, parse(source, language), count_tokens, budget)
    if language.kind == "document":
        return documentation_chunks(frame)
    if language.kind == "data":
        return [*data_chunks(frame), *code_chunks(frame)]
    overview = symbols_chunks(frame)
    rest = [*definitions_chunks(frame), *data_chunks(frame), *code_chunks(frame)]
    for one in rest if overview else ():
        one.metadata.setdefault("parent", overview[0].id)
    return [*overview, *rest]
