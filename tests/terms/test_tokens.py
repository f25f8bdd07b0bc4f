"""Words of texts with letters beyond ASCII."""

import pytest

from cortex.terms import tokens


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
