"""Compiles a query tree to a tantivy query. Pure: needs the schema, not an index.

Text is indexed as whole words, as their parts and in joined form (cortex/terms/tokens.py). A term
is searched in all of them, so that `RWMutex` finds `sync.RWMutex`, `rw_mutex` and `newRWMutexPool`;
a match of a whole word counts WHOLE_BOOST times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import tantivy
from tantivy import Occur, Query

from cortex.engines.text.words import (
    STAR,
    NearTerm,
    TableQuery,
    find_table_query,
    pattern_source,
    pattern_words,
    with_underscores,
)
from cortex.query.leaf import literal
from cortex.query.tree import And, Anything, Boost, Fuzzy, Node, Not, Or, Phrase, Range, Regex, Term, Wildcard
from cortex.system.errors import BadQuery
from cortex.terms import tokens
from cortex.terms.languages import expand_language
from cortex.terms.text.spelling import same_tags
from ipc.messages import Filters

#: factor of a match of whole identifiers, over one of their parts
WHOLE_BOOST = 3.0
#: score of a match without a frequency: a tag, a wildcard, an edit
_FLAT = 1.0
#: wildcards in one term; the size of the automaton grows with them
_WILDCARDS_MAX = 8
_LINE_MAX = (1 << 32) - 1

_RAW_FIELDS = ("tags", "chunk_type", "language")


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a compilation. `factor`(field, words): multiplies the score of a word or a
    phrase, for word counts over more than this index.
    """

    schema: tantivy.Schema
    factor: Callable[[str, Sequence[str]], float] = lambda _field, _words: 1.0


def scored_words(node: Node, schema: tantivy.Schema) -> list[tuple[str, str]]:
    """The (field, word) pairs with a rarity in the score of a query. Raises as `compile_query`."""
    scored: list[tuple[str, str]] = []

    def note(name: str, words: Sequence[str]) -> float:
        scored.extend((name, word) for word in words)
        return 1.0

    compile_query(node, Target(schema, note))
    return scored


def compile_query(node: Node, to: Target) -> Query:
    """Compile a query. Raises BadQuery when no part of the query is searchable (only punctuation),
    or a wildcard term is too large for an automaton.
    """
    query = _compile(node, to)
    if query is None:
        raise BadQuery(
            "The query holds only punctuation (from position 1 on), which is not indexed; use match_type substring "
            "to search for it."
        )
    return query


def compile_leaf(node: Node, factor: float, to: Target) -> Query | None:
    """Compile with the score multiplied by `factor`; None when only punctuation is left."""
    query = _compile(node, to)
    return query if query is None or factor == 1.0 else Query.boost_query(query, factor)


@dataclass(frozen=True, slots=True)
class Tiers:
    """A query of one wildcard or fuzzy term, split into tiers: faster, because each set is computed
    once, and ties are known without scores. Together the tiers find all matches of the query.

    Each of `flats` adds its value to the scores of its matches. Matches of `same` (the word as
    written; its score counts `factor` times) beat all others.
    """

    flats: tuple[tuple[Query | TableQuery, float], ...]
    same: Node | None
    factor: float = 1.0


def compile_tiers(node: Node, to: Target) -> Tiers | None:
    """The tiers of a query that is one wildcard or fuzzy term for words; None for all others."""
    match node:
        case Boost(child=child, factor=factor):
            tiers = compile_tiers(child, to)
            if tiers is None:
                return None
            flats = tuple((query, value * factor) for query, value in tiers.flats)
            return Tiers(flats, tiers.same, tiers.factor * factor)
        case Wildcard() if node.field not in _RAW_FIELDS and not _is_glob(node):
            same = Term(node.field, node.pieces[0]) if node.is_prefix else None
            table_query = find_table_query(node)
            if table_query is None:
                ways = _wildcard_queries(node, to)
                return Tiers(((_any_of(ways), _FLAT),), same) if ways else None
            return Tiers(((table_query, _FLAT),), same)
        case Fuzzy(field=name, text=text, distance=distance) if name not in _RAW_FIELDS:
            words = tokens.whole_words(text)
            if len(words) != 1:
                return None
            word = words[0]
            flats = tuple(
                (
                    NearTerm(with_underscores(word), distance, at)
                    if name == "text"
                    else _near_query(name, word, at, to),
                    _FLAT,
                )
                for at in range(distance, 0, -1)
            )
            return Tiers(flats, Term(name, with_underscores(word)))
    return None


