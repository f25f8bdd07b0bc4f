"""Lexer of keyword queries: which characters are operators, which belong to words. Pure.

Code can be typed as it is (`std::vector`, `foo()`, `->next`), so the meaning of a character depends
on its place.
"""

import difflib
import re
from dataclasses import dataclass, field

from cortex.query.tree import FIELDS, OTHER_NAMES
from cortex.system.errors import BadQuery

#: nesting depth of groups; parsing and compiling recurse, so it is bounded
DEPTH_MAX = 50
#: terms of a query; each is a walk over postings
TERMS_MAX = 1_024
#: characters of a query without letters that is searched literally
SIGNS_MAX = 300

#: kinds of tokens that are terms
LEAVES = frozenset(("word", "phrase", "regex", "range", "compare"))

#: `C:\` begins a path of Windows
_FIELD = re.compile(r"(?![A-Za-z]:\\)([^\W\d]\w*):(?!:)")
_RANGE = re.compile(r"[\[{]\s*[^\s\[\]{}]+\s+TO\s+[^\s\[\]{}]+\s*[\]}]")
_COMPARE = re.compile(r"[<>]=?(?=\d)")
_END = r"(?=[\s)]|$)"
_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
_SUFFIX = re.compile(rf"(?P<near>~(?:{_NUMBER})?)?(?P<boost>\^{_NUMBER})?" + _END)
_REGEX = re.compile(r"/((?:[^/\\]|\\.)+)/" + _END, re.DOTALL)
#: words that are operators
_OPERATORS = {"AND": "and", "OR": "or", "NOT": "not"}


@dataclass(frozen=True, slots=True)
class Token:
    """A token: `text` as in the query, from position `at` on (0-based).

    Kinds: word, phrase, regex, range, compare (a word follows), field (the name alone), near (`~`),
    boost (`^`), and, or, not, +, -, (, ), end.
    """

    kind: str
    text: str
    at: int


@dataclass(slots=True)
class _Scanner:
    query: str
    at: int = 0
    tokens: list[Token] = field(default_factory=list)
    terms: int = 0
    #: open parentheses: (position, is a group); the others belong to words: foo(
    open: list[tuple[int, bool]] = field(default_factory=list)

    def take(self, kind: str, end: int) -> None:
        self.terms += kind in LEAVES
        if self.terms > TERMS_MAX:
            raise BadQuery(
                f"The query has more than {TERMS_MAX} terms (the next is at position {self.at + 1}); ask for fewer."
            )
        self.tokens.append(Token(kind, self.query[self.at : end], self.at))
        self.at = end

    @property
    def ends(self) -> bool:
        """Whether an operand cannot begin here."""
        return self.at >= len(self.query) or self.query[self.at].isspace() or self.query[self.at] == ")"


def signs_alone(query: str) -> str:
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


def cut_query(query: str) -> list[Token]:
    """Return the tokens of `query`, "end" the last; every group is closed.

    Raises BadQuery, with the position, for an open quote or parenthesis, an unknown field, and more
    than TERMS_MAX terms.
    """
    scan = _Scanner(query)
    literal_names = "::" in query
    while scan.at < len(query):
        if query[scan.at].isspace():
            scan.at += 1
        elif query[scan.at] == ")":
            _scan_close(scan)
        else:
            _scan_operand(scan, literal_names)
    for position, is_group in scan.open:
        if is_group:
            raise BadQuery(f"The parenthesis at position {position + 1} of the query is not closed.")
    scan.take("end", len(query))
    return scan.tokens


def _scan_close(scan: _Scanner) -> None:
    """Scan a `)` outside a word: of a group, or of an earlier word (`foo(a b)`)."""
    if not scan.open:
        raise BadQuery(
            f"The parenthesis at position {scan.at + 1} of the query closes nothing; write \\) for the character."
        )
    if scan.open[-1][1]:
        scan.open.pop()
        scan.take(")", scan.at + 1)
        _scan_suffix(scan)
    else:
        _scan_word(scan)


