"""Parser of a keyword query's tokens to a tree. Pure; docs/SEARCH.md describes the language.

query   = list ("OR" list)*
list    = operand ("AND"? operand)*
operand = ("+" | "-" | "NOT" | field)* (leaf | "(" query ")") boost?
"""

from cortex.query.leaf import make_leaf
from cortex.query.lex import LEAVES, Token
from cortex.query.tree import DEFAULT_FIELD, Anything, Boost, Node, Or, conjoin, negate
from cortex.system.errors import BadQuery

#: a larger boost is a mistake, and would swallow every other clause
BOOST_MAX = 1_000.0

_PREFIXES = ("+", "-", "not", "field")


class QueryParser:
    """A pass over tokens. `boolean`: has operators; `switches`: names of `case:yes`, `word:yes`."""

    def __init__(self, query: str, tokens: list[Token]) -> None:
        self.boolean = False
        self.switches: set[str] = set()
        self._query, self._tokens = query, tokens
        self._at = 0

    def read(self) -> Node:
        """Parse the query to its end: every group is closed. Raises BadQuery with the position."""
        return self._alternatives(DEFAULT_FIELD)

    @property
    def _now(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._now
        if token.kind == "end":
            raise BadQuery(
                f"The query ends at position {token.at}, where a term should follow; complete it, or quote the last word."
            )
        self._at += 1
        return token

    def _alternatives(self, name: str) -> Node:
        lists = [self._list(name)]
        while self._now.kind == "or":
            self._next()
            lists.append(self._list(name))
        if len(lists) == 1:
            return lists[0][1]
        self.boolean = True
        return Or(
            tuple(node for sign, node in lists if not sign),
            tuple(node for sign, node in lists if sign == "+"),
            tuple(negate(node) for sign, node in lists if sign == "-"),
        )

    def _list(self, name: str) -> tuple[str, Node]:
        """Parse operands joined by AND or a space; return also the sign of a single one, for OR."""
        sign = self._now.kind
        nodes = [self._operand(name)]
        while self._now.kind not in ("or", ")", "end"):
            if self._now.kind == "and":
                self.boolean = True
                self._next()
            nodes.append(self._operand(name))
        return sign if sign in ("+", "-") and len(nodes) == 1 else "", conjoin(nodes)

    def _operand(self, name: str) -> Node:
        negative = False
        while self._now.kind in _PREFIXES:
            prefix = self._next()
            if prefix.kind == "field":
                name = prefix.text
            else:
                self.boolean = True
                negative ^= prefix.kind != "+"
        at, node = self._now.at, self._value(name)
        if self._now.kind == "boost":
            node = Boost(node, _factor(self._next().text, at))
        return negate(node) if negative else node

    def _value(self, name: str) -> Node:
        token = self._next()
        if token.kind == "(":
            lone = self._now.kind in ("word", "phrase") and self._tokens[self._at + 1].kind == ")"
            self.boolean = self.boolean or not lone
            node = self._alternatives(name)
            self._next()
            return node
        if token.kind not in LEAVES:
            excerpt = self._query[token.at : token.at + 12]
            raise BadQuery(
                f"The query cannot be read at position {token.at + 1} (`{excerpt}`); quote or escape it."
            )
        suffix = self._suffix(token)
        if name in ("case", "word"):
            self.switches |= {name} if _is_yes(name, token, suffix) else set()
            return Anything()
        return make_leaf(token, suffix, name)

    def _suffix(self, token: Token) -> str:
        """Return the suffix of `token`: the ~ of a word or phrase, a comparison's number."""
        wanted = "word" if token.kind == "compare" else "near"
        follows = token.kind in ("word", "phrase", "compare") and self._now.kind == wanted
        return self._next().text if follows else ""


def _factor(suffix: str, at: int) -> float:
    factor = float(suffix[1:])
    if not 0 < factor <= BOOST_MAX:
        raise BadQuery(
            f"The boost {suffix} at position {at + 1} must be above 0 and at most {BOOST_MAX:.0f}."
        )
    return factor


def _is_yes(name: str, token: Token, suffix: str) -> bool:
    value = token.text.lower()
    if suffix or value not in ("yes", "no"):
        raise BadQuery(f"{name}: (position {token.at + 1}) takes yes or no.")
    return value == "yes"
