"""SOURCE → CHUNKS: the five kinds. Each kind is a pure function of one `Frame`."""

import dataclasses

from cortex.indexer.chunkers.code import code_chunks
from cortex.indexer.chunkers.documentation import documentation_chunks
from cortex.indexer.chunkers.frame import Frame
from cortex.indexer.chunkers.notebook import cells, to_notebook_chunk
from cortex.indexer.chunkers.tiles import CountTokens
from cortex.indexer.chunkers.views import data_chunks, definitions_chunks, symbols_chunks
from cortex.indexer.syntax.parse import Unparsed, parse
from cortex.indexer.syntax.source import Source
from cortex.terms.languages import Language, sniff
from cortex.terms.records import Chunk, covers

__all__ = ["CHUNKERS_VERSION", "Cut", "cut"]

#: increased with every change to the content of chunks: all files are then cut again
CHUNKERS_VERSION = 17
#: the remark for a file that ended its parser's process
PARSER_ENDED = "cut without a parser, which ended the process"


@dataclasses.dataclass(frozen=True, slots=True)
class Cut:
    """The chunks of a file. `remarks` are short phrases about its peculiarities."""

    chunks: list[Chunk]
    remarks: tuple[str, ...] = ()


def cut(source: Source, count_tokens: CountTokens, budget: int, *, plain: bool = False) -> Cut:
    """Return a file's chunks of at most `budget` tokens, unique ids; `plain`: no parser."""
    if not source.lines:
        return Cut([])
    language = sniff(source.path, source.lines)
    if plain:
        language = dataclasses.replace(language, wheel="")
        return _cut(source, language, count_tokens, budget, PARSER_ENDED)
    try:
        if language.name == "notebook" and (notebook_cells := cells(source)):
            chunks = [
                to_notebook_chunk(chunk, cell, number)
                for number, cell in enumerate(notebook_cells, 1)
                for chunk in _cut(cell.source, cell.language, count_tokens, budget).chunks
                if covers(chunk.chunk_type)
            ]
            return Cut(chunks)
        return _cut(source, language, count_tokens, budget)
    except Unparsed as why:
        return _cut(source, dataclasses.replace(language, wheel=""), count_tokens, budget, str(why))


def _cut(source: Source, language: Language, count_tokens: CountTokens, budget: int, remark: str = "") -> Cut:
    frame = Frame(source, language, parse(source, language), count_tokens, budget)
    origin, why = frame.origin
    unread = frame.outline.unread
    remarks = (
        remark,
        source.remark,
        f"syntax errors: {unread}" if unread else "syntax errors" if frame.outline.errors else "",
        f"{origin}: {why}" if origin else "",
    )
    return Cut(_chunks(frame), tuple(filter(None, remarks)))


def _chunks(frame: Frame) -> list[Chunk]:
    if frame.language.kind == "document":
        return documentation_chunks(frame)
    if frame.language.kind == "data":
        return [*data_chunks(frame), *code_chunks(frame)]
    overview = symbols_chunks(frame)
    chunks = [*definitions_chunks(frame), *data_chunks(frame), *code_chunks(frame)]
    for chunk in chunks if overview else ():
        chunk.metadata.setdefault("parent", overview[0].id)
    return [*overview, *chunks]
