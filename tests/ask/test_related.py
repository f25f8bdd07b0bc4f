"""find_related over a small project, indexed and served in this process."""

import asyncio

import orjson
import pytest

from cortex.ask.questions import Related
from cortex.ask.references.related import find_related
from cortex.system.errors import BadRequest, NotFound, NotReady, Unavailable
from ipc.messages import VectorSearch


def related(served, **question):
    return orjson.loads(orjson.dumps(asyncio.run(find_related(served.context(), Related(**question)))))


def files(answer, kind):
    entries = answer[kind]
    return [entry.get("file") or entry["chunk"]["metadata"]["file_path"] for entry in entries]


def test_a_line_has_its_callers_tests_documents_and_similar_code(sample):
    answer = related(sample, file="src/auth/session.py", line=10)
    assert answer["target"]["symbols"] == ["SessionStore.refresh_token"]
    assert answer["target"]["file"] == "src/auth/session.py"
    assert set(files(answer, "similar")) == {"src/auth/tickets.py", "src/web/login.py", "src/web/render.py"}
    assert [entry["score"] for entry in answer["similar"]] == sorted(
        (entry["score"] for entry in answer["similar"]), reverse=True
    )
    (caller,) = answer["callers"]
    assert (caller["id"], caller["line"]) == ("src/web/login:show_login", 8)
    assert caller["text"] == "return store.refresh_token(token)"
    assert answer["tests"][0] == {
        "file": "tests/test_session.py",
        "line": 5,
        "tests": ["test_a_token_is_refreshed"],
        "why": ["calls", "name", "mentions", "imports"],
    }
    assert files(answer, "tests") == ["tests/test_session.py", "tests/test_pages.py"]
    assert answer["tests"][1]["why"] == ["mentions"]
    assert files(answer, "documents") == ["docs/auth.md"]
    assert answer["documents"][0]["mentions"] == ["refresh_token"]
    assert answer["index"]["degraded"] == []


def test_callers_are_counted_without_tests_and_a_cut_is_reported(tmp_path, serve):
    (tmp_path / "core.py").write_text("def used():\n    return 1\n")
    calls = "from core import used\n" + "".join(f"\n\ndef test_{n}():\n    used()\n" for n in range(60))
    (tmp_path / "a_test.py").write_text(calls)
    more = "from core import used\n" + "".join(f"\n\ndef call_{n}():\n    used()\n" for n in range(30))
    (tmp_path / "z.py").write_text(more)
    served = serve(tmp_path)
    answer = related(served, file="core.py", line=1, limit=50)
    assert [caller["id"] for caller in answer["callers"]] == [f"z:call_{n}" for n in range(30)]
    assert len(answer["tests"][0]["tests"]) == 60
    assert "truncated" not in answer
    assert related(served, file="core.py", line=1, limit=29)["truncated"]


def test_more_callers_than_the_graph_returns_are_reported(tmp_path, serve):
    (tmp_path / "core.py").write_text("def used():\n    return 1\n")
    calls = "from core import used\n" + "".join(f"\n\ndef test_{n}():\n    used()\n" for n in range(120))
    (tmp_path / "a_test.py").write_text(calls)
    answer = related(serve(tmp_path), file="core.py", line=1, limit=100)
    assert answer["callers"] == []
    assert answer["truncated"]


def test_a_chunk_id_means_that_chunk(sample):
    first = related(sample, file="src/auth/session.py", line=10)
    by_id = related(sample, chunk_id=first["target"]["chunk_id"])
    assert by_id["target"]["chunk_id"] == first["target"]["chunk_id"]
    assert files(by_id, "callers") == ["src/web/login.py"]
    assert files(by_id, "similar") == files(first, "similar")


def test_a_file_has_the_related_code_of_all_its_parts(sample):
    answer = related(sample, file="src/auth/session.py")
    assert answer["target"]["start_line"] == 1
    assert answer["target"]["end_line"] == 19
    assert "SessionStore" in answer["target"]["symbols"]
    assert files(answer, "tests")[0] == "tests/test_session.py"
    assert set(answer["documents"][0]["mentions"]) == {"SessionStore", "refresh_token"}
    assert {caller["id"] for caller in answer["callers"]} >= {"src/web/login:show_login"}


@pytest.mark.parametrize(
    "question",
    [
        {"file": "src/auth/session.py:10"},
        {"file": "./src/auth/session.py", "line": 10},
        {"file": "auth/session.py", "line": 10},
        {"file": "src\\auth\\session.py", "line": 10},
    ],
)
def test_a_place_is_read_as_editors_and_traces_write_it(sample, question):
    assert related(sample, **question)["target"]["symbols"] == ["SessionStore.refresh_token"]


