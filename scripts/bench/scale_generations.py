"""Generations of the index in Milvus, for scale_index.py: a reader of the generation before a
change gets the same answers as before, while a new reader finds the change.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import product
from pymilvus.exceptions import MilvusException

from cortex.engines.milvus.collection import Collection
from cortex.engines.milvus.connection import connect
from cortex.engines.serving import EngineWorker
from cortex.processes.milvus_lite import file_served
from cortex.publish.milvus_publisher import Mirror
from cortex.settings import config as configuration
from cortex.settings.milvus import milvus_place
from cortex.system.errors import CortexError
from ipc.messages import ExactSearch, Filters

#: seconds for a flush and for a compaction
SETTLE_S = 120.0
Questions = list[dict[str, Any]]
#: an answer: the number of all matches and the places returned; or an error's sentence
Outcome = tuple[int, list[tuple[str, int]]] | str


def change(project: Path) -> None:
    """Delete a file, add one, and give one another's text: of the indexed files."""
    rows = product.rows_of(configuration.load(project))
    paths = sorted({project / path for path in rows.path_names})
    gone, copied, changed, *_ = sorted(paths, key=lambda path: (-path.stat().st_size, path))
    shutil.copy(copied, copied.with_name(f"another_{copied.name}"))
    with changed.open("ab") as file:
        file.write(b"\n" + gone.read_bytes())
    gone.unlink()


@contextlib.contextmanager
def open_generation(project: Path, drawn: Questions) -> Iterator[Callable[[], dict[str, int]]]:
    """Open the present generation in Milvus; yield a function that counts the queries with the same
    answer.

    A small project answers while it is published anew, too.
    """
    config = configuration.load(project)
    with file_served(config), contextlib.closing(Mirror(config)) as mirror:
        mirror.refresh()
        worker = EngineWorker("text", config)
        worker.reload()
        number = mirror.current.number
        before = [_ask_exact(worker, question, number) for question in drawn]

        def compare_again() -> dict[str, int]:
            mirror.refresh()
            after = [_ask_exact(worker, question, number) for question in drawn]
            same = sum(old == new for old, new in zip(before, after, strict=True))
            newer = int(mirror.current.number > number)
            return {"old, as before": same, "old, otherwise": len(drawn) - same, "newer there": newer}

        yield compare_again


def _ask_exact(worker: EngineWorker, question: dict[str, Any], generation: int) -> Outcome:
    arguments = dict(question)
    query, kind = arguments.pop("query"), arguments.pop("match_type", None)
    filters = Filters(**{name: tuple(value) for name, value in arguments.items()})
    try:
        hits = worker.handlers[ExactSearch](ExactSearch(query, kind, 50, 0, filters, generation=generation))
    except CortexError as error:
        return str(error)
    return hits.total_found, [(hit.path, hit.start_line) for hit in hits.hits]


def settle(project: Path) -> dict[str, str]:
    """Return Milvus's answers to a flush and a compaction of all rows."""
    config = configuration.load(project)
    place, outcomes = milvus_place(config), dict[str, str]()
    with file_served(config), contextlib.closing(connect(place)) as client:
        rows = Collection(place).rows
        for name, ask in {"flush": client.flush, "compaction": client.compact}.items():
            try:
                ask(rows, timeout=SETTLE_S)
                outcomes[name] = "taken"
            except MilvusException as error:
                outcomes[name] = str(error)
    return outcomes
