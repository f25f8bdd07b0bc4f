"""Finds the lines of a chunk that say why it matched, with <em> around the matched terms. Pure; plain text, no HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cortex.engines import text_tokens as tokens
from cortex.engines.query_compile import pattern_source, pattern_words
from cortex.engines.query_tree import Fuzzy, Leaf, Phrase, Term, Wildcard

#: fragments of one hit
FRAGMENTS_MAX = 3
#: characters of a fragment; a longer line (minified code) is cut around its first match
FRAGMENT_CHARACTERS = 400
#: matches looked at in one chunk; more do not change which lines are best
_MATCHES_MAX = 200
#: the comment above each definition says which lines of the file it is from
_LINES_MARK = re.compile(r"\bLines (\d+)-(\d+)")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Needle:
    """What one leaf marks: the whole words `whole` or the parts `parts` in order (the last part may be only the
    `prefix` of one), single words that match `pattern`, or words within `distance` edits of `near`.
    """

    whole: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    slop: int = 0
    prefix: bool = False
    pattern: re.Pattern[str] | None = None
    near: str = ""
    distance: int = 0


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a text in order: lower-cased terms and their spans."""

    terms: list[str]
    spans: list[Span]


def make_needles(leaves: Iterable[Leaf]) -> list[Needle]:
    """What to mark for the leaves of a query; only what was looked for in the text."""
    needles: list[Needle] = []
    for leaf in leaves:
        match leaf:
            case Term(field="text", text=text):
                needles.append(Needle(tuple(_whole(text)), tuple(tokens.part_words(text))))
            case Phrase(field="text", text=text, slop=slop):
                needles.append(Needle(tuple(_whole(text)), tuple(tokens.part_words(text)), slop))
            case Wildcard(field="text", pieces=pieces):
                if leaf.is_prefix:
                    needles.append(Needle(parts=tuple(tokens.part_words(pieces[0])), prefix=True))
                for word in pattern_words(pieces):
                    source = pattern_source(word).replace(tokens.UNDERSCORE, "_")
                    if source.strip(".*"):
                        needles.append(Needle(pattern=re.compile(source, re.DOTALL)))
            case Fuzzy(field="text", text=text, distance=distance):
                needles.extend(Needle(near=word, distance=distance) for word in _whole(text))
    return [needle for needle in needles if needle.whole or needle.parts or needle.pattern or needle.near]


def _whole(text: str) -> list[str]:
    return [word.replace(tokens.UNDERSCORE, "_") for word in tokens.whole_words(text)]


def find_spans(text: str, needles: Iterable[Needle]) -> list[list[Span]]:
    """For each needle the spans of `text` that it marks."""
    whole, parts = _read_words(text), _read_parts(text)
    return [_spans(needle, whole, parts)[:_MATCHES_MAX] for needle in needles]


def _read_words(text: str) -> _Words:
    spans: list[Span] = []
    for match in tokens.WORD.finditer(text):
        if match[0].isascii():
            spans.append(match.span())
        else:
            spans.extend((match.start() + a, match.start() + b) for a, b in tokens.pieces_of(match[0]))
    return _Words([text[a:b].lower() for a, b in spans], spans)


def _read_parts(text: str) -> _Words:
    spans = [
        (match.start() + a, match.start() + b)
        for match in tokens.WORD.finditer(text)
        for a, b in tokens.parts_of(match[0])
    ]
    return _Words([text[a:b].lower() for a, b in spans], spans)


def _spans(needle: Needle, whole: _Words, parts: _Words) -> list[Span]:
    if needle.pattern is not None:
        return [
            span
            for term, span in zip(whole.terms, whole.spans, strict=True)
            if needle.pattern.fullmatch(term)
        ]
    if needle.near:
        known: dict[str, bool] = {}
        out = []
        for words in (whole, parts):
            for term, span in zip(words.terms, words.spans, strict=True):
                if term not in known:
                    known[term] = within(term, needle.near, needle.distance)
                if known[term]:
                    out.append(span)
        return _outermost(out)
    if needle.slop:
        return _outermost(_near(needle.whole, whole, needle.slop) + _near(needle.parts, parts, needle.slop))
    found = _sequences(needle.whole, whole)
    if len(needle.whole) == 1 and "_" not in needle.whole[0]:
        joined = needle.whole[0]
        found += [
            s
            for t, s in zip(whole.terms, whole.spans, strict=True)
            if "_" in t and t.replace("_", "") == joined
        ]
    return _outermost(found + _sequences(needle.parts, parts, prefix=needle.prefix))


