"""Candidates of several projects are ranked as those of one, whichever way they are split."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.ask.multi_project.fan_out import add_counts
from cortex.ranking import cite, define, rank, weigh
from cortex.ranking.multi_project import (
    KEY_BITS,
    join_meaning,
    join_names,
    join_places,
    join_words,
    split_hit,
)
from ipc.messages import Hit, Located, Place, Spot, WordCounts, signals_of
from tests.drawn_examples import scaled

NAMES = ("body", "path", "defs", "comments", "defx", "file_references", "foreign")


def hit(key, path, kind="code"):
    return Hit(key, f"{kind}-{path}~{key}", kind, path, 1, 9)


def words(rows):
    values = np.array([[lanes.get(name, 0.0) for _, lanes in rows] for name in NAMES], np.float32)
    return signals_of(1, tuple(chunk for chunk, _ in rows), NAMES, values.reshape(len(NAMES), -1))


def meaning(rows):
    cosines = np.array([cosine for _, cosine in rows], np.float32)
    stats = {"cosine_mean": 0.0, "cosine_std": 0.0, "rows": float(len(rows)), "matching": float(len(rows))}
    if len(rows):
        stats |= {"cosine_mean": float(cosines.mean()), "cosine_std": float(cosines.std())}
    return signals_of(1, tuple(chunk for chunk, _ in rows), ("cosine",), cosines.reshape(1, -1), stats)


def order(question, text, vector, limit=20):
    return rank(question, text, vector, weigh(vectors=vector is not None), limit)


@st.composite
def worlds(draw):
    """Generate (hit, lanes, cosine, project) of chunks with distinct values, a few of each file."""
    count = draw(st.integers(1, 24))
    values = draw(st.permutations(range(1, 2 * count + 1)))
    out = []
    for key in range(count):
        path = draw(
            st.sampled_from(["src/a.py", "src/b.py", "tests/test_a.py", "v3/x.py", "v4/x.py", "docs/a.md"])
        )
        lanes = {name: draw(st.sampled_from([0.0, 1.0, 2.5])) for name in NAMES[1:]}
        lanes["body"] = float(values[key])
        project = {"src/a.py": 0, "docs/a.md": 1, "src/b.py": 1, "tests/test_a.py": 0}.get(path, 2)
        out.append((hit(key + 1, path), lanes, values[count + key] / (3 * count), project))
    return out


@settings(max_examples=scaled(150))
@given(worlds())
def test_files_of_one_project_in_several_rank_as_they_do_in_one(world):
    question = "where is the a of x"
    alone = order(
        question,
        words([(chunk, lanes) for chunk, lanes, _, _ in world]),
        meaning([(chunk, cosine) for chunk, _, cosine, _ in world]),
    )
    projects = sorted({project for *_, project in world})
    text = {n: words([(chunk, lanes) for chunk, lanes, _, owner in world if owner == n]) for n in projects}
    vector = {
        n: meaning([(chunk, cosine) for chunk, _, cosine, owner in world if owner == n]) for n in projects
    }
    together = order(question, join_words(text, 1000), join_meaning(vector, 1000))
    assert [split_hit(entry.hit)[1] for entry in together] == [entry.hit for entry in alone]
    assert [entry.score for entry in together] == pytest.approx([entry.score for entry in alone], abs=1e-6)
    whose = {chunk.key: project for chunk, _, _, project in world}
    assert all(split_hit(entry.hit)[0] == whose[split_hit(entry.hit)[1].key] for entry in together)


def test_a_single_joined_project_is_ranked_to_the_last_bit_as_it_is_alone():
    rows = [(hit(1, "a.py"), {"body": 3.0}), (hit(2, "b.py"), {"body": 7.0, "defs": 1.0})]
    cosines = [(chunk, 0.1 * at + 0.3) for at, (chunk, _) in enumerate(rows)]
    alone = order("words", words(rows), meaning(cosines))
    joined = order("words", join_words({4: words(rows)}, 9), join_meaning({4: meaning(cosines)}, 9))
    assert [entry.score for entry in joined] == [entry.score for entry in alone]
    assert [split_hit(entry.hit) for entry in joined] == [(4, entry.hit) for entry in alone]


def test_equal_paths_and_keys_in_two_projects_are_different_files_and_chunks():
    reply = words([(hit(1, "a.py"), {"body": 3.0})])
    ranked = order("words", join_words({0: reply, 1: reply}, 9), None)
    assert [split_hit(entry.hit) for entry in ranked] == [(0, hit(1, "a.py")), (1, hit(1, "a.py"))]
    assert [entry.place for entry in ranked] == [1, 1]


def test_chunks_without_a_file_count_as_files_in_each_project():
    reply = words([(hit(1, ""), {"body": 3.0}), (hit(2, ""), {"body": 2.0})])
    ranked = order("words", join_words({0: reply, 1: reply}, 9), None)
    assert sorted(split_hit(entry.hit)[0] for entry in ranked) == [0, 0, 1, 1]
    assert {split_hit(entry.hit)[1].path for entry in ranked} == {""}
    assert [entry.place for entry in ranked] == [1] * 4


def test_a_newer_version_in_another_project_supersedes_nothing():
    old, new = (words([(hit(1, f"api/{v}/x.py"), {"body": 3.0})]) for v in ("v3", "v4"))
    apart = order("words", join_words({0: old, 1: new}, 9), None)
    assert {entry.terms[entry.names.index("superseded")].value for entry in apart} == {0.0}


def test_each_lane_keeps_the_best_chunks_of_all_projects():
    many = words(
        [(hit(key, f"{key}.py"), {"body": float(key), "defs": float(9 - key)}) for key in range(1, 9)]
    )
    few = words([(hit(1, "low.py"), {"body": 0.5, "defs": 0.5})])
    joined = join_words({0: many, 1: few}, 2)
    assert {split_hit(chunk)[1].key for chunk in joined.hits} == {1, 2, 7, 8}
    assert joined.row("body").tolist().count(0.0) == 2
    nearest = join_meaning(
        {0: meaning([(hit(1, "a"), 0.2), (hit(2, "b"), 0.9)]), 1: meaning([(hit(1, "c"), 0.5)])}, 2
    )
    assert [split_hit(chunk)[1].path for chunk in nearest.hits] == ["b", "c"]


@given(st.lists(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=20), min_size=1, max_size=4))
def test_mean_and_deviation_are_those_of_all_rows(projects):
    replies = {
        n: meaning([(hit(k, "a"), c) for k, c in enumerate(cosines)]) for n, cosines in enumerate(projects)
    }
    joined = join_meaning(replies, 5)
    every = np.array([cosine for cosines in projects for cosine in cosines])
    assert joined.stats["cosine_mean"] == pytest.approx(every.mean(), abs=1e-5)
    assert joined.stats["cosine_std"] == pytest.approx(every.std(), abs=1e-3)
    assert joined.stats["matching"] == len(every)


def test_cosines_of_different_models_are_compared_by_how_far_they_stand_out():
    low = meaning([(hit(1, "low.py"), 0.02), (hit(2, "x.py"), 0.01), (hit(3, "y.py"), 0.0)])
    high = meaning([(hit(1, "high.py"), 0.90), (hit(2, "z.py"), 0.90), (hit(3, "w.py"), 0.87)])
    same = join_meaning({0: low, 1: high}, 9)
    apart = join_meaning({0: low, 1: high}, 9, {0: "one", 1: "other"})
    assert split_hit(same.hit(int(same.row("cosine").argmax())))[1].path == "high.py"
    assert split_hit(apart.hit(int(apart.row("cosine").argmax())))[1].path == "low.py"
    assert apart.stats["cosine_mean"] == pytest.approx(0, abs=1e-6)
    assert apart.stats["cosine_std"] == pytest.approx(1, abs=1e-6)


def test_a_place_is_searched_in_all_projects_and_counts_less_the_more_have_it():
    def located(path):
        return Located(1, (Spot(0, hit(1, path), shared=1),), "", np.zeros((1, 1), np.float32))

    places = (Place("a.py", 3),)
    single, both = ({0: located("a.py")}, {0: located("a.py"), 1: located("a.py")})
    assert cite(places, join_places(single)).row("cited").tolist() == [1.0]
    assert cite(places, join_places(both)).row("cited").tolist() == [0.5, 0.5]
    assert join_places({}) is None


def test_a_name_that_too_many_projects_define_is_ignored():
    reply = words([(hit(1, "a.py"), {"defx": 1.0})])
    assert len(define(join_names(dict.fromkeys(range(5), reply)), 0)) == 5
    assert define(join_names(dict.fromkeys(range(6), reply)), 0) is None


def test_words_are_counted_over_all_projects():
    counted = add_counts(
        [WordCounts(3, 10, {"lane_body a": 2}), WordCounts(1, 5, {"lane_body a": 1, "x b": 4})]
    )
    assert counted == WordCounts(0, 15, {"lane_body a": 3, "x b": 4})


def test_a_key_leaves_room_for_the_clock_of_the_next_centuries():
    year_2200_ns = 7_258_118_400 * 10**9
    assert year_2200_ns >> 16 < 1 << KEY_BITS
