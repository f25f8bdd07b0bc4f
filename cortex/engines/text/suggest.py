"""Reasons for an answer without hits: a term without matches, similar spellings, matches with
OR.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

import tantivy
from tantivy import Query

from cortex.engines.text.matches.compile import Target, add_filter, compile_query
from cortex.engines.text.matches.matching import count_of
from cortex.engines.text.words import Words
from cortex.query.tree import And, Node, Not, Or, Phrase, Range, Regex, Term, Wildcard, leaves
from cortex.system.errors import BadRequest
from cortex.terms import languages, tokens

#: terms of a query that are examined one by one
_TERMS_MAX = 12
#: most edits between a word and a word that is suggested for it
NEAR_EDITS = 2


@dataclass(frozen=True, slots=True)
class SuggestionContext:
    """The index in which reasons are searched. `filter_query`: the filters (None: keep all);
    `written`: indexed word → its spelling in some text.
    """

    index: tantivy.Index
    searcher: tantivy.Searcher
    filter_query: Query | None
    words: Words
    written: Callable[[str], str]


def suggest(context: SuggestionContext, node: Node) -> str:
    """One or two sentences for an answer without hits; never empty."""
    if context.filter_query is not None and (unfiltered := _count(context, node, filters=False)):
        return f"The filters leave nothing: without them {_format_count(unfiltered)}."
    clauses = leaves(node)[:_TERMS_MAX]
    missing = [clause for clause in clauses if not _count(context, clause, filters=False)]
    if missing:
        sentence = "; ".join(_explain_missing(context, clause) for clause in missing[:3])
        sentence = sentence[:1].upper() + sentence[1:]
        others = [clause for clause in clauses if clause not in missing]
        joined_count = _count(context, Or(tuple(others))) if others else 0
        return f"{sentence}." + (
            f" Joined by OR the query has {_format_count(joined_count)}." if joined_count else ""
        )
    if sentence := _explain_exclusion(context, node):
        return sentence
    if len(clauses) > 1:
        joined = _count(context, Or(tuple(clauses)))
        if joined:
            return f"Every term occurs, but no chunk holds all of them; joined by OR the query has {_format_count(joined)}."
    if isinstance(node, Phrase | Term) and len(tokens.part_words(node.text)) > 1:
        return f"The words of `{node.text}` are nowhere side by side; leave out the quotes, or write them as words."
    return "The exclusions remove every match; drop a NOT or a minus."


def _explain_exclusion(context: SuggestionContext, node: Node) -> str:
    """The sentence for an excluded clause that removed all hits of the others; "" for none."""
    if not isinstance(node, And):
        return ""
    wanted = tuple(child for child in node.children if not isinstance(child, Not))
    before = _count(context, And(wanted)) if wanted else 0
    if not before:
        return ""
    for child in node.children:
        if isinstance(child, Not) and not _count(context, And((*wanted, child))):
            texts = [unicodedata.normalize("NFC", _clause_text(clause)) for clause in leaves(child.child)]
            quoted = " or ".join(f"`{text}`" for text in list(dict.fromkeys(texts))[:3])
            return f"Excluding {quoted} removes everything: without that {_format_count(before)}."
    return f"The exclusions remove everything: without them {_format_count(before)}."


def _count(context: SuggestionContext, node: Node, *, filters: bool = True) -> int:
    try:
        query = add_filter(
            compile_query(node, Target(context.index.schema)), context.filter_query if filters else None
        )
        return count_of(context.searcher.search(query, 1, count=True))
    except (BadRequest, ValueError):
        return 0


def _format_count(count: int) -> str:
    return "1 match" if count == 1 else f"{count} matches"


def _explain_missing(context: SuggestionContext, clause: Node) -> str:
    field = getattr(clause, "field", "text")
    where = "" if field == "text" else f" in {field}"
    sentence = f"nothing matches `{_clause_text(clause)}`{where}"
    if field == "language":
        sentence = f"no file is in language `{_clause_text(clause)}`"
    near = _nearest_term(context, clause) if isinstance(clause, Term) else ""
    return sentence + (f" (did you mean `{near}`?)" if near else "")


def _nearest_term(context: SuggestionContext, clause: Term) -> str:
    """A suggestion for a term without a match; "" for none."""
    if clause.field == "language":
        return "" if languages.canonical(clause.text) else languages.nearest_language(clause.text)
    return nearest(context, clause.text) if clause.field == "text" else ""


def _clause_text(clause: Node) -> str:
    match clause:
        case Wildcard(pieces=pieces):
            return "".join(pieces)
        case Range(low=low, high=high):
            return f"[{'*' if low is None else low} TO {'*' if high is None else high}]"
        case Regex(pattern=pattern):
            return f"/{pattern}/"
    return str(getattr(clause, "text", ""))


def nearest(context: SuggestionContext, text: str) -> str:
    """The indexed term nearest to the first word of `text` that is not indexed: at most two edits
    away, the nearest first, then the most frequent. "" without one.
    """
    for word in tokens.whole_words(text):
        term = word.replace(tokens.UNDERSCORE, "_")
        if context.words.has(term):
            continue
        for distance in (1, NEAR_EDITS):  # terms one edit away are few, and quickly found
            # A term that is in no text is a part or a joined form.
            ranked = [
                (-count, near)
                for near in context.words.near(term, distance)
                if (count := _texts_with(context, near))
            ]
            if ranked:
                return context.written(min(ranked)[1])
        return ""
    return ""


def _texts_with(context: SuggestionContext, term: str) -> int:
    return context.searcher.doc_freq("text", term.replace("_", tokens.UNDERSCORE))