def _sequences(wanted: tuple[str, ...], words: _Words, *, prefix: bool = False) -> list[Span]:
    """Spans of the words of each place where `wanted` stands; with `prefix` its last word may go on."""
    if not wanted:
        return []
    *first, last = wanted
    out: list[Span] = []
    for at in range(len(words.terms) - len(first)):
        end = words.terms[at + len(first)]
        if (end == last or (prefix and end.startswith(last))) and words.terms[at : at + len(first)] == first:
            out.extend(words.spans[at : at + len(wanted)])
    return out


def _near(wanted: tuple[str, ...], words: _Words, slop: int) -> list[Span]:
    """Spans of the `wanted` words that stand together, in any order, with at most `slop` other words among them."""
    places = [at for at, term in enumerate(words.terms) if term in wanted]
    out: list[Span] = []
    for at in places:
        window = [other for other in places if at <= other < at + len(wanted) + slop]
        if {words.terms[other] for other in window} == set(wanted):
            out.extend(words.spans[other] for other in window)
    return out


def _outermost(spans: list[Span]) -> list[Span]:
    """The spans in order, without those that lie inside another; those that touch are one."""
    out: list[Span] = []
    for span in sorted(set(spans), key=lambda s: (s[0], -s[1])):
        if out and span[0] == out[-1][1]:
            out[-1] = (out[-1][0], span[1])
        elif not out or span[0] > out[-1][1]:
            out.append(span)
    return out


def within(one: str, other: str, distance: int) -> bool:
    """Whether two words are at most `distance` edits apart; a swap of neighbours is one (optimal string alignment)."""
    if abs(len(one) - len(other)) > distance:
        return False
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > distance:
            return False
        before, last = last, row
    return last[-1] <= distance


def fragments(
    text: str, marks: list[list[Span]], lines: list[int]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """(at most 3 whole lines of `text` with <em>…</em>, their lines in the file) for the spans of each needle.

    Lines with more different needles are better, then earlier ones; they come in the order of the file.
    """
    starts = [0, *[match.end() for match in re.finditer("\n", text)]]
    held: dict[int, set[int]] = {}
    spans: dict[int, list[Span]] = {}
    for needle, found in enumerate(marks):
        for span in found:
            line = _line_of(starts, span[0])
            held.setdefault(line, set()).add(needle)
            spans.setdefault(line, []).append(span)
    best = sorted(sorted(held, key=lambda line: (-len(held[line]), line))[:FRAGMENTS_MAX])
    out = []
    for line in best:
        end = starts[line + 1] - 1 if line + 1 < len(starts) else len(text)
        out.append(_marked(text, starts[line], end, _outermost(spans[line])))
    return tuple(out), tuple(lines[line] if line < len(lines) else lines[-1] for line in best)


def _line_of(starts: list[int], at: int) -> int:
    low, high = 0, len(starts)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if starts[middle] <= at else (low, middle)
    return low


def _marked(text: str, start: int, end: int, spans: list[Span]) -> str:
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
    """The file's line (1-based) of each line of a chunk's text.

    Code and documentation are spans of the file. In definitions and data each piece has a `Lines a-b` comment above
    it. Everything else points at the chunk's first line.
    """
    count = text.count("\n") + 1
    if chunk_type in ("code", "documentation"):
        return list(range(max(start_line, 1), max(start_line, 1) + count))
    out, current, last = [], 0, 0
    for line in text.split("\n"):
        if mark := _LINES_MARK.search(line):
            current, last = int(mark[1]), int(mark[2])
            out.append(current)
        elif current:
            out.append(min(current, last))
            current += 1
        else:
            out.append(max(start_line, 1))
    return out
