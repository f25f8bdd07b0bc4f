"""Searches over a small project served in this process.

Explanations, scores, modes, lanes, languages, pasted texts.
"""

import asyncio
import dataclasses
import math

import orjson
import pytest

from cortex.ask import search as searching
from cortex.ask.questions import Search
from cortex.embedders.static import open_static
from cortex.front.tools import TOOLS, instruct
from cortex.ranking.weights import WITH_VECTORS, WITHOUT_VECTORS
from cortex.settings.config import Fusion
from cortex.system.errors import Unavailable
from ipc.messages import Filters, TextSignals, VectorSearch
from tests.consent import trust_files

QUESTION = "how is a token refreshed before it expires"


def search(served, config=None, **question):
    answer = asyncio.run(searching.search(served.context(config), Search(**({"query": QUESTION} | question))))
    return orjson.loads(orjson.dumps(answer))


def call(served, name, config=None, **arguments):
    tool = TOOLS[name]
    return orjson.loads(orjson.dumps(asyncio.run(tool.call(served.context(config), tool.check(arguments)))))


def files(answer):
    return [result["chunk"]["metadata"]["file_path"] for result in answer["results"]]


def scores(answer):
    return [result["combined_score"] for result in answer["results"]]


def add_up(explained, weights):
    """Check that every signal has the weight in use, and that the sums of the answer are right."""
    signals = explained["signals"]
    assert {name: signal["weight"] for name, signal in signals.items()} == weights
    for signal in signals.values():
        assert signal["product"] == pytest.approx(signal["value"] * signal["weight"])
    assert math.fsum(signal["product"] for signal in signals.values()) == pytest.approx(explained["sum"])
    points = math.fsum(signal["points"] for signal in signals.values())
    assert explained["base"] + points == pytest.approx(explained["score"])


def table(weights):
    """Return the weights without those for questions that quote a place or want a kind of file."""
    return {
        name: value for name, value in dataclasses.asdict(weights).items() if name not in ("cited", "asked")
    }


def test_every_signal_of_every_hit_is_explained_and_they_add_up_to_the_score(sample):
    answer = search(sample, explain=True, limit=50)
    positive = sum(weight for weight in table(WITH_VECTORS).values() if weight > 0)
    floor = min(
        result["explain"]["score"] for result in answer["results"] if result["explain"]["place_in_file"] == 1
    )
    assert {result["explain"]["place_in_file"] for result in answer["results"]} > {1}
    for result in answer["results"]:
        explained = result["explain"]
        add_up(explained, table(WITH_VECTORS))
        assert result["combined_score"] == pytest.approx(explained["score"], abs=5e-5)
        # The formula of docs/RANKING.md, from the explanation alone.
        first = 1 / (1 + math.exp(-6 * (explained["sum"] / positive - 0.5)))
        expected = first if explained["place_in_file"] == 1 else floor * explained["factor"]
        assert explained["score"] == pytest.approx(expected)


def test_without_the_vector_lane_the_other_weights_are_explained(sample):
    sample.faults["vector"] = Unavailable("The vector worker is not running.")
    try:
        answer = search(sample, explain=True)
    finally:
        sample.faults.clear()
    assert answer["results"]
    for result in answer["results"]:
        add_up(result["explain"], table(WITHOUT_VECTORS))
        assert result["explain"]["source"] == "lex"
    assert answer["index"]["degraded"] == ["vector"]


def test_scores_are_between_0_and_1_and_fall(sample):
    for question in (QUESTION, "SessionStore", "zebra crossing", "colour of the fonts"):
        falling = scores(search(sample, query=question, limit=50))
        assert falling, question
        assert falling == sorted(falling, reverse=True)
        assert all(0 <= score <= 1 for score in falling)


def test_a_question_that_nothing_answers_well_scores_lower_than_one_that_a_file_answers(sample):
    assert (
        scores(search(sample, query="SessionStore"))[0]
        > scores(search(sample, query="kubernetes ingress"))[0]
    )


def test_semantic_mode_is_pure_cosine_and_asks_no_words(sample):
    sample.requests.clear()
    answer = search(sample, mode="semantic", explain=True, limit=50)
    assert not [request for request in sample.requests if isinstance(request, TextSignals)]
    embedder = open_static()
    question = VectorSearch(embedder.embed([QUESTION])[0], embedder.identity, 200, alone=True)
    signals = sample.workers["vector"].handlers[VectorSearch](question)
    cosines = dict(zip([hit.id for hit in signals.hits], signals.values[0].tolist(), strict=True))
    assert answer["results"]
    for result in answer["results"]:
        cosine, explained = cosines[result["chunk"]["id"]], result["explain"]
        assert list(explained["signals"]) == ["cosine"]
        assert explained["sum"] == pytest.approx(cosine, abs=1e-6)
        if explained["place_in_file"] == 1:
            assert result["combined_score"] == pytest.approx(max(0.0, cosine), abs=1e-3)
    assert scores(answer) == sorted(scores(answer), reverse=True)
    count = len(set(files(answer)))
    assert len(set(files(answer)[:count])) == count < len(files(answer))


def test_code_context_is_the_ranking_of_cortex_search(sample):
    context = call(sample, "code_context", query=QUESTION, k=8)
    answer = call(sample, "cortex_search", query=QUESTION, limit=8, detail="full")
    assert [hit["file"] for hit in context["hits"]] == files(answer)
    assert [hit["score"] for hit in context["hits"]] == scores(answer)
    assert files(answer)
    assert {hit["source"] for hit in context["hits"]} <= {"lex", "vec", "both"}


