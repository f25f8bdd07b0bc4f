"""Every input in the fuzzer's corpus is answered, or refused with a position, in bounded time."""

from pathlib import Path

import numpy as np
import pytest

from cortex.engines.text.index.writer import TextWriter
from cortex.engines.text.snapshot import open_text
from cortex.generation.read import assemble
from cortex.generation.segments.segment import open_segment
from cortex.generation.write import Row, write_rows
from cortex.system.errors import BadRequest
from ipc.messages import ExactSearch

CORPUS = sorted((Path(__file__).parents[1] / "corpus" / "query").iterdir())
#: as in scripts/fuzz_query.py
MATCH_TYPES = (None, "exact", "phrase", "prefix", "fuzzy", "regex", "substring")


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    texts = [
        "func getUserById(id int) *User {\n\tvar mu sync.RWMutex\n}",
        "größe 中文注释 // TODO",
        "a" * 500 + "b",
    ]
    chunks = [
        {
            "id": f"c{at}",
            "chunk_type": "code",
            "text": text,
            "metadata": {"file_path": f"{at}.go", "start_line": 1},
        }
        for at, text in enumerate(texts, 1)
    ]
    rows = [Row(at, chunk, "f.json", bytes(16), None, "m") for at, chunk in enumerate(chunks, 1)]
    write_rows(folder / "1.seg", rows, 4)
    writer = TextWriter(folder / "text", "")
    name = writer.build(1, ((row.key, row.chunk) for row in rows), [])
    writer.close()
    opened = assemble(1, "m", 4, (open_segment(folder / "1.seg"),), np.zeros(0, "<u8"))
    return open_text(folder / "text" / name, opened)


@pytest.mark.timeout(30)  # far above the time of any input, far below that of an exponential one
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_an_input_of_the_corpus_is_answered_or_refused_with_a_place(snapshot, path):
    data = path.read_bytes()
    query = data[1:].decode(errors="surrogateescape")
    try:
        snapshot.search(ExactSearch(query, MATCH_TYPES[data[0] % len(MATCH_TYPES)]))
    except BadRequest as error:
        assert any(word in str(error) for word in ("position", "is empty", "longer than"))  # noqa: PT017


def test_the_corpus_is_there():
    assert len(CORPUS) >= 30
