"""Chunks cut to `detail` and to a budget in bytes. Pure over Rows."""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import orjson

from cortex.generation.read import Rows, join_chunk
from cortex.terms.records import covers
from cortex.terms.tokens import CAMEL
from ipc.messages import Chunks, Detail, Fetch

#: lines of a "snippet"
SNIPPET_LINES = 10
#: a cut text keeps at least this many bytes, or is dropped
TEXT_BYTES_MIN = 200

#: metadata that a chunk keeps without its text
_LOCATING = ("file_path", "start_line", "end_line", "scope")

#: identifiers in the cache of words, some 300 bytes each
WORDS_MAX = 8192

#: text → a mask for each line, with a bit for each word of the question in it
LineMasker = Callable[[str], list[int]]

_IDENTIFIER = re.compile(r"\w+")
#: byte of a text in lower case → the same byte if ASCII identifiers contain it, else a space
_IDENTIFIER_BYTES = bytes(
    at if chr(at) in f"{string.ascii_lowercase}{string.digits}_" else ord(" ") for at in range(256)
)
_WORD = re.compile(rf"{CAMEL}|[0-9]+|[^\W\d_]+")


def fetch(rows: Rows, request: Fetch) -> Chunks:
    """The chunks with the keys of `request`, cut; empty bytes for an unknown key."""
    ordinals = rows.locate(np.array(request.keys, "<u8"))
    present = ordinals[ordinals >= 0]
    masker = word_masker(request.query) if request.detail == "snippet" else None
    parts = zip(rows.cuts("chunk", present), rows.cuts("text", present), strict=True)
    cut_chunks = (cut_chunk(head, text[:-1].decode(), request.detail, masker) for head, text in parts)
    blobs, truncated = fit_chunks(
        [next(cut_chunks) if at >= 0 else b"" for at in ordinals.tolist()], request.max_bytes
    )
    return Chunks(generation=rows.generation, truncated=truncated, chunks=tuple(blobs))


def word_masker(query: str) -> LineMasker:
    """A function that masks the words and sub-words of `query` in each line, ignoring case."""
    wanted = {word: 1 << at for at, word in enumerate(sorted(_words(query)))}

    def mask_lines(text: str) -> list[int]:
        lines = [0] * (text.count("\n") + 1)
        line = last = 0
        for begin, identifier in _identifiers(text, wanted):
            if matched := wanted.keys() & _words(identifier):
                line += text.count("\n", last, begin)
                last = begin
                lines[line] |= sum(map(wanted.__getitem__, matched))
        return lines

    return mask_lines


def _identifiers(text: str, wanted: Iterable[str]) -> list[tuple[int, str]]:
    """(place, identifier) of identifiers that may hold a word of `wanted`, by place."""
    if not text.isascii():  # lower case of some letters depends on their neighbours
        return [(match.start(), match[0]) for match in _IDENTIFIER.finditer(text)]
    letters, out = text.lower().encode().translate(_IDENTIFIER_BYTES) + b" ", dict[int, str]()
    for word in map(str.encode, wanted):
        at = letters.find(word)
        while at >= 0:
            begin, end = letters.rfind(b" ", 0, at) + 1, letters.find(b" ", at)
            out[begin] = text[begin:end]
            at = letters.find(word, end)
    return sorted(out.items())


@functools.lru_cache(WORDS_MAX)
def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def cut_chunk(head: bytes, text: str, detail: Detail, masker: LineMasker | None = None) -> bytes:
    """The chunk's JSON, made of `head` (all but the text) and the text as `detail` says: all of it,
    its best ~10 lines by `masker`, or none; then without the fields that do not locate the chunk.

    A snippet gets `metadata.snippet_start_line`, the file's line of its first line.
    """
    if detail == "full":
        return join_chunk(head, text)
    body: dict[str, Any] = orjson.loads(head)
    if detail == "snippet":
        lines = text.split("\n")
        first = best_window(text, len(lines), masker)
        body["text"] = "\n".join(lines[first : first + SNIPPET_LINES])
        metadata = dict(body.get("metadata") or {})
        start = metadata.get("start_line")
        if isinstance(start, int) and covers(body.get("chunk_type") or "code"):
            metadata["snippet_start_line"] = start + first
        body["metadata"] = metadata
    else:
        return orjson.dumps(_locating_fields(body))
    return orjson.dumps(body)


def _locating_fields(chunk: dict[str, Any]) -> dict[str, Any]:
    """The fields that name and locate a chunk; the title only of a chunk without a file."""
    metadata = chunk.get("metadata") or {}
    place = {name: metadata[name] for name in _LOCATING if metadata.get(name) not in (None, "")}
    names = ("id", "chunk_type") if "file_path" in place else ("id", "chunk_type", "title")
    return {name: chunk[name] for name in names if name in chunk} | {"metadata": place}


def best_window(text: str, count: int, masker: LineMasker | None) -> int:
    """Index of the first of the SNIPPET_LINES lines that together hold the most words of the
    question. `count`: lines of `text`.
    """
    if count <= SNIPPET_LINES or masker is None:
        return 0
    masks = masker(text)  # masks of each line; below of windows of two, eight and ten lines
    pairs = _widen_masks(masks, 1)
    eights = _widen_masks(_widen_masks(pairs, 2), 4)
    scores = [(some | two).bit_count() for some, two in zip(eights, pairs[8:], strict=False)]
    best = max(scores)
    first = scores.index(best)
    # Of equally good windows, take the last that has a line of context above its first match.
    while first + 1 < len(scores) and scores[first + 1] == best and not masks[first] and not masks[first + 1]:
        first += 1
    return first


def _widen_masks(masks: list[int], width: int) -> list[int]:
    """Masks of windows of twice the `width`, from those of windows of `width` lines."""
    return [mask | other for mask, other in zip(masks, masks[width:], strict=False)]


def fit_chunks(blobs: list[bytes], max_bytes: int) -> tuple[list[bytes], bool]:
    """Shorten texts, last-ranked first, until all blobs together fit `max_bytes`.

    Returns (blobs, whether any was cut).
    """
    excess = sum(map(len, blobs)) - max_bytes
    if excess <= 0:
        return blobs, False
    out = list(blobs)
    for at in range(len(out) - 1, -1, -1):
        if excess <= 0:
            break
        short = _shorten(out[at], excess)
        excess -= len(out[at]) - len(short)
        out[at] = short
    return out, True


def _shorten(blob: bytes, excess: int) -> bytes:
    if not blob:
        return blob
    body: dict[str, Any] = orjson.loads(blob)
    text = str(body.get("text", ""))
    raw = text.encode()
    keep = len(raw) - excess - 40
    body["text"] = raw[:keep].decode(errors="ignore") + "\n…" if keep >= TEXT_BYTES_MIN else ""
    metadata = dict(body.get("metadata") or {})
    metadata["text_truncated"] = True
    for name in ("comment_text", "definitions"):
        metadata.pop(name, None)
    body["metadata"] = metadata
    short = orjson.dumps(body)
    return short if len(short) < len(blob) else blob
