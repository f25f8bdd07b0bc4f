"""`symbols`, `definitions` and `data` chunks: three views of a code file, from its outline."""

from collections.abc import Iterable, Sequence

from cortex.indexer.chunkers.code import qualified
from cortex.indexer.chunkers.frame import IMPORTS_MAX, Frame
from cortex.indexer.chunkers.tiles import split_to_budget
from cortex.terms.kinds import DATA_KINDS
from cortex.terms.records import Chunk, ChunkType, Symbol

#: a piece of a view's text, and its symbol
Block = tuple[str, Symbol | None]


def symbols_chunks(frame: Frame) -> list[Chunk]:
    """Return a short overview in plain words."""
    symbols = frame.outline.symbols
    if not symbols:
        return []
    count = frame.outline.imports_count
    data = [symbol for symbol in symbols if symbol.kind in DATA_KINDS and symbol.kind != "enum"]
    blocks: list[Block] = [
        *([(f"Package: {frame.package}\n", None)] if frame.package else []),
        *([(f"Imports: {count} {'package' if count == 1 else 'packages'}\n", None)] if count else []),
        *_listing("Types", frame.types),
        *_listing("Functions", frame.functions),
        *_listing("Constants and variables", data),
    ]
    return _pack(frame, "symbols", blocks, "\n")


def _listing(heading: str, symbols: Sequence[Symbol]) -> Iterable[Block]:
    for at, symbol in enumerate(symbols):
        kind = f" ({symbol.kind})" if heading == "Types" else ""
        row = f"  - {qualified(symbol)}{kind} ({_line_label(symbol)})"
        first, last = (f"{heading}:\n" if at == 0 else ""), ("\n" if at + 1 == len(symbols) else "")
        yield f"{first}{row}{last}", symbol


def _line_label(symbol: Symbol) -> str:
    if symbol.start_line == symbol.end_line:
        return f"line {symbol.start_line}"
    return f"lines {symbol.start_line}-{symbol.end_line}"


def definitions_chunks(frame: Frame) -> list[Chunk]:
    """Return signatures and type bodies with their comments."""
    definitions = [
        symbol for symbol in frame.outline.symbols if symbol.kind not in DATA_KINDS or symbol.kind == "enum"
    ]
    return _pack(
        frame, "definitions", [(_signature_with_doc(frame, symbol), symbol) for symbol in definitions], "\n\n"
    )


def data_chunks(frame: Frame) -> list[Chunk]:
    """Return constants, enums and initialised globals."""
    blocks: dict[tuple[int, int], Block] = {}
    for symbol in frame.outline.symbols:
        if symbol.kind in DATA_KINDS:  # several names of one statement share one block
            blocks.setdefault(
                (symbol.start_line, symbol.end_line), (_signature_with_doc(frame, symbol), symbol)
            )
    return _pack(frame, "data", list(blocks.values()), "\n\n")


def _signature_with_doc(frame: Frame, symbol: Symbol) -> str:
    comment = frame.language.comment
    lines = [f"{comment} Lines {symbol.start_line}-{symbol.end_line}"]
    if symbol.doc and symbol.doc.split("\n", 1)[0] not in symbol.signature:
        lines += [f"{comment} {line}" for line in symbol.doc.split("\n")]
    return "\n".join([*lines, symbol.signature])


def _pack(frame: Frame, kind: ChunkType, blocks: Sequence[Block], joint: str) -> list[Chunk]:
    """Join blocks into as few chunks as the budget allows; each lists only its own symbols."""
    packs: list[tuple[list[str], list[Symbol]]] = []
    weight = 0
    for text, symbol in blocks:
        for piece in split_to_budget(text, frame.count_tokens, frame.budget):
            piece_weight = frame.count_tokens(piece)
            if not packs or weight + piece_weight > frame.budget:
                packs.append(([], []))
                weight = 0
            packs[-1][0].append(piece)
            if symbol and packs[-1][1][-1:] != [symbol]:
                packs[-1][1].append(symbol)
            weight += piece_weight
    is_split = len(packs) > 1
    return [
        _view(frame, kind, joint.join(texts).strip("\n"), symbols, number if is_split else 0)
        for number, (texts, symbols) in enumerate(packs, 1)
    ]


def _view(frame: Frame, kind: ChunkType, text: str, symbols: list[Symbol], number: int) -> Chunk:
    symbols = sorted(symbols, key=lambda symbol: (symbol.start_line, -symbol.end_line))
    start, end = 1, len(frame.source.lines)
    if symbols and (number or kind != "symbols"):
        start, end = symbols[0].start_line, max(symbol.end_line for symbol in symbols)
    metadata = frame.metadata(start, end, symbols)
    if kind == "symbols":
        metadata["imports"] = list(dict.fromkeys(frame.outline.imports))[:IMPORTS_MAX]
    else:
        metadata["comment_text"] = "\n".join(symbol.doc for symbol in symbols if symbol.doc)
    suffix, remark = (f"-p{number}", f" (part {number})") if number else ("", "")
    return frame.chunk(
        f"code-{kind}-{frame.path}{suffix}", kind, f"{frame.path} {kind}{remark}", text, metadata
    )
