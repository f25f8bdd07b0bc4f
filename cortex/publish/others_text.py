"""Chunks of other programs, compared with the sources that they name: an answer shows the lines of
the file, or says that the text is another program's.
"""

from __future__ import annotations

import hashlib
import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cortex.generation.others import (
    BY_OTHERS,
    DIFFERS,
    NOT_COMPARED,
    REMARKS,
    OthersSource,
    is_inside,
    state_of,
)
from cortex.generation.write import DIGEST_BYTES
from cortex.publish.chunk_file_reader import ChunkFile, FiledChunk
from cortex.settings.encodings import Encodings
from cortex.system import files

#: bytes of a source that is compared
FILE_BYTES_MAX = 4 << 20
#: field of a chunk that says how far its text can be relied on; a chunk with the lines of its file
#: has none
ORIGIN = "origin"
#: metadata of a chunk with the lines that it covers
_RANGE = ("start_line", "end_line")


class OthersText:
    """Compares the chunks of other programs with the files below `root`. `compares` is false where
    the readers of an index have no sources. Used by one thread.
    """

    def __init__(self, root: Path, *, compares: bool = True) -> None:
        self._root = os.fspath(root)
        self._compares = compares

    def check(self, file: ChunkFile) -> ChunkFile:
        """Return `file` with the text of its chunks as answers show it, without chunks that name a
        place outside of the project, and with the state of each source.
        """
        sources: dict[str, OthersSource] = {}
        texts = _Texts(self._root)
        chunks: dict[str, FiledChunk] = {}
        outside: list[str] = []
        for name, chunk in file.chunks.items():
            path = chunk.source
            if path and not is_inside(self._root, path):
                outside.append(path)
                continue
            state = state_of(self._root, path)
            chunks[name], remark = self._check_chunk(chunk, path, state, texts)
            before = sources.get(path, state)
            sources[path] = replace(before, remark=max(before.remark, remark, key=REMARKS.index))
        warnings = file.warnings
        if outside:
            warning = (
                f"{file.name}: {len(outside)} of its chunks name places outside of the project, such as "
                f"{outside[0]!r}, and are left out."
            )
            warnings = (*warnings, warning)
        return replace(file, chunks=chunks, sources=sources, warnings=warnings)

    def is_unchanged(self, sources: Mapping[str, OthersSource]) -> bool:
        """Return whether the sources are as they were when they were compared."""
        return all(source.is_current(self._root, path) for path, source in sources.items())

    def _check_chunk(
        self, chunk: FiledChunk, path: str, state: OthersSource, texts: _Texts
    ) -> tuple[FiledChunk, str]:
        """Return (the chunk as answers show it, its remark)."""
        body = {key: value for key, value in chunk.body.items() if key != ORIGIN}
        if not self._compares:
            return _with(chunk, body | {ORIGIN: NOT_COMPARED}, NOT_COMPARED)
        lines_range = _range_of(body)
        if not path or lines_range is None or state.size < 0:
            return _with(chunk, body | {ORIGIN: BY_OTHERS}, BY_OTHERS)
        start, end = lines_range
        lines = texts.lines(path)
        if lines is not None and _is_same(body["text"], own_lines := lines[start - 1 : end]):
            return _with(chunk, body | {"text": "\n".join(own_lines)}, "")
        return _with(chunk, _without_text(body, path, start, end), DIFFERS)


class _Texts:
    """Lines of sources for a file's chunks; one is kept, as its chunks follow each other."""

    def __init__(self, root: str) -> None:
        self._root, self._encodings = root, Encodings(root)
        self._cached: tuple[str, Sequence[str] | None] = ("", None)

    def lines(self, path: str) -> Sequence[str] | None:
        """Return the lines of a source; None for a link, a large or a binary file."""
        if path != self._cached[0]:
            self._cached = path, self._read(path)
        return self._cached[1]

    def _read(self, path: str) -> Sequence[str] | None:
        try:
            raw = files.read_plain(f"{self._root}/{path}", FILE_BYTES_MAX + 1)
        except OSError:
            return None
        text = self._encodings.read(path, raw) if len(raw) <= FILE_BYTES_MAX else None
        return None if text is None else text.lines()


def _with(chunk: FiledChunk, body: dict[str, Any], remark: str) -> tuple[FiledChunk, str]:
    """Return the chunk with another body; its digest differs with the body's text."""
    text = f"{remark}\0{body['text']}".encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(chunk.digest + text, digest_size=DIGEST_BYTES).digest()
    return chunk._replace(body=body, digest=digest), remark


def _without_text(body: dict[str, Any], path: str, start: int, end: int) -> dict[str, Any]:
    """Return a chunk's body that differs from its file: it names the place, quotes nothing."""
    place = f"{path}:{start}-{end}"
    metadata = {key: value for key, value in body["metadata"].items() if key not in _RANGE}
    return {
        "id": body["id"],
        "chunk_type": body["chunk_type"],
        "title": place,
        "text": f"{place} {DIFFERS} from the chunk of another program; read the file.",
        "tags": body.get("tags") or [],
        "metadata": {"file_path": path, "language": str(metadata.get("language") or "")},
        ORIGIN: DIFFERS,
    }


def _range_of(body: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the first and last line of a chunk, 1-based; None for a chunk without lines."""
    metadata = body.get("metadata") or {}
    start, end = (metadata.get(name) for name in _RANGE)
    if not (isinstance(start, int) and isinstance(end, int) and 1 <= start <= end):
        return None
    return start, end


def _is_same(text: str, lines: Sequence[str]) -> bool:
    """Return whether a text is these lines, apart from common indentation, blanks at the ends of
    lines and blank lines around them.
    """
    return _normalised(text.splitlines()) == _normalised(lines)


def _normalised(lines: Sequence[str]) -> str:
    return textwrap.dedent("\n".join(line.rstrip() for line in lines).strip("\n"))
