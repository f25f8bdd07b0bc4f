"""Words of texts with letters beyond ASCII, and the parts of words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.terms import tokens
from tests.drawn_examples import scaled


@pytest.mark.parametrize("text", ["\u0130stanbul", "\u0130STANBUL", "istanbul", "Istanbul"])
def test_a_dotted_capital_i_is_the_letter_i_in_every_field(text):
    assert tokens.whole_words(text) == ["istanbul"]
    assert tokens.part_words(text) == ["istanbul"]
    assert tokens.lane_words(text) == tokens.lane_words("istanbul")
    assert "istanbul" in {term.removeprefix(tokens.DERIVED) for term in tokens.terms_of(text)}
    assert tokens.spaced(text).lower() == "istanbul"


@pytest.mark.parametrize("text", ["\u0130stanbul \u0130 x", "\u1e9e\u03a3", "abc \U00010400"])
def test_lower_case_has_a_letter_for_each_letter(text):
    assert len(tokens.lowered(text)) == len(text)


@settings(max_examples=scaled(200), deadline=None)
@given(st.text("abCD_2", min_size=1, max_size=6))
def test_words_are_split_at_their_parts(word):
    parts = [word[start:end] for start, end in tokens.parts_of(word)]
    assert tokens.split_text([word]).split() == parts
    assert tokens.part_words(word) == [part.lower() for part in parts]
    joined = len(parts) > 1 and not word[0].isdigit()
    stems = [stem for part in parts for stem in tokens.lane_terms(part)]
    assert tokens.lane_terms(word) == stems + [word.replace("_", "").lower()] * joined
