"""Changes of a parsed query by its match type and the spellings of its words; its limits. Pure."""

import math
import unicodedata
from collections.abc import Callable
from dataclasses import replace

from cortex.query.leaf import auto_distance, literal, whole_words
from cortex.query.tree import (
    And,
    Anything,
    Boost,
    Fuzzy,
    Leaf,
    Node,
    Not,
    Or,
    Phrase,
    Range,
    Regex,
    Term,
    Wildcard,
    leaves,
)
from cortex.system.errors import BadQuery
from cortex.terms import tokens
from cortex.terms.text.spelling import spellings
from ipc.messages import MatchType

_KINDS: dict[type, MatchType] = {
    Term: "exact", Phrase: "phrase", Wildcard: "prefix", Fuzzy: "fuzzy", Range: "exact",
    Regex: "regex",
}  # fmt: skip


def as_written(node: Node, switches: set[str]) -> Node:
    """Return `node` joined with an expression of its text: in its case, as whole words, or both."""

    def expression(source: str, at: int) -> Regex:
        return Regex(whole_words(source) if "word" in switches else source, "case" in switches, at)

    match node:
        case Regex(pattern=source, position=at):
            return expression(source, at)
        case Term(field="text", text=text, position=at):
            return And((node, expression(literal(text), at)))
        case Phrase(field="text", text=text, slop=0, position=at):
            return And((node, expression(r"\W+".join(map(literal, text.split())), at)))
        case Wildcard(field="text", pieces=pieces, position=at):
            source = "".join({"*": r"\w*", "?": r"\w"}.get(piece) or literal(piece) for piece in pieces)
            return And((node, expression(source, at)))
        case Not(child=Term() | Phrase() | Wildcard() | Regex() as child):
            inner = as_written(child, switches)
            return Not(inner.children[-1] if isinstance(inner, And) else inner)
        case Term() | Phrase() | Wildcard() | Range() | Anything() | Not():
            return node
    places = [leaf.position for leaf in leaves(node)]
    raise BadQuery(
        f"{min(switches)}:yes cannot be used with what is at position {min(places, default=0) + 1} of the query: only with terms, "
        "phrases, wildcards and expressions that are joined by AND."
    )


def apply_match_type(node: Node, match_type: MatchType | None) -> Node:
    """Apply `match_type` to bare terms. A "phrase" is made of all terms of the query."""
    if match_type == "phrase":
        terms = node.children if isinstance(node, And) else (node,)
        if all(isinstance(term, Term) and term.field == terms[0].field for term in terms):  # type: ignore[union-attr]
            words = [term for term in terms if isinstance(term, Term)]
            return Phrase(words[0].field, " ".join(term.text for term in words), 0, words[0].position)
        return _map_terms(node, lambda term: Phrase(term.field, term.text, 0, term.position))
    if match_type == "prefix":
        return _map_terms(node, lambda term: Wildcard(term.field, (term.text, "*"), term.position))
    if match_type == "fuzzy":
        return _map_terms(
            node, lambda term: Fuzzy(term.field, term.text, auto_distance(term.text), term.position)
        )
    return node


def _map_terms(node: Node, change: Callable[[Term], Node]) -> Node:
    match node:
        case Term(field=name) if name != "start_line":
            return change(node)
        case And(children=children):
            return replace(node, children=tuple(_map_terms(child, change) for child in children))
        case Boost(child=child):
            return replace(node, child=_map_terms(child, change))
    return node


def match_type_of(query_leaves: list[Leaf]) -> MatchType:
    """Return the match type of a query without operators, by its leaves."""
    kinds = {_KINDS[type(leaf)] for leaf in query_leaves}
    return kinds.pop() if len(kinds) == 1 else ("exact" if not kinds else "boolean")


def in_both_forms(node: Node) -> Node:
    """Return the query with its terms, phrases and wildcards in both compositions of letters."""
    match node:
        case And(children=children) | Or(children=children):
            return replace(node, children=tuple(map(in_both_forms, children)))
        case Not(child=child) | Boost(child=child):
            return replace(node, child=in_both_forms(child))
        case Term(text=text) | Phrase(text=text):
            forms = _forms(text)
            return Or(tuple(replace(node, text=form) for form in forms)) if len(forms) > 1 else node
        case Wildcard(pieces=pieces) if node.is_prefix:
            starts = [form for form in _forms(pieces[0]) if form == pieces[0] or not _is_letter(form)]
            return (
                Or(tuple(replace(node, pieces=(start, "*")) for start in starts)) if len(starts) > 1 else node
            )
    return node


def _is_letter(prefix: str) -> bool:
    """Whether a prefix is one letter with its marks apart. The mark ends a word of the index, so
    the letter alone would match: `o` of `o = 1`.
    """
    return len(prefix) > 1 and sum(not unicodedata.combining(letter) for letter in prefix) == 1


def _forms(text: str) -> tuple[str, ...]:
    """Return the text as it is and in the other compositions of its letters, except for those of
    Korean syllables alone, which no program takes apart.
    """
    if all("\uac00" <= letter <= "\ud7af" for letter in text):
        return (text,)
    return spellings(text)


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
