"""The lines of a chunk that show its match, with <em> around the matched terms. Pure; plain text,
no HTML.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from cortex.engines.text.words import pattern_source, pattern_words
from cortex.query.tree import Fuzzy, Leaf, Phrase, Term, Wildcard
from cortex.terms import tokens
from cortex.terms.records import covers

#: fragments of one hit
FRAGMENTS_MAX = 3
#: characters of a fragment; a longer line (minified code) is cut around its first match
FRAGMENT_CHARACTERS = 400
#: matches found in one chunk for an excerpt; more do not change the choice of lines
MATCHES_MAX = 40
#: characters searched on either side for the ends of a word
_WORD_MAX = 200
#: characters of a joined form; the expression has a star for each
_JOINED_MAX = 80
_BEFORE, _AFTER = r"(?<!\w)", r"(?!\w)"
#: separators allowed between the parts of an identifier
_GAP = r"[\W_]*"
#: the comment above each definition with its lines in the file
_LINES_MARK = re.compile(r"(\W+)Lines (\d{1,9})-(\d{1,9})\s*$")
#: the end of a row of symbols
_ROW = re.compile(r"\(lines? (\d{1,9})(?:-\d+)?\)\s*$")

#: terms searched one by one; with more, the words of the text are looked up
_TERMS_SOUGHT = 48

Span = tuple[int, int]
Near = Callable[[str, int], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Needle:
    """A pattern by which a leaf of a query marks text.

    `source` is a regular expression for the text in lower case; a match counts when it begins and
    ends at a word boundary or, with `parts`, at the boundary of a part (with `prefix` it may end
    anywhere). In place of it, `terms` are words, parts and joined forms to mark; `group` are words
    with at most `slop` others between them.
    """

    source: re.Pattern[str] | None = None
    parts: bool = False
    prefix: bool = False
    terms: frozenset[str] = frozenset()
    group: tuple[str, ...] = ()
    slop: int = 0
    #: used only when other needles found no match
    spare: bool = False
    #: memo: word → its spans that are among the terms
    span_cache: dict[str, tuple[Span, ...]] = field(default_factory=dict, compare=False)


def make_needles(leaves: Iterable[Leaf], near: Near) -> dict[Leaf, list[Needle]]:
    """The needles of each leaf for the field text. `near` returns the indexed terms at most so many
    edits from a word.
    """
    return {leaf: needles for leaf in leaves if (needles := _needles(leaf, near))}


def _needles(leaf: Leaf, near: Near) -> list[Needle]:
    match leaf:
        case Phrase(field="text", text=text, slop=slop) if slop:
            return [
                Needle(group=tuple(words), slop=slop)
                for words in (_whole_words(text), tokens.part_words(text))
                if words
            ]
        case Term(field="text", text=text) | Phrase(field="text", text=text):
            return _sequence_needles(text)
        case Wildcard(field="text", pieces=pieces):
            out = [
                Needle(re.compile(_whole_word_pattern(source)))
                for word in pattern_words(pieces)
                if (source := pattern_source(word).replace(tokens.UNDERSCORE, "_")).strip(".*")
            ]
            if leaf.is_prefix and (parts := tokens.part_words(pieces[0])):
                out.append(Needle(re.compile(_GAP.join(parts)), parts=True, prefix=True))
            return out
        case Fuzzy(field="text", text=text, distance=distance):
            return [Needle(terms=frozenset(near(word, distance))) for word in _whole_words(text)]
    return []


def _whole_word_pattern(source: str) -> str:
    """An expression for whole words that match `source`. It searches for the letters that `source`
    begins with, and checks the character before them afterwards: a look-behind first would be tried
    at each place of the text.
    """
    first = re.match(r"\w*", source)
    start = first[0] if first else ""
    remainder = re.sub(r"\.", r"\\w", source[len(start) :])
    return f"{start}(?<!\\w{start}){remainder}{_AFTER}"


def _sequence_needles(text: str) -> list[Needle]:
    """Needles for adjacent parts: wherever whole words match, their parts match, too."""
    whole_words, parts = _whole_words(text), tokens.part_words(text)
    out = (
        [Needle(re.compile(_GAP.join(map(re.escape, parts or whole_words))), parts=True)]
        if parts or whole_words
        else []
    )
    if len(whole_words) == 1 and len(parts) == 1 and "_" not in whole_words[0]:
        out.append(Needle(re.compile(_BEFORE + "_*".join(whole_words[0][:_JOINED_MAX]) + _AFTER), spare=True))
    return out


def _whole_words(text: str) -> list[str]:
    return [word.replace(tokens.UNDERSCORE, "_") for word in tokens.whole_words(text)]


def find_spans(
    text: str, leaves: list[list[Needle]], lines: int = FRAGMENTS_MAX, most: int = MATCHES_MAX
) -> list[list[Span]]:
    """For each leaf the spans of `text` that its needles mark, for the first `most` matches on the
    first `lines` lines with one.
    """
    lower = tokens.lowered(text)
    return [_spans_of(needles, text, lower, lines, most) for needles in leaves]


def _spans_of(needles: list[Needle], text: str, lower: str, lines: int, most: int) -> list[Span]:
    out: list[Span] = []
    for needle in needles:
        if not (needle.spare and out):
            out.extend(_needle_spans(needle, text, lower, lines, most))
    return _outermost(out)


def _needle_spans(needle: Needle, text: str, lower: str, lines: int, most: int) -> list[Span]:
    if needle.group:
        return _find_group(needle, text, lower, most)
    if needle.source is not None:
        matches = islice(needle.source.finditer(lower), most)
        checked = (check_match(needle, text, *match.span()) for match in matches)
        return _on_lines(text, lines, filter(None, checked))
    words = islice(_term_words(needle, text), most)
    return _find_few_terms(needle.terms, text, lower, most) or _on_lines(text, lines, words)


def _on_lines(text: str, lines: int, matches: Iterable[list[Span]]) -> list[Span]:
    """The spans of the matches, none of them empty, on at most `lines` lines."""
    out: list[Span] = []
    line_end = -1
    for spans in matches:
        if spans[0][0] > line_end:
            if not lines:
                break
            lines -= 1
            line_end = text.find("\n", spans[-1][1])
            line_end = len(text) if line_end < 0 else line_end
        out.extend(spans)
    return out


def check_match(needle: Needle, text: str, start: int, end: int) -> list[Span]:
    """The spans that a match of a needle's source marks; none where its ends are inside of parts of
    words.
    """
    if needle.parts:
        # Mostly no letter is adjacent, so no closer check is needed.
        if start and text[start - 1].isalnum() and not _is_edge(text, start):
            return []
        if end < len(text) and text[end].isalnum():
            if needle.prefix:
                end = _part_end(text, end)
            elif not _is_edge(text, end):
                return []
    matched = text[start:end]
    if matched.isalnum():  # one identifier or a part: a single mark
        return [(start, end)]
    return [(start + word.start(), start + word.end()) for word in tokens.WORD.finditer(matched)]


def _is_edge(text: str, at: int) -> bool:
    """Whether a part of a word may begin or end at `at`."""
    if at <= 0 or at >= len(text):
        return True
    before, other = text[at - 1], text[at]
    if not (before.isalnum() and other.isalnum()):
        return True
    begin, end = _word_around(text, at)
    return any(at in (begin + a, begin + b) for a, b in tokens.parts_of(text[begin:end]))


def _part_end(text: str, at: int) -> int:
    """The end of the part around `at`, or `at`."""
    begin, end = _word_around(text, at)
    return next((begin + b for a, b in tokens.parts_of(text[begin:end]) if begin + a < at < begin + b), at)


def _word_around(text: str, at: int) -> Span:
    begin = at
    while begin > 0 and at - begin < _WORD_MAX and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
        begin -= 1
    match = tokens.WORD.match(text, at, at + _WORD_MAX)
    return begin, match.end() if match else at


def _find_few_terms(terms: frozenset[str], text: str, lower: str, most: int) -> list[Span]:
    """The spans of the terms in the text, in order; none when there are too many terms."""
    out: list[Span] = []
    for term in terms if len(terms) <= _TERMS_SOUGHT else ():
        at = lower.find(term)
        while at >= 0 and len(out) < most:
            end = at + len(term)
            if _is_edge(text, at) and _is_edge(text, end):
                out.append((at, end))
            at = lower.find(term, end)
    return sorted(out)


def _term_words(needle: Needle, text: str) -> Iterator[list[Span]]:
    """The spans of the text's words that are among the needle's terms, joined forms included."""
    span_cache = needle.span_cache
    for match in tokens.WORD.finditer(text):
        spans = span_cache.get(match[0])
        if spans is None:
            spans = span_cache[match[0]] = _term_spans(needle.terms, match[0])
        if spans:
            yield [(match.start() + a, match.start() + b) for a, b in spans]


def _term_spans(terms: frozenset[str], word: str) -> tuple[Span, ...]:
    """The spans of `word` that are among `terms`: all of it, else its parts."""
    lower = word.lower()
    if lower in terms:
        return ((0, len(word)),)
    if lower == word and word.isalpha() and word.isascii():  # one part
        return ()
    if "_" in word and lower.replace("_", "") in terms:
        return ((0, len(word)),)
    return tuple((a, b) for a, b in tokens.parts_of(word) if word[a:b].lower() in terms)


def _find_group(needle: Needle, text: str, lower: str, most: int) -> list[Span]:
    """Spans of the words of `group` together, in any order, with at most `slop` others."""
    wanted = set(needle.group)
    spans = [
        (match.start() + a, match.start() + b)
        for match in tokens.WORD.finditer(text)
        for a, b in ([(0, len(match[0]))] if match[0].lower() in wanted else tokens.parts_of(match[0]))
    ]
    places = [at for at, (a, b) in enumerate(spans) if lower[a:b] in wanted]
    out: list[Span] = []
    for at in places[:most]:
        last = bisect_left(places, at + len(needle.group) + needle.slop)
        window = places[bisect_left(places, at) : last]
        if {lower[slice(*spans[other])] for other in window} == wanted:
            out.extend(spans[other] for other in window)
    return out


def _outermost(spans: list[Span]) -> list[Span]:
    """The spans in order, without nested ones; adjacent ones are merged."""
    out: list[Span] = []
    for span in sorted(set(spans), key=lambda s: (s[0], -s[1])):
        if out and span[0] == out[-1][1]:
            out[-1] = (out[-1][0], span[1])
        elif not out or span[0] > out[-1][1]:
            out.append(span)
    return out


def make_fragments(
    text: str, marks: list[list[Span]], lines: list[int]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Choose at most 3 whole lines of `text` by the spans of each leaf, and mark them with
    <em>…</em>.

    Returns (the lines, their numbers in the file). Lines with more different leaves come first,
    then earlier ones; the result is in the order of the file. `lines`: for each line of the text
    its number in the file.
    """
    spans = _spans_by_line(text, marks)
    leaves_by_line = {line: {leaf for leaf, _ in line_marks} for line, line_marks in spans.items()}
    best = sorted(sorted(leaves_by_line, key=lambda line: (-len(leaves_by_line[line]), line))[:FRAGMENTS_MAX])
    out = []
    for line in best:
        line_spans = [span for _, span in spans[line]]
        first = line_spans[0][0]
        end = text.find("\n", first)
        out.append(
            _mark_spans(text, text.rfind("\n", 0, first) + 1, len(text) if end < 0 else end, line_spans)
        )
    return tuple(out), tuple(lines[min(line, len(lines) - 1)] for line in best)


