"""Drawn queries, in process against a small real index: each is answered, or refused with a
sentence, in bounded time and memory.
"""

from __future__ import annotations

import random
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from cortex.engines.text.index.writer import TextWriter
from cortex.engines.text.snapshot import TextSnapshot, open_text
from cortex.generation.read import assemble
from cortex.generation.segments.segment import open_segment
from cortex.generation.write import Row, write_rows
from cortex.system.errors import BadRequest
from ipc.messages import ExactSearch, MatchType
from torture.grammar import WORDS, draw_query
from torture.record import Record

SCENARIO = "queries"
MATCH_TYPES: tuple[MatchType | None, ...] = (None, "exact", "phrase", "prefix", "fuzzy", "regex", "substring")
#: queries of one step
QUERIES = 500
#: seconds of processor time that no query takes; a lane has six
QUERY_S_MAX = 6.0
#: MB that this process may have
MEMORY_MB_MAX = 1_500
#: chunks besides TEXTS, and limits of the searches
CHUNKS, LIMITS = 20, (1, 3, 15)
TEXTS = (
    "package auth\n\n// error handling\nfunc getUserById(id int) *User {\n\tvar mu sync.RWMutex\n\treturn foo(id)\n}",
    "#include <stdio.h>\nstd::vector<int> v; x->next = y; // TODO: größe 中文注释\n@decorator",
    "a" * 500 + "b",
)


def run(record: Record, until: float) -> None:
    """Run steps until `until` (monotonic)."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = random.Random(f"{record.seed} {SCENARIO}")
        texts = [" ".join(drawn.choices(WORDS, k=40)) for _ in range(CHUNKS)]
        snapshot = open_sample(Path(folder), (*TEXTS, *texts))
        while time.monotonic() < until:
            draws = record.draws(SCENARIO)
            for _ in range(QUERIES):
                ask(snapshot, record, draw(draws))
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            record.measure("memory of drawn queries, MB", memory)
            if memory > MEMORY_MB_MAX:
                record.breaks(SCENARIO, "memory is bounded", f"{memory:.0f} MB")
                return


def draw(draws: random.Random) -> ExactSearch:
    return ExactSearch(draw_query(draws), draws.choice(MATCH_TYPES), limit=draws.choice(LIMITS))


def ask(snapshot: TextSnapshot, record: Record, question: ExactSearch) -> None:
    started = time.process_time()
    what = f"{question.match_type} {question.query[:200]!r} of {len(question.query)}"
    try:
        answer = snapshot.search(question)
    except BadRequest as error:
        record.count("queries refused")
        if len(str(error)) < 10:
            record.breaks(SCENARIO, "a refusal is a sentence", f"{what}: {error}")
    except Exception as error:
        record.breaks(SCENARIO, "no query is an internal error", f"{what}: {type(error).__name__}: {error}")
    else:
        if answer.total_found < len(answer.hits) or not (answer.hits or answer.suggestion):
            record.breaks(SCENARIO, "an answer says how much it found, or why nothing", what)
    record.count("queries drawn")
    took = time.process_time() - started
    record.measure("a drawn query, s of the processor", took)
    if took > QUERY_S_MAX:
        record.breaks(SCENARIO, "a query ends within its deadline", f"{what}: {took:.1f} s of the processor")


def open_sample(folder: Path, texts: tuple[str, ...]) -> TextSnapshot:
    """Make the text index of one chunk for each of `texts` in `folder`, and open it."""
    chunks: list[dict[str, Any]] = [
        {
            "id": f"chunk-{at}",
            "chunk_type": "code",
            "title": "a title",
            "text": text,
            "tags": ["go"],
            "metadata": {"file_path": f"src/f{at}.go", "language": "go", "start_line": 1, "end_line": 1 + text.count("\n")},
        }
        for at, text in enumerate(texts, 1)
    ]  # fmt: skip
    rows = [Row(at, chunk, "f.json", bytes(16), None, "m") for at, chunk in enumerate(chunks, 1)]
    write_rows(folder / "1.seg", rows, 4)
    writer = TextWriter(folder / "text", "")
    name = writer.build(1, ((row.key, row.chunk) for row in rows), [])
    writer.close()
    opened = assemble(1, "m", 4, (open_segment(folder / "1.seg"),), np.zeros(0, "<u8"))
    return open_text(folder / "text" / name, opened)
