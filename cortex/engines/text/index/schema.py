"""The text index's fields, its analyzers, and the conversion of a chunk to a document."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import tantivy

from cortex.terms import tokens
from cortex.terms.kinds import NAMED_TYPE_KINDS
from cortex.terms.records import covers

#: values of "tokenizer_name" for text in words, for lists of finished tokens, and for raw values
_WORDS, READY, RAW = "cortex_words", "cortex_ready", "raw"

#: prefixes inside the field `defx`: a type or a function, by its exact name or its folded name
DEFINED_TYPE, DEFINED_FUNCTION, FOLDED_TYPE, FOLDED_FUNCTION = "T ", "F ", "t ", "f "

_DEFINITION = re.compile(
    r"^[ \t]*(?:(?:pub|public|private|protected|export|default|abstract|static|final|async|unsafe|data|sealed)"
    r"(?:\([a-z]+\))?\s+)*"
    r"(?:(class|struct|interface|trait|enum|type|union|module|mod|namespace)|(?:def|func|fn|function|fun))\s+"
    r"(?:\([^)\n]*\)\s*)?([^\W\d]\w*)",
    re.MULTILINE,
)
_COMMENT = re.compile(
    r'"""(.*?)"""'
    r"|'''(.*?)'''"
    r"|/\*(.*?)\*/"
    r"|(?<![:\w])//+([^\n]*)"
    r"|^[ \t]*#+(?!include|define|if|endif)([^\n]*)",
    re.DOTALL | re.MULTILINE,
)
#: each match of _COMMENT has one of these; most texts without a grammar have none
_COMMENT_MARKS = ("#", "//", "/*", '"""', "'''")
_PART_NUMBER = re.compile(r"-p(\d+)$")


def make_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in ("key", "slot", *BIT_FIELDS):
        builder.add_unsigned_field(name, fast=True)
    builder.add_text_field("row", tokenizer_name=RAW, index_option="basic")
    for name in ("text", "parts", "title", "symbols", "file_path"):
        builder.add_text_field(name, tokenizer_name=_WORDS, index_option="position")
    for name in ("path", "tags", "chunk_type", "language", "defx"):
        builder.add_text_field(name, tokenizer_name=RAW, index_option="basic")
    builder.add_unsigned_field("start_line", indexed=True, fast=True)
    for name in ("joined", *LANE_FIELDS.values()):
        builder.add_text_field(name, tokenizer_name=READY, index_option="freq")
    return builder.build()


#: Tantivy returns a set of documents fastest as sums: for each slot of keys the sum of these fields
#: has a bit for each key. A sum is a float64, exact below 2^53. As hits, a set of 15 000 documents
#: takes three times as long.
BITS = 50
BIT_FIELDS = ("bits_low", "bits_high")
SLOT_KEYS = BITS * len(BIT_FIELDS)

#: last components of a path that count as text of each of its chunks
CAPSULE_PATH_PARTS = 3
#: paths whose words are remembered: the chunks of a file follow each other
_PATHS = 16
#: ranking lane → name of its field
LANE_FIELDS = {"body": "lane_body", "path": "lane_path", "defs": "lane_defs", "comments": "lane_comments"}


def register(index: tantivy.Index) -> None:
    """Register the analyzers of the fields with an opened index; they are not stored with it."""
    words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    words = words.filter(tantivy.Filter.remove_long(tokens.WORD_BYTES_MAX + 1))
    index.register_tokenizer(_WORDS, words.filter(tantivy.Filter.lowercase()).build())
    # The tokens have spaces between them: the simple tokenizer would test each letter again.
    ready = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    index.register_tokenizer(
        READY, ready.filter(tantivy.Filter.remove_long(tokens.WORD_BYTES_MAX + 1)).build()
    )


class _Chunk(NamedTuple):
    """The indexed parts of a chunk's JSON. Fields that a foreign chunk lacks are empty."""

    id: str
    kind: str
    title: str
    text: str
    tags: list[str]
    path: str
    language: str
    line: int
    metadata: dict[str, Any]


def _parse_chunk(chunk: Mapping[str, Any]) -> _Chunk:
    metadata = chunk.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    line = metadata.get("start_line")
    return _Chunk(
        id=str(chunk.get("id") or ""),
        kind=str(chunk.get("chunk_type") or ""),
        title=str(chunk.get("title") or ""),
        text=str(chunk.get("text") or ""),
        tags=_strings(chunk.get("tags")),
        path=str(metadata.get("file_path") or ""),
        language=str(metadata.get("language") or "").lower(),
        line=line if isinstance(line, int) and 0 <= line < 1 << 32 else 0,
        metadata=metadata,
    )


