"""Queries typed as the code or the line to find: `TODO: fix`, `a->b`, `x == y`, `save(`, and quoted
`"save(self)"`.

Pure. Queries that the language can parse keep their meaning; parse.py tries the literal text first,
or in place of an error.
"""

import difflib
import re
from typing import NamedTuple, TypeGuard

from cortex.query.leaf import literal
from cortex.query.tree import DEFAULT_FIELD, FIELDS, OTHER_NAMES, And, Node, Phrase, Regex, Term, conjoin

#: letters of a text that is searched literally; longer ones are pasted, and searched by words
LITERAL_CHARS_MAX = 300
#: quoted texts of one query that are searched literally; each one reads chunk texts
LITERALS_MAX = 8
#: similarity from which on a name before a colon counts as a mistyped field
_SLIP = 0.75

#: `name:` where an operand may begin; not `name::`
_FIELD_NAME = re.compile(r"(?:^|(?<=[\s(+-]))([^\W\d]\w*):(?!:)")
#: an operator, a field, or a quote: signs that the query language is meant
_LANGUAGE = re.compile(
    rf"(?:^|[\s(+-])(?:{'|'.join((*FIELDS, *OTHER_NAMES))}):(?=[^\s:/])|(?:^|\s)(?:AND|OR|NOT)(?=\s|$)|\"",
    re.DOTALL,
)
#: signs of code that words cannot express: `a->b`, `foo[0]`, `vector<int>`, `x == y`, `f(a, b)`
_CODE = re.compile(
    r"\w->\w|\w\[[^\]]*\]|\w<[\w:*&, \[\]]+>|(?:^|\s)(?:[=!]==?|[:+*/%|&^-]?=|&&|\|\||=>|->|<=|>=|<<|>>|<-)(?=\s|$)"
    r"|\w\.\w+ ?\([^)]+\)|\w\((?![^()]*\))|://"
)
#: a qualified name or a path with backslashes: a file may write its parts on several lines, as PHP
#: writes a name space and a class
QUALIFIED = re.compile(r"\\?\w+(?:\\\w+)+(?:(?:->|::)\w+)?(?:\(\))?|\w+(?:::\w+){2,}|\w+(?:\.\w+){2,}")
FILE_PATH = re.compile(r"(?:\w+[\\/])+[\w.-]+\.[A-Za-z]\w{0,7}")
#: punctuation in a quoted text that a phrase of words would ignore
_POINTED = re.compile(r"->|::|[^\w\s.,:/'’-]")


class QuotedCode(NamedTuple):
    """A query whose quoted pieces of code are literal texts, and those `texts` for a sentence."""

    node: Node
    texts: str


def find_quoted_code(node: Node) -> QuotedCode | None:
    """Return the query with its required phrases with punctuation as literal texts; None without
    such phrases.
    """
    children = node.children if isinstance(node, And) else (node,)
    texts = [child.text for child in children if _has_punctuation(child)]
    if not 0 < len(texts) <= LITERALS_MAX:
        return None
    literals = [
        Regex(literal(child.text), position=child.position) if _has_punctuation(child) else child
        for child in children
    ]
    return QuotedCode(conjoin(literals), " and ".join(f"`{text}`" for text in texts))


def _has_punctuation(node: Node) -> TypeGuard[Phrase]:
    return (
        isinstance(node, Phrase)
        and node.field == DEFAULT_FIELD
        and not node.slop
        and len(node.text) <= LITERAL_CHARS_MAX
        and _POINTED.search(node.text) is not None
        and re.search(r"\w", node.text) is not None
    )


def foreign_name(text: str) -> str:
    """Return the name before a colon where nothing else shows the language; else ""."""
    if len(text) > LITERAL_CHARS_MAX or _LANGUAGE.search(text):
        return ""
    for match in _FIELD_NAME.finditer(text):
        follows = text[match.end() : match.end() + 1]
        slip = difflib.get_close_matches(match[1], FIELDS, n=1, cutoff=_SLIP)
        if match[1] in FIELDS or (slip and follows not in (" ", "/", "")):
            return ""
        return match[1]
    return ""


def is_code(text: str, node: Node) -> bool:
    """Whether a query of bare words is a piece of code with significant punctuation."""
    terms = node.children if isinstance(node, And) else (node,)
    plain = all(isinstance(term, Term) and term.field == "text" for term in terms)
    return (
        plain
        and len(text) <= LITERAL_CHARS_MAX
        and "\\" not in text
        and not _LANGUAGE.search(text)
        and _CODE.search(text) is not None
        and re.search(r"\w", text) is not None
    )
