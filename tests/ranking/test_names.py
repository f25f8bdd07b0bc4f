"""Overlap of a question with a file's name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.ranking.names import SHORT, QuestionProfile, is_short_form, name_of
from cortex.terms.paths import path_traits


@pytest.mark.parametrize(
    ("piece", "word"),
    [
        ("auth", "authentication"),
        ("config", "configuration"),
        ("impl", "implementation"),
        ("init", "initialize"),
        ("ctx", "context"),
        ("msg", "message"),
        ("cmd", "command"),
    ],
)
def test_a_short_form_counts_as_its_word(piece, word):
    assert is_short_form(piece, word)
    assert QuestionProfile(f"where is the {word} made").shares([name_of((piece,))]) == [SHORT]


@pytest.mark.parametrize(
    ("piece", "word"),
    [
        ("db", "database"),  # too short to be sure
        ("parse", "parser"),  # a matter of stems
        ("ctx", "texture"),
        ("cat", "context"),  # has a vowel
        ("context", "ctx"),
        ("strng", "string"),
    ],
)
def test_lookalikes_of_short_forms_are_rejected(piece, word):
    assert not is_short_form(piece, word)


def test_two_words_side_by_side_are_one_of_a_name():
    profile = QuestionProfile("how is the rate limit of uploads kept")
    assert profile.shares([name_of(("ratelimit",))]) == [1.0]
    assert profile.shares([name_of(("limitrate",))]) == [0.0]


def test_a_share_is_that_of_the_parts_and_words_count_by_their_stems():
    profile = QuestionProfile("parsing the configuration")
    assert profile.shares([name_of(path_traits("src/parser/config_loader.py").stem)]) == pytest.approx(
        [SHORT / 2]
    )
    assert profile.shares([name_of(path_traits("parse/a.py").folders)]) == [1.0]
    assert profile.shares([name_of(())]) == [0.0]


def test_stop_words_have_no_short_forms():
    assert QuestionProfile("what would they do with these").shares([name_of(("wou", "the", "wit"))]) == [0.0]


few_letters = st.text("aeckmnorstx", min_size=1, max_size=7)


@given(st.lists(few_letters, min_size=1, max_size=4), st.lists(few_letters, min_size=1, max_size=4))
def test_a_name_without_a_mark_of_the_question_holds_no_part_of_it(words, parts):
    profile = QuestionProfile(" ".join(words))
    parts += words[:1] if len(words) == len(parts) else []
    assert profile.shares([name_of(tuple(parts))]) == [sum(map(profile._worth, parts)) / len(parts)]
    assert profile.shares([name_of((piece,)) for piece in parts]) == list(map(profile._worth, parts))
