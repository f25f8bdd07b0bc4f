"""What of a question's words names and lines hold, and how often an exploration makes terms of
a word.
"""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.ask.query_words import sought
from cortex.terms import tokens

WORDS = ("open_socket", "readFile", "in", "If", "is", "Doing", "do", "sockets", "zoo\u00eb", "\u6c34", "x2")


@given(
    st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join),
    st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(".".join), max_size=6),
)
def test_what_a_text_holds_of_a_question_is_what_its_terms_have_in_their_order(question, texts):
    terms = tokens.lane_words(question)
    wanted = sought(terms)
    for text in texts:
        assert wanted.terms_in(text) == [term for term in tokens.lane_words(text) if term in terms]


def test_the_terms_of_a_word_are_made_once_for_all_the_names_that_hold_it(monkeypatch: pytest.MonkeyPatch):
    made: Counter[str] = Counter()
    lane_terms = tokens.lane_terms

    def counted(word: str) -> list[str]:
        made[word] += 1
        return lane_terms(word)

    monkeypatch.setattr(tokens, "lane_terms", counted)
    for at in range(50):
        assert sought(["socket", "mirror"]).terms_in(f"Socket.open(path{at}: Path)") == ["socket"]
    assert made["Socket"] == made["open"] == made["Path"] == 1
