"""The vectors of notes: one file of rows that only grows, and the same rows in memory. Follows the
changes of the store; can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from cortex.embedders import Embedder
from cortex.memory.note import Note
from cortex.memory.text import embedded_text
from cortex.system import files
from ipc.arrays import Array

#: share of rows that are of no use any more from which on the file is written anew
STALE_SHARE = 0.5


class Vectors:
    """`reached`: the change that everything up to is in here.

    A row of the file is note, change, checksum and vector; the last row of a note counts. Rows of a
    file that was cut or damaged end where they cannot be read.
    """

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._embedder = embedder
        files.make_private(folder)
        self._dtype = np.dtype(
            [("number", "<u8"), ("change", "<u8"), ("crc", "<u4"), ("vector", "<f2", embedder.dimensions)]
        )
        name = "".join(c if c.isalnum() else "-" for c in embedder.identity)
        self._path = folder / f"{name}.rows"
        self.reached = 0
        self._load(self._read())

    def _load(self, rows: Array) -> None:
        self.reached = max(self.reached, int(rows["change"].max()) if len(rows) else 0)
        last = {int(number): at for at, number in enumerate(rows["number"])}
        self._at = {number: at for at, number in enumerate(last)}
        self._numbers = np.array(list(last), "<u8")
        self._matrix = np.ascontiguousarray(rows["vector"][list(last.values())], np.float32)
        if len(last) < (1 - STALE_SHARE) * len(rows):
            self._write_anew(rows[sorted(last.values())])

    def delete(self) -> None:
        """Remove its file; it is of no use any more."""
        with contextlib.suppress(FileNotFoundError):
            files.remove(self._path)

    def numbers(self) -> set[int]:
        """The notes that it has a vector of."""
        return set(self._at)

    def drop(self, numbers: Sequence[int]) -> None:
        """Write the file anew without these notes."""
        rows = self._read()
        kept = rows[~np.isin(rows["number"], np.array(numbers, "<u8"))]
        self._write_anew(kept)
        self._load(kept)

    def take(self, change: int, changed: Sequence[Note]) -> None:
        """Embed what changed until `change`, and keep it."""
        self.reached = change
        if not changed:
            return
        vectors = self._embedder.embed([embedded_text(note) for note in changed], "passage")
        rows = np.zeros(len(changed), self._dtype)
        rows["number"] = [note.number for note in changed]
        rows["change"] = change
        rows["vector"] = vectors
        rows["crc"] = _checksums(rows)
        with os.fdopen(files.open_log(self._path), "ab") as file:
            file.write(rows.tobytes())
        for row in rows:
            at = self._at.setdefault(int(row["number"]), len(self._at))
            if at == len(self._matrix):
                self._make_room()
            self._matrix[at], self._numbers[at] = row["vector"], row["number"]

    def cosines(self, query: str, then: Mapping[int, Note] | None = None) -> tuple[Array, Array]:
        """(note numbers, cosine of each with the question): uint64 [n], float32 [n]; the notes of
        `then` by what they say there.
        """
        count = len(self._at)
        vector = self._embedder.embed([query], "query")[0].astype(np.float32)
        numbers, cosines = self._numbers[:count], self._matrix[:count] @ vector
        if not then:
            return numbers, cosines
        told = np.array(list(then), "<u8")
        vectors = self._embedder.embed([embedded_text(note) for note in then.values()], "passage")
        kept = ~np.isin(numbers, told)
        return (
            np.concatenate([numbers[kept], told]),
            np.concatenate([cosines[kept], vectors.astype(np.float32) @ vector]),
        )

    def _make_room(self) -> None:
        room = max(1024, 2 * len(self._matrix))
        matrix, numbers = np.zeros((room, self._embedder.dimensions), np.float32), np.zeros(room, "<u8")
        matrix[: len(self._matrix)], numbers[: len(self._numbers)] = self._matrix, self._numbers
        self._matrix, self._numbers = matrix, numbers

    def _read(self) -> Array:
        try:
            with files.open_ours(self._path) as file:
                raw = file.read()
        except OSError:
            return np.zeros(0, self._dtype)
        whole = len(raw) // self._dtype.itemsize
        rows = np.frombuffer(raw, self._dtype, whole)
        wrong = np.flatnonzero(rows["crc"] != _checksums(rows))
        good = int(wrong[0]) if len(wrong) else whole
        if good * self._dtype.itemsize < len(raw):
            self._write_anew(rows[:good])
        return rows[:good]

    def _write_anew(self, rows: Array) -> None:
        files.replace(self._path, rows.tobytes())


def _checksums(rows: Array) -> Array:
    """uint32 [n] over number, change and vector of each row."""
    told = np.stack([rows["number"], rows["change"]], axis=1)
    return np.array(
        [
            zlib.crc32(vector.tobytes(), zlib.crc32(one.tobytes()))
            for one, vector in zip(told, rows["vector"], strict=True)
        ],
        np.uint32,
    )
