"""One expression over texts side by side: compiled by RE2, first match in each row. Pure."""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import re2

from cortex.query.expressions import Analysis, analyse
from cortex.query.tree import And, Leaf, Node, Not, Regex, leaves
from cortex.system.arrays import Array
from cortex.system.errors import BadQuery

#: bytes of memory for one expression's automata (RE2's default)
_MEMORY = 8 << 20
#: matches between two checks of the clock
_CLOCK_MATCHES = 256
#: score of a match inside a word; doubled for each end at a word boundary
INSIDE = 2.5
_UNANCHORED = re2._Anchor.UNANCHORED  # noqa: SLF001 - its own search() makes two more objects for each match
#: byte → whether it belongs to a word
_IN_WORD = np.array([chr(at).isalnum() or at == ord("_") or at >= 128 for at in range(256)])
#: plain text, as match type substring encodes it, with or without \b at its ends
_PLAIN = re.compile(r"(\\b)?((?:[A-Za-z0-9_ !\"#%&',/:;<=>@`~-]|\\[!-/:-@\[-`{-~])+?)(\\b)?")
#: matches of k and s in RE2 ignoring case: KELVIN SIGN, LATIN SMALL LETTER LONG S
_FOLDED = ("\u212a".encode(), "\u017f".encode())
#: byte → whether it belongs to a word for RE2
_IS_WORD = np.array([at < 128 and (chr(at).isalnum() or at == ord("_")) for at in range(256)])

#: syntax that depends on more than a line: the text's begin and end, or other line modes
_BEYOND_LINES = re.compile(r"\\[Az]|\(\?[a-zA-Z]*-[a-zA-Z]*m")

#: reads texts while others are searched: unpacking is half of a search, and like RE2 it does not
#: hold the interpreter's lock
_AHEAD = ThreadPoolExecutor(1, thread_name_prefix="texts")

Span = tuple[int, int]
#: (first row, row after the last) of one piece of a search
Batch = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Plain:
    r"""An expression that is plain ASCII text, in lower case unless case counts, with or without \b
    at its ends.

    `folds`: it has a letter that matches one beyond ASCII, too. `in_word`: it is a word or a piece
    of a word, ignoring case.
    """

    text: bytes
    begins: bool
    ends: bool
    folds: bool
    in_word: bool

    @property
    def overlaps(self) -> bool:
        r"""Whether a rejected place may hide a match, as in `aaa` the first `aa` hides `aa\b`."""
        ends = (self.text[:n] == self.text[-n:] for n in range(1, len(self.text)))
        return (self.begins or self.ends) and any(ends)


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression. `excluded`: chunks with a match are left out."""

    source: Regex
    compiled: re2._Regexp
    analysis: Analysis
    plain: Plain | None
    excluded: bool = False

    @property
    def by_lines(self) -> bool:
        """Whether a line's match depends on that line alone."""
        return not (self.analysis.multiline or _BEYOND_LINES.search(self.source.pattern))


@dataclass(frozen=True, slots=True)
class RowTexts:
    """Texts one after the other: the text of row `ordinals[i]` ends at `ends[i]`, its line feed
    included.
    """

    ordinals: Array
    ends: Array
    #: the texts of rows `first` to before `stop`, side by side, unpacked on demand
    read: Callable[[int, int], bytes]
    #: all texts, if some are pieces of lines, and a match may span several rows
    joined: bytes | None = None

    @classmethod
    def of(cls, texts: Sequence[bytes], ordinals: Array) -> RowTexts:
        """Join texts, some of them pieces of lines."""
        data = b"".join(texts)
        edges = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
        return cls(ordinals, edges[1:], lambda first, stop: data[edges[first] : edges[stop]], data)

    @property
    def begins(self) -> Array:
        return np.concatenate([[0], self.ends])[:-1]


