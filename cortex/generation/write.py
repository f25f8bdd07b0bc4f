"""Rows to write, and the writing of their segment. docs/SEGMENT.md lists the sections."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from cortex.generation.segments import packing, postings, trigrams, words
from cortex.generation.segments.segment import write_segment
from cortex.system.arrays import Array
from cortex.terms.records import covers
from ipc.messages.signals import OF

#: bytes of a row's digest (BLAKE2b over the chunk's JSON in its file)
DIGEST_BYTES = 16


class Row(NamedTuple):
    """One row. `vector`: float32 [dimensions] of unit length, or None; `chunk` has no embedding."""

    key: int
    chunk: dict[str, Any]
    chunk_file: str
    digest: bytes
    vector: Array | None
    model: str


#: sections that a lean segment lacks: the engine that stores the rows looks them up by key
_ELSEWHERE = ("vectors", "chunk_offsets", "chunk_bytes", "text_offsets", "text_bytes", "text_sizes")


def write_rows(path: Path, rows: Sequence[Row], dimensions: int, *, lean: bool = False) -> int:
    """Write rows, ascending by key, as a segment; return the count of rows with a vector. `lean`:
    without the largest sections: vectors, texts, their trigrams and the JSON of chunks.
    """
    table = _Tables()
    vectors = np.zeros((len(rows), dimensions), "<f2")
    has_vector = np.zeros(len(rows), "|u1")
    bodies: list[bytes] = []
    texts: list[bytes] = []
    for at, row in enumerate(rows):
        if row.vector is not None and len(row.vector) == dimensions:
            vectors[at] = row.vector
            has_vector[at] = 1
        table.add(row)
        bodies.append(orjson.dumps({name: value for name, value in row.chunk.items() if name != "text"}))
        texts.append(f"{row.chunk.get('text') or ''}\n".encode())
    bodies, frames = packing.pack(bodies), packing.pack(texts)
    ids = [str(row.chunk["id"]).encode() for row in rows]
    arrays = {
        "keys": np.array([row.key for row in rows], "<u8"),
        "vectors": vectors,
        "has_vector": has_vector,
        "digests": np.frombuffer(b"".join(row.digest for row in rows), "|u1").reshape(
            len(rows), DIGEST_BYTES
        ),
        "chunk_offsets": _offsets(bodies),
        "chunk_bytes": np.frombuffer(b"".join(bodies), "|u1"),
        "text_offsets": _offsets(frames),
        "text_bytes": np.frombuffer(b"".join(frames), "|u1"),
        "text_sizes": np.array([len(text) for text in texts], "<u4"),
        "id_offsets": _offsets(ids),
        "id_bytes": np.frombuffer(b"".join(ids), "|u1"),
        **table.arrays(),
    }
    meta = {"dimensions": dimensions, **table.names()}
    sections = arrays | _tables(texts, arrays["type"], meta, lean=lean)
    if lean:
        sections = {name: array for name, array in sections.items() if name not in _ELSEWHERE}
    write_segment(path, sections, meta)
    return int(has_vector.sum())


def _tables(texts: Sequence[bytes], types: Array, meta: dict[str, Any], *, lean: bool) -> dict[str, Array]:
    """Return the words of all rows, and trigrams of rows that cover each line of a file once."""
    covering = [at for at, name in enumerate(meta["type_names"]) if covers(name)]
    if lean:
        return words.make_sections(text.decode() for text in texts)
    wanted = np.isin(types, covering).tolist()
    grams = trigrams.make_sections([text if want else None for text, want in zip(texts, wanted, strict=True)])
    return grams | words.make_sections(text.decode() for text in texts)


def _offsets(parts: Sequence[bytes]) -> Array:
    return postings.ends_of(np.array([len(body) for body in parts], np.int64))


class _Tables:
    """Collects columns with repeating values: a table of names, an ordinal for each row."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, int]] = {
            column: {} for column in ("path", "type", "language", "chunk_file", "model", "tag")
        }
        self._columns: dict[str, list[int]] = {
            c: [] for c in ("path", "type", "language", "chunk_file", "model")
        }
        self._lines: list[tuple[int, int]] = []
        self._tags: list[int] = []
        self._tag_offsets: list[int] = [0]

    def add(self, row: Row) -> None:
        metadata = row.chunk.get("metadata") or {}
        values = {
            # chunks of other programs: the text after OF would pass for a path in its project
            "path": str(metadata.get("file_path") or "").replace(OF, ""),
            "type": str(row.chunk.get("chunk_type") or ""),
            "language": str(metadata.get("language") or "").lower(),
            "chunk_file": row.chunk_file,
            "model": row.model,
        }
        for column, value in values.items():
            self._columns[column].append(self._ordinal(column, value))
        self._lines.append((_line(metadata.get("start_line")), _line(metadata.get("end_line"))))
        self._tags.extend(self._ordinal("tag", str(tag).lower()) for tag in row.chunk.get("tags") or ())
        self._tag_offsets.append(len(self._tags))

    def _ordinal(self, column: str, value: str) -> int:
        names = self._names[column]
        return names.setdefault(value, len(names))

    def arrays(self) -> dict[str, Array]:
        lines = np.array(self._lines, "<u4").reshape(-1, 2)
        columns = {column: np.array(values, "<u4") for column, values in self._columns.items()}
        return columns | {
            "start_line": lines[:, 0],
            "end_line": lines[:, 1],
            "tags": np.array(self._tags, "<u4"),
            "tag_offsets": np.array(self._tag_offsets, "<u4"),
        }

    def names(self) -> dict[str, list[str]]:
        return {f"{column}_names": list(names) for column, names in self._names.items()}


def _line(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 32 else 0
