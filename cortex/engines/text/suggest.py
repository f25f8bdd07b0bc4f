"""Says why nothing was found: which term has no match, what is spelt like it, what OR gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import tantivy
from tantivy import Query

from cortex.engines.text.compile import Target, compile_query, filtered
from cortex.engines.text.matching import count_of
from cortex.engines.text.words import Words
from cortex.query.tree import And, Node, Not, Or, Phrase, Range, Regex, Term, Wildcard, leaves
from cortex.system.errors import BadRequest
from cortex.terms import languages, tokens

#: terms of a query that are looked at one by one
_TERMS_MAX = 12
#: edits at most that lie between a word and one that it may have been meant as
NEAR_EDITS = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """Where the reasons are looked for. `kept` is what the filters keep (None: all); `written`
    gives an indexed word as it stands in some text.
    """

    index: tantivy.Index
    searcher: tantivy.Searcher
    kept: Query | None
    words: Words
    written: Callable[[str], str]


def suggest(asked: Asked, node: Node) -> str:
    """One or two sentences for an answer without hits; never empty."""
    if asked.kept is not None and (without := _count(asked, node, filters=False)):
        return f"The filters leave nothing: without them {_hits(without)}."
    clauses = leaves(node)[:_TERMS_MAX]
    missing = [clause for clause in clauses if not _count(asked, clause, filters=False)]
    if missing:
        said = "; ".join(_missing(asked, clause) for clause in missing[:3])
        others = [clause for clause in clauses if clause not in missing]
        rest = _count(asked, Or(tuple(others))) if others else 0
        return f"{said}." + (f" Joined by OR the query has {_hits(rest)}." if rest else "")
    if said := _excluded(asked, node):
        return said
    if len(clauses) > 1:
        joined = _count(asked, Or(tuple(clauses)))
        if joined:
            return f"Every term occurs, but no chunk holds all of them; joined by OR the query has {_hits(joined)}."
    if isinstance(node, Phrase | Term) and len(tokens.part_words(node.text)) > 1:
        return f"The words of `{node.text}` do not stand side by side; leave out the quotes, or write them as words."
    return "What the query excludes leaves nothing; remove a NOT or a minus."


def _excluded(asked: Asked, node: Node) -> str:
    """Which of the excluded clauses took away what the others had found."""
    if not isinstance(node, And):
        return ""
    wanted = tuple(child for child in node.children if not isinstance(child, Not))
    before = _count(asked, And(wanted)) if wanted else 0
    if not before:
        return ""
    for child in node.children:
        if isinstance(child, Not) and not _count(asked, And((*wanted, child))):
            shown = " or ".join(f"`{_shown(clause)}`" for clause in leaves(child.child)[:3])
            return f"Excluding {shown} removes everything: without that {_hits(before)}."
    return f"What the query excludes removes everything: without it {_hits(before)}."


def _count(asked: Asked, node: Node, *, filters: bool = True) -> int:
    try:
        query = filtered(compile_query(node, Target(asked.index.schema)), asked.kept if filters else None)
        return count_of(asked.searcher.search(query, 1, count=True))
    except (BadRequest, ValueError):
        return 0


def _hits(count: int) -> str:
    return "1 match" if count == 1 else f"{count} matches"


def _missing(asked: Asked, clause: Node) -> str:
    where = "" if getattr(clause, "field", "text") == "text" else f" in {clause.field}"  # type: ignore[union-attr]
    said = f"Nothing matches `{_shown(clause)}`{where}"
    near = _near(asked, clause) if isinstance(clause, Term) else ""
    return said + (f" (did you mean `{near}`?)" if near else "")


def _near(asked: Asked, clause: Term) -> str:
    """What a term without a match may have been meant as; "" for nothing."""
    if clause.field == "language":
        return "" if languages.canonical(clause.text) else languages.nearest_language(clause.text)
    return nearest(asked, clause.text) if clause.field == "text" else ""


def _shown(clause: Node) -> str:
    match clause:
        case Wildcard(pieces=pieces):
            return "".join(pieces)
        case Range(low=low, high=high):
            return f"[{'*' if low is None else low} TO {'*' if high is None else high}]"
        case Regex(pattern=pattern):
            return f"/{pattern}/"
    return str(getattr(clause, "text", ""))


def nearest(asked: Asked, text: str) -> str:
    """The indexed term nearest to the first word of `text` that is not indexed: of those at most
    two edits away the nearest, then the most frequent. Empty when there is none.
    """
    for word in tokens.whole_words(text):
        term = word.replace(tokens.UNDERSCORE, "_")
        if asked.words.has(term):
            continue
        for distance in (1, NEAR_EDITS):  # the nearer ones are few, and quickly found
            # What stands in no text is a part or a joined form.
            ranked = [
                (-count, near)
                for near in asked.words.near(term, distance)
                if (count := _texts_with(asked, near))
            ]
            if ranked:
                return asked.written(min(ranked)[1])
        return ""
    return ""


def _texts_with(asked: Asked, term: str) -> int:
    return asked.searcher.doc_freq("text", term.replace("_", tokens.UNDERSCORE))