def compile_filters(
    filters: Filters, paths: list[str] | None, tags: list[str], languages: list[str], to: Target
) -> Query | None:
    """The query of `filters`, without a score; None when they keep all rows.

    `paths`: files that pass (None for all); `tags`: tags that are not paths, in lower case;
    `languages`: names in the rows for the filter's language.
    """
    clauses: list[Query] = []
    if filters.chunk_types:
        clauses.append(Query.term_set_query(to.schema, "chunk_type", list(filters.chunk_types)))
    if filters.language:
        clauses.append(_raw_query("language", languages, to) if languages else Query.empty_query())
    clauses.extend(_raw_query("tags", same_tags(tag), to) for tag in tags)
    if paths is not None:
        clauses.append(Query.term_set_query(to.schema, "path", paths) if paths else Query.empty_query())
    if not clauses:
        return None
    return Query.const_score_query(Query.boolean_query([(Occur.Must, clause) for clause in clauses]), 0.0)


def _raw_query(name: str, values: Sequence[str], to: Target) -> Query:
    """Documents with any of `values` in a field that is not split into words."""
    return _any_of([Query.term_query(to.schema, name, value, "basic") for value in values])


def add_filter(query: Query, filter_query: Query | None) -> Query:
    return (
        query
        if filter_query is None
        else Query.boolean_query([(Occur.Must, query), (Occur.Must, filter_query)])
    )


def _compile(node: Node, to: Target) -> Query | None:
    match node:
        case And(children=children):
            return _compile_all(children, to)
        case Or():
            return _compile_any(node, to)
        case Not(child=child):
            return _compile_all((node,), to) if _compile(child, to) is not None else None
        case Boost(child=child, factor=factor):
            query = _compile(child, to)
            return None if query is None else Query.boost_query(query, factor)
        case Anything():
            return Query.all_query()
        case Term(field=name, text=text):
            return _compile_words(name, text, 0, to)
        case Phrase(field=name, text=text, slop=slop):
            return _compile_words(name, text, slop, to)
        case Wildcard():
            return _compile_wildcard(node, to)
        case Fuzzy():
            return _compile_fuzzy(node, to)
        case Range(field=name, low=low, high=high):
            return _compile_range(name, low, high, to)
        case Regex(position=position):
            raise BadQuery(
                f"The regular expression at position {position + 1} can be joined to other terms only by AND."
            )


def _compile_all(children: tuple[Node, ...], to: Target) -> Query | None:
    clauses: list[tuple[Occur, Query]] = []
    for child in children:
        occur, inner = (Occur.MustNot, child.child) if isinstance(child, Not) else (Occur.Must, child)
        if (query := _compile(inner, to)) is not None:
            clauses.append((occur, query))
    if not clauses:
        return None
    if all(occur == Occur.MustNot for occur, _ in clauses):
        clauses.append((Occur.Must, Query.all_query()))
    return clauses[0][1] if len(clauses) == 1 else Query.boolean_query(clauses)


def _compile_any(node: Or, to: Target) -> Query | None:
    optional = [query for child in node.children if (query := _compile(child, to)) is not None]
    required = [query for child in node.required if (query := _compile(child, to)) is not None]
    excluded = [query for child in node.excluded if (query := _compile(child, to)) is not None]
    clauses = [(Occur.Must, query) for query in required]
    clauses += [(Occur.MustNot, query) for query in excluded]
    if optional and required:
        clauses += [(Occur.Should, query) for query in optional]
    elif optional:
        clauses.append((Occur.Must, _any_of(optional)))
    elif excluded and not required:
        clauses.append((Occur.Must, Query.all_query()))
    if not clauses:
        return None
    return clauses[0][1] if len(clauses) == 1 else Query.boolean_query(clauses)


def _any_of(queries: list[Query]) -> Query:
    return (
        queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, query) for query in queries])
    )


def _compile_words(name: str, text: str, slop: int, to: Target) -> Query | None:
    if name in _RAW_FIELDS:
        return _constant_score(_raw_query(name, _same_values(name, text.lower()), to))
    parts = _sequence_query(name if name != "text" else "parts", tokens.part_words(text), slop, to)
    if name != "text":
        return parts
    words = tokens.whole_words(text)
    whole_query = _sequence_query("text", words, slop, to)
    ways = [Query.boost_query(whole_query, WHOLE_BOOST)] if whole_query is not None else []
    ways += [parts] if parts is not None else []
    if len(words) == 1 and (joined := words[0].replace(tokens.UNDERSCORE, "")):
        ways += filter(None, [_sequence_query("joined", [joined], 0, to)])
    return _any_of(ways) if ways else None


def _same_values(name: str, value: str) -> tuple[str, ...]:
    """The values of a field that are equivalent to `value`."""
    if name == "language":
        return tuple(dict.fromkeys((value, *expand_language(value))))
    return same_tags(value) if name == "tags" else (value,)


def _sequence_query(name: str, words: list[str], slop: int, to: Target) -> Query | None:
    if not words:
        return None
    factor = to.factor(name, words)
    if len(words) == 1:
        query = Query.term_query(to.schema, name, words[0], "freq")
    else:
        query = Query.phrase_query(to.schema, name, list(words), slop)
    return query if factor == 1.0 else Query.boost_query(query, factor)


