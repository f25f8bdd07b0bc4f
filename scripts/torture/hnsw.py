"""Damaged HNSW files, which only projects of more than 50 000 chunks have: made here with a lower
bound, and opened and searched in a child process that may die.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import tempfile
import time
from pathlib import Path

import numpy as np

from cortex.engines.vector.usearch import Limits, VectorSnapshot, build_vectors, open_vectors
from cortex.generation.read import Rows, assemble
from cortex.generation.segments.segment import open_segment
from cortex.generation.write import Row, write_rows
from cortex.system.errors import Damaged
from ipc.messages import VectorSearch
from torture.corruptions import DAMAGES
from torture.record import Record

SCENARIO = "hnsw"
ROWS, DIMENSIONS, MODEL = 2_000, 16, "torture@0"
#: above this, HNSW answers
LIMITS = Limits(scan_rows_max=100)
QUESTIONS = 15
#: seconds that opening and searching may take
ANSWERED_S = 60
#: damages that replace the file: a process that has mapped it would see the others, and no reader
#: can be protected from that
CLOSED = ("truncate", "zero", "scramble", "folder", "remove", "link", "pipe", "another file")


def run(record: Record, until: float) -> None:
    """Run steps until `until` (monotonic); each is one damage."""
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base)
        # Each damage is logged as a warning, which is right and of no interest here.
        logging.getLogger("cortex").setLevel(logging.ERROR)
        drawn = np.random.default_rng(record.seed)
        rows = _rows(folder, drawn.normal(size=(ROWS, DIMENSIONS)).astype("<f4"))
        name = build_vectors(rows, folder / "vector")
        intact = (folder / "vector" / name).read_bytes()
        while time.monotonic() < until:
            draws = record.draws(SCENARIO)
            _step(rows, folder / "vector" / name, intact, record, draws)


def _rows(folder: Path, vectors: np.ndarray) -> Rows:
    rows = [
        Row(at, {"id": f"c{at}", "chunk_type": "code", "text": f"t{at}"}, "f.json", bytes(16), vector, MODEL)
        for at, vector in enumerate(vectors, 1)
    ]
    write_rows(folder / "1.seg", rows, DIMENSIONS)
    return assemble(1, MODEL, DIMENSIONS, (open_segment(folder / "1.seg"),), np.zeros(0, "<u8"))


def _step(rows: Rows, path: Path, intact: bytes, record: Record, draws: random.Random) -> None:
    how = draws.choice(CLOSED)
    # Each damage starts from an intact file.
    if path.is_dir() and not path.is_symlink():
        for inner in path.iterdir():
            inner.unlink()
        path.rmdir()
    path.unlink(missing_ok=True)
    path.write_bytes(intact)
    (path.parent / "other.usearch").write_bytes(intact[: len(intact) // 2])
    DAMAGES[how](path, draws)
    record.count("corruptions of hnsw")
    ended = _open_in_child(rows, path, draws)
    if ended:
        record.count("processes ended by a damaged hnsw file")
        record.breaks(SCENARIO, "a damaged HNSW file ends no process", f"{how}: {ended}")


def _open_in_child(rows: Rows, path: Path, draws: random.Random) -> str:
    """Open the file and search in a child; return how the child ended, "" if it answered."""
    seed = draws.getrandbits(32)
    child = os.fork()
    if child == 0:
        signal.alarm(ANSWERED_S)
        try:
            _ask(open_vectors(rows, path.parent, path.name, LIMITS), seed)
        except (Damaged, OSError):
            pass  # refused: the engine starts without it
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit code {os.WEXITSTATUS(status)}" if status else ""


def _ask(snapshot: VectorSnapshot, seed: int) -> None:
    drawn = np.random.default_rng(seed)
    for _ in range(QUESTIONS):
        vector = drawn.normal(size=DIMENSIONS).astype("<f4")
        snapshot.search(VectorSearch(vector / np.linalg.norm(vector), MODEL, limit=10))