def _scan_operand(scan: _Scanner, literal_names: bool) -> None:
    query = scan.query
    following = query[scan.at + 1 : scan.at + 2]
    if query[scan.at] in "+-" and following and not following.isspace() and following not in "+->=":
        scan.take(query[scan.at], scan.at + 1)
        if scan.ends:
            raise BadQuery(f"Nothing follows the operator at position {scan.at} of the query.")
    field_match = _FIELD.match(query, scan.at)
    if field_match and not (literal_names and _field_of(query, field_match) not in FIELDS):
        name = _field_of(query, field_match)
        if name not in FIELDS:
            raise BadQuery(_unknown_field(name, scan.at))
        scan.tokens.append(Token("field", name, scan.at))
        scan.at = field_match.end()
        if not literal_names and scan.ends:
            raise BadQuery(f"Nothing follows `{name}:` at position {field_match.start() + 1} of the query.")
        if not literal_names and (limits := _RANGE.match(query, scan.at)):
            scan.take("range", limits.end())
            return
        if not literal_names and (limits := _COMPARE.match(query, scan.at)):
            scan.take("compare", limits.end())
    if not scan.ends:
        _scan_value(scan)


def _field_of(query: str, field_match: re.Match[str]) -> str:
    """Return the field of a name before a colon. Names of other search engines need a value right
    after the colon, for `path: str` and `file://x` are code.
    """
    follows = query[field_match.end() : field_match.end() + 1]
    return (
        field_match[1]
        if follows in ("", "/") or follows.isspace()
        else OTHER_NAMES.get(field_match[1], field_match[1])
    )


def _scan_value(scan: _Scanner) -> None:
    query, at = scan.query, scan.at
    if query[at] == '"':
        _scan_quoted(scan)
    elif query[at] == "(":
        if sum(is_group for _, is_group in scan.open) >= DEPTH_MAX:
            raise BadQuery(
                f"The query has more than {DEPTH_MAX} groups inside each other (position {at + 1})."
            )
        scan.open.append((at, True))
        scan.take("(", at + 1)
    elif expression := _REGEX.match(query, at):
        scan.take("regex", expression.end())
    else:
        _scan_word(scan)


def _scan_quoted(scan: _Scanner) -> None:
    end = scan.at + 1
    while end < len(scan.query) and scan.query[end] != '"':
        end += 2 if scan.query[end] == "\\" else 1
    if end >= len(scan.query):
        raise BadQuery(
            f'The quote at position {scan.at + 1} of the query is not closed; write \\" for the character.'
        )
    scan.take("phrase", end + 1)
    _scan_suffix(scan)


def _scan_word(scan: _Scanner) -> None:
    """Scan up to a space, a quote, the end of a group, or the ~ and ^ that end the word."""
    query, at = scan.query, scan.at
    while at < len(query) and not query[at].isspace() and query[at] != '"':
        character = query[at]
        if character in "~^" and (suffix := _SUFFIX.match(query, at)) and suffix[0]:
            break
        if character == "(":
            scan.open.append((at, False))
        elif character == ")":
            if not scan.open or scan.open[-1][1]:
                break
            scan.open.pop()
        at += 2 if character == "\\" else 1
    if at > scan.at:
        scan.take(_OPERATORS.get(query[scan.at : at], "word"), min(at, len(query)))
    _scan_suffix(scan)


def _scan_suffix(scan: _Scanner) -> None:
    """Scan the ~ and the ^ that end an operand."""
    if suffix := _SUFFIX.match(scan.query, scan.at):
        for kind in ("near", "boost"):
            if suffix[kind]:
                scan.take(kind, suffix.end(kind))


def _unknown_field(name: str, at: int) -> str:
    close = difflib.get_close_matches(name, FIELDS, n=1)
    hint = f" (did you mean `{close[0]}:`?)" if close else ""
    return (
        f"`{name}:` at position {at + 1} of the query is no field{hint}; the fields are {', '.join(FIELDS)}. "
        f"Put the text in quotes to search for it literally."
    )
