"""The lines in which a keyword query matches, grouped: definitions, uses by kind, tests. Pure.

A word may stand in thousands of lines, of which a few are shown: all are put in order as arrays,
and only what is shown becomes objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import orjson

from cortex.engines.text.highlight import Span, line_numbers
from cortex.terms import tokens
from cortex.terms.paths import is_beside, is_test
from cortex.terms.records import covers
from ipc.arrays import Array
from ipc.messages import Hit

Kind = Literal["definition", "call", "import", "type", "text", "test"]

#: the order of the groups
KINDS: tuple[Kind, ...] = ("definition", "call", "import", "type", "text", "test")
_NUMBERS = {kind: at for at, kind in enumerate(KINDS)}
#: chunks whose lines are counted; of a query that matches more, the lines of so many of the best
#: are shown: more than anybody pages through
CHUNKS_MAX, BEST_CHUNKS = 2_000, 400
#: characters of a line that are shown; a longer one (minified code) is cut
LINE_CHARS = 200
#: lines below the beginning of a definition in which its name may stand
HEAD_LINES = 6
#: bytes of an entry beside its lines and its path, which stands in it twice
ENTRY_BYTES = 130

#: chunks in which a query is looked for between two looks at the clock, once as many are done
PORTION = 100
#: between the texts of two chunks: nothing that is looked for matches across it
BORDER = f"\n{tokens.UNDERSCORE}\n"
#: the lines of a file are the low bits of a (file, line) number
_LINE_BITS = 32
#: words that matched, above which the definitions of every chunk are read
NAMES_MAX = 12
#: files from which on a line that stands in all of them comes once
ALIKE_FILES = 3
#: lines that are compared with each other: more than an answer ever holds
ALIKE_LINES_MAX = 2_000
#: what stands behind a line that stands for others, with their number
LIKE_IT = "  ⋯ {} lines like it"

#: how a line begins that is a comment or an import
_BEGINNING = re.compile(
    r"[^\S\n]*(?:(?P<text>//|/\*|\*|#(?!\w)|--|\"\"\"|;;)"
    r"|(?P<import>(?:import|from|#[^\S\n]*include|using|use|require(?:_relative)?|export\s.*\bfrom|@import)\b))"
)
_REQUIRE = re.compile(r".*\brequire\(")
_CALLED = re.compile(r"[^\S\n]*(?:<[^<>()]*>|::<[^<>()]*>|!)?\(")


@dataclass(frozen=True, slots=True)
class Joined:
    """Texts one after the other, with BORDER between them."""

    text: str
    starts: Array  #: i64: where each of them begins

    def chunks_at(self, places: Array) -> Array:
        """I64: the one that each place of the text lies in."""
        return np.searchsorted(self.starts, places, side="right") - 1

    def one(self, at: int) -> str:
        last = at + 1 == len(self.starts)
        return self.text[self.starts[at] : None if last else self.starts[at + 1] - len(BORDER)]

    def line(self, place: int) -> str:
        """The line that begins at `place`, as it is shown."""
        end = self.text.find("\n", place)
        return self.text[place : end if end >= 0 else len(self.text)].strip()[:LINE_CHARS]


def join_texts(texts: Sequence[str]) -> Joined:
    sizes = np.array([len(text) + len(BORDER) for text in texts], np.int64)
    return Joined(BORDER.join(texts), np.cumsum(sizes) - sizes)


@dataclass(frozen=True, slots=True)
class Body:
    """Chunks with their texts."""

    texts: Joined
    hits: Sequence[Hit]
    scores: Sequence[float]
    ordinals: Array  #: i64 [chunks]

    @property
    def text(self) -> str:
        return self.texts.text


@dataclass(frozen=True, slots=True)
class Marked:
    """The lines of a body that are marked, each line of a file once, chunk by chunk."""

    chunks: Array  #: i64: the chunk
    numbers: Array  #: i64: the line in its file
    begins: Array  #: i64: where the line begins in the body's text
    starts: Array  #: i64: where its first span begins
    ends: Array  #: i64: and ends

    def __len__(self) -> int:
        return len(self.chunks)


@dataclass(frozen=True, slots=True)
class Group:
    """Lines of one kind in one file, in their order: (number, text)."""

    kind: Kind
    hit: Hit
    score: float
    lines: tuple[tuple[int, str], ...]

    def chunk(self) -> bytes:
        """The JSON of the entry: each line with its number."""
        text = "\n".join(f"{number}: {line}" for number, line in self.lines)
        metadata = {
            "file_path": self.hit.path,
            "start_line": self.lines[0][0],
            "end_line": self.lines[-1][0],
            "kind": self.kind,
        }
        return orjson.dumps({"id": self.hit.id, "text": text, "metadata": metadata})


def marked_lines(body: Body, spans: Iterable[Span]) -> Marked:
    """The lines that have a span; of a chunk that has none, its first one that says anything."""
    starts = body.texts.starts
    ends = np.append(_line_ends(body.text), len(body.text))
    pairs = np.array(list(spans), np.int64).reshape(-1, 2)
    pairs = pairs[np.lexsort((-pairs[:, 1], pairs[:, 0]))]
    without = np.setdiff1d(np.arange(len(body.hits)), body.texts.chunks_at(pairs[:, 0]))
    if len(without):
        found = np.array([_first_line(body, chunk) for chunk in without.tolist()], np.int64)
        pairs = np.concatenate([pairs, np.stack((found, found), axis=1)])
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    lines, first = np.unique(np.searchsorted(ends, pairs[:, 0]), return_index=True)
    pairs = pairs[first]
    chunks = body.texts.chunks_at(pairs[:, 0])
    numbers = _numbers(body, chunks, lines - np.searchsorted(ends, starts)[chunks])
    paths: dict[str, int] = {}
    files = np.array([paths.setdefault(hit.path, len(paths)) for hit in body.hits], np.int64)[chunks]
    _, once = np.unique(files << _LINE_BITS | numbers, return_index=True)
    once.sort()
    begins = np.where(lines > 0, ends[lines - 1] + 1, 0)
    return Marked(chunks[once], numbers[once], begins[once], *pairs[once].T)


def _line_ends(text: str) -> Array:
    """I64: where the line feeds are."""
    if text.isascii():
        return np.flatnonzero(np.frombuffer(text.encode("ascii"), np.uint8) == ord("\n"))
    return np.flatnonzero(np.frombuffer(text.encode("utf-32-le"), np.uint32) == ord("\n"))


def _first_line(body: Body, chunk: int) -> int:
    text = body.texts.one(chunk)
    place = len(text) - len(text.lstrip()) if text.strip() else 0
    return int(body.texts.starts[chunk]) + text.rfind("\n", 0, place) + 1


def _numbers(body: Body, chunks: Array, lines: Array) -> Array:
    """The line in the file of each line of a chunk."""
    tiles = np.array([covers(hit.chunk_type) for hit in body.hits], bool)
    firsts = np.array([max(hit.start_line, 1) for hit in body.hits], np.int64)
    numbers: Array = firsts[chunks] + lines
    views = np.flatnonzero(~tiles[chunks])
    known: dict[int, list[int]] = {}
    for at in views.tolist():
        chunk = int(chunks[at])
        if chunk not in known:
            hit = body.hits[chunk]
            known[chunk] = line_numbers(body.texts.one(chunk), hit.chunk_type, hit.start_line)
        numbers[at] = known[chunk][lines[at]]
    return numbers


def find_kinds(body: Body, marked: Marked, about: Sequence[bytes]) -> Array:
    """I64: the number in KINDS of what each line is. `about`: the JSON of each chunk, without
    text.
    """
    text = body.text
    requires = "require(" in text
    tests = [is_test(hit.path) for hit in body.hits]
    documents = [hit.chunk_type == "documentation" for hit in body.hits]
    defined = _defined(body, marked, tests, about)
    kinds: list[Kind] = []
    columns = (marked.chunks, marked.numbers, marked.begins, marked.starts, marked.ends)
    for chunk, number, begin, start, end in zip(*(one.tolist() for one in columns), strict=True):
        if tests[chunk]:
            kinds.append("test")
        elif chunk in defined and text[start:end] in defined[chunk].get(number, ()):
            kinds.append("definition")
        elif documents[chunk]:
            kinds.append("text")
        elif beginning := _BEGINNING.match(text, begin):
            kinds.append("import" if beginning["import"] else "text")
        elif requires and _REQUIRE.match(text, begin):
            kinds.append("import")
        elif _CALLED.match(text, end):
            kinds.append("call")
        else:
            kinds.append("type" if text[start:end][:1].isupper() else "text")
    return np.array([_NUMBERS[kind] for kind in kinds], np.int64)


def _defined(
    body: Body, marked: Marked, tests: Sequence[bool], about: Sequence[bytes]
) -> dict[int, dict[int, set[str]]]:
    """Chunk → line → the names that are defined there, of chunks that define what matched."""
    spans = zip(marked.starts.tolist(), marked.ends.tolist(), strict=True)
    names = [b'"%b"' % name.encode() for name in {body.text[start:end] for start, end in spans} if name]
    out = {}
    for chunk, is_of_test in enumerate(tests):
        if is_of_test:
            continue
        raw = about[chunk]
        if len(names) > NAMES_MAX or any(map(raw.__contains__, names)):
            metadata = orjson.loads(raw).get("metadata") or {}
            if found := defined_lines(metadata.get("definitions") or ()):
                out[chunk] = found
    return out


def defined_lines(definitions: Iterable[Any]) -> dict[int, set[str]]:
    """Line → the names whose definition begins there or a few lines above."""
    out: dict[int, set[str]] = {}
    for one in definitions:
        if isinstance(one, dict) and isinstance(one.get("start_line"), int):
            for number in range(one["start_line"], one["start_line"] + HEAD_LINES):
                out.setdefault(number, set()).add(str(one.get("name")))
    return out


@dataclass(frozen=True, slots=True)
class Order:
    """Marked lines in the order of an answer, each by its place among them. `like`: how many of
    other files are left out because they say the same as one that is there.
    """

    places: Sequence[int]
    kinds: Array  #: i64 [marked]
    best: Array  #: f64 [marked]: the best score of the line's kind in its file
    like: Mapping[int, int]


def put_in_order(body: Body, marked: Marked, kinds: Array, *, alike: bool) -> Order:
    """By kind, what is shipped before what is beside it, then by the best score of a file. With
    `alike` a line that stands in several files comes once.
    """
    files = {path: at for at, path in enumerate(sorted({hit.path for hit in body.hits}))}
    file = np.array([files[hit.path] for hit in body.hits], np.int64)[marked.chunks]
    beside = np.array([is_beside(hit.path) for hit in body.hits], bool)[marked.chunks]
    score = np.array(body.scores, np.float64)[marked.chunks]
    of_group = kinds * len(files) + file
    best = np.zeros(len(KINDS) * len(files))
    np.maximum.at(best, of_group, score)
    places = np.lexsort((marked.numbers, file, -best[of_group], beside, kinds)).tolist()
    like: dict[int, int] = {}
    if alike:
        places, like = _without_alike(body, marked, kinds, places)
    return Order(places, kinds, best[of_group], like)


def _without_alike(
    body: Body, marked: Marked, kinds: Array, places: list[int]
) -> tuple[list[int], dict[int, int]]:
    """(the places without those that say what another file's line has said, the first of such
    lines → how many they are). Definitions are never alike.
    """
    looked_at = places[:ALIKE_LINES_MAX]
    said: dict[tuple[int, str], list[int]] = {}
    columns = zip(looked_at, kinds[looked_at].tolist(), marked.begins[looked_at].tolist(), strict=True)
    for at, kind, begin in columns:
        if kind != _NUMBERS["definition"]:
            said.setdefault((kind, body.texts.line(begin)), []).append(at)
    left_out: set[int] = set()
    like: dict[int, int] = {}
    for first, *others in (alike for alike in said.values() if len(alike) >= ALIKE_FILES):
        if len({body.hits[marked.chunks[at]].path for at in (first, *others)}) >= ALIKE_FILES:
            left_out.update(others)
            like[first] = len(others)
    return [at for at in places if at not in left_out], like


def group(body: Body, marked: Marked, order: Order, which: slice, max_bytes: int) -> list[Group]:
    """The lines of `order`, those of `which`, as they fit."""
    out: list[Group] = []
    used = 0
    for at in order.places[which]:
        kind, hit = KINDS[order.kinds[at]], body.hits[marked.chunks[at]]
        last = out[-1] if out else None
        goes_on = last is not None and (last.kind, last.hit.path) == (kind, hit.path)
        number, line = int(marked.numbers[at]), body.texts.line(int(marked.begins[at]))
        if at in order.like:
            line += LIKE_IT.format(order.like[at])
        used += len(line) + len(str(number)) + 4 + (0 if goes_on else ENTRY_BYTES + 2 * len(hit.path))
        if used > max_bytes and last is not None:
            break
        if last is not None and goes_on:
            out[-1] = replace(last, lines=(*last.lines, (number, line)))
        else:
            out.append(Group(kind, hit, float(order.best[at]), ((number, line),)))
    return out
