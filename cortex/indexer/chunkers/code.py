"""`code` chunks: every line of a code file exactly once, cut at statements and definitions."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from cortex.indexer.chunkers.frame import DOC_CHARS, Frame, definition
from cortex.indexer.chunkers.tiles import layout_costs, syntax_costs, tile
from cortex.terms.kinds import DATA_KINDS
from cortex.terms.records import Chunk, Symbol

_FIRST_LINE = attrgetter("start_line")


def code_chunks(frame: Frame) -> list[Chunk]:
    lines = frame.source.lines
    costs = syntax_costs(lines, frame.outline) if frame.language.grammar else layout_costs(lines)
    tiles = tile(list(map(frame.count_tokens, lines)), costs, frame.budget)
    lines_without_code = _lines_without_code(frame)
    numbers: Counter[str] = Counter()
    chunks: list[Chunk] = []
    heads: list[tuple[int, str]] = []  # (first line, id) of each tile
    first_ids: dict[str, str] = {}  # scope → its first chunk
    for low, high in tiles:
        start, end = low + 1, high
        code_lines = [line for line in range(start, end + 1) if line not in lines_without_code]
        owner = _owner(frame.outline.symbols, code_lines[0], code_lines[-1]) if code_lines else None
        scope = qualified(owner) if owner else ""
        numbers[scope] += 1
        pieces = frame.chunks(
            f"code-{frame.path}#{scope}~{numbers[scope]}",
            "code",
            f"{frame.path} {scope}".rstrip(),
            frame.source.text(start, end),
            _metadata(frame, start, end, owner),
        )
        heads.append((start, pieces[0].id))
        parent = _parent(frame, owner, heads, first_ids.setdefault(scope, pieces[0].id))
        for piece in pieces if parent else ():
            piece.metadata["parent"] = parent
        chunks += pieces
    return chunks


def _parent(frame: Frame, owner: Symbol | None, heads: list[tuple[int, str]], first: str) -> str:
    """Return the id of the chunk's parent, "" for none: the first chunk of the same definition
    (`first`), or the chunk of the enclosing type. The chunk is the last of `heads`.
    """
    tile_id = heads[-1][1]
    if owner is None or first != tile_id:
        return first if owner else ""
    enclosing = next(
        (
            symbol
            for symbol in _innermost_first(frame.outline.symbols, owner.start_line)
            if owner.start_line <= symbol.end_line and qualified(symbol) == owner.scope
        ),
        None,
    )
    above = bisect_right(heads, enclosing.start_line, key=itemgetter(0)) if enclosing else 0
    return heads[above - 1][1] if above and heads[above - 1][1] != tile_id else ""


def _lines_without_code(frame: Frame) -> set[int]:
    """Return blank lines, and the lines of comments and attributes that have a line of their own:
    they do not decide which definition owns a chunk.
    """
    blank = {number for number, line in enumerate(frame.source.lines, 1) if not line.strip()}
    return blank.union(*(range(span.start, span.end + 1) for span in frame.outline.attached))


def _metadata(frame: Frame, start: int, end: int, owner: Symbol | None) -> dict[str, Any]:
    outline = frame.outline
    inside = outline.symbols[_slice_by_start(outline.symbols, start, end, _FIRST_LINE)]
    spans = outline.comments[_slice_by_start(outline.comments, start, end, attrgetter("start"))]
    comments = [span.text for span in spans if span.text]
    text = "\n".join(comments)
    doc = owner.doc[:DOC_CHARS] if owner else ""
    if (
        frame.language.grammar is None and not frame.language.keys
    ):  # not parsed: readers may search for definitions themselves
        return {
            name: value for name, value in frame.metadata(start, end, ()).items() if name != "definitions"
        } | {"scope": "", "signature": ""}
    return (
        frame.metadata(start, end, inside)
        | {
            "definitions": [definition(symbol) | _blocks(symbol) for symbol in inside],
            "scope": qualified(owner) if owner else "",
            "signature": owner.signature if owner and owner.kind not in DATA_KINDS else "",
            "comment_text": text,
        }
        | ({"doc": doc} if doc and doc not in text else {})
    )


def _blocks(symbol: Symbol) -> dict[str, Any]:
    return {"blocks": [list(block) for block in symbol.blocks]} if symbol.blocks else {}


def _slice_by_start(entries: Sequence[Any], start: int, end: int, line: Callable[[Any], int]) -> slice:
    """Return the slice of `entries`, sorted by first `line`, that begin from `start` to `end`."""
    return slice(bisect_left(entries, start, key=line), bisect_right(entries, end, key=line))


def _owner(symbols: tuple[Symbol, ...], start: int, end: int) -> Symbol | None:
    """Return the innermost definition that contains all the lines (comments above it aside)."""
    return next((symbol for symbol in _innermost_first(symbols, start) if end <= symbol.end_line), None)


def _innermost_first(symbols: Sequence[Symbol], line: int) -> Iterator[Symbol]:
    """Yield the symbols that begin up to `line`, the last first: later ones are inside."""
    return map(symbols.__getitem__, range(_slice_by_start(symbols, 0, line, _FIRST_LINE).stop - 1, -1, -1))


def qualified(symbol: Symbol) -> str:
    return f"{symbol.scope}.{symbol.name}" if symbol.scope else symbol.name
