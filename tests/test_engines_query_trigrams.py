"""Trigrams of regular expressions: a filter that never loses a match."""

import pytest
import re2
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cortex.engines.query_trigrams import ANYTHING, Either, Every, analyse, squeeze

ALPHABET = "abcAB_( \t\n中Σ"


def holds(needs, grams):
    if isinstance(needs, Either):
        return any(holds(part, grams) for part in needs.parts)
    return set(needs.trigrams) <= grams and all(holds(part, grams) for part in needs.parts)


def grams_of(text):
    squeezed = squeeze(text)
    return {squeezed[at : at + 3] for at in range(len(squeezed) - 2)}


@pytest.mark.parametrize(
    ("pattern", "needs"),
    [
        ("abcd", Every(("abc", "bcd"))),
        ("ABC", Every(("abc",))),
        ("ab", ANYTHING),
        ("abc.*def", Every(("abc", "def"))),
        ("abc|def", Either((Every(("abc",)), Every(("def",))))),
        ("abc|x", ANYTHING),
        ("x(abc|def)y", Either((Every(("abc",)), Every(("def",))))),
        ("abcd?", Every(("abc",))),
        ("abc+d", Every(("abc",))),
        ("ab{3}c", Every(("abb", "bbb"))),
        ("(abc)*def", Every(("def",))),
        ("(?:abc)+", Every(("abc",))),
        ("(?P<n>abc)", Every(("abc",))),
        ("(?i)abc", Every(("abc",))),
        (r"a\.b\(", Every(("a.b", ".b("))),
        (r"foo\bbar", Every(("foo", "oob", "oba", "bar"))),
        (r"abc\d+def", Every(("abc", "def"))),
        ("a[b]c", Every(("abc",))),
        ("abc[xy]def", Every(("abc", "def"))),
        (r"\x61bc", Every(("abc",))),
        (r"\Qa.c\E", Every(("a.c",))),
        ("[[:alpha:]]abc", Every(("abc",))),
        ("[]x]abc", Every(("abc",))),
        ("a    b", Every(("a b",))),
        ("中文注", Every(("中文注",))),
        ("ΑΣΣ", ANYTHING),
        (r"abc\ndef", Every(("abc", "def"))),
        ("", ANYTHING),
    ],
)
def test_what_a_match_must_hold(pattern, needs):
    assert analyse(pattern).needs == needs


@pytest.mark.parametrize(
    ("pattern", "multiline"),
    [("a.*b", False), (r"a\sb", False), (r"a\nb", True), ("a\nb", True), ("(?s)a.b", True), ("(?i)a", False)],
)
def test_expressions_that_name_a_lines_end(pattern, multiline):
    assert analyse(pattern).multiline is multiline


ATOMS = st.one_of(
    st.text(ALPHABET, min_size=1, max_size=6).map(re2.escape),
    st.sampled_from([".", "[ab]", "[^a]", r"\w", r"\s", r"\b", "^", "$", "[a]", r"\x61", r"\Qab(\E"]),
)
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: "(?:" + "|".join(parts) + ")"),
        st.tuples(
            inner.map(lambda one: f"({one})"), st.sampled_from(["*", "+", "?", "{2}", "{0,1}", "+?"])
        ).map("".join),
    ),
    max_leaves=8,
)


@settings(max_examples=500, deadline=None)
@given(PATTERNS, st.data())
def test_no_text_that_matches_is_filtered_out(pattern, data):
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    analysis = analyse(pattern)
    options.never_nl = not analysis.multiline
    try:
        compiled = re2.compile("(?m)" + pattern, options)
    except re2.error:
        assume(False)
        return
    text = data.draw(st.text(ALPHABET, max_size=30))
    for line in text.split("\n") if not analysis.multiline else [text]:
        if compiled.search(line):
            assert holds(analysis.needs, grams_of(line))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60), st.integers(0, 60), st.integers(1, 30))
def test_every_piece_of_a_text_passes_its_own_filter(text, start, length):
    piece = text[start : start + length]
    assert holds(analyse(re2.escape(piece)).needs, grams_of(text))
