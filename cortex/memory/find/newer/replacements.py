"""Which older notes a newer one replaces, as the replacement model reads them: a file of rows that
only grows, and the same in memory. Can be deleted at any time; background steps read notes again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

import numpy as np

from cortex.memory.find.newer.replacement_model import ReplacementModel
from cortex.memory.find.newer.statements import BODY_CHARS
from cortex.memory.note import Note
from cortex.system import files
from cortex.system.arrays import Array
from cortex.system.errors import Damaged

log = logging.getLogger(__name__)

#: likelihood from which on a pair is kept; that of a pair which is not
LEAST = 0.03
#: notes that wait to be read, at most: the newest
WAITING_MAX = 2_000
#: seconds without a reading until the model gives its memory back
IDLE_S = 300.0
#: a row: two notes, checksums of their texts, the likelihood, and a checksum of all. The last row
#: of a reading has no older note; one without texts says that the newer note must be read again
_ROW = np.dtype(
    [(name, "<u8") for name in ("older", "newer")]
    + [("older_text", "<u4"), ("newer_text", "<u4"), ("likelihood", "<f4"), ("crc", "<u4")]
)
_CRC_BYTES = 4


class Replacements:
    """Use it in one thread."""

    def __init__(self, folder: Path, make: Callable[[], ReplacementModel] = ReplacementModel) -> None:
        self._make, self._used = make, 0.0
        self._model: ReplacementModel | None = None
        files.make_private(folder)
        self.path = folder / "read.rows"
        #: {older note: {newer note: its row}}; {newer note: checksum of the text that was read}
        self._newer: dict[int, dict[int, Array]] = {}
        self._read: dict[int, int] = {}
        #: notes to be read, the newest last
        self.waiting: list[int] = []
        self._load(self._rows())

    def _rows(self) -> Array:
        """The rows of the file up to the first damaged one."""
        try:
            with files.open_ours(self.path) as file:
                raw = file.read()
        except OSError:
            return np.zeros(0, _ROW)
        rows = np.frombuffer(raw, _ROW, len(raw) // _ROW.itemsize)
        damaged = [at for at, row in enumerate(rows) if row["crc"] != _crc(row)][:1]
        good = rows[: damaged[0]] if damaged else rows
        if len(good) * _ROW.itemsize < len(raw):
            files.replace(self.path, good.tobytes())
        return good

    def _load(self, rows: Array) -> None:
        for row in rows:
            newer, older = int(row["newer"]), int(row["older"])
            if older:
                self._newer.setdefault(older, {})[newer] = row
            else:
                self._read[newer] = int(row["newer_text"])

    def delete(self) -> None:
        """Remove its file; the object must not be used afterwards."""
        with contextlib.suppress(FileNotFoundError):
            files.remove(self.path)

    def drop(self, numbers: Collection[int]) -> None:
        """Rewrite the file without these notes."""
        rows = self._rows()
        dropped = np.isin(rows["older"], list(numbers)) | np.isin(rows["newer"], list(numbers))
        files.replace(self.path, rows[~dropped].tobytes())
        self._newer, self._read = {}, {}
        self._load(rows[~dropped])

    def expect(self, notes: Iterable[Note]) -> None:
        """Let notes wait to be read whose text was not, and those that were read with them."""
        changed = {note.number for note in notes if self._read.get(note.number) != _text_crc(note)}
        changed |= {newer for number in changed for newer in self._newer.get(number, ())}
        if lapsed := [number for number in changed if self._read.get(number)]:
            rows = np.zeros(len(lapsed), _ROW)
            rows["newer"] = lapsed
            self._append(rows)
        if changed:
            self.waiting = sorted({*self.waiting, *changed})[-WAITING_MAX:]

    def follow(self, numbers: Iterable[int]) -> None:
        """Let those of all notes wait that must be read, and drop the others that were."""
        present = set(numbers)
        if gone := (self._read.keys() | self._newer.keys()) - present:
            self.drop(gone)
        self.waiting = sorted(number for number in present if not self._read.get(number))[-WAITING_MAX:]

    def read(self, newer: Note, olders: Sequence[Note]) -> Array:
        """float64 [olders]: how likely the newer note replaces each, remembered."""
        self.waiting = [number for number in self.waiting if number != newer.number]
        try:
            values = self._likelihoods(newer, olders) if olders else np.zeros(0)
        except Damaged as error:  # the note is stored all the same
            log.warning("notes are not compared: %s", error)
            return np.zeros(len(olders))
        rows = np.zeros(1 + len(olders), _ROW)
        rows["newer"], rows["newer_text"] = newer.number, _text_crc(newer)
        rows["older"][:-1], rows["likelihood"][:-1] = [older.number for older in olders], values
        rows["older_text"][:-1] = [_text_crc(older) for older in olders]
        rows = rows[(rows["likelihood"] >= LEAST) | (rows["older"] == 0)]
        for newers in self._newer.values():
            newers.pop(newer.number, None)
        self._append(rows)
        return values

    def _likelihoods(self, newer: Note, olders: Sequence[Note]) -> Array:
        self._model, self._used = self._model or self._make(), time.monotonic()
        text = _text_of(newer)
        return self._model.likelihoods([(_text_of(older), text) for older in olders])

    def _append(self, rows: Array) -> None:
        rows["crc"] = [_crc(row) for row in rows]
        self._load(rows)
        try:
            with os.fdopen(files.open_log(self.path), "ab") as file:
                file.write(rows.tobytes())
        except OSError as error:  # the next start lets them wait again
            log.warning("what was read of notes is not saved: %s", error)

    def newer_than(self, number: int) -> list[int]:
        """The notes that may replace a note, the likeliest first."""
        newers = self._newer.get(number, {})
        return sorted(newers, key=lambda newer: -float(newers[newer]["likelihood"]))

    def likelihood(self, older: Note, newer: Note) -> float:
        """How likely the newer note replaces the older one; 0 if the model was not asked, or for
        other texts.
        """
        row = self._newer.get(older.number, {}).get(newer.number)
        if row is None or row["older_text"] != _text_crc(older) or row["newer_text"] != _text_crc(newer):
            return 0.0
        return float(row["likelihood"])

    def rest(self) -> None:
        """Give the model's memory back, if it was not used for a while."""
        if self._model and time.monotonic() - self._used > IDLE_S:
            self._model = None


def _text_of(note: Note) -> str:
    """A note as the model was trained to read it."""
    return ". ".join(filter(None, (note.title.strip(), note.body[:BODY_CHARS].strip())))


def _text_crc(note: Note) -> int:
    """The checksum of a note's text, and of what decides with which others it is read."""
    parts = (note.kind, note.scope, note.source.trust, _text_of(note))
    return zlib.crc32("\0".join(parts).encode("utf-8", "replace"))


def _crc(row: Array) -> int:
    return zlib.crc32(row.tobytes()[:-_CRC_BYTES])
