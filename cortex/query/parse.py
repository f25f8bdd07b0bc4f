"""Parses a keyword query into a tree. Pure. The grammar is luqum's; docs/SEARCH.md describes the language."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from luqum import tree as luqum_tree
from luqum.exceptions import ParseError
from luqum.thread import parse as luqum_parse

from cortex.query.check import check_query
from cortex.query.lex import Prepared, prepare
from cortex.query.tree import (
    DEFAULT_FIELD,
    All,
    Any,
    Anything,
    Boost,
    Fuzzy,
    Leaf,
    Node,
    Not,
    Phrase,
    Range,
    Regex,
    Term,
    Wildcard,
    leaves,
)
from ipc.errors import BadRequest
from ipc.messages import MatchType

#: terms of a query; each is a walk over postings
TERMS_MAX = 1_024
#: terms of a query that stand for many words (wildcards, edits); each walks through all indexed words, 10 ms for ~2
WIDE_MAX = 64
#: a larger boost is a mistake, and would swallow every other clause
BOOST_MAX = 1_000.0
#: edits beyond which a term is another word; the automata grow with it
DISTANCE_MAX = 2
#: words between those of a phrase
SLOP_MAX = 100
#: letters from which an unnumbered `~` allows two edits
_LONG_WORD = 6
#: upper end of line numbers
_LINE_MAX = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Parsed:
    """`match_type` is what the answer echoes; `node` is what to look for."""

    node: Node
    match_type: MatchType


@dataclass(slots=True)
class _Reader:
    """Turns luqum's tree into ours. `boolean` is set when an operator is met, `case` by `case:yes`."""

    prepared: Prepared
    query: str
    boolean: bool = False
    case: bool = False

    def at(self, node: luqum_tree.Item) -> int:
        pos = node.pos if isinstance(node.pos, int) else 0
        offsets = self.prepared.offsets
        return offsets[pos] if pos < len(offsets) else len(self.query)


def parse(query: str, match_type: MatchType | None = None) -> Parsed:
    """The meaning of `query`. Raises BadRequest with a sentence that names the position.

    `match_type` says how bare terms are meant; it gives way to operators in the query. "regex" and "substring" take
    the whole query as it is.
    """
    check_query(query)
    if match_type == "regex":
        return Parsed(Regex(query), "regex")
    if match_type == "substring":
        return Parsed(Regex(literal(query)), "substring")
    prepared = prepare(query)
    try:
        tree = luqum_parse(prepared.text)
    except (ParseError, ValueError) as error:
        raise BadRequest(_syntax_error(str(error), prepared, query)) from error
    reader = _Reader(prepared, query)
    node = _read(reader, tree, DEFAULT_FIELD)
    if reader.case:
        node = _all([_with_case(child) for child in (node.children if isinstance(node, All) else (node,))])
    found = leaves(node)
    if len(found) > TERMS_MAX:
        raise BadRequest(
            f"The query has {len(found)} terms; at most {TERMS_MAX} are answered (the next is at position "
            f"{found[TERMS_MAX].position + 1})."
        )
    if reader.boolean or match_type == "boolean":
        return Parsed(_checked(node), "boolean")
    return Parsed(_checked(_as_asked(node, match_type)), match_type or _kind(found))


def _checked(node: Node) -> Node:
    """`node`, unless it has too many terms that stand for many words."""
    wide = _wide(node)
    if len(wide) > WIDE_MAX:
        raise BadRequest(
            f"The query has {len(wide)} terms with wildcards or ~; at most {WIDE_MAX} are answered (the next is at "
            f"position {wide[WIDE_MAX].position + 1})."
        )
    return node


def _wide(node: Node) -> list[Wildcard | Fuzzy]:
    match node:
        case Wildcard() | Fuzzy():
            return [node]
        case Boost(child=child) | Not(child=child):
            return _wide(child)
        case All(children=children):
            return [leaf for child in children for leaf in _wide(child)]
        case Any(children=children, required=required, excluded=excluded):
            return [leaf for child in (*children, *required, *excluded) for leaf in _wide(child)]
    return []


def _syntax_error(message: str, prepared: Prepared, query: str) -> str:
    found = re.search(r"at position (\d+)", message)
    if found:
        at = prepared.offsets[int(found[1])] if int(found[1]) < len(prepared.offsets) else len(query)
        return f"The query cannot be read at position {at + 1} (`{query[at : at + 12]}`); quote or escape it."
    return f"The query ends at position {len(query)}, where a term should follow; complete it, or quote the last word."


def _read(reader: _Reader, item: luqum_tree.Item, name: str) -> Node:
    match item:
        case luqum_tree.SearchField():
            return _read(reader, item.expr, item.name)
        case luqum_tree.Group() | luqum_tree.FieldGroup():
            reader.boolean = reader.boolean or not isinstance(item.expr, luqum_tree.Word | luqum_tree.Phrase)
            return _read(reader, item.expr, name)
        case luqum_tree.OrOperation() | luqum_tree.AndOperation():
            reader.boolean = True
            return _operation(reader, item, name)
        case luqum_tree.UnknownOperation():
            return _operation(reader, item, name)
        case luqum_tree.Not() | luqum_tree.Prohibit():
            reader.boolean = True
            child = _read(reader, item.a, name)
            return child.child if isinstance(child, Not) else Not(child)
        case luqum_tree.Plus():
            reader.boolean = True
            return _read(reader, item.a, name)
        case luqum_tree.Boost():
            return Boost(_read(reader, item.expr, name), _factor(reader, item))
    return _leaf(reader, item, name)


def _operation(reader: _Reader, item: luqum_tree.Item, name: str) -> Node:
    """A list joined by AND, OR and spaces.

    In luqum a space binds weaker than OR; ours is an AND. So `a b OR c` arrives as [a, [b OR c]] and is read as
    [[a, b], [c]]: alternatives, each a list of what must match.
    """
    alternatives: list[list[luqum_tree.Item]] = [[]]
    for child in item.children:
        if isinstance(item, luqum_tree.OrOperation):
            alternatives.append([child])
        elif isinstance(item, luqum_tree.UnknownOperation) and isinstance(child, luqum_tree.OrOperation):
            reader.boolean = True
            first, *others = child.children
            alternatives[-1].append(first)
            alternatives.extend([other] for other in others)
        else:
            alternatives[-1].append(child)
    lists = [one for one in alternatives if one]
    if len(lists) == 1:
        return _all([_read(reader, child, name) for child in lists[0]])
    children: list[Node] = []
    required: list[Node] = []
    excluded: list[Node] = []
    for one in lists:
        only = one[0] if len(one) == 1 else None
        node = _all([_read(reader, child, name) for child in one])
        if isinstance(only, luqum_tree.Plus):
            required.append(node)
        elif isinstance(only, luqum_tree.Prohibit):
            excluded.append(node.child if isinstance(node, Not) else Not(node))
        else:
            children.append(node)
    return Any(tuple(children), tuple(required), tuple(excluded))


def _all(children: list[Node]) -> Node:
    flat: list[Node] = []
    for child in children:
        flat.extend(child.children if isinstance(child, All) else [child])
    return flat[0] if len(flat) == 1 else All(tuple(flat))


def _factor(reader: _Reader, item: luqum_tree.Boost) -> float:
    factor = float(item.force) if item.force is not None else 1.0
    if not 0 < factor <= BOOST_MAX:
        raise BadRequest(
            f"The boost ^{item.force} at position {reader.at(item) + 1} must be above 0 and at most {BOOST_MAX:.0f}."
        )
    return factor


def _leaf(reader: _Reader, item: luqum_tree.Item, name: str) -> Node:
    at = reader.at(item)
    if name == "start_line":
        return _line_range(item, at)
    if name == "case":
        return _case(reader, item, at)
    match item:
        case luqum_tree.Word():
            return _word(item.value, name, at)
        case luqum_tree.Phrase():
            return Phrase(name, _unescape(item.value[1:-1]), 0, at)
        case luqum_tree.Fuzzy():
            text = _unescape(item.term.value)
            return Fuzzy(name, text, _distance(item, text, at), at)
        case luqum_tree.Proximity():
            slop = int(item.degree) if item.degree is not None else 1
            if slop > SLOP_MAX:
                raise BadRequest(
                    f"~{slop} at position {at + 1} is too far; at most {SLOP_MAX} words may lie between."
                )
            return Phrase(name, _unescape(item.term.value[1:-1]), slop, at)
        case luqum_tree.Regex():
            if name != DEFAULT_FIELD:
                raise BadRequest(
                    f"A regular expression (position {at + 1}) searches the text; {name}: takes none."
                )
            return Regex(item.value[1:-1].replace("\\/", "/"), position=at)
    raise BadRequest(f"Ranges are understood for start_line only (position {at + 1}).")


def _case(reader: _Reader, item: luqum_tree.Item, at: int) -> Node:
    value = str(getattr(item, "value", "")).lower()
    if value not in ("yes", "no"):
        raise BadRequest(f"case: (position {at + 1}) takes yes or no.")
    reader.case = reader.case or value == "yes"
    return Anything()


def _with_case(node: Node) -> Node:
    """`node` and, as an expression that heeds case, the text that it was written as."""
    match node:
        case Regex():
            return replace(node, case=True)
        case Term(field="text", text=text, position=at):
            return All((node, Regex(literal(text), True, at)))
        case Phrase(field="text", text=text, slop=0, position=at):
            return All((node, Regex(r"\W+".join(map(literal, text.split())), True, at)))
        case Wildcard(field="text", pieces=pieces, position=at):
            source = "".join({"*": r"\w*", "?": r"\w"}.get(piece) or literal(piece) for piece in pieces)
            return All((node, Regex(source, True, at)))
        case Not(child=Term() | Phrase() | Wildcard() | Regex() as child):
            inner = _with_case(child)
            return Not(inner.children[-1] if isinstance(inner, All) else inner)
        case Term() | Phrase() | Wildcard() | Range() | Anything() | Not():
            return node
    places = [leaf.position for leaf in leaves(node)]
    raise BadRequest(
        f"case:yes cannot be used with what is at position {min(places, default=0) + 1} of the query: only with terms, "
        "phrases, wildcards and expressions that are joined by AND."
    )


def literal(text: str) -> str:
    """An expression for RE2 that matches `text` and nothing else."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", r"\\\g<0>", text)


def _word(value: str, name: str, at: int) -> Node:
    pieces = _pieces(value)
    if pieces == ["*"]:
        return Anything()
    if len(pieces) > 1 or (pieces[0] == "*" and value[0] != "\\"):
        return Wildcard(name, tuple(pieces), at)
    return Term(name, pieces[0], at)


def _pieces(value: str) -> list[str]:
    """Text and wildcards in turn. A `?` is a wildcard only inside a word: `Some(x)?` ends with a question mark."""
    pieces = [""]
    for match in re.finditer(r"\\(.)|(\*+)|(\?)(?=\w)|(.)", value, re.DOTALL):
        wildcard = (match[2] and "*") or match[3]
        if wildcard and (pieces[-1] or len(pieces) > 1 or wildcard == "*"):
            pieces.extend([wildcard, ""])
        else:
            pieces[-1] += match[1] or match[4] or match[3] or ""
    return [piece for piece in pieces if piece] or [""]


def _unescape(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL)


def _distance(item: luqum_tree.Fuzzy, text: str, at: int) -> int:
    if item._implicit_degree:  # noqa: SLF001 - luqum gives no other way to see a bare ~
        return auto_distance(text)
    if item.degree != int(item.degree) or item.degree > DISTANCE_MAX:
        raise BadRequest(f"~{item.degree} at position {at + 1}: the distance of a fuzzy term is 0, 1 or 2.")
    return int(item.degree)


def auto_distance(text: str) -> int:
    return 2 if len(text) >= _LONG_WORD else 1


def _line_range(item: luqum_tree.Item, at: int) -> Node:
    match item:
        case luqum_tree.Word(value="*"):
            return Anything()
        case luqum_tree.Word():
            line = _line(item.value, at)
            return Range("start_line", line, line, at)
        case luqum_tree.Range():
            low, high = _bound(item.low, at), _bound(item.high, at)
            low = low + 1 if low is not None and not item.include_low else low
            high = high - 1 if high is not None and not item.include_high else high
            return Range("start_line", low, high, at)
        case luqum_tree.From():
            return Range("start_line", _line(item.a.value, at) + (not item.include), None, at)
        case luqum_tree.To():
            return Range("start_line", None, _line(item.a.value, at) - (not item.include), at)
    raise BadRequest(f"start_line: (position {at + 1}) takes a number, >=10, or a range such as [10 TO 50].")


def _bound(item: luqum_tree.Item, at: int) -> int | None:
    value = getattr(item, "value", "")
    return None if value == "*" else _line(value, at)


def _line(value: str, at: int) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", value):
        raise BadRequest(
            f"start_line: (position {at + 1}) takes a number, >=10, or a range such as [10 TO 50]."
        )
    return min(int(value), _LINE_MAX)


def _as_asked(node: Node, match_type: MatchType | None) -> Node:
    """Bare terms as `match_type` means them. A "phrase" is made of all terms of the query."""
    if match_type == "phrase":
        terms = node.children if isinstance(node, All) else (node,)
        if all(isinstance(term, Term) and term.field == terms[0].field for term in terms):  # type: ignore[union-attr]
            words = [term for term in terms if isinstance(term, Term)]
            return Phrase(words[0].field, " ".join(term.text for term in words), 0, words[0].position)
        return _mapped(node, lambda term: Phrase(term.field, term.text, 0, term.position))
    if match_type == "prefix":
        return _mapped(node, lambda term: Wildcard(term.field, (term.text, "*"), term.position))
    if match_type == "fuzzy":
        return _mapped(
            node, lambda term: Fuzzy(term.field, term.text, auto_distance(term.text), term.position)
        )
    return node


def _mapped(node: Node, change: Callable[[Term], Leaf]) -> Node:
    match node:
        case Term(field=name) if name != "start_line":
            return change(node)
        case All(children=children):
            return replace(node, children=tuple(_mapped(child, change) for child in children))
        case Boost(child=child):
            return replace(node, child=_mapped(child, change))
    return node


def _kind(found: list[Leaf]) -> MatchType:
    """What a query without operators is, by its leaves."""
    kinds = {_KINDS[type(leaf)] for leaf in found}
    return kinds.pop() if len(kinds) == 1 else ("exact" if not kinds else "boolean")


_KINDS: dict[type, MatchType] = {
    Term: "exact",
    Phrase: "phrase",
    Wildcard: "prefix",
    Fuzzy: "fuzzy",
    Range: "exact",
    Regex: "regex",
}
