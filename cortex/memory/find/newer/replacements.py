"""Which older notes a newer one replaces, as the replacement model reads them: a file of rows that
only grows, and the same in memory. Can be deleted at any time; background steps read notes again.
"""

import logging
import os
import struct
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

import numpy as np

from cortex.memory.find.newer.replacement_model import REPEATS, REPLACES, ReplacementModel, read_identity
from cortex.memory.find.newer.successors import text_of
from cortex.memory.note import Note
from cortex.system import files
from cortex.system.arrays import Array
from cortex.system.errors import Damaged
from cortex.system.process import allocator

log = logging.getLogger(__name__)

#: likelihood from which on a pair is kept; that of a pair which is not
LEAST = 0.03
#: notes that wait to be read, at most: the newest
WAITING_MAX = 2_000
#: pairs of texts that were read and are remembered (.5 to 1 KB each)
REMEMBERED_MAX = 2_000
#: seconds without a reading until the model gives its memory back
IDLE_S = 300.0
#: a row: older and newer note, checksums of their texts, the likelihood, and a checksum of these.
#: The last row of a reading has no older note; one without texts says that the newer note must be
#: read again
_ROW, _CRC = struct.Struct("<QQIIf"), struct.Struct("<I")
_SIZE = _ROW.size + _CRC.size
Row = tuple[int, int, int, int, float]