@dataclass(frozen=True, slots=True)
class KeywordQuery:
    """A query in parts that a hit matches all: expressions for the texts, and the other terms.
    `terms`: those to mark in hits, without those that `case:yes` or `word:yes` narrows.
    """

    node: Node
    expressions: tuple[Expression, ...]
    remainder: Node | None
    terms: tuple[Leaf, ...]


def divide_query(node: Node) -> KeywordQuery:
    """Divide a query. Raises BadQuery as `compile_expression`."""
    wanted, excluded, remainder = split_expressions(node)
    expressions = [compile_expression(source) for source in wanted]
    expressions += [compile_expression(source, excluded=True) for source in excluded]
    every = leaves(node)
    narrowed = {leaf.position for leaf in every if isinstance(leaf, Regex)}
    terms = tuple(leaf for leaf in every if leaf.position not in narrowed)
    return KeywordQuery(node, tuple(expressions), remainder, terms)


def split_expressions(node: Node) -> tuple[list[Regex], list[Regex], Node | None]:
    """Split a list joined by AND into (required expressions, excluded ones, other nodes)."""
    wanted: list[Regex] = []
    excluded: list[Regex] = []
    others: list[Node] = []
    for child in node.children if isinstance(node, And) else (node,):
        match child:
            case Regex():
                wanted.append(child)
            case Not(child=Regex() as inner):
                excluded.append(inner)
            case _:
                others.append(child)
    if len(others) > 1:
        return wanted, excluded, And(tuple(others))
    return wanted, excluded, others[0] if others else None