def _spans_by_line(text: str, marks: list[list[Span]]) -> dict[int, list[tuple[int, Span]]]:
    """Line of `text` (0-based) → (leaf, span) for each span of `marks`, the spans of each leaf."""
    out: dict[int, list[tuple[int, Span]]] = {}
    for leaf, leaf_spans in enumerate(marks):
        line = at = 0
        for span in leaf_spans:
            line += text.count("\n", at, span[0])
            at = span[0]
            out.setdefault(line, []).append((leaf, span))
    return out


def leaf_masker(marks: list[list[Span]]) -> Callable[[str], list[int]]:
    """A function that returns for each line of a text the leaves that mark it, a bit for each."""

    def mask_lines(text: str) -> list[int]:
        spans = _spans_by_line(text, marks)
        lines = (spans.get(at, ()) for at in range(text.count("\n") + 1))
        return [sum({1 << leaf for leaf, _ in line}) for line in lines]

    return mask_lines


def _mark_spans(text: str, start: int, end: int, spans: list[Span]) -> str:
    spans = _outermost(spans)
    if end - start > FRAGMENT_CHARACTERS:
        start = max(start, spans[0][0] - FRAGMENT_CHARACTERS // 4)
        end = min(end, start + FRAGMENT_CHARACTERS)
    out, at = [], start
    for a, b in spans:
        if a < end:
            out += [text[at:a], "<em>", text[a : min(b, end)], "</em>"]
            at = min(b, end)
    return ("".join(out) + text[at:end]).rstrip("\r\n")


def line_numbers(text: str, chunk_type: str, start_line: int) -> list[int]:
    """The file's line (1-based) of each line of a chunk's text; 0 for lines that are not in the
    file.

    All chunks but views are spans of the file. In definitions and data a `Lines a-b` comment is
    above each piece, then its documentation as comments, then the lines of the file from a on. A
    row of symbols ends with its lines.
    """
    count = text.count("\n") + 1
    if covers(chunk_type):
        return list(range(max(start_line, 1), max(start_line, 1) + count))
    lines = text.split("\n")
    if chunk_type == "symbols":
        return [int(row[1]) if (row := _ROW.search(line)) else 0 for line in lines]
    out: list[int] = []
    piece: re.Match[str] | None = None
    number, last = 0, -1
    for line in lines:
        if mark := _LINES_MARK.match(line):
            piece, number, last = mark, int(mark[2]), int(mark[3])
        is_own = piece is not None and number == int(piece[2]) and line.startswith(piece[1])
        is_file = not is_own and number <= last
        out.append(number if is_file and line else 0)
        number += is_file
    return out
