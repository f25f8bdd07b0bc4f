"""Views have no ranking lanes; questions for views alone are answered all the same."""

import json
from pathlib import Path

import pytest

from cortex.engines.serving import EngineWorker
from cortex.engines.text.matches.highlight import line_numbers
from cortex.publish.builder import Builder
from cortex.settings import config as configuration
from ipc.messages import Filters, TextSignals

GOLDEN = Path(__file__).parents[1] / "golden" / "indexer"
GOLDEN_CHUNKS = [entry for path in sorted(GOLDEN.glob("*.json")) for entry in json.loads(path.read_text())]


def chunk(kind, name, text):
    return {
        "id": f"{kind}-{name}",
        "chunk_type": kind,
        "title": f"{name} {kind}",
        "text": text,
        "tags": ["code"],
        "metadata": {
            "file_path": name,
            "language": "go",
            "start_line": 1,
            "end_line": 9,
            "symbols": ["SessionStore"],
        },
    }


@pytest.fixture
def signals(tmp_path):
    def ask(chunks, question, **filters):
        config = configuration.load(tmp_path)
        config.chunks_dir.mkdir(parents=True, exist_ok=True)
        (config.chunks_dir / "a.json").write_text(json.dumps(chunks))
        builder = Builder(config)
        while builder.refresh() is not None:
            pass
        builder.close()
        served = EngineWorker("text", config)
        served.reload()
        reply = served.handlers[TextSignals](TextSignals(question, 10, Filters(**filters)))
        body = dict(zip((hit.id for hit in reply.hits), reply.values[reply.names.index("body")], strict=True))
        return {name for name, score in body.items() if score > 0}

    return ask


VIEWS = [
    chunk("symbols", "auth/session.go", "Types: SessionStore keeps sessions"),
    chunk("definitions", "auth/session.go", "type SessionStore struct { sessions map[string]Session }"),
    chunk("data", "auth/limits.go", "const MaxAttempts = 5"),
]
COVERING = [
    chunk(
        "code", "auth/session.go", "package auth\n\ntype SessionStore struct { sessions map[string]Session }"
    )
]


def test_a_filter_for_views_alone_ranks_by_words(signals):
    ids = signals(VIEWS + COVERING, "session store", chunk_types=("symbols", "definitions"))
    assert ids == {"symbols-auth/session.go", "definitions-auth/session.go"}


def test_chunk_files_that_hold_only_views_rank_by_words(signals):
    assert "data-auth/limits.go" in signals(VIEWS, "max attempts")


def test_covering_chunks_represent_their_file_if_it_has_any(signals):
    assert signals(VIEWS + COVERING, "session store") == {"code-auth/session.go"}


@pytest.mark.parametrize("kind", ["definitions", "data"])
def test_a_line_of_a_view_has_the_number_of_that_line_of_the_file_or_none(kind):
    numbered = 0
    for entry in (entry for entry in GOLDEN_CHUNKS if entry["chunk_type"] == kind):
        source = (GOLDEN / "files" / entry["metadata"]["file_path"]).read_text().split("\n")
        lines = entry["text"].split("\n")
        numbers = line_numbers(entry["text"], kind, entry["metadata"]["start_line"])
        for line, number in zip(lines, numbers, strict=True):
            if number:
                numbered += 1
                assert line.strip() in source[number - 1], (entry["id"], number)
            else:
                assert not line.strip() or line.startswith(("#", "//", "--")), (entry["id"], line)
    assert numbered > 100


def test_a_row_of_symbols_has_the_line_number_in_its_text():
    text = "Package: a\n\nFunctions:\n  - Validate.notNaN (lines 1003-1005)\n  - LIMIT (line 7)"
    assert line_numbers(text, "symbols", 1) == [0, 0, 0, 1003, 7]
