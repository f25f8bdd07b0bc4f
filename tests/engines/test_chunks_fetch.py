"""Snippets: chosen lines compared with a plain line by line implementation."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.engines.chunks.fetch import SNIPPET_LINES, best_window, word_masker
from cortex.terms.tokens import CAMEL
from tests.drawn_examples import scaled

WORD = re.compile(rf"{CAMEL}|[0-9]+|[^\W\d_]+")
PIECES = ("HTTPServer", "httpServer2", "read_file", "_x9", "naïve", "ΑΣ", "读file", "ß", "(", ".", " ", "a")

lines = st.lists(st.lists(st.sampled_from(PIECES), max_size=4).map("".join), min_size=1, max_size=40)
queries = st.lists(st.sampled_from((*PIECES, "server", "FILE", "http")), min_size=1, max_size=5).map(" ".join)


def words(text):
    return {word.lower() for word in WORD.findall(text)}


@settings(max_examples=scaled(150), deadline=None)
@given(lines, queries)
def test_a_line_mask_has_the_words_of_a_plain_search_in_that_line(text, query):
    masks = word_masker(query)("\n".join(text))
    wanted = sorted(words(query))
    line_words = [{word for at, word in enumerate(wanted) if bits >> at & 1} for bits in masks]
    assert line_words == [words(query) & words(line) for line in text]


@settings(max_examples=scaled(150), deadline=None)
@given(lines, queries)
def test_a_snippet_is_the_first_window_with_the_most_words_and_a_line_of_context(text, query):
    first = best_window("\n".join(text), len(text), word_masker(query))
    line_words = [words(query) & words(line) for line in text]
    if len(text) <= SNIPPET_LINES:
        assert first == 0
        return
    counts = [
        len(set().union(*line_words[at : at + SNIPPET_LINES])) for at in range(len(text) - SNIPPET_LINES + 1)
    ]
    earliest = counts.index(max(counts))
    assert counts[first] == max(counts)
    assert first == earliest or not any(line_words[earliest:first])