def make_document(key: int, chunk: Mapping[str, Any]) -> tantivy.Document:
    """The tantivy document of a chunk, in any form that the chunk manager accepts."""
    read = _parse_chunk(chunk)
    words = tokens.words(read.text)
    document = tantivy.Document()
    document.add_unsigned("key", key)
    slot, bit = divmod(key, SLOT_KEYS)
    document.add_unsigned("slot", slot)
    for number, name in enumerate(BIT_FIELDS):
        document.add_unsigned(name, 1 << bit - number * BITS if bit // BITS == number else 0)
    document.add_text("row", str(key))
    document.add_text("text", tokens.spaced(read.text))
    document.add_text("parts", tokens.split_text(words))
    document.add_text("joined", tokens.joined_text(words) if "_" in read.text else "")
    document.add_text("title", tokens.split_text(tokens.words(read.title)))
    document.add_text("file_path", _path_parts(read.path))
    document.add_text("path", read.path)
    document.add_text("chunk_type", read.kind)
    document.add_text("language", read.language)
    for tag in read.tags:
        document.add_text("tags", tag.lower())
    document.add_unsigned("start_line", read.line)
    defined = definitions_of(read.metadata, read.text) if read.kind != "documentation" else []
    for name in dict.fromkeys([*(name for name, _ in defined), *_strings(read.metadata.get("symbols"))]):
        document.add_text("symbols", tokens.split_name(name))
    if covers(read.kind):
        _add_lanes(document, read, words, defined)
    return document


def _add_lanes(
    document: tantivy.Document, read: _Chunk, words: list[str], defined: list[tuple[str, bool]]
) -> None:
    """The ranking lanes, of covering chunks only: each line and each file counts once."""
    for lane, text in _lane_texts(read, words, defined).items():
        document.add_text(LANE_FIELDS[lane], text)
    for term in _defined_terms(defined):
        document.add_text("defx", term)


def _lane_texts(read: _Chunk, words: list[str], defined: list[tuple[str, bool]]) -> dict[str, str]:
    body, comments = tokens.lane_text(words), comments_of(read.metadata, read.kind, read.text)
    names = dict.fromkeys(name for name, _ in defined)
    context = f"{read.metadata.get('scope') or ''} {read.metadata.get('signature') or ''}"
    texts = {
        "body": f"{body} {_lane_of_path(read.path)} {tokens.lane_text(tokens.words(context))}",
        "comments": body if comments == read.text else tokens.lane_text(tokens.words(comments)),
        "defs": tokens.lane_text(tokens.words(" ".join(names))),
    }
    if _is_file_head(read):
        texts["path"] = tokens.lane_text(tokens.words(read.path.rpartition(".")[0] or read.path))
    return texts


@functools.lru_cache(_PATHS)
def _path_parts(path: str) -> str:
    return tokens.split_text(tokens.words(path))


@functools.lru_cache(_PATHS)
def _lane_of_path(path: str) -> str:
    """Return the end of a path as text of each of its chunks."""
    return tokens.lane_text(tokens.words(" ".join(path.rpartition(".")[0].split("/")[-CAPSULE_PATH_PARTS:])))


def _defined_terms(defined: list[tuple[str, bool]]) -> list[str]:
    """The terms of the field `defx`."""
    terms = []
    for name, is_type in dict.fromkeys(defined):
        terms.append((DEFINED_TYPE if is_type else DEFINED_FUNCTION) + name)
        terms.append((FOLDED_TYPE if is_type else FOLDED_FUNCTION) + fold_name(name))
    return terms


@dataclass(frozen=True, slots=True)
class Lanes:
    """The ranking lanes of a chunk as finished tokens, for other engines. For a chunk that covers
    no lines: the tokens of the plain fields that replace lanes.
    """

    covers: bool
    #: lane → its tokens, in order
    tokens: dict[str, list[str]]
    #: the terms of `defx`
    defined: list[str]


def lanes_of(chunk: Mapping[str, Any]) -> Lanes:
    read = _parse_chunk(chunk)
    words = tokens.words(read.text)
    defined = definitions_of(read.metadata, read.text) if read.kind != "documentation" else []
    if covers(read.kind):
        texts = _lane_texts(read, words, defined)
        return Lanes(True, {lane: text.split() for lane, text in texts.items()}, _defined_terms(defined))
    names = dict.fromkeys([*(name for name, _ in defined), *_strings(read.metadata.get("symbols"))])
    plain = {
        "body": tokens.split_text(words),
        "path": _path_parts(read.path),
        "defs": " ".join(map(tokens.split_name, names)),
    }
    return Lanes(False, {lane: text.lower().split() for lane, text in plain.items()}, [])


def fold_name(name: str) -> str:
    """The name in lower case without underscores."""
    return name.replace("_", "").lower()


def _is_file_head(read: _Chunk) -> bool:
    """Whether the chunk begins its file, and so represents it in the path lane."""
    piece_match = _PART_NUMBER.search(read.id)
    return read.line <= 1 and (piece_match is None or int(piece_match[1]) <= 1)


def definitions_of(metadata: Mapping[str, Any], text: str) -> list[tuple[str, bool]]:
    """(name, is a type) of each definition: from the metadata, else by keywords in the text."""
    listed = metadata.get("definitions")
    if isinstance(listed, list):
        entries = [entry for entry in listed if isinstance(entry, dict) and entry.get("name")]
        return [(str(entry["name"]), str(entry.get("kind")) in NAMED_TYPE_KINDS) for entry in entries]
    return [(name, bool(keyword)) for keyword, name in _DEFINITION.findall(text)]


def comments_of(metadata: Mapping[str, Any], kind: str, text: str) -> str:
    """Comments and docstrings: from the metadata, else by their marks; of documents the full
    text.
    """
    comment_text = metadata.get("comment_text")
    if isinstance(comment_text, str):
        return comment_text
    if kind == "documentation":
        return text
    if not any(mark in text for mark in _COMMENT_MARKS):
        return ""
    return "\n".join(group for match in _COMMENT.findall(text) for group in match if group)


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []
