"""The meanings of a query: parsed by its match type, or read as the literal text. Pure.

A query goes one way: checked (check.py), cut (lex.py), built to a tree (grammar.py), rewritten by
its match type within limits (rewrite.py), compared with code (code.py).
"""

import re
from dataclasses import dataclass

from cortex.query.check import check_query
from cortex.query.code import FILE_PATH, QUALIFIED, find_quoted_code, foreign_name, is_code
from cortex.query.grammar import QueryParser
from cortex.query.leaf import literal
from cortex.query.lex import cut_query, signs_alone
from cortex.query.rewrite import apply_match_type, as_written, check_size, in_both_forms, match_type_of
from cortex.query.tree import And, Node, Regex, Term, conjoin, leaves
from cortex.system.errors import BadRequest
from cortex.terms.text.spelling import spellings
from ipc.messages import MatchType


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed query: `node` is searched, `match_type` is echoed in the answer."""

    node: Node
    match_type: MatchType


@dataclass(frozen=True, slots=True)
class Readings:
    """A query's meanings: `first`; `otherwise` if it finds nothing; `note` on a literal `first`."""

    first: Parsed
    otherwise: Parsed | None = None
    note: str = ""


def read_query(query: str, match_type: MatchType | None = None) -> Readings:
    """Return the meanings of a query.

    Raises BadRequest as `parse`, unless the text can be searched literally: it has an unknown name
    before a colon, and no other sign of the query language.
    """
    text = query.strip()
    try:
        parsed = parse(query, match_type)
    except BadRequest:
        name = foreign_name(text)
        if not name:
            raise
        note = f"Read as the literal text `{text}`: `{name}:` is no field."
        return Readings(Parsed(Regex(literal(text)), "substring"), _word_query(text), note)
    if match_type not in (None, "exact"):
        return Readings(parsed)
    if is_code(text, parsed.node):
        as_text = Parsed(Regex(literal(text)), "substring")
        return Readings(as_text, parsed, f"Read as the literal text `{text}`.")
    if isinstance(parsed.node, Term) and QUALIFIED.fullmatch(text):
        return Readings(parsed, _word_query(text))
    if isinstance(parsed.node, Term) and FILE_PATH.fullmatch(text):
        return Readings(parsed, Parsed(Term("file_path", text.replace("\\", "/")), "exact"))
    if quoted := find_quoted_code(parsed.node):
        first = Parsed(quoted.node, "substring" if isinstance(quoted.node, Regex) else parsed.match_type)
        return Readings(first, parsed, f"Read as the literal text {quoted.texts}.")
    return Readings(parsed)


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
    if signs := signs_alone(query):
        return Parsed(Regex(literal(signs)), "substring")
    reader = QueryParser(query, cut_query(query))
    node = reader.read()
    if reader.switches:
        children = node.children if isinstance(node, And) else (node,)
        node = conjoin([as_written(child, reader.switches) for child in children])
    if reader.boolean:
        match_type = "boolean"
    read_as = match_type or match_type_of(leaves(node))
    node = apply_match_type(node, match_type)
    check_size(node)
    return Parsed(in_both_forms(node), read_as)


def _word_query(text: str) -> Parsed | None:
    words = [match[0] for match in re.finditer(r"\w+", text)]
    return Parsed(conjoin([Term("text", word) for word in words]), "exact") if words else None
