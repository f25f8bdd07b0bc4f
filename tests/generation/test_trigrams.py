"""The trigram table of a segment finds every matching row, after deletes and merges as well."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.generation.segments.postings import BLOCK
from cortex.generation.segments.trigrams import RANGE_PAIRS, find_rows, make_sections
from cortex.query.needs import ANYTHING, Either, Every, fold
from tests.drawn_examples import scaled

ALPHABET = "abAB_ \t\n中é"


def grams(text):
    folded = fold(text.encode())
    return {folded[at : at + 3] for at in range(len(folded) - 2)}


@settings(max_examples=scaled(200), deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.text(ALPHABET, max_size=30)), max_size=40),
    st.lists(st.text("abc_ ", min_size=3, max_size=3), min_size=1, max_size=3),
)
def test_rows_are_those_that_hold_every_trigram_or_a_few_more(texts, wanted):
    sections = make_sections([None if text is None else text.encode() for text in texts])
    needs = tuple(dict.fromkeys(text.encode() for text in wanted))
    matching = find_rows(sections, Every(needs)).tolist()
    holding = [at for at, text in enumerate(texts) if text is not None and set(needs) <= grams(text)]
    assert set(holding) <= set(matching) <= {at for at, text in enumerate(texts) if text is not None}
    assert matching == sorted(set(matching))
    if len(needs) == 1:
        assert matching == holding


def test_many_rows_go_into_several_blocks():
    rare = 2 * BLOCK + 5
    texts = [
        b"every" + (b" third" if at % 3 == 0 else b"") + (b" rare" if at == rare else b"")
        for at in range(2 * BLOCK + 9)
    ]
    sections = make_sections(texts)
    assert len(sections["gram_blocks"]) == 4
    assert find_rows(sections, Every((b"eve", b"ver"))).tolist() == list(range(len(texts)))
    assert find_rows(sections, Every((b"thi",))).tolist() == list(range(0, len(texts), 3))
    assert find_rows(sections, Every((b"rar", b"eve"))).tolist() == [rare]
    assert find_rows(sections, Every((b"zzz", b"eve"))).tolist() == []


def test_tables_of_many_pairs_are_joined_from_several_ranges():
    letters = np.random.default_rng(4).integers(ord("a"), ord("u"), (1500, 800), np.uint8)
    texts = [line.tobytes() for line in letters]
    sections = make_sections(texts)
    assert len(sections["gram_rows"]) > 2 * RANGE_PAIRS
    codes = sections["gram_codes"]
    assert (codes[1:] > codes[:-1]).all()
    for wanted in (b" ab", b"abc", b"ghi", b"rst", *(text[9:12] for text in texts[::100])):
        holding = [at for at, text in enumerate(texts) if wanted in fold(text)]
        assert find_rows(sections, Every((wanted,))).tolist() == holding


def test_gaps_of_two_bytes_are_read_back():
    texts = [b"xyz" if at in (0, 127, 128, 300, 16383, 16384, 20000) else b"-" for at in range(20001)]
    assert find_rows(make_sections(texts), Every((b"xyz",))).tolist() == [
        0,
        127,
        128,
        300,
        16383,
        16384,
        20000,
    ]


def test_conditions_combine():
    sections = make_sections([b"abc", b"def", b"abc def", None, b"xyz"])
    abc, definition = Every((b"abc",)), Every((b"def",))
    assert find_rows(sections, Either((abc, definition))).tolist() == [0, 1, 2]
    assert find_rows(sections, Every((), (abc, definition))).tolist() == [2]
    assert find_rows(sections, Every((b"abc",), (ANYTHING,))).tolist() == [0, 2]
    assert find_rows(sections, Either((abc, ANYTHING))) is None
    assert find_rows(sections, ANYTHING) is None


def test_no_rows_and_short_texts_have_a_table_too():
    assert find_rows(make_sections([]), Every((b"abc",))).tolist() == []
    assert find_rows(make_sections([b"", b"a", None]), Every((b" a ",))).tolist() == [1]


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        (b"  Foo\t\n Bar", b" foo bar "),
        (b"", b"  "),
        ("GRÖSSE \u017f \u212a".encode(), " grösse s k ".encode()),
    ],
)
def test_texts_are_folded(text, folded):
    assert fold(text) == folded


def test_a_row_that_is_damaged_text_is_folded_too():
    assert isinstance(fold(b"\xff\xfe ab"), bytes)
    assert np.array_equal(find_rows(make_sections([b"\xff abc"]), Every((b"abc",))), [0])
