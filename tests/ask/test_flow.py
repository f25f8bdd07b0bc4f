"""The question's terms in names and lines, and the number of times that an exploration analyses a
word.
"""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.ask.exploring.query_words import get_term_finder
from cortex.terms import tokens

WORDS = ("open_socket", "readFile", "in", "If", "is", "Doing", "do", "sockets", "zoo\u00eb", "\u6c34", "x2")


@given(
    st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join),
    st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(".".join), max_size=6),
)
def test_terms_in_a_text_are_the_question_terms_in_text_order(question, texts):
    terms = tokens.lane_words(question)
    wanted = get_term_finder(terms)
    for text in texts:
        assert wanted.terms_in(text) == [term for term in tokens.lane_words(text) if term in terms]


def test_the_terms_of_a_word_are_made_once_for_all_the_names_that_hold_it(monkeypatch: pytest.MonkeyPatch):
    term_calls: Counter[str] = Counter()
    lane_terms = tokens.lane_terms

    def counted(word: str) -> list[str]:
        term_calls[word] += 1
        return lane_terms(word)

    monkeypatch.setattr(tokens, "lane_terms", counted)
    for at in range(50):
        assert get_term_finder(["socket", "mirror"]).terms_in(f"Socket.open(path{at}: Path)") == ["socket"]
    assert term_calls["Socket"] == term_calls["open"] == term_calls["Path"] == 1
