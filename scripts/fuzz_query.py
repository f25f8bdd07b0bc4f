"""A fuzzer of the keyword language, on atheris: every input gets an answer or a refusal that names
a place, in bounded time.

    pip install atheris
    scripts/fuzz_query.py tests/corpus/query -max_total_time=600 -rss_limit_mb=2048

The first byte of an input selects the match type, the others are the query. libFuzzer adds inputs
that reach new code to the folder; tests/query/test_corpus.py runs all of them again.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["cortex.engines", "cortex.query"]):
    from torture.queries import MATCH_TYPES, TEXTS, open_sample

    from cortex.query.parse import parse
from cortex.system.errors import BadRequest
from ipc.messages import ExactSearch, MatchType

#: seconds that no query may take; instrumented code is ten times slower than usual
QUERY_S_MAX = 10.0


def read_input(data: bytes) -> tuple[str, MatchType | None]:
    """Split an input into the query and its match type."""
    return data[1:].decode(errors="surrogateescape"), MATCH_TYPES[data[0] % len(MATCH_TYPES)]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        snapshot = open_sample(Path(folder), TEXTS)

        def run_input(data: bytes) -> None:
            if not data:
                return
            query, match_type = read_input(data)
            started = time.monotonic()
            try:
                parse(query, match_type)
                snapshot.search(ExactSearch(query, match_type))
            except BadRequest as error:
                message = str(error)
                if not any(word in message for word in ("position", "is empty", "longer than")):
                    raise AssertionError(f"no place is named: {message}") from error
            if time.monotonic() - started > QUERY_S_MAX:
                raise AssertionError("too slow")

        atheris.Setup(sys.argv, run_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
