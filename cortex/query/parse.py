"""Parser of a query to a tree, by its match type, within limits. Pure; see grammar.py."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace

from cortex.query.check import check_query
from cortex.query.grammar import QueryParser
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
    conjoin,
    leaves,
)
from cortex.system.errors import BadQuery
from cortex.terms import tokens
from cortex.terms.text.spelling import spellings
from ipc.messages import MatchType

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
#: characters of a query without letters that is searched literally
SIGNS_MAX = 300


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed query: `node` is searched, `match_type` is echoed in the answer."""

    node: Node
    match_type: MatchType


def parse(query: str, match_type: MatchType | None = None) -> Parsed:
    """Parse `query`. Raises BadQuery with a sentence that names the position.

    `match_type` is the kind of bare terms; operators in the query override it. "regex" and
    "substring" take the whole query literally, as does a query of punctuation alone.
    """
    check_query(query)
    if match_type == "regex":
        return Parsed(Regex(query), "regex")
    if match_type == "substring":
        return Parsed(Regex("|".join(map(literal, spellings(query)))), "substring")
    if signs := _signs_alone(query):
        return Parsed(Regex(literal(signs)), "substring")
    reader = QueryParser(query)
    node = reader.read()
    if reader.switches:
        children = node.children if isinstance(node, And) else (node,)
        node = conjoin([_as_written(child, reader.switches) for child in children])
    query_leaves = leaves(node)
    if reader.boolean or match_type == "boolean":
        return Parsed(_in_both_forms(_check_size(node)), "boolean")
    node = _check_size(_apply_match_type(node, match_type))
    return Parsed(_in_both_forms(node), match_type or _match_type_of(query_leaves))


def _in_both_forms(node: Node) -> Node:
    """Return the query with its terms, phrases and wildcards in both compositions of letters."""
    match node:
        case And(children=children) | Or(children=children):
            return replace(node, children=tuple(map(_in_both_forms, children)))
        case Not(child=child) | Boost(child=child):
            return replace(node, child=_in_both_forms(child))
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


def _signs_alone(query: str) -> str:
    """Return a query without any letter or digit, such as `->`, for the index has no such words; ""
    for other ones, for an expression between slashes and for wildcards.
    """
    signs = query.strip()
    if (
        len(signs) > SIGNS_MAX
        or any(letter == "_" or letter.isalnum() for letter in signs)
        or not signs.strip("*? ")
    ):
        return ""
    if len(signs) > 2 and signs[0] == signs[-1] == "/":
        return ""
    signs = signs[1:-1] if len(signs) > 2 and signs[0] == signs[-1] == '"' else signs
    return re.sub(r"\\(.)", r"\1", signs)


def _check_size(node: Node) -> Node:
    """Return `node`, unless it has too many words, or too many that match many words."""
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
        if isinstance(leaf, Term | Phrase):
            _check_ways(leaf, word_count)
        edited += len(text) if isinstance(leaf, Fuzzy) else 0
        if edited > EDITED_CHARS_MAX:
            raise BadQuery(
                f"The words with ~ have more than {EDITED_CHARS_MAX} letters (the next is at position "
                f"{leaf.position + 1}); ask for fewer or shorter ones."
            )
    return node


def _text_of(leaf: Leaf) -> str:
    """Return the text of a term that is cut into words; a wildcard is part of a word."""
    match leaf:
        case Term(text=text) | Phrase(text=text) | Fuzzy(text=text):
            return text
        case Wildcard(pieces=pieces):
            return "".join("x" if piece in "*?" else piece for piece in pieces)
    return ""


def _check_ways(leaf: Term | Phrase, words: int) -> None:
    """Raise BadQuery if the words of a phrase have too many arrangements."""
    slop = leaf.slop if isinstance(leaf, Phrase) else 0
    if not slop or math.comb(slop + words - 1, slop) <= WAYS_MAX:
        return
    most = next(less for less in range(slop - 1, -1, -1) if math.comb(less + words - 1, less) <= WAYS_MAX)
    raise BadQuery(
        f"~{slop} at position {leaf.position + 1} is too far for {words} words; at most ~{most}, or join them by AND."
    )


def _as_written(node: Node, switches: set[str]) -> Node:
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
            inner = _as_written(child, switches)
            return Not(inner.children[-1] if isinstance(inner, And) else inner)
        case Term() | Phrase() | Wildcard() | Range() | Anything() | Not():
            return node
    places = [leaf.position for leaf in leaves(node)]
    raise BadQuery(
        f"{min(switches)}:yes cannot be used with what is at position {min(places, default=0) + 1} of the query: only with terms, "
        "phrases, wildcards and expressions that are joined by AND."
    )


def _apply_match_type(node: Node, match_type: MatchType | None) -> Node:
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


def _match_type_of(query_leaves: list[Leaf]) -> MatchType:
    """Return the match type of a query without operators, by its leaves."""
    kinds = {_KINDS[type(leaf)] for leaf in query_leaves}
    return kinds.pop() if len(kinds) == 1 else ("exact" if not kinds else "boolean")


_KINDS: dict[type, MatchType] = {
    Term: "exact", Phrase: "phrase", Wildcard: "prefix", Fuzzy: "fuzzy", Range: "exact",
    Regex: "regex",
}  # fmt: skip
