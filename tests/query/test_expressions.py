"""Trigrams of regular expressions: a filter that never loses a match."""

import pytest
import re2
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cortex.query.expressions import analyse
from cortex.query.needs import ANYTHING, Either, Every, fold
from tests.drawn_examples import scaled

ALPHABET = "abcAB_( \t\n中Σ"


def holds(needs, grams):
    if isinstance(needs, Either):
        return any(holds(need, grams) for need in needs.parts)
    return set(needs.trigrams) <= grams and all(holds(need, grams) for need in needs.parts)


def grams_of(text):
    folded = fold(text.encode(errors="replace"))
    return {folded[at : at + 3] for at in range(len(folded) - 2)}


@pytest.mark.parametrize(
    ("pattern", "needs"),
    [
        ("abcd", Every((b"abc", b"bcd"))),
        ("ABC", Every((b"abc",))),
        ("ab", ANYTHING),
        ("abc.*def", Every((b"abc", b"def"))),
        ("abc|def", Either((Every((b"abc",)), Every((b"def",))))),
        ("abc|x", ANYTHING),
        ("x(abc|def)y", Either((Every((b"xab", b"abc", b"bcy")), Every((b"xde", b"def", b"efy"))))),
        ("abc(x|.*)", Every((b"abc",))),
        ("(abc|.*def)x", Either((Every((b"abc",)), Every((b"def",))))),
        (
            "(for|iter)[(.]",
            Either(
                (
                    Every((b"for",), (Either((Every((b"or(",)), Every((b"or.",)))),)),
                    Every((b"ite", b"ter"), (Either((Every((b"er(",)), Every((b"er.",)))),)),
                )
            ),
        ),
        (
            r"abc\s*[=(]",
            Every(
                (b"abc",),
                (
                    Either(
                        (
                            Every((b"bc=",)),
                            Every((b"bc(",)),
                            Every((b"bc ",), (Either((Every((b"c =",)), Every((b"c (",)))),)),
                        )
                    ),
                ),
            ),
        ),
        (r"ab\s+c", Every((b"ab ", b"b c"))),
        ("ab(c|d)?e", Either((Every((b"abe",)), Every((b"abc", b"bce")), Every((b"abd", b"bde"))))),
        ("abcd?", Every((b"abc",))),
        ("abc+d", Every((b"abc",))),
        ("ab{3}c", Every((b"abb", b"bbb"))),
        ("(abc)*def", Every((b"def",))),
        ("(?:abc)+", Every((b"abc",))),
        ("(?P<n>abc)", Every((b"abc",))),
        ("(?i)abc", Every((b"abc",))),
        (r"a\.b\(", Every((b"a.b", b".b("))),
        (r"foo\bbar", Every((b"foo", b"oob", b"oba", b"bar"))),
        (r"abc\d+def", Every((b"abc", b"def"))),
        ("a[b]c", Every((b"abc",))),
        (
            "abc[xy]def",
            Every(
                (b"abc", b"def"),
                (Either((Every((b"bcx", b"cxd", b"xde")), Every((b"bcy", b"cyd", b"yde")))),),
            ),
        ),
        (r"\x61bc", Every((b"abc",))),
        (r"\Qa.c\E", Every((b"a.c",))),
        ("[[:alpha:]]abc", Every((b"abc",))),
        ("[]x]abc", Every((b"abc",), (Either((Every((b"]ab",)), Every((b"xab",)))),))),
        ("[xyzuvwst0]abc", Every((b"abc",))),
        ("a    b", Every((b"a b",))),
        ("中文", Every((b"\xe4\xb8\xad", b"\xb8\xad\xe6", b"\xad\xe6\x96", b"\xe6\x96\x87"))),
        ("ΑΣΣ", ANYTHING),
        (r"abc\ndef", Every((b"abc", b"def"))),
        ("", ANYTHING),
    ],
)
def test_the_trigrams_that_an_expression_needs(pattern, needs):
    assert analyse(pattern).needs == needs


@pytest.mark.parametrize(
    ("pattern", "multiline"),
    [
        ("a.*b", False),
        (r"a\sb", False),
        (r"a\nb", True),
        ("a\nb", True),
        ("(?s)a.b", True),
        ("(?i)a", False),
        (r"\Aa", True),
    ],
)
def test_expressions_that_name_a_lines_end(pattern, multiline):
    assert analyse(pattern).multiline is multiline


#: (expression, a text that it matches)
ATOMS = st.one_of(
    st.text(ALPHABET, min_size=1, max_size=6).map(lambda text: (re2.escape(text), text.swapcase())),
    st.sampled_from(
        [
            (".", "c"),
            ("[ab]", "B"),
            ("[ (]", "("),
            ("[^a]", "_"),
            (r"\w", "b"),
            (r"\s", "\t"),
            (r"\s*", ""),
            (r"\s+", "  "),
            (r"\b", ""),
            ("^", ""),
            ("$", ""),
            ("[a]", "A"),
            (r"\x61", "A"),
            (r"\Qab(\E", "Ab("),
        ]
    ),
)
REPEATS = st.sampled_from([("*", 0), ("*", 3), ("+", 2), ("?", 1), ("{2}", 2), ("{0,1}", 0), ("+?", 1)])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map(
            lambda parts: tuple(map("".join, zip(*parts, strict=True)))
        ),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda parts: ("(?:" + "|".join(expression for expression, _ in parts) + ")", parts[-1][1])
        ),
        st.tuples(inner, REPEATS).map(lambda both: (f"({both[0][0]}){both[1][0]}", both[0][1] * both[1][1])),
    ),
    max_leaves=8,
)


@settings(max_examples=scaled(600), deadline=None)
@given(PATTERNS, st.text(ALPHABET, max_size=9), st.text(ALPHABET, max_size=9))
def test_no_text_that_matches_is_filtered_out(generated, before, after):
    pattern, example = generated
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
    text = before + example + after
    for line in text.split("\n") if not analysis.multiline else [text]:
        if compiled.search(line):
            assert holds(analysis.needs, grams_of(line))


@settings(max_examples=scaled(300), deadline=None)
@given(st.text(max_size=60), st.integers(0, 60), st.integers(1, 30))
def test_every_piece_of_a_text_passes_its_own_filter(text, start, length):
    piece = text[start : start + length]
    assert holds(analyse(re2.escape(piece)).needs, grams_of(text))
