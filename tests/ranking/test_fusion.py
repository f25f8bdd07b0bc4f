"""The ranking over made-up signals: precedence, and inputs that must not matter."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.ranking import rank, rank_by_cosine, score_candidates, weigh
from cortex.ranking.names import QuestionProfile
from ipc.messages import Hit, signals_of
from tests.drawn_examples import scaled

LANES = ("body", "path", "defs", "comments", "defx")


def hit(key, path, kind="code", line=1, name=None):
    return Hit(
        key=key,
        id=name or f"{kind}-{path}~{key}",
        chunk_type=kind,
        path=path,
        start_line=line,
        end_line=line + 9,
    )


def text(*rows):
    """Make signals of the text worker from (hit, {lane: value}) pairs."""
    values = np.zeros((len(LANES), len(rows)), np.float32)
    for at, (_, lanes) in enumerate(rows):
        for name, value in lanes.items():
            values[LANES.index(name), at] = value
    return signals_of(generation=1, hits=tuple(h for h, _ in rows), names=LANES, values=values)


def vector(*rows, mean=0.1, std=0.1, total=1000):
    values = np.array([[cosine for _, cosine in rows]], np.float32)
    stats = {"cosine_mean": mean, "cosine_std": std, "rows": float(total)}
    return signals_of(
        generation=1, hits=tuple(h for h, _ in rows), names=("cosine",), values=values, stats=stats
    )


def paths(ranked):
    return [entry.hit.path for entry in ranked]


def ranked_by_text(question, *rows, limit=10):
    return rank(question, text(*rows), None, weigh(vectors=False), limit)


def test_distinct_files_come_first_each_with_its_best_chunk():
    a1, a2, b = hit(1, "a.py"), hit(2, "a.py"), hit(3, "b.py")
    ranked = ranked_by_text("words", (a1, {"body": 9}), (a2, {"body": 10}), (b, {"body": 1}))
    assert [entry.hit.key for entry in ranked] == [2, 3, 1]
    assert [entry.place for entry in ranked] == [1, 1, 2]


def test_a_file_with_three_good_chunks_beats_one_with_a_single_better_chunk():
    rows = [(hit(key, "many.py"), {"body": 6}) for key in (1, 2, 3)]
    ranked = ranked_by_text("words", *rows, (hit(4, "one.py"), {"body": 9}), limit=2)
    assert paths(ranked) == ["many.py", "one.py"]


def test_files_with_more_references_come_first_in_every_lane():
    used, unused = hit(1, "used.py"), hit(2, "unused.py")
    values = np.array([[0.5, 0.5], [7, 0]], np.float32)
    names = ("cosine", "file_references")
    lane = signals_of(
        1, (unused, used), names, values[:, ::-1], {"cosine_mean": 0.1, "cosine_std": 0.1, "rows": 2.0}
    )
    assert paths(rank("words", None, lane, weigh(vectors=True), 2)) == ["used.py", "unused.py"]
    words = signals_of(1, (unused, used), ("body", "file_references"), values[:, ::-1], {})
    assert paths(rank("words", words, None, weigh(vectors=False), 2)) == ["used.py", "unused.py"]


def test_chunks_tagged_as_generated_or_vendored_come_last_in_every_lane():
    handwritten, copy = hit(1, "own.py"), hit(2, "copy.py")
    values = np.array([[0.8, 0.9], [0, 1]], np.float32)
    stats = {"cosine_mean": 0.1, "cosine_std": 0.1, "rows": 2.0}
    lane = signals_of(1, (handwritten, copy), ("cosine", "foreign"), values, stats)
    assert paths(rank("words", None, lane, weigh(vectors=True), 2)) == ["own.py", "copy.py"]
    words = signals_of(1, (handwritten, copy), ("body", "foreign"), values, {})
    assert paths(rank("words", words, None, weigh(vectors=False), 2)) == ["own.py", "copy.py"]


@pytest.mark.parametrize("path", ["vendor/lib/store.py", "src/store_pb2.py"])
def test_files_with_generated_or_vendored_paths_come_last(path):
    rows = [(hit(1, path), {"body": 9}), (hit(2, "src/own.py"), {"body": 7})]
    assert paths(ranked_by_text("words", *rows)) == ["src/own.py", path]


def test_folders_named_like_the_question_count():
    rows = [(hit(1, "http/store.py"), {"body": 1}), (hit(2, "queue/store.py"), {"body": 1})]
    assert paths(ranked_by_text("how the queue is stored", *rows))[0] == "queue/store.py"


@pytest.mark.parametrize(
    ("question", "first"), [("parse values", "src/v4/types.ts"), ("how v3 parses values", "src/v3/types.ts")]
)
def test_a_newer_version_beside_it_supersedes_a_folder_unless_a_version_is_asked_for(question, first):
    rows = [(hit(1, "src/v3/types.ts"), {"body": 5}), (hit(2, "src/v4/types.ts"), {"body": 4})]
    other = (hit(3, "plugin/v2/types.ts"), {"body": 4.5})
    ranked = ranked_by_text(question, *rows, other)
    assert paths(ranked)[0] == ("plugin/v2/types.ts" if first == "src/v4/types.ts" else first)
    assert next(path for path in paths(ranked) if path.startswith("src")) == first


def test_overviews_of_the_same_lines_do_not_add_to_a_files_sum():
    plain, view = hit(1, "a.py"), hit(2, "a.py", kind="definitions")
    alone = ranked_by_text("words", (plain, {"body": 5}), (hit(3, "b.py"), {"body": 6}))
    both = ranked_by_text("words", (plain, {"body": 5}), (view, {"body": 5}), (hit(3, "b.py"), {"body": 6}))
    assert paths(alone)[:2] == paths(both)[:2] == ["b.py", "a.py"]


def test_a_file_known_only_by_overviews_is_ranked_by_them():
    ranked = ranked_by_text(
        "words", (hit(1, "a.py", kind="definitions"), {"body": 5}), (hit(2, "b.py"), {"body": 1})
    )
    assert paths(ranked) == ["a.py", "b.py"]


def test_a_definition_beats_its_uses_and_is_the_chunk_that_is_shown():
    defined = (hit(1, "provider.py"), {"body": 3, "defx": 1.0})
    loud = (hit(2, "provider.py"), {"body": 9})
    users = [(hit(key, f"use{key}.py"), {"body": 9}) for key in (3, 4)]
    ranked = ranked_by_text("Provider", defined, loud, *users)
    assert ranked[0].hit.key == 1


@pytest.mark.parametrize(
    "path", ["tests/test_reader.py", "src/reader_test.go", "reader.spec.ts", "mocks/reader.py"]
)
def test_tests_rank_below_the_code_they_test_unless_they_are_asked_for(path):
    rows = (hit(1, path), {"body": 10}), (hit(2, "src/other.py"), {"body": 7})
    assert paths(ranked_by_text("how is it read", *rows))[0] == "src/other.py"
    assert paths(ranked_by_text("the test of how it is done", *rows))[0] == path


def test_a_document_does_not_count_twice_as_text_and_as_comment():
    document, code = hit(1, "README.md", kind="documentation"), hit(2, "src/a.py")
    both = (document, {"body": 5, "comments": 9}), (code, {"body": 5, "comments": 3})
    assert paths(ranked_by_text("words", *both)) == ["src/a.py", "README.md"]
    alone = ranked_by_text("words", both[0], (hit(3, "b.md", kind="documentation"), {"body": 5}))
    assert paths(alone) == ["README.md", "b.md"]


def test_a_document_ranks_a_little_lower_than_code_unless_documents_are_asked_for():
    guide, code = hit(1, "guide.md", kind="documentation"), hit(2, "src/a.py")
    rows = (guide, {"body": 10}), (code, {"body": 9})
    assert paths(ranked_by_text("how is it read", *rows))[0] == "src/a.py"
    assert paths(ranked_by_text("the guide to how it is done", *rows))[0] == "guide.md"
    assert ranked_by_text("how is it read", rows[0])[0].explanation()["signals"]["document"]["value"] == 0.0


def test_files_of_the_build_come_first_when_the_question_speaks_of_it_and_their_text_answers():
    rows = (hit(1, "pyproject.toml"), {"body": 10}), (hit(2, "src/b.py"), {"body": 9, "defs": 3})
    assert paths(ranked_by_text("how strict is it", *rows))[0] == "src/b.py"
    assert paths(ranked_by_text("how strict is the linter", *rows))[0] == "pyproject.toml"
    weak = (hit(1, "pyproject.toml"), {"body": 1}), rows[1]
    assert paths(ranked_by_text("how strict is the linter", *weak))[0] == "src/b.py"
    explained = ranked_by_text("how strict is it", *rows)[0].explanation()["signals"]
    assert "asked" not in explained


def test_a_remark_or_the_name_of_a_file_of_the_build_is_enough_where_code_is_hardly_meant():
    rows = (hit(1, "scripts/check.sh.mk"), {"body": 1, "comments": 5}), (hit(2, "b.py"), {"body": 9})
    assert paths(ranked_by_text("the linter", *rows))[0] == "scripts/check.sh.mk"
    assert paths(ranked_by_text("the settings", *rows))[0] == "b.py"


def test_a_file_named_by_a_short_form_or_by_two_words_in_one_is_preferred():
    rows = (hit(1, "aa/zz.py"), {"body": 6}), (hit(2, "src/auth.py"), {"body": 5})
    assert paths(ranked_by_text("where is authentication done", *rows))[0] == "src/auth.py"
    rows = (hit(1, "aa/zz.py"), {"body": 6}), (hit(2, "src/ratelimit.py"), {"body": 5})
    assert paths(ranked_by_text("how is the rate limit kept", *rows))[0] == "src/ratelimit.py"


def test_examples_rank_a_little_lower():
    ranked = ranked_by_text(
        "words", (hit(1, "examples/a.py"), {"body": 5}), (hit(2, "src/b.py"), {"body": 5})
    )
    assert paths(ranked) == ["src/b.py", "examples/a.py"]


@pytest.mark.parametrize(
    "path", ["net/http_client.py", "net/HttpClient.java", "http_client/__init__.py", "httpClient/index.ts"]
)
def test_a_file_named_like_the_question_is_preferred(path):
    ranked = ranked_by_text("http client", (hit(1, "aa/zz.py"), {"body": 6}), (hit(2, path), {"body": 5}))
    assert paths(ranked)[0] == path


def test_the_cosine_counts_as_a_z_score():
    rows = [(hit(1, "near.py"), 0.6), (hit(2, "far.py"), 0.2)]
    ranked = rank("words", None, vector(*rows, mean=0.1, std=0.1), weigh(vectors=True), 5)
    assert paths(ranked) == ["near.py", "far.py"]
    smax = {term.name: term for term in ranked[0].terms}["smax"]
    assert smax.value == pytest.approx((0.6 - 0.1) / 0.1 / 4)
    assert smax.weight == weigh(vectors=True).smax


def test_a_chunk_that_the_cut_vector_lane_left_out_is_worth_half_of_its_last():
    lexical = text((hit(3, "words.py"), {"body": 1}))
    ranked = rank("x", lexical, vector((hit(1, "a.py"), 0.5), (hit(2, "b.py"), 0.3)), weigh(vectors=True), 5)
    missing = next(entry for entry in ranked if entry.hit.path == "words.py")
    assert {t.name: t.value for t in missing.terms}["smax"] == pytest.approx((0.2 - 0.1) / 0.1 / 4)
    uncut = rank(
        "x", lexical, vector((hit(1, "a.py"), 0.5), (hit(2, "b.py"), 0.3), total=2), weigh(vectors=True), 5
    )
    missing = next(entry for entry in uncut if entry.hit.path == "words.py")
    assert {t.name: t.value for t in missing.terms}["smax"] == 0.0


def test_the_weight_of_the_words_moves_the_ranking():
    lexical, near = (hit(1, "words.py"), {"body": 10, "comments": 5}), (hit(2, "meaning.py"), 0.7)

    def first(weight):
        weights = weigh(vectors=True, bm25_weight=weight)
        return rank("x", text(lexical), vector(near), weights, 2)[0].hit.path

    assert first(1.0) == "words.py"
    assert first(0.0) == "meaning.py"
    assert weigh(vectors=True, bm25_weight=0.45) == weigh(vectors=True)


def test_a_hit_names_the_lanes_that_found_it():
    both, lex, vec = hit(1, "a.py"), hit(2, "b.py"), hit(3, "c.py")
    ranked = rank(
        "x",
        text((both, {"body": 1}), (lex, {"path": 1})),
        vector((both, 0.5), (vec, 0.5)),
        weigh(vectors=True),
        5,
    )
    assert {entry.hit.path: entry.source for entry in ranked} == {
        "a.py": "both",
        "b.py": "lex",
        "c.py": "vec",
    }


NEAR = vector(
    *((hit(1, "a.py"), 0.5), (hit(2, "a.py"), 0.75), (hit(3, "b.py"), 0.25), (hit(4, "c.py"), -0.25)),
    *((hit(5, "b.py"), 0.125), (hit(6, "a.py"), 0.625)),
)


def test_semantic_mode_is_the_cosine_with_distinct_files_first():
    ranked = rank_by_cosine(NEAR, 3)
    assert [(entry.hit.key, entry.score, entry.place) for entry in ranked] == [
        (2, 0.75, 1),
        (3, 0.25, 1),
        (4, 0.0, 1),
    ]
    assert [entry.hit.key for entry in rank_by_cosine(NEAR, 9)] == [2, 3, 4, 6, 1, 5]


def test_in_semantic_mode_files_below_the_floor_hide_no_chunk_of_a_better_file():
    ranked = rank_by_cosine(NEAR, 9, least=0.125)
    assert [(entry.hit.key, entry.score, entry.place) for entry in ranked] == [
        *((2, 0.75, 1), (3, 0.25, 1)),
        *((6, 0.25, 2), (1, 0.25, 3), (5, 0.125, 2)),
    ]
    for entry in ranked:
        assert entry.explanation()["signals"]["cosine"]["points"] == pytest.approx(entry.score)


def test_in_semantic_mode_chunks_without_a_path_are_files_of_their_own():
    rows = ((hit(1, "", name="one"), 0.5), (hit(2, "", name="two"), 0.75), (hit(3, "a.py"), 0.25))
    assert [(entry.hit.key, entry.place) for entry in rank_by_cosine(vector(*rows), 5)] == [
        (2, 1),
        (1, 1),
        (3, 1),
    ]


def test_each_chunk_of_the_listed_files_gets_its_own_relevance():
    words = text((hit(1, "a.py"), {"body": 4}), (hit(2, "a.py"), {"body": 8}), (hit(3, "b.py"), {"body": 2}))
    near = vector((hit(2, "a.py"), 0.9), (hit(4, "a.py"), 0.5), (hit(5, "c.py"), 0.4), mean=0.1, std=0.1)
    keys, speaking = score_candidates((words, near), {"a.py", "b.py"})
    missing = (0.1 + 0.4) / 2  # of a chunk that the lane did not return
    z = {key: (cosine - 0.1) / 0.1 / 4 for key, cosine in ((1, missing), (3, missing), (4, 0.5))}
    expected = {1: 0.5 + z[1], 2: 1 + 1.5, 3: 0.25 + z[3], 4: z[4]}
    assert dict(zip(keys, speaking, strict=True)) == pytest.approx(expected)
    assert score_candidates((words,), {"b.py"}) == ((3,), (0.25,))
    assert score_candidates((), {"b.py"}) == ((), ())


def test_chunks_without_a_path_count_as_files():
    ranked = ranked_by_text("x", (hit(1, "", name="one"), {"body": 1}), (hit(2, "", name="two"), {"body": 2}))
    assert [(entry.hit.id, entry.place) for entry in ranked] == [("two", 1), ("one", 1)]


def test_no_candidates_give_no_results():
    assert rank("x", None, None, weigh(vectors=False), 5) == []
    assert rank("x", text(), vector(), weigh(vectors=True), 5) == []


def test_a_single_row_without_deviation_is_ranked():
    ranked = rank(
        "x", None, vector((hit(1, "a.py"), 0.5), mean=0.5, std=0.0, total=1), weigh(vectors=True), 5
    )
    assert paths(ranked) == ["a.py"]


candidates = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["code", "definitions", "documentation"]),
        st.fixed_dictionaries({lane: st.sampled_from([0.0, 0.25, 1.0, 3.0]) for lane in LANES}),
        st.none() | st.sampled_from([-0.5, 0.1, 0.3, 0.9]),
    ),
    min_size=1,
    max_size=25,
)
questions = st.sampled_from(
    ["how are files read", "which linter reads the files", "Provider", "test of the reader", "file2", "a"]
)


def lanes_of(rows, order, other):
    """Make the two replies for the generated rows, each in a different order."""
    hits = [hit(key, f"dir/file{file}.py", kind) for key, (file, kind, _, _) in enumerate(rows)]
    lexical = [(hits[at], rows[at][2]) for at in order if any(rows[at][2].values())]
    near = [(hits[at], rows[at][3]) for at in other if rows[at][3] is not None]
    return text(*lexical), vector(*near, total=len(near)) if near else None


@settings(max_examples=scaled(150), deadline=None)
@given(candidates, questions, st.randoms(use_true_random=False), st.integers(1, 30))
def test_the_order_of_the_replies_does_not_matter(rows, question, random, limit):
    straight = list(range(len(rows)))
    shuffled, other = straight[:], straight[:]
    random.shuffle(shuffled)
    random.shuffle(other)
    weights = weigh(vectors=True)
    once = rank(question, *lanes_of(rows, straight, straight), weights, limit)
    repeated = rank(question, *lanes_of(rows, shuffled, other), weights, limit)
    assert once == repeated


@settings(max_examples=scaled(150), deadline=None)
@given(candidates, questions, st.integers(1, 30))
def test_scores_fall_from_one_to_zero_and_explanations_add_up(rows, question, limit):
    straight = list(range(len(rows)))
    ranked = rank(question, *lanes_of(rows, straight, straight), weigh(vectors=True), limit)
    scores = [entry.score for entry in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    for entry in ranked:
        explained = entry.explanation()
        products = [signal["product"] for signal in explained["signals"].values()]
        assert math.fsum(products) == pytest.approx(explained["sum"])
        points = [signal["points"] for signal in explained["signals"].values()]
        assert explained["base"] + math.fsum(points) == pytest.approx(entry.score)
    keys = [entry.hit.key for entry in ranked]
    assert len(set(keys)) == len(keys)
    first = [entry.hit.path for entry in ranked if entry.place == 1]
    assert len(set(first)) == len(first)
    assert [entry.place == 1 for entry in ranked] == sorted(
        [entry.place == 1 for entry in ranked], reverse=True
    )


@settings(max_examples=scaled(60), deadline=None)
@given(candidates, questions)
def test_a_shorter_list_is_the_beginning_of_a_longer_one(rows, question):
    straight = list(range(len(rows)))
    lanes = lanes_of(rows, straight, straight)
    longer = rank(question, *lanes, weigh(vectors=True), 100)
    assert [entry.hit for entry in rank(question, *lanes, weigh(vectors=True), 3)] == [
        entry.hit for entry in longer[:3]
    ]


@settings(max_examples=scaled(60), deadline=None)
@given(candidates, questions)
def test_the_score_rises_strictly_with_the_sum_and_does_not_depend_on_the_other_results(rows, question):
    straight = list(range(len(rows)))
    lanes = lanes_of(rows, straight, straight)
    ranked = rank(question, *lanes, weigh(vectors=True), 100)
    first = [entry for entry in ranked if entry.place == 1]
    for better, worse in itertools.pairwise(first):
        assert (better.total > worse.total) == (better.score > worse.score)
    alone = rank(question, *lanes, weigh(vectors=True), 1)
    assert [entry.score for entry in alone] == [entry.score for entry in first[:1]]


def test_names_without_a_mark_of_the_question_are_not_compared(monkeypatch):
    compared, worth = [], QuestionProfile._worth
    monkeypatch.setattr(
        QuestionProfile, "_worth", lambda profile, piece: compared.append(piece) or worth(profile, piece)
    )
    hits = tuple(Hit(at + 1, f"code-{at}", "code", f"part_{at}.py", 1, 9) for at in range(100))
    values = np.tile(np.linspace(1, 0, 100, dtype="<f4"), (4, 1))
    text = signals_of(1, hits, ("body", "path", "defs", "comments"), values)
    best = rank("where is the lock that is taken", text, None, weigh(vectors=False), 3)
    assert [entry.hit.key for entry in best] == [1, 2, 3]
    assert compared == []
    best = rank("which part is taken", text, None, weigh(vectors=False), 3)
    assert [entry.hit.key for entry in best] == [1, 2, 3]
    assert compared.count("part") == 1
