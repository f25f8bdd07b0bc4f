"""Pasted texts: the parts extracted from traces, messages and issues, and their effect.
CORTEX_UPDATE_GOLDEN=1 writes the golden file.
"""

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.ranking import cite, define, rank, read_question, weigh
from ipc.messages import Hit, Located, Place, Spot, signals_of
from tests.drawn_examples import scaled

GOLDEN = Path(__file__).parents[1] / "golden" / "pasted_texts.json"


def plain(reading):
    places = [f"{place.path}:{place.line}" if place.line else place.path for place in reading.places]
    return {"query": reading.query, "places": places, "names": list(reading.names)}


def test_texts_are_read_as_agreed_on():
    texts = json.loads(GOLDEN.read_text())
    got = [
        {"name": entry["name"], "text": entry["text"], "read": plain(read_question(entry["text"]))}
        for entry in texts
    ]
    if os.environ.get("CORTEX_UPDATE_GOLDEN"):
        GOLDEN.write_text(json.dumps(got, indent=1, ensure_ascii=False) + "\n")
        pytest.skip("written anew")
    assert got == texts


@pytest.mark.parametrize(
    "question",
    [
        "how does authentication work",
        "Plug.Session for cookie and server-side session management",
        "std::filesystem path formatting support",
        "request/response transformers",
        "how the Plug behaviour defines call/2 for composable middleware",
        "HttpClient.retry",
        "`HttpClient.retry`",
        "Ledger.transfer()",
        "如何刷新会话令牌？",
        "Как обновляется токен сессии?",
        "כיצד מתרענן האסימון",
        "🦀",
        "ValueError: the query is empty",
        "listen on localhost:8080 and example.com:443",
    ],
)
def test_an_ordinary_question_stays_as_it_is(question):
    assert plain(read_question(question)) == {"query": question, "places": [], "names": []}


@pytest.mark.parametrize(
    ("question", "places", "names"),
    [
        ("what is wrong in src/net/client.py:42", ["src/net/client.py:42"], []),
        ("how are sessions stored in src/auth/session.py", ["src/auth/session.py"], []),
        ("what does `session.py` do", ["session.py"], []),
        ("why does `HttpClient.retry` ignore the timeout", [], ["HttpClient.retry"]),
        ("why does refresh_token() lose its scope", [], ["refresh_token"]),
        ("see https://example.com/index.html and a.b", [], []),
    ],
)
def test_places_and_names_of_a_short_question_are_used_and_its_words_stay(question, places, names):
    assert plain(read_question(question)) == {"query": question, "places": places, "names": names}


def test_frames_of_the_languages_own_libraries_are_no_places():
    trace = (
        'Traceback (most recent call last):\n  File "/usr/lib/python3.11/asyncio/runners.py", line 1, in run\n'
        '  File "/venv/lib/python3.11/site-packages/httpx/_client.py", line 9, in send\n'
        "    at process (node:internal/process/task_queues:95:5)\n\tat java.base/java.lang.Thread.run(Thread.java:833)\n"
    )
    assert plain(read_question(trace))["places"] == ["httpx/_client.py:9"]


def spot(place, key, path, *, shared=1, is_whole=True):
    return Spot(place, Hit(key, f"code-{path}~{key}", "code", path, 1, 9), shared, is_whole)


def cited(places, *spots):
    reply = cite(places, Located(1, spots, "m", np.zeros((len(spots), 4), np.float32)))
    return (
        {}
        if reply is None
        else dict(zip([hit.path for hit in reply.hits], reply.values.T.tolist(), strict=True))
    )


def test_the_first_place_that_the_index_holds_counts_most():
    places = (Place("gone.py", 3), Place("b.py", 4), Place("a.py"))
    assert cited(places, spot(1, 2, "b.py"), spot(2, 1, "a.py")) == {
        "b.py": [1.0, 1.0],
        "a.py": [pytest.approx(0.6), 0.0],
    }


def test_a_name_that_several_files_have_counts_less_and_one_of_many_not_at_all():
    two = [spot(0, key, f"d{key}/a.py") for key in range(2)]
    assert cited((Place("a.py"),), *two) == {"d0/a.py": [0.5, 0.0], "d1/a.py": [0.5, 0.0]}
    assert cited((Place("a.py"),), *[spot(0, key, f"d{key}/a.py") for key in range(4)]) == {}
    assert cited((Place("x/a.py"),), spot(0, 1, "y/a.py", shared=1, is_whole=False)) == {}


def signals(*values):
    hits = tuple(Hit(at, f"c{at}", "code", f"{at}.py", 1, 9) for at in range(len(values)))
    return signals_of(1, hits, ("body", "defx"), np.array([[1.0] * len(values), values], np.float32))


def test_a_definition_counts_less_when_the_question_holds_more_than_its_name():
    defining = define(signals(0.0, 1.0, 0.5), 0)
    assert defining.names == ("defx",)
    assert defining.values[0].tolist() == pytest.approx([0.6, 0.3])
    assert define(signals(1.0), 2).values[0].tolist() == pytest.approx([0.3])
    assert define(signals(0.0), 0) is None
    assert define(signals(*[1.0] * 6), 0) is None


def test_a_cited_file_comes_first_with_the_chunk_that_holds_the_line():
    texts = [
        Hit(1, "a1", "code", "a.py", 1, 9),
        Hit(2, "a2", "code", "a.py", 10, 19),
        Hit(3, "b", "code", "b.py", 1, 9),
    ]
    lexical = signals_of(1, tuple(texts), ("body",), np.array([[5.0, 1.0, 9.0]], np.float32))
    citations = signals_of(1, (texts[1],), ("cited", "line"), np.array([[1.0], [1.0]], np.float32))
    ranked = rank("words", lexical, None, weigh(vectors=False), 3, extra_signals=[citations])
    assert [entry.hit.id for entry in ranked] == ["a2", "b", "a1"]
    explained = ranked[0].explanation()
    cited_signal = explained["signals"]["cited"]
    assert (cited_signal["value"], cited_signal["weight"], cited_signal["product"]) == (1.0, 6.0, 6.0)
    plain_rank = rank("words", lexical, None, weigh(vectors=False), 3)
    assert "cited" not in plain_rank[0].explanation()["signals"]
    # Files that are not cited stay as they are.
    assert plain_rank[0].score == ranked[1].score


def test_a_file_that_only_the_question_names_is_a_result():
    hit = Hit(7, "x", "code", "x.py", 1, 9)
    citations = signals_of(1, (hit,), ("cited", "line"), np.array([[1.0], [0.0]], np.float32))
    (entry,) = rank("x.py", None, None, weigh(vectors=False), 3, extra_signals=[citations])
    assert (entry.hit.id, entry.source) == ("x", "lex")


@settings(max_examples=scaled(200), deadline=None)
@given(st.text(alphabet="aA1.:/\\_`'\"()#[]<>, \n\tFile at in error", max_size=400))
def test_any_text_is_read(text):
    reading = read_question(text)
    assert reading.query.strip() or not text.strip()
    assert all(place.path for place in reading.places)


@pytest.mark.parametrize(
    "piece",
    ["a", "a.", "/", "a/", 'File "', "`", "'", "at ", " ", "\n", "a_", "a:1", "https://", "(", "error:", "a\n ", "\\", "1.", "<", "a.py:1 "],
)  # fmt: skip
def test_the_time_grows_with_the_text_and_no_faster(piece):
    text = piece * (64_000 // len(piece))
    started = time.process_time()
    read_question(text)
    # Quadratic expressions took minutes here; this takes a hundredth of a second.
    assert time.process_time() - started < 5
