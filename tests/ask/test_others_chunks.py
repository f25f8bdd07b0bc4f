"""Chunk files of another program, with its own kinds: every tool searches them."""

import asyncio
import json

import orjson
import pytest

from cortex.front.argument_forms import locate_arguments
from cortex.front.tools import TOOLS
from cortex.processes import starting
from cortex.system.errors import BadRequest
from tests.consent import trust_files

CODE = "type SessionStore struct { sessions map[string]Session }\nfunc (s *SessionStore) Refresh() error"


def chunk(name, kind, text, file, **fields):
    place = {"file_path": file, "start_line": 1, "end_line": 3, "dimensions": 3, "generator": "cortex"}
    kinds = {"chunk_type": kind} if kind else {}
    return {"id": name, "title": name, "text": text, "metadata": place, "tags": ["code"]} | kinds | fields


@pytest.fixture(scope="module")
def others(tmp_path_factory, serve):
    """Whole documents, code as views only, decisions of a foreign kind, and a chunk without a kind;
    all in an array, with unknown fields.
    """
    root = tmp_path_factory.mktemp("others")
    folder = root / ".cortex" / "chunks"
    folder.mkdir(parents=True)
    chunks = [
        chunk("guide", "documentation", "# Guide\n\nSessions expire after a week.", "docs/guide.md"),
        chunk("view", "symbols", "Types: SessionStore (lines 1-3)", "auth/session.go"),
        chunk("defs", "definitions", CODE, "auth/session.go"),
        chunk("why", "adr", "Why\nWe chose opaque tokens over signed ones.", "docs/decisions/7.md"),
        chunk("plain", "", "retry_count = backoff(7)", "settings.conf", colour="blue"),
    ]
    (folder / "theirs.json").write_text(json.dumps(chunks))
    trust_files(root)
    return serve(root)


def ask(served, name, **arguments):
    tool = TOOLS[name]
    checked = tool.check(locate_arguments(arguments, str(served.config.root)))
    return orjson.loads(orjson.dumps(asyncio.run(tool.call(served.context(), checked))))


def files(answer):
    return [result["chunk"]["metadata"]["file_path"] for result in answer["results"]]


@pytest.mark.parametrize("detail", ["auto", "full", "snippet", "location"])
@pytest.mark.parametrize("kind", ["adr", "ADR", "adrs"])
def test_a_kind_of_theirs_can_be_filtered_by(others, kind, detail):
    for name, query in (("cortex_search", "why tokens"), ("cortex_exact", "tokens")):
        answer = ask(others, name, query=query, chunk_types=[kind], detail=detail)
        assert files(answer) == ["docs/decisions/7.md"], name
        if detail != "location":
            assert "opaque tokens" in answer["results"][0]["chunk"]["text"]


def test_lines_of_a_kind_of_theirs_are_those_of_the_file(others):
    (result,) = ask(others, "cortex_exact", query="signed ones", chunk_types=["adr"], detail="snippet")[
        "results"
    ]
    assert result["highlight_lines"] == [2]
    assert result["chunk"]["metadata"]["snippet_start_line"] == 1


def test_a_kind_that_nobody_has_is_an_error_that_names_those_there_are(others):
    for name in ("cortex_search", "cortex_exact"):
        with pytest.raises(
            BadRequest, match=r"kind 'mode' in the index; it has adr, code, data, definitions"
        ):
            ask(others, name, query="x", chunk_types=["code", "mode"])


def test_a_chunk_without_a_kind_is_code(others):
    answer = ask(others, "cortex_search", query="retry count", chunk_types=["code"], detail="full")
    assert [result["chunk"]["chunk_type"] for result in answer["results"]] == ["code"]
    assert answer["results"][0]["chunk"]["colour"] == "blue"


@pytest.mark.parametrize(
    ("query", "match_type", "file"),
    [
        ("map[string]Session", "substring", "auth/session.go"),
        (r"/func .* Refresh/", None, "auth/session.go"),
        (r"/opaque\s+tok/", None, "docs/decisions/7.md"),
        ("backoff(7)", "substring", "settings.conf"),
        ("expire after", "substring", "docs/guide.md"),
        (r"/(?s)struct.*Refresh/", None, "auth/session.go"),
        ("SessionStore", None, "auth/session.go"),
    ],
)
def test_expressions_and_substrings_look_at_every_kind(others, query, match_type, file):
    answer = ask(others, "cortex_exact", query=query, match_type=match_type)
    assert files(answer) == [file]
    assert answer["total_found"] == 1


@pytest.mark.parametrize("detail", ["auto", "full", "snippet"])
@pytest.mark.parametrize(
    ("question", "file", "text"),
    [
        ("session store", "auth/session.go", "SessionStore"),
        ("opaque tokens", "docs/decisions/7.md", "opaque tokens"),
        ("retry backoff", "settings.conf", "backoff(7)"),
        ("when do sessions expire", "docs/guide.md", "expire after a week"),
    ],
)
def test_a_question_finds_views_that_stand_for_their_file_beside_whole_documents(
    others, question, file, text, detail
):
    answer = ask(others, "cortex_search", query=question, detail=detail)
    texts = {
        result["chunk"]["metadata"]["file_path"]: result["chunk"]["text"] for result in answer["results"]
    }
    assert text in texts[file]


def test_fields_of_a_chunk_are_not_taken_for_the_files_own(others):
    starting.check_start(others.config)