def compile_expression(source: Regex, *, excluded: bool = False) -> Expression:
    """Compile an expression. Raises BadQuery with RE2's reason for an invalid one."""
    plain, analysis = _parse_plain(source), analyse(source.pattern)
    options = re2.Options()
    options.case_sensitive = source.case
    options.never_nl = not analysis.multiline
    options.never_capture = True
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        compiled = re2.compile("(?m)" + source.pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise BadQuery(
            f"The regular expression at position {source.position + 1} is not valid: {reason.replace('(?m)', '', 1)}. The syntax is RE2's (no "
            "look-around, no back-references); use match_type substring for literal text."
        ) from error
    return Expression(source, compiled, analysis, plain, excluded)


def _parse_plain(source: Regex) -> Plain | None:
    """`source` as plain text; None when it is more than that."""
    match = _PLAIN.fullmatch(source.pattern)
    if match is None:
        return None
    text = re.sub(r"\\(.)", r"\1", match[2])
    text = text if source.case else text.lower()
    return Plain(
        text=text.encode(),
        begins=bool(match[1]),
        ends=bool(match[3]),
        folds=not source.case and bool(set(text) & {"k", "s"}),
        in_word=not source.case and text.replace("_", "a").isalnum() and bool(text.strip("_")),
    )


@dataclass(frozen=True, slots=True)
class Matches:
    """The first match in each matching row of a RowTexts."""

    places: Array  #: i64 [m]: indices of the rows
    spans: Array  #: i64 [m, 2]: the match in the row's text
    scores: Array  #: float32 [m]
    late: bool = False  #: whether the deadline passed


def first_matches(expression: Expression, body: RowTexts, deadline: float, batch_bytes: int) -> Matches:
    find = scan_plain if is_plain(expression, body) else scan
    return find(expression, body, cut_batches(body, batch_bytes), deadline)


def best_matches(plain: Plain, body: RowTexts, batch_bytes: int) -> tuple[Array, Array]:
    """The rows of `body` that hold `plain` (i64, ascending), and the score of the best place of
    each (float32). For a word or a piece of a word, in rows with ASCII words only.
    """
    row_scores = [(body.ordinals[:0], np.zeros(0, np.float32))]
    for start, raw, ends in _read_batches(body, cut_batches(body, batch_bytes)):
        data = raw.lower()
        at = _places(plain, data)
        if len(at):
            rows = np.searchsorted(ends, at, side="right")
            first = np.flatnonzero(np.diff(rows, prepend=-1))
            spans = np.stack([at, at + len(plain.text)], axis=1)
            scores = edge_scores(np.frombuffer(data, np.uint8), spans, _IS_WORD)
            row_scores.append((body.ordinals[start + rows[first]], np.maximum.reduceat(scores, first)))
    rows, values = (np.concatenate(parts) for parts in zip(*row_scores, strict=True))
    return rows, values


def cut_batches(body: RowTexts, batch_bytes: int) -> list[Batch]:
    """Divide the rows into pieces for one call each."""
    last = np.arange(len(body.ends) - 1)  # rows that a piece may end with
    if body.joined is not None:  # split lines: a cut inside one would hide a match
        last = last[np.frombuffer(body.joined, np.uint8)[body.ends[last] - 1] == ord("\n")]
    number = body.ends // batch_bytes
    cuts = last[np.diff(number[last], append=number[-1:]) > 0] + 1
    return list(pairwise([0, *cuts.tolist(), len(body.ends)]))


def is_plain(expression: Expression, body: RowTexts) -> bool:
    """Whether `scan_plain` finds the same as `scan`. False for split lines: a match may span two
    rows.
    """
    return expression.plain is not None and not expression.plain.overlaps and body.joined is None


def scan_plain(expression: Expression, body: RowTexts, batches: list[Batch], deadline: float) -> Matches:
    """As `scan`, but faster for many matches, where calls of RE2 would take most of the time."""
    plain = expression.plain
    assert plain is not None
    size, late = len(plain.text), False
    matches: list[Matches] = []
    for first, data, ends in _read_batches(body, batches):
        late = late or time.monotonic() > deadline
        if late:
            break
        if _may_fold(plain, data):
            matches.append(scan(expression, body, [(first, first + len(ends))], deadline))
            late = matches[-1].late
            continue
        at = _places(plain, data if expression.source.case else data.lower())
        rows = np.searchsorted(ends, at, side="right")
        new = np.ones(len(rows), bool)
        new[1:] = rows[1:] != rows[:-1]
        matches.append(_make_matches(first, rows[new], np.stack([at, at + size], axis=1)[new], data, ends))
    return _join_matches(matches, late=late)


def _may_fold(plain: Plain, data: bytes) -> bool:
    """Whether `data` has letters beyond ASCII that only RE2 matches."""
    return plain.folds and not data.isascii() and any(letter in data for letter in _FOLDED)


def _places(plain: Plain, data: bytes) -> Array:
    """The places of plain text in `data`, i64. `data` is in lower case unless case counts."""
    between, size = data.split(plain.text), len(plain.text)
    at = np.cumsum(np.fromiter(map(len, between[:-1]), np.int64, len(between) - 1) + size) - size
    if len(at) and (plain.begins or plain.ends):
        raw = np.frombuffer(data, np.uint8)
        at = at[
            ~(plain.begins & _are_no_boundaries(raw, at)) & ~(plain.ends & _are_no_boundaries(raw, at + size))
        ]
    return at


def all_matches(expression: Expression, data: bytes, ends: Array, most: int) -> Array:
    """Spans of the first `most` matches in each text of `data`, i64 [m, 2], without empty ones. The
    texts are side by side; each ends at one of `ends` with a line feed. For expressions that are
    `by_lines`.
    """
    plain = expression.plain
    if plain is None or plain.overlaps or _may_fold(plain, data):
        return _all_by_re2(expression, data, ends.tolist(), most)
    at = _places(plain, data if expression.source.case else data.lower())
    rows = np.searchsorted(ends, at, side="right")
    at = at[np.arange(len(rows)) - np.searchsorted(rows, rows) < most]
    return np.stack([at, at + len(plain.text)], axis=1)


def _all_by_re2(expression: Expression, data: bytes, ends: list[int], most: int) -> Array:
    match = expression.compiled._regexp.Match  # noqa: SLF001 - as _UNANCHORED
    spans: list[Span] = []
    size, position, row, left = len(data), 0, 0, most
    while position < size:
        begin, end = match(_UNANCHORED, data, position, size)[0]
        if begin < 0 or begin >= size:
            break
        at = bisect_right(ends, begin, row)
        row, left = at, (left if at == row else most) - 1
        if begin < end:
            spans.append((begin, end))
        if not left:
            position = ends[row]
        elif end > position:
            position = end
        else:  # an empty match: advance by one character
            position += 1
            while position < size and data[position] & 0xC0 == 0x80:
                position += 1
    return np.array(spans, np.int64).reshape(-1, 2)


def _are_no_boundaries(data: Array, at: Array) -> Array:
    r"""Whether the places `at` are no word boundaries: the characters before and after are both in
    words, or both not (RE2's \b).
    """
    before = _IS_WORD[data[np.maximum(at - 1, 0)]] & (at > 0)
    after = _IS_WORD[data[np.minimum(at, len(data) - 1)]] & (at < len(data))
    same: Array = before == after
    return same


def scan(expression: Expression, body: RowTexts, batches: list[Batch], deadline: float) -> Matches:
    """The first match in each row of `body`."""
    match = expression.compiled._regexp.Match  # noqa: SLF001 - as _UNANCHORED
    matches: list[Matches] = []
    late = False
    for first, data, edges in _read_batches(body, batches):
        late = late or time.monotonic() > deadline
        if late:
            break
        places, spans = list[int](), list[Span]()
        ends = edges.tolist()
        row = position = 0
        size = ends[-1]
        while position < size:
            begin, end = match(_UNANCHORED, data, position, size)[0]
            if begin < 0 or begin >= size:
                break
            row = bisect_right(ends, begin, row)
            places.append(row)
            spans.append((begin, end))
            position = max(ends[row], end)
            if not len(places) % _CLOCK_MATCHES and time.monotonic() > deadline:
                late = True
                break
        span_array = np.array(spans, np.int64).reshape(-1, 2)
        matches.append(_make_matches(first, np.array(places, np.int64), span_array, data, edges))
    return _join_matches(matches, late=late)


def _make_matches(first: int, rows: Array, spans: Array, data: bytes, ends: Array) -> Matches:
    """Matches in a batch that begins with row `first`. `rows`: row of each within the batch;
    `spans`: span of each in the batch's texts.
    """
    scores = edge_scores(np.frombuffer(data, np.uint8), spans)
    begins = np.where(rows > 0, ends[rows - 1], 0)
    return Matches(first + rows, spans - begins[:, None], scores)


def _join_matches(batches: Sequence[Matches], *, late: bool) -> Matches:
    nothing = Matches(np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.zeros(0, np.float32))
    parts = [nothing, *batches]
    return Matches(
        np.concatenate([batch.places for batch in parts]),
        np.concatenate([batch.spans for batch in parts]),
        np.concatenate([batch.scores for batch in parts]),
        late,
    )


def _read_batches(body: RowTexts, batches: Sequence[Batch]) -> Iterator[tuple[int, bytes, Array]]:
    """Yield of each batch the first row, the texts side by side, and the end of each: one call of
    RE2 costs as much as 1 kB of text, and a chunk has hardly more. Each batch is unpacked while the
    previous one is searched.
    """
    coming: Future[bytes] | None = None
    for (first, stop), after in zip(batches, [*batches[1:], None], strict=True):
        data = coming.result() if coming else body.read(first, stop)
        coming = _AHEAD.submit(body.read, *after) if after else None
        yield first, data, body.ends[first:stop] - (body.ends[first - 1] if first else 0)


def edge_scores(data: Array, spans: Array, in_word: Array = _IN_WORD) -> Array:
    """The score of each match, float32, higher if it begins or ends at a word boundary. `in_word`:
    bool [256], the bytes that belong to words.
    """
    scores = np.full(len(spans), INSIDE, np.float32)
    for at in (spans[:, 0], spans[:, 1]):
        before = in_word[data[np.maximum(at - 1, 0)]] & (at > 0)
        after = in_word[data[np.minimum(at, len(data) - 1)]] & (at < len(data))
        scores[~(before & after)] *= 2
    return scores