def _constant_score(query: Query) -> Query:
    return Query.const_score_query(query, _FLAT)


def _compile_wildcard(node: Wildcard, to: Target) -> Query | None:
    if sum(piece in "*?" for piece in node.pieces) > _WILDCARDS_MAX:
        raise BadQuery(
            f"The term at position {node.position + 1} has more than {_WILDCARDS_MAX} wildcards; use match_type regex."
        )
    if node.field in _RAW_FIELDS:
        return _constant_score(_regex_query(node, node.field, _raw_pattern(node.pieces).lower(), to))
    if _is_glob(node):
        glob = _raw_pattern(node.pieces)
        return _constant_score(
            _regex_query(node, "path", f"(.*/)?{glob}" + ("" if node.pieces[-1] == "*" else "(/.*)?"), to)
        )
    ways = _wildcard_queries(node, to)
    queries = [_constant_score(_any_of(ways))] if ways else []
    if node.is_prefix and (prefix_query := _compile_words(node.field, node.pieces[0], 0, to)) is not None:
        queries.append(prefix_query)
    return _any_of(queries) if queries else None


def _is_glob(node: Wildcard) -> bool:
    """Whether a term is a pattern for a complete path, not for words of it."""
    return node.field == "file_path" and any(re.search(r"[^\w*?]", piece) for piece in node.pieces)


def _wildcard_queries(node: Wildcard, to: Target) -> list[Query]:
    """Queries for a wildcard term: whole words and, for a prefix, parts and joined forms."""
    whole_field = node.field == "text"
    words = pattern_words(node.pieces)
    ways = [_patterns_query(node, node.field, words, to)]
    if node.is_prefix:
        if whole_field and len(words) == 1:
            ways.append(_patterns_query(node, "joined", [words[0].replace(tokens.UNDERSCORE, "")], to))
        parts = tokens.part_words(node.pieces[0])
        if parts and (whole_field or len(parts) > 1):
            name = "parts" if whole_field else node.field
            ways.append(_patterns_query(node, name, [*parts[:-1], parts[-1] + STAR], to))
    return [way for way in ways if way is not None]


def _patterns_query(node: Wildcard, name: str, words: list[str], to: Target) -> Query | None:
    """Words in order, some with wildcards. A word that is only a wildcard becomes a gap."""
    while words and not words[-1].strip(STAR):
        words = words[:-1]
    while words and not words[0].strip(STAR):
        words = words[1:]
    gaps = sum(not word.strip(STAR) for word in words)
    words = [word for word in words if word.strip(STAR)]
    if not words:
        return None
    sources = [pattern_source(word) for word in words]
    if len(words) == 1:
        return _regex_query(node, name, sources[0], to)
    return Query.regex_phrase_query(to.schema, name, list(sources), gaps)


def _raw_pattern(pieces: tuple[str, ...]) -> str:
    return "".join({"*": ".*", "?": "."}.get(piece) or literal(piece) for piece in pieces)


def _regex_query(node: Wildcard, name: str, source: str, to: Target) -> Query:
    try:
        return Query.regex_query(to.schema, name, source)
    except ValueError as error:
        raise BadQuery(
            f"The term at position {node.position + 1} is too complex: {error}; use fewer wildcards."
        ) from error


def _compile_fuzzy(node: Fuzzy, to: Target) -> Query | None:
    """Each word within the distance; fewer edits match more of the clauses and score higher."""
    if node.field in _RAW_FIELDS:
        return _constant_score(
            Query.fuzzy_term_query(to.schema, node.field, node.text.lower(), node.distance)
        )
    clauses: list[tuple[Occur, Query]] = []
    for word in tokens.whole_words(node.text):
        ways = [_constant_score(_near_query(node.field, word, at, to)) for at in range(1, node.distance + 1)]
        same = _compile_words(node.field, with_underscores(word), 0, to)
        clauses.append((Occur.Must, _any_of([*ways, same] if same is not None else ways)))
    if not clauses:
        return None
    return clauses[0][1] if len(clauses) == 1 else Query.boolean_query(clauses)


def _near_query(name: str, word: str, distance: int, to: Target) -> Query:
    """Words, whole, joined or parts of identifiers, at most `distance` edits away from `word`."""
    fields = ("text", "parts", "joined") if name == "text" else (name,)
    return _any_of([Query.fuzzy_term_query(to.schema, field, word, distance) for field in fields])


def _compile_range(name: str, low: int | None, high: int | None, to: Target) -> Query:
    low, high = max(low or 0, 0), min(_LINE_MAX if high is None else high, _LINE_MAX)
    if low > high:
        return Query.empty_query()
    return _constant_score(Query.range_query(to.schema, name, tantivy.FieldType.Unsigned, low, high))
