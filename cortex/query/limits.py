"""Limits of a parsed query: each word of it is searched. Pure."""

from __future__ import annotations

import math

from cortex.query.tree import Fuzzy, Leaf, Node, Phrase, Term, Wildcard, leaves
from cortex.system.errors import BadQuery
from cortex.terms import tokens

#: words of all terms of a query together, and parts of a single term; each is searched
WORDS_MAX = 1_024
#: arrangements of a phrase's words within its slop: the search tries all of them wherever a text
#: repeats a word, and 12 words at a distance of 100 took minutes and gigabytes
WAYS_MAX = 2_000
#: words with wildcards or edits, which match many words; each walks through all indexed words, 10
#: ms and half a megabyte for ~2
WIDE_MAX = 64
#: letters of all words with edits; the automaton of a word takes a tenth of a megabyte for each
#: letter
EDITED_CHARS_MAX = 1_024


def check_size(node: Node) -> None:
    """Raise BadQuery for too many words, or too many that match many words."""
    words = wide = edited = 0
    for leaf in leaves(node, excluded=True):
        text = _text_of(leaf)
        word_count = len(tokens.whole_words(text))
        words += word_count
        if words > WORDS_MAX or len(tokens.part_words(text)) > WORDS_MAX:
            raise BadQuery(
                f"The query has more than {WORDS_MAX} words (the next are at position {leaf.position + 1}); ask for fewer."
            )
        if isinstance(leaf, Wildcard | Fuzzy):
            wide += max(1, word_count)
        if wide > WIDE_MAX:
            raise BadQuery(
                f"The query has more than {WIDE_MAX} words with wildcards or ~ (the next is at position "
                f"{leaf.position + 1}); ask for fewer."
            )
        if isinstance(leaf, Phrase) and leaf.slop:
            _check_ways(leaf, word_count)
        edited += len(text) if isinstance(leaf, Fuzzy) else 0
        if edited > EDITED_CHARS_MAX:
            raise BadQuery(
                f"The words with ~ have more than {EDITED_CHARS_MAX} letters (the next is at position "
                f"{leaf.position + 1}); ask for fewer or shorter ones."
            )


def _text_of(leaf: Leaf) -> str:
    """Return the text of a term that is cut into words; a wildcard is part of a word."""
    match leaf:
        case Term(text=text) | Phrase(text=text) | Fuzzy(text=text):
            return text
        case Wildcard(pieces=pieces):
            return "".join("x" if piece in "*?" else piece for piece in pieces)
    return ""


def _check_ways(leaf: Phrase, words: int) -> None:
    """Raise BadQuery if the words of a phrase with slop have too many arrangements."""
    slop = leaf.slop
    if math.comb(slop + words - 1, slop) <= WAYS_MAX:
        return
    most = next(less for less in range(slop - 1, -1, -1) if math.comb(less + words - 1, less) <= WAYS_MAX)
    raise BadQuery(
        f"~{slop} at position {leaf.position + 1} is too far for {words} words; at most ~{most}, or join them by AND."
    )
