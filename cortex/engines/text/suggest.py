"""Reasons for an answer without hits: a term without matches, similar spellings, matches with
OR.
"""

import re
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

import tantivy

from cortex.engines.text.matches.compile import Target, add_filter, compile_query
from cortex.engines.text.matches.matching import count_of
from cortex.engines.text.matches.scan import SCAN_S
from cortex.engines.text.matches.top_hits import HitFinder
from cortex.engines.text.matches.verify import Expression, KeywordQuery, compile_expression
from cortex.query.leaf import auto_distance
from cortex.query.tree import And, Node, Not, Or, Phrase, Range, Regex, Term, Wildcard, leaves
from cortex.system.errors import BadRequest
from cortex.terms import languages, tokens
from ipc.messages import Filters

#: terms of a query that are examined one by one
_TERMS_MAX = 12
#: expressions of a query that are tried one by one
_REASONS_MAX = 4


@dataclass(frozen=True, slots=True)
class SuggestionContext:
    """The snapshot in which reasons are searched, and the filters of the query."""

    finder: HitFinder
    searcher: tantivy.Searcher
    filters: Filters


def explain_nothing(context: SuggestionContext, query: KeywordQuery) -> str:
    """One or two sentences for an answer without hits; never empty."""
    if not query.expressions:
        return _explain_terms(context, query.node)
    deadline = time.monotonic() + SCAN_S
    if context.filters != Filters() and (
        count := _scan_count(context, query.expressions, deadline, query.remainder)
    ):
        return f"The filters leave nothing: without them {count} chunks match."
    for expression in query.expressions[:_REASONS_MAX]:
        if not expression.excluded and not _scan_count(context, [expression], deadline):
            return _explain_no_line(context, expression, deadline)
    if query.remainder is not None:
        to = Target(context.finder.schema)
        _, folded = context.finder.best(query.remainder, context.filters, 1, to)
        if not folded.any():
            return _explain_terms(context, query.remainder)
    if any(expression.excluded for expression in query.expressions):
        return "The exclusions remove every match; drop a NOT or a minus."
    return "Each part of the query matches somewhere, but no chunk holds all of them."


def _scan_count(
    context: SuggestionContext,
    expressions: Sequence[Expression],
    deadline: float,
    remainder: Node | None = None,
) -> int:
    """The number of chunks that match without the filters."""
    return len(context.finder.scan(expressions, remainder, Filters(), deadline).rows)


def _explain_no_line(context: SuggestionContext, expression: Expression, deadline: float) -> str:
    sentence = f"No line of code or documentation matches `{expression.source.pattern}`"
    if expression.source.case:
        any_case = compile_expression(replace(expression.source, case=False))
        if count := _scan_count(context, [any_case], deadline):
            return f"{sentence} as written; ignoring case, {'one chunk does' if count == 1 else f'{count} chunks do'}."
    if near := _nearest(context, expression.source.pattern):
        return f"{sentence} (did you mean `{near}`?)."
    return f"{sentence}; shorten it, or search for words instead."


def _explain_terms(context: SuggestionContext, node: Node) -> str:
    """The same for a query without expressions."""
    if context.finder.filter_query(context.filters) is not None and (
        unfiltered := _count(context, node, filters=False)
    ):
        return f"The filters leave nothing: without them {_format_count(unfiltered)}."
    clauses = leaves(node)[:_TERMS_MAX]
    if missing := [clause for clause in clauses if not _count(context, clause, filters=False)]:
        sentence = "; ".join(_explain_missing(context, clause) for clause in missing[:3])
        sentence = sentence[:1].upper() + sentence[1:]
        others = [clause for clause in clauses if clause not in missing]
        joined_count = _count(context, Or(tuple(others))) if others else 0
        return f"{sentence}." + (
            f" Joined by OR the query has {_format_count(joined_count)}." if joined_count else ""
        )
    if sentence := _explain_exclusion(context, node):
        return sentence
    if len(clauses) > 1 and (joined := _count(context, Or(tuple(clauses)))):
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
        filter_query = context.finder.filter_query(context.filters) if filters else None
        query = add_filter(compile_query(node, Target(context.finder.schema)), filter_query)
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
    return _nearest(context, clause.text) if clause.field == "text" else ""


def _clause_text(clause: Node) -> str:
    match clause:
        case Wildcard(pieces=pieces):
            return "".join(pieces)
        case Range(low=low, high=high):
            return f"[{'*' if low is None else low} TO {'*' if high is None else high}]"
        case Regex(pattern=pattern):
            return f"/{pattern}/"
    return str(getattr(clause, "text", ""))


def _nearest(context: SuggestionContext, text: str) -> str:
    """The indexed term nearest to the first word of `text` that is not indexed: as many edits
    away as a `~` allows, the nearest first, then the most frequent. "" without one.
    """
    for word in tokens.whole_words(text):
        term = word.replace(tokens.UNDERSCORE, "_")
        if context.finder.words.has(term):
            continue
        for distance in range(1, auto_distance(term) + 1):  # terms one edit away are few, and quickly found
            # A term that is in no text is a part or a joined form.
            ranked = [
                (-count, near)
                for near in context.finder.words.near(term, distance)
                if (count := context.searcher.doc_freq("text", near.replace("_", tokens.UNDERSCORE)))
            ]
            if ranked:
                return _spell_as_written(context, min(ranked)[1])
        return ""
    return ""


def _spell_as_written(context: SuggestionContext, word: str) -> str:
    """The spelling of an indexed word, which is in lower case, in one of the texts."""
    best, _ = context.finder.matching.best(
        compile_query(Term("text", word), Target(context.finder.schema)), 1
    )
    for ordinal in best.ordinals.tolist():
        if match := re.search(
            rf"(?<!\w){re.escape(word)}(?!\w)", context.finder.rows.text(ordinal), re.IGNORECASE
        ):
            return match[0]
    return word
