"""Leaves of the query tree, from words, phrases, expressions and ranges. Pure."""

import re

from cortex.query.lex import Token
from cortex.query.tree import DEFAULT_FIELD, Anything, Fuzzy, Node, Phrase, Range, Regex, Term, Wildcard
from cortex.system.errors import BadQuery

#: largest edit distance of a term; the automata grow with it
DISTANCE_MAX = 2
#: largest slop of a phrase, in words
SLOP_MAX = 100
#: letters from which a `~` without a number allows two edits
_LONG_WORD = 6
#: upper end of line numbers
_LINE_MAX = (1 << 32) - 1

_BOUNDS = re.compile(r"([\[{])\s*(\S+)\s+TO\s+(\S+?)\s*([\]}])")
#: a backslash with the character that it escapes, a run of stars, a question mark inside a word,
#: any other character. Before a letter or digit a backslash escapes nothing: `App\Http`.
_PIECE = re.compile(r"\\(\W)|(\*+)|(\?)(?=\w)|(.)", re.DOTALL)

#: punctuation, or a letter beyond ASCII, as the first or last character that an expression matches
_POINTED_BEGIN = re.compile(r"\\\W|[^\w\\()\[.^$|]", re.ASCII)
_POINTED_END = re.compile(r"(?:\\\W|[^\w\\()\].$|*+?}])\Z", re.ASCII)


def make_leaf(token: Token, suffix: str, name: str) -> Node:
    """Return the leaf for `token` in field `name`; `suffix` is its `~2`, or the number of a
    comparison. Raises BadQuery.
    """
    if name == "start_line":
        return _line_range(token, suffix)
    match token.kind:
        case "word" if suffix:
            text = _unescaped(token.text)
            return Fuzzy(name, text, _parse_distance(suffix, text, token.at), token.at)
        case "word":
            return _word_leaf(token, name)
        case "phrase":
            return Phrase(name, _unescaped(token.text[1:-1]), _parse_slop(suffix, token.at), token.at)
        case "regex" if name == DEFAULT_FIELD:
            return Regex(token.text[1:-1].replace("\\/", "/"), position=token.at)
        case "regex":
            raise BadQuery(
                f"A regular expression (position {token.at + 1}) searches the text; {name}: takes none."
            )
    raise BadQuery(f"Ranges are understood for start_line only (position {token.at + 1}).")


def literal(text: str) -> str:
    """Return an RE2 expression that matches exactly `text`."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", r"\\\g<0>", text)


def whole_words(source: str) -> str:
    """Return an expression whose matches are whole words; punctuation at its edges needs no edge of
    a word, and letters beyond ASCII have none in RE2.
    """
    begins = "" if _POINTED_BEGIN.match(source) else r"\b"
    ends = "" if _POINTED_END.search(source) else r"\b"
    return f"{begins}(?:{source}){ends}" if "|" in source else f"{begins}{source}{ends}"


def auto_distance(text: str) -> int:
    """Return the edits that a `~` without a number allows."""
    return 2 if len(text) >= _LONG_WORD else 1


def _word_leaf(token: Token, name: str) -> Node:
    pieces = _split_pieces(token.text)
    if len(pieces) > 1:
        return Wildcard(name, tuple(pieces), token.at)
    return Anything() if token.text[0] == "*" else Term(name, pieces[0], token.at)


def _split_pieces(text: str) -> list[str]:
    """Split into text and wildcards; `?` is one only inside a word, not in `Some(x)?`."""
    pieces = [""]
    for match in _PIECE.finditer(text):
        wildcard = (match[2] and "*") or match[3]
        if wildcard and (pieces[-1] or len(pieces) > 1 or wildcard == "*"):
            pieces.extend([wildcard, ""])
        else:
            pieces[-1] += match[1] or match[4] or match[3] or ""
    return [piece for piece in pieces if piece] or [""]


def _unescaped(text: str) -> str:
    return re.sub(r"\\(\W)", r"\1", text, flags=re.DOTALL)


def _parse_slop(suffix: str, at: int) -> int:
    number = suffix[1:] or "1" if suffix else "0"
    if "." in number:
        raise BadQuery(
            f"~{number} at position {at + 1}: the words of a phrase are a whole number of words apart, at most {SLOP_MAX}."
        )
    if int(number) > SLOP_MAX:
        raise BadQuery(
            f"~{int(number)} at position {at + 1} is too far; at most {SLOP_MAX} words may lie between."
        )
    return int(number)


def _parse_distance(suffix: str, text: str, at: int) -> int:
    if suffix == "~":
        return auto_distance(text)
    distance = float(suffix[1:])
    if distance not in range(DISTANCE_MAX + 1):
        raise BadQuery(f"{suffix} at position {at + 1}: the distance of a fuzzy term is 0, 1 or 2.")
    return int(distance)


def _line_range(token: Token, suffix: str) -> Node:
    """Return a range of lines: `7`, `>=7`, `[7 TO 9]`; `*` is every line."""
    at = token.at
    if token.kind == "word" and not suffix:
        if token.text == "*":
            return Anything()
        line = _line_number(token.text, at)
        return Range("start_line", line, line, at)
    if token.kind == "compare":
        line, open_end = _line_number(suffix, at), len(token.text) == 1
        if token.text[0] == ">":
            return Range("start_line", line + open_end, None, at)
        return Range("start_line", None, line - open_end, at)
    if token.kind == "range" and (limits := _BOUNDS.fullmatch(token.text)):
        low, high = (None if limits[n] == "*" else _line_number(limits[n], at) for n in (2, 3))
        low = low + 1 if low is not None and limits[1] == "{" else low
        high = high - 1 if high is not None and limits[4] == "}" else high
        return Range("start_line", low, high, at)
    raise BadQuery(_line_error(at))


def _line_number(text: str, at: int) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise BadQuery(_line_error(at))
    return min(int(text), _LINE_MAX)


def _line_error(at: int) -> str:
    return f"start_line: (position {at + 1}) takes a number, >=10, or a range such as [10 TO 50]."