@pytest.mark.parametrize(
    ("question", "error", "sentence"),
    [
        ({}, BadRequest, r"Pass either `file` .* or `chunk_id`\.$"),
        ({"file": "a.py", "chunk_id": "x"}, BadRequest, r"Pass either"),
        ({"file": "a\0.py"}, BadRequest, r"must be names"),
        ({"chunk_id": "code-nowhere"}, NotFound, r"There is no chunk 'code-nowhere' in the index; .*\.$"),
        ({"file": "src/nowhere.py"}, NotFound, r"There is no file 'src/nowhere\.py' in the index; .*\.$"),
        (
            {"file": "src/auth/session.py", "line": 999},
            NotFound,
            r"session\.py has no line 999 in the index; it ends at 19\.$",
        ),
        ({"chunk_id": "code-src/auth/session.p"}, NotFound, r"There is no chunk"),
    ],
)
def test_a_target_that_the_index_lacks_is_refused_with_a_sentence(sample, question, error, sentence):
    with pytest.raises(error, match=sentence):
        related(sample, **question)


@pytest.mark.parametrize(
    ("worker", "empty"), [("vector", ["similar"]), ("graph", ["callers"]), ("text", ["documents"])]
)
def test_a_worker_that_is_away_leaves_its_kinds_out_and_is_named(sample, worker, empty):
    sample.faults[worker] = Unavailable(f"The {worker} worker is not running.")
    try:
        answer = related(sample, file="src/auth/session.py", line=10)
    finally:
        sample.faults.clear()
    assert answer["index"]["degraded"] == [worker]
    assert answer["index"]["message"] == f"The {worker} worker is not running."
    assert [kind for kind in ("similar", "callers", "documents") if not answer[kind]] == empty
    assert answer["tests"]


def test_without_any_worker_that_knows_the_chunks_the_call_fails_with_a_sentence(sample):
    sample.faults |= {name: Unavailable(f"The {name} worker is not running.") for name in ("text", "vector")}
    try:
        with pytest.raises(Unavailable, match=r"worker is not running\.$"):
            related(sample, file="src/auth/session.py", line=10)
    finally:
        sample.faults.clear()


def test_limits_hold_for_each_kind_and_say_so(sample):
    answer = related(sample, file="src/auth/session.py", line=10, limit=1)
    assert [len(answer[kind]) for kind in ("similar", "callers", "tests", "documents")] == [1, 1, 1, 1]
    assert answer["truncated"] is True


def test_details_are_honoured(sample):
    answer = related(sample, file="src/auth/session.py", line=10, detail="location")
    assert all("text" not in entry["chunk"] for entry in (*answer["similar"], *answer["documents"]))
    full_answer = related(sample, file="src/auth/session.py", line=10, detail="full")
    assert any("class TicketStore" in entry["chunk"]["text"] for entry in full_answer["similar"])


def test_similar_chunks_are_asked_for_by_the_vector_of_the_chunk_itself(sample):
    sample.requests.clear()
    related(sample, file="src/auth/session.py", line=10)
    (request,) = [message for message in sample.requests if isinstance(message, VectorSearch)]
    assert float(request.vector @ request.vector) == pytest.approx(1.0, abs=1e-3)


def test_a_document_has_similar_documents_and_no_callers(sample):
    answer = related(sample, file="docs/auth.md", line=3)
    assert answer["callers"] == []
    assert files(answer, "similar") == ["docs/colours.md"]


@pytest.mark.parametrize("worker", ["vector", "graph", "text"])
def test_a_lane_that_stays_behind_is_left_out_and_named(sample, worker):
    sample.faults[worker] = NotReady("Generation 9 is not open here.")
    try:
        answer = related(sample, file="src/auth/session.py")
    finally:
        sample.faults.clear()
    assert answer["target"]["file"] == "src/auth/session.py"
    assert answer["index"]["degraded"] == [worker]


def test_a_worker_that_refuses_our_own_request_is_not_degraded(sample):
    sample.faults["graph"] = BadRequest("There is no such symbol.")
    try:
        answer = related(sample, file="src/auth/session.py")
    finally:
        sample.faults.clear()
    assert answer["similar"]
    assert answer["index"]["degraded"] == []


def test_similar_code_is_shown_by_its_name_and_one_line(sample):
    answer = related(sample, file="src/auth/session.py", line=10, detail="auto")
    chunks = {entry["chunk"]["metadata"]["file_path"]: entry["chunk"] for entry in answer["similar"]}
    assert set(chunks) == {"src/auth/tickets.py", "src/web/login.py", "src/web/render.py"}
    assert chunks["src/web/login.py"]["metadata"]["symbol"] == "show_login"
    assert chunks["src/web/login.py"]["text"].startswith("def show_login(")
    assert all(len(chunk["text"].splitlines()) == 1 for chunk in chunks.values())
    assert all(set(chunk) == {"id", "text", "metadata"} for chunk in chunks.values())
    assert files(answer, "documents") == ["docs/auth.md"]
    assert len(answer["documents"][0]["chunk"]["text"].splitlines()) == 1
