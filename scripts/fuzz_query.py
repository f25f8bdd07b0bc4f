"""Fuzzes the keyword language with atheris: every input gets an answer or a refusal that names a
place, in bounded time.

    pip install atheris
    scripts/fuzz_query.py tests/corpus/query -max_total_time=600 -rss_limit_mb=2048

The first byte of an input says how it is asked, the rest is the query. What libFuzzer finds worth
keeping it adds to the folder; tests/query/test_corpus.py asks all of it again.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import atheris
import numpy as np

with atheris.instrument_imports(include=["cortex.engines", "cortex.query"]):
    from cortex.engines.text.snapshot import TextSnapshot, TextWriter, open_text
    from cortex.query.parse import parse
from cortex.generation.read import assemble
from cortex.generation.segment import open_segment
from cortex.generation.write import Row, write_rows
from ipc.errors import BadRequest
from ipc.messages import ExactSearch, MatchType

#: how the first byte of an input is read
MATCH_TYPES: tuple[MatchType | None, ...] = (None, "exact", "phrase", "prefix", "fuzzy", "regex", "substring")
#: seconds that no query may take; instrumented code takes ten times as long as usual
QUERY_S_MAX = 10.0
TEXTS = (
    "package auth\n\n// error handling\nfunc getUserById(id int) *User {\n\tvar mu sync.RWMutex\n\treturn foo(id)\n}",
    "#include <stdio.h>\nstd::vector<int> v; x->next = y; // TODO: größe 中文注释\n@decorator",
    "a" * 500 + "b",
)


def open_sample(folder: Path) -> TextSnapshot:
    chunks: list[dict[str, Any]] = [
        {
            "id": f"chunk-{at}",
            "chunk_type": "code",
            "title": "a title",
            "text": text,
            "tags": ["go"],
            "metadata": {"file_path": f"src/f{at}.go", "language": "go", "start_line": 1, "end_line": 1 + text.count("\n")},
        }
        for at, text in enumerate(TEXTS, 1)
    ]  # fmt: skip
    rows = [Row(at, chunk, "f.json", bytes(16), None, "m") for at, chunk in enumerate(chunks, 1)]
    write_rows(folder / "1.seg", rows, 4)
    writer = TextWriter(folder / "text", "")
    name = writer.build(1, ((row.key, row.chunk) for row in rows), [])
    writer.close()
    opened = assemble(1, "m", 4, (open_segment(folder / "1.seg"),), np.zeros(0, "<u8"))
    return open_text(folder / "text" / name, opened)


def read_input(data: bytes) -> tuple[str, MatchType | None]:
    """The query and its match type."""
    return data[1:].decode(errors="surrogateescape"), MATCH_TYPES[data[0] % len(MATCH_TYPES)]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        snapshot = open_sample(Path(folder))

        def one(data: bytes) -> None:
            if not data:
                return
            query, match_type = read_input(data)
            started = time.monotonic()
            try:
                parse(query, match_type)
                snapshot.search(ExactSearch(query, match_type))
            except BadRequest as error:
                said = str(error)
                if not any(word in said for word in ("position", "is empty", "longer than")):
                    raise AssertionError(f"no place is named: {said}") from error
            if time.monotonic() - started > QUERY_S_MAX:
                raise AssertionError("too slow")

        atheris.Setup(sys.argv, one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