@pytest.mark.parametrize(("weight", "gone"), [(1.0, "smax"), (0.0, "ctop3")])
def test_the_weight_of_the_words_in_the_configuration_is_honoured_by_both_tools(sample, weight, gone):
    config = dataclasses.replace(sample.config, fusion=Fusion(bm25_weight=weight))
    answer = search(sample, config, explain=True)
    assert answer["results"][0]["explain"]["signals"][gone]["weight"] == 0
    context = call(sample, "code_context", config, query=QUESTION, k=15)
    assert [hit["file"] for hit in context["hits"]] == files(answer)
    assert scores(answer) != scores(search(sample))


@pytest.mark.parametrize(("away", "source"), [("text", "vec"), ("vector", "lex")])
def test_source_names_the_lane_that_answered(sample, away, source):
    sample.faults[away] = Unavailable(f"The {away} worker is not running.")
    try:
        context = call(sample, "code_context", query=QUESTION)
    finally:
        sample.faults.clear()
    assert {hit["source"] for hit in context["hits"]} == {source}
    assert context["index"]["degraded"] == [away]


@pytest.mark.parametrize(
    ("tool", "source", "arguments"),
    [
        ("cortex_exact", "exact", {"query": "rotate"}),
        ("cortex_graph", "graph", {"operation": "callers", "target": "rotate"}),
    ],
)
def test_the_time_of_an_answer_is_in_whole_milliseconds(sample, tool, source, arguments):
    metadata = call(sample, tool, **arguments)["metadata"]
    assert (type(metadata["took_ms"]), metadata["source"]) == (int, source)


def test_source_says_both_where_both_found_it(sample):
    assert call(sample, "code_context", query=QUESTION)["hits"][0]["source"] == "both"


@pytest.mark.parametrize(
    "question",
    [
        "如何在过期之前刷新令牌？",
        "トークンはどのように更新されますか",
        "Как обновляется токен до истечения срока?",
        "كيف يتم تحديث الرمز المميز",
        "wie wird das Token erneuert, bevor es abläuft?",
        "토큰은 어떻게 갱신됩니까",
        "🦀🔥",
        "¿",
    ],
)
def test_questions_in_other_languages_are_answered(sample, question):
    for mode in ("hybrid", "semantic"):
        answer = search(sample, query=question, mode=mode)
        assert answer["index"]["degraded"] == []
        assert answer["results"]


def test_agents_are_told_to_ask_in_english():
    assert "Ask in English" in instruct(TOOLS)


TRACE = """Since yesterday nobody can sign in any more, please help!

Traceback (most recent call last):
  File "/srv/app/src/web/login.py", line 8, in show_login
    return store.refresh_token(token)
  File "/srv/app/src/auth/session.py", line 18, in rotate
    return token[1:] + token[:1]
  File "/usr/lib/python3.11/typing.py", line 99, in inner
    return func(*args)
TypeError: 'NoneType' object is not subscriptable
"""


def test_a_trace_leads_to_the_innermost_file_of_the_project_and_the_line_in_it(sample):
    answer = search(sample, query=TRACE, explain=True, limit=4)
    assert files(answer)[:2] == ["src/auth/session.py", "src/web/login.py"]
    chunk = answer["results"][0]["chunk"]["metadata"]
    assert chunk["start_line"] <= 18 <= chunk["end_line"]
    weights = table(WITH_VECTORS) | {"cited": WITH_VECTORS.cited}
    for result in answer["results"]:
        add_up(result["explain"], weights)


def test_a_file_that_a_question_names_comes_first_unless_a_filter_leaves_it_out(sample):
    question = "where are colours defined, src/web/login.py?"
    assert files(search(sample, query=question))[0] == "src/web/login.py"
    filtered = search(sample, query=question, filters=Filters(exclude_paths=("src/web/login.py",)))
    assert "src/web/login.py" not in files(filtered)


def test_an_ordinary_question_asks_nothing_more_than_its_lanes(sample):
    sample.requests.clear()
    search(sample)
    assert [type(request).__name__ for request in sample.requests] == [
        "TextSignals",
        "MeaningSearch",
        "Fetch",
    ]


ROUNDING = '''def round_rate(rate):
    """Round an exchange rate to four digits, half to even."""
    return round(rate, 4)
'''


def test_generated_and_vendored_files_come_behind_the_projects_own_code(tmp_path, serve):
    handwritten, generated, copied = "src/rates.py", "src/exchange_rates.py", "vendor/fx/exchange_rates.py"
    sources = {
        generated: f"# Code generated by ratesgen. DO NOT EDIT.\n{ROUNDING}",
        copied: ROUNDING,
        handwritten: ROUNDING,
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    answer = search(serve(tmp_path), query="how are exchange rates rounded", explain=True)
    assert files(answer)[0] == handwritten
    assert set(files(answer)) == set(sources)
    for result in answer["results"]:
        foreign = result["explain"]["signals"]["foreign"]["value"]
        assert foreign == (result["chunk"]["metadata"]["file_path"] != handwritten)


def test_vectors_of_another_program_that_name_no_model_are_left_out_aloud(serve, tmp_path):
    (tmp_path / "a.py").write_text("def sign_in(name): return name\n")
    theirs = tmp_path / ".cortex" / "chunks" / "theirs.json"
    theirs.parent.mkdir(parents=True)
    vector = open_static().embed(["sign in"])[0].tolist()
    chunk = {"id": "theirs-1", "chunk_type": "code", "text": "unrelated words", "embedding": vector}
    theirs.write_bytes(orjson.dumps([chunk]))
    trust_files(tmp_path)
    answer = search(serve(tmp_path), query="sign in", mode="semantic", detail="full")
    assert answer["results"]
    assert "theirs-1" not in [result["chunk"]["id"] for result in answer["results"]]
    assert "1 chunks have no vector of the model in use" in answer["index"]["message"]