class Replacements:
    """Use it in one thread."""

    def __init__(self, folder: Path, make: Callable[[], ReplacementModel] = ReplacementModel) -> None:
        self._make, self._used = make, 0.0
        self._model: ReplacementModel | None = None
        files.make_private(folder)
        self.path = folder / f"{read_identity()}.rows"
        for name in files.names(folder):
            if name != self.path.name:  # of an earlier model
                files.remove(folder / name)
        self._clear()
        #: notes to be read, the newest last
        self.waiting: list[int] = []
        self._load(self._rows())

    def _clear(self) -> None:
        #: {older note: {newer note: its row}}, the older notes of each newer one, and {newer note:
        #: checksum of the text that was read}
        self._newer: dict[int, dict[int, Row]] = {}
        self._older: dict[int, list[int]] = {}
        self._read: dict[int, int] = {}
        self._remembered: dict[tuple[str, str], Array] = {}

    def _rows(self) -> list[Row]:
        """The rows of the file up to the first damaged one."""
        try:
            with files.open_ours(self.path) as file:
                raw = file.read()
        except OSError:
            return []
        rows = []
        for at in range(0, len(raw) - _SIZE + 1, _SIZE):
            packed, checksum = raw[at : at + _ROW.size], raw[at + _ROW.size : at + _SIZE]
            if _CRC.unpack(checksum)[0] != zlib.crc32(packed):
                break
            rows.append(_ROW.unpack(packed))
        if len(rows) * _SIZE < len(raw):
            files.replace(self.path, raw[: len(rows) * _SIZE])
        return rows

    def _load(self, rows: Iterable[Row]) -> None:
        for row in rows:
            older, newer, _, newer_text, _ = row
            if older:
                self._newer.setdefault(older, {})[newer] = row
                self._older.setdefault(newer, []).append(older)
            else:
                self._read[newer] = newer_text

    def drop(self, numbers: Collection[int]) -> None:
        """Rewrite the file without these notes."""
        dropped = set(numbers)
        rows = [row for row in self._rows() if dropped.isdisjoint(row[:2])]
        files.replace(self.path, _packed(rows))
        self._clear()
        self._load(rows)

    def expect(self, notes: Iterable[Note]) -> None:
        """Let notes wait to be read whose text was not, and those that were read with them."""
        changed = {note.number for note in notes if self._read.get(note.number) != _text_crc(note)}
        changed |= {newer for number in changed for newer in self._newer.get(number, ())}
        self._append([(0, number, 0, 0, 0.0) for number in changed if self._read.get(number)])
        if changed:
            self.waiting = sorted({*self.waiting, *changed})[-WAITING_MAX:]

    def follow(self, numbers: Iterable[int]) -> None:
        """Let those of all notes wait that must be read, and drop the others that were."""
        present = set(numbers)
        if gone := (self._read.keys() | self._newer.keys()) - present:
            self.drop(gone)
        self.waiting = sorted(number for number in present if not self._read.get(number))[-WAITING_MAX:]

    def read(self, newer: Note, olders: Sequence[Note], *, is_all: bool = True) -> Array:
        """float64 [olders]: how likely the newer note replaces each, remembered. Without `is_all`
        the newer note waits on, to be read with others, too.
        """
        if is_all:
            self.waiting = [number for number in self.waiting if number != newer.number]
        try:
            labels = self._labels([(text_of(older), text_of(newer)) for older in olders])
        except Damaged as error:  # the note is stored all the same
            log.warning("notes are not compared: %s", error)
            return np.zeros(len(olders))
        values = np.array([row[REPLACES] for row in labels], float)
        for number in self._older.pop(newer.number, ()):
            self._newer[number].pop(newer.number, None)
        text = _text_crc(newer)
        rows = [
            (older.number, newer.number, _text_crc(older), text, value)
            for older, value in zip(olders, values.tolist(), strict=True)
            if value >= LEAST
        ]
        self._append([*rows, (0, newer.number, 0, text, 0.0)] if is_all else rows)
        return values

    def repetitions(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """How likely the second text of each pair repeats the first. Raises Damaged."""
        return [float(row[REPEATS]) for row in self._labels(pairs)]

    def _labels(self, pairs: Sequence[tuple[str, str]]) -> list[Array]:
        """What the model says of each pair of texts, remembered. Raises Damaged."""
        if len(self._remembered) > REMEMBERED_MAX:
            self._remembered.clear()
        if unread := [pair for pair in dict.fromkeys(pairs) if pair not in self._remembered]:
            self._model, self._used = self._model or self._make(), time.monotonic()
            self._remembered.update(zip(unread, self._model.read(unread), strict=True))
        return [self._remembered[pair] for pair in pairs]

    def _append(self, rows: Sequence[Row]) -> None:
        if not rows:
            return
        self._load(rows)
        try:
            with os.fdopen(files.open_log(self.path), "ab") as file:
                file.write(_packed(rows))
        except OSError as error:  # the next start lets them wait again
            log.warning("what was read of notes is not saved: %s", error)

    def newer_than(self, number: int) -> list[int]:
        """The notes that may replace a note, the likeliest first."""
        newers = self._newer.get(number, {})
        return sorted(newers, key=lambda newer: -newers[newer][-1])

    def older_than(self, number: int) -> list[int]:
        """The notes that a note may replace."""
        return list(dict.fromkeys(self._older.get(number, ())))

    def likelihood(self, older: Note, newer: Note) -> float:
        """How likely the newer note replaces the older one; 0 if the model was not asked, or for
        other texts.
        """
        row = self._newer.get(older.number, {}).get(newer.number)
        is_present = row is not None and row[2:4] == (_text_crc(older), _text_crc(newer))
        return row[-1] if row and is_present else 0.0

    def likelihoods(self, notes: Sequence[Note], pairs: Sequence[tuple[int, int]]) -> Array:
        """float64 [pairs]: the same for pairs of indices, an older and a newer note."""
        newers = [self._newer.get(note.number, ()) for note in notes]
        return np.array(
            [
                self.likelihood(notes[old], notes[new]) if notes[new].number in newers[old] else 0.0
                for old, new in pairs
            ]
        )

    def rest(self) -> None:
        """Give the model's memory back, if it was not used for a while."""
        if self._model and time.monotonic() - self._used > IDLE_S:
            self._model = None
            allocator.trim()


def _text_crc(note: Note) -> int:
    """The checksum of a note's text, and of what decides with which others it is read."""
    parts = (note.kind, note.scope, note.source.trust, text_of(note))
    return zlib.crc32("\0".join(parts).encode("utf-8", "replace"))


def _packed(rows: Iterable[Row]) -> bytes:
    packed = (_ROW.pack(*row) for row in rows)
    return b"".join(row + _CRC.pack(zlib.crc32(row)) for row in packed)
