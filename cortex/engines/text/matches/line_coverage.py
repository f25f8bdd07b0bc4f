"""How completely each line matches a keyword query: as spelled, in other words, or partly. Pure."""

import re
from collections.abc import Mapping

import numpy as np

from cortex.engines.text.matches.line_matches import Body, Marked
from cortex.query.tree import And, Boost, Fuzzy, Leaf, Node, Or, Phrase, Regex, Term, Wildcard
from cortex.system.arrays import Array
from cortex.terms import tokens

#: number of failed levels: a line with all terms as spelled, with all in other words, with a part,
#: with none (`mark` for `_mark`, if other lines hold `_mark`)
SPELLED, WORDS, PARTIAL, NOTHING = 0, 1, 2, 3
#: how literally a line holds a query: as a whole name or text, inside a longer name, otherwise
EXACT, INSIDE, LOOSE = 0, 1, 2
#: leaf of the query → its spans, i64 [n, 2]
Marks = Mapping[Leaf, Array]


def count_missing(body: Body, marked: Marked, node: Node, marks: Marks) -> Array:
    """The completeness of each line, i64 [marked]: SPELLED if it holds all terms as spelled, WORDS
    if in other words (`same origin` for `same_origin`), PARTIAL if some, else NOTHING.
    """
    if len(marks) == 1 and not any(map(_has_parts, marks)):
        return np.zeros(len(marked), np.int64)
    lines_by_leaf = {leaf: _lines_with(body, marked, spans[:, 0]) for leaf, spans in marks.items()}
    spelled = {leaf: lines & _spelled_lines(body, marked, leaf) for leaf, lines in lines_by_leaf.items()}
    # A name with signs has no other words: `mark` is another name than `_mark`.
    lines_by_leaf |= {leaf: lines for leaf, lines in spelled.items() if _is_signed(leaf) and lines.any()}
    holds_all = _holds(node, lines_by_leaf, len(marked))
    holds_none = ~np.logical_or.reduce([np.zeros(len(marked), bool), *lines_by_leaf.values()]) & ~holds_all
    missing: Array = PARTIAL + holds_none - holds_all.astype(np.int64)
    missing -= holds_all & _holds(node, spelled, len(marked))
    return missing


def _holds(node: Node, lines: Mapping[Leaf, Array], count: int) -> Array:
    """Whether each line matches `node`, bool [marked]. Clauses on other fields and exclusions count
    as matched: they were decided for the chunk.
    """
    every = np.ones(count, bool)
    match node:
        case Boost(child=child):
            return _holds(child, lines, count)
        case And(children=children):
            every &= np.logical_and.reduce([_holds(child, lines, count) for child in children])
            return every
        case Or(children=children, required=required):
            wanted = required or children
            some = [_holds(child, lines, count) for child in wanted]
            every &= (np.logical_and if required else np.logical_or).reduce(some)
            return every
        case Term() | Phrase() | Wildcard() | Fuzzy() | Regex():
            return lines.get(node, every)
    return every


def _lines_with(body: Body, marked: Marked, places: Array) -> Array:
    """Bool [marked]: the lines with one of `places`."""
    return np.isin(marked.lines, body.texts.lines_at(places))


def _lines_matching(body: Body, marked: Marked, pattern: str) -> Array:
    """Bool [marked]: the lines with a match of `pattern` in lower case."""
    places = [match.start() for match in re.finditer(pattern, body.texts.lower)]
    return _lines_with(body, marked, np.array(places, np.int64))


def _spelled_lines(body: Body, marked: Marked, leaf: Leaf) -> Array:
    """Bool [marked]: the lines with the words of a leaf as spelled, ignoring case."""
    if not isinstance(leaf, Term | Phrase) or not _has_parts(leaf):
        return np.ones(len(marked), bool)
    return _lines_matching(body, marked, re.escape(tokens.lowered(leaf.text)))


def literal_levels(body: Body, marked: Marked, marks: Marks, query: str) -> Array:
    """How literally each line holds the text of a query, i64 [marked]: EXACT, INSIDE a longer name
    (`setTimeout` for `timeout`), or LOOSE, in other words or apart. All EXACT where no line has the
    text, or the query has none.
    """
    every = np.zeros(len(marked), np.int64)
    texts = [leaf.text for leaf in marks if isinstance(leaf, Term | Phrase)]
    if not texts or len(texts) < len(marks):
        return every
    words = tokens.lowered(texts[0] if len(texts) == 1 else query).split()
    first, *others = map(re.escape, words or [""])
    rest = "".join(rf"\s+{word}" for word in others)
    # Letters first: a look-behind before them would be tried at each place of the text.
    spelled = rf"{first}(?<![\w$]{first}){rest}(?![\w$])"
    inside, exact = (_lines_matching(body, marked, pattern) for pattern in (first + rest, spelled))
    if not inside.any():
        return every
    return LOOSE - inside.astype(np.int64) - exact


def _has_parts(leaf: Leaf) -> bool:
    """Whether a line may hold the words of a leaf without its spelling."""
    return isinstance(leaf, Term | Phrase) and (len(tokens.part_words(leaf.text)) > 1 or _is_signed(leaf))


def _is_signed(leaf: Leaf) -> bool:
    """Whether a leaf is one word with signs around it: `_mark`, `total_`."""
    if not isinstance(leaf, Term | Phrase):
        return False
    parts = tokens.part_words(leaf.text)
    return len(parts) == 1 and parts != [tokens.lowered(leaf.text)]
