"""How much of a file's name a question holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.ranking.names import SHORT, Asked, is_short_form, name_of
from cortex.terms.paths import path_traits


@pytest.mark.parametrize(
    ("part", "word"),
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
def test_a_short_form_stands_for_its_word(part, word):
    assert is_short_form(part, word)
    assert Asked(f"where is the {word} made").shares([name_of((part,))]) == [SHORT]


@pytest.mark.parametrize(
    ("part", "word"),
    [
        ("db", "database"),  # too short to be sure
        ("parse", "parser"),  # a matter of stems
        ("ctx", "texture"),
        ("cat", "context"),  # has a vowel
        ("context", "ctx"),
        ("strng", "string"),
    ],
)
def test_what_only_looks_like_a_short_form_is_none(part, word):
    assert not is_short_form(part, word)


def test_two_words_side_by_side_are_one_of_a_name():
    asked = Asked("how is the rate limit of uploads kept")
    assert asked.shares([name_of(("ratelimit",))]) == [1.0]
    assert asked.shares([name_of(("limitrate",))]) == [0.0]


def test_a_share_is_that_of_the_parts_and_whole_words_count_by_their_stems():
    asked = Asked("parsing the configuration")
    assert asked.shares([name_of(path_traits("src/parser/config_loader.py").stem)]) == pytest.approx(
        [SHORT / 2]
    )
    assert asked.shares([name_of(path_traits("parse/a.py").folders)]) == [1.0]
    assert asked.shares([name_of(())]) == [0.0]


def test_words_that_say_nothing_have_no_short_forms():
    assert Asked("what would they do with these").shares([name_of(("wou", "the", "wit"))]) == [0.0]


few_letters = st.text("aeckmnorstx", min_size=1, max_size=7)


@given(st.lists(few_letters, min_size=1, max_size=4), st.lists(few_letters, min_size=1, max_size=4))
def test_a_name_without_a_mark_of_the_question_holds_no_part_of_it(words, parts):
    asked = Asked(" ".join(words))
    parts += words[:1] if len(words) == len(parts) else []
    assert asked.shares([name_of(tuple(parts))]) == [sum(map(asked._worth, parts)) / len(parts)]
    assert asked.shares([name_of((part,)) for part in parts]) == list(map(asked._worth, parts))
