"""Edit distances, equal to those that another library computes one by one."""

from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from cortex.terms.text.edits import edits

WORDS = st.one_of(st.text("abc", max_size=9), st.text("aé中😀", max_size=7), st.text("ab", max_size=140))


@given(WORDS, st.lists(WORDS, max_size=12))
def test_edits_are_counted_as_comparing_one_by_one_does(word, others):
    assert edits(word, others).tolist() == [OSA.distance(word, other) for other in others]
