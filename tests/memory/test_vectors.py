"""The vectors of notes: proposals, updates, and the file."""

from dataclasses import replace

import numpy as np
import pytest

from cortex.embedders.static import open_static
from cortex.memory.find.vectors import PROPOSED, Vectors, _greatest, distinct
from cortex.memory.note import Note
from cortex.memory.store.records import Point

WORDS = (
    "window door garden river engine server database cache thread socket music piano football weather summer "
    "kitchen bread doctor patient teacher school airport train ticket invoice payment customer lawyer contract"
).split()


@pytest.fixture
def notes():
    return [
        Note(title=f"{first} of the {second}", number=at)
        for at, (first, second) in enumerate(((a, b) for a in WORDS for b in WORDS), 1)
    ]


def test_sketches_of_vectors_propose_the_same_hits_as_all_numbers(notes, tmp_path):
    some = Vectors(tmp_path / "vectors", open_static(), exact_max=PROPOSED)
    for at in range(0, len(notes), 100):  # the sketch is made in between, and grows
        some.take(Point(at + 1), notes[at : at + 100])
    reopened = Vectors(tmp_path / "vectors", open_static(), exact_max=PROPOSED)
    for vectors in (some, reopened):
        shared = [
            len({*vectors.nearest(word, 9, exact=True)} & {*vectors.nearest(word, 9, exact=False)})
            for word in WORDS  # the last of ten would be one of two equal texts
        ]
        assert len(notes) > 1.5 * PROPOSED
        assert sum(shared) >= 0.98 * 9 * len(WORDS)
    everything = np.ones(notes[-1].number + 1, bool)
    near = some.cosines(["window of the door"], everything, also=[1])
    exact = Vectors(tmp_path / "exact", open_static())
    exact.take(Point(1), notes)
    complete = exact.cosines(["window of the door"], everything)
    assert len(near.numbers) < len(complete.numbers)
    assert 1 in near.numbers
    assert near.mean == pytest.approx(complete.mean, abs=0.02)
    best = near.numbers[np.argmax(near.values)]
    assert best == complete.numbers[np.argmax(complete.values)]


@pytest.mark.parametrize("exact_max", [10, 1_000])
def test_a_vector_follows_the_text_of_its_note(notes, tmp_path, exact_max):
    notes = notes[:60]
    some = Vectors(tmp_path / "vectors", open_static(), exact_max=exact_max)
    some.take(Point(1), notes)
    some.take(Point(2), [replace(notes[7], title="Bread is baked on Mondays")])
    everything = np.ones(notes[-1].number + 1, bool)
    for vectors in (some, Vectors(tmp_path / "vectors", open_static(), exact_max=exact_max)):
        assert len(vectors.numbers()) == len(notes)
        assert vectors.nearest("when do we bake bread", 1, exact=False) == [notes[7].number]
        near = vectors.cosines(["when do we bake bread"], everything)
        assert near.numbers[np.argmax(near.values)] == notes[7].number
        others = everything.copy()
        others[notes[7].number] = False
        assert notes[7].number not in vectors.cosines(["when do we bake bread"], others).numbers


def test_the_greatest_of_many_values_are_selected_at_any_index():
    drawn = np.random.default_rng(5).standard_normal(200_000).astype(np.float32)
    rising = np.sort(drawn)
    for values in (drawn, rising, rising[::-1].copy(), np.zeros(200_000, np.float32), drawn[:300]):
        places = _greatest(values, 500)
        assert len(set(places.tolist())) == min(500, len(values))
        assert sorted(values[places]) == sorted(values)[-500:]


def test_numbers_of_several_lists_come_once_and_in_order():
    drawn = np.random.default_rng(7).integers(0, 50, 90)
    for lists in ([drawn[:40], drawn[40:]], [drawn[:1]], [drawn[:0], drawn[:0]]):
        assert distinct(lists).tolist() == sorted(set(np.concatenate(lists).tolist()))


def test_a_repeated_selection_includes_new_notes(notes, tmp_path):
    some = Vectors(tmp_path / "vectors", open_static())
    some.take(Point(1), notes[:60])
    everything = np.ones(notes[-1].number + 1, bool)
    everything.flags.writeable = False
    assert notes[60].number not in some.cosines(["window"], everything).numbers
    some.take(Point(2), notes[60:61])
    assert notes[60].number in some.cosines(["window"], everything).numbers


def test_a_query_is_compared_with_the_sum_of_its_wordings(notes, tmp_path):
    some = Vectors(tmp_path / "vectors", open_static())
    some.take(Point(1), notes[:60])
    everything = np.ones(notes[-1].number + 1, bool)
    wordings = ["when do we paint the door", "door"]
    first, other, both = (
        some.cosines(texts, everything).values for texts in (wordings[:1], wordings[1:], wordings)
    )
    together = (first + other) / np.linalg.norm(open_static().embed(wordings, "query").sum(axis=0))
    assert both == pytest.approx(together, abs=2e-3)
