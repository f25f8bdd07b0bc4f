"""Rows as Milvus stores them: chunks' fields and ranking lanes, encoded. Pure.

Lanes are stored as tokens of our analyzer, encoded so that any word tokenizer keeps them. A chunk
that covers no lines has plain fields in place of lanes: they go into one field, each token with the
first letter of its lane.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from cortex.engines.milvus.scope import primary_key
from cortex.engines.milvus.storage.collection import (
    FIELDS,
    FOREVER,
    MANY_MAX,
    NAME_BYTES,
    TEXT_BYTES,
    TEXT_MAX,
    VIEWS,
)
from cortex.engines.milvus.storage.removal import continuation_key
from cortex.engines.text.index.schema import Lanes, lanes_of
from cortex.generation.write import Row
from cortex.terms.tokens import Memo

#: tokens that are stored unchanged
_PLAIN = re.compile(r"[a-z0-9]+")
#: prefix of tokens that are stored as hexadecimal bytes
_CODED = "zq"


def encode_tokens(tokens: Iterable[str], *, view: str = "") -> list[str]:
    """Encode tokens as ASCII letters and digits. `view`: the lane of a chunk without lines."""
    encoded = map(_WORDS.__getitem__, tokens)
    return [view[:1] + token for token in encoded] if view else list(encoded)


def _encode(token: str) -> str:
    plain = _PLAIN.fullmatch(token) and not token.startswith(_CODED)
    return token if plain else _CODED + token.encode().hex()


_WORDS = Memo(_encode)


def make_entry(project: str, row: Row, born: int, dimensions: int) -> dict[str, Any]:
    """A row for Milvus; a chunk that is too long continues in `continuation_entries`."""
    chunk = row.chunk
    raw_metadata = chunk.get("metadata")
    metadata: dict[str, Any] = raw_metadata if isinstance(raw_metadata, dict) else {}
    lanes = lanes_of(chunk)
    pieces = _pieces(orjson.dumps(chunk))
    vector = row.vector if row.vector is not None and len(row.vector) == dimensions else None
    return {
        "pk": primary_key(project, row.key),
        "project": project,
        "key": row.key,
        "born": born,
        "died": FOREVER,
        "start_line": _line(metadata.get("start_line")),
        "end_line": _line(metadata.get("end_line")),
        "parts": len(pieces) - 1,
        "covers": lanes.covers,
        "has_vector": vector is not None,
        "model": row.model,
        "path": _cut(str(metadata.get("file_path") or ""), 4 * NAME_BYTES),
        "type": _cut(str(chunk.get("chunk_type") or ""), NAME_BYTES),
        "language": _cut(str(metadata.get("language") or "").lower(), NAME_BYTES),
        "id": _cut(str(chunk["id"]), 4 * NAME_BYTES),
        "tags": _unique_names(str(tag).lower() for tag in chunk.get("tags") or ()),
        "symbols": _unique_names(
            symbol for symbol in metadata.get("symbols") or () if isinstance(symbol, str)
        ),
        "defined": _unique_names(lanes.defined),
        "hash": row.digest.hex(),
        "chunk": pieces[0],
        "vector": vector if vector is not None else [0.0] * dimensions,
        **_lane_fields(lanes),
    }


def continuation_entries(project: str, row: Row) -> Iterator[dict[str, Any]]:
    """The parts with the further JSON of a long chunk."""
    pieces = _pieces(orjson.dumps(row.chunk))
    for number, piece in enumerate(pieces[1:], 1):
        yield {"pk": continuation_key(project, row.key, number), "project": project, "content": piece}


def _lane_fields(lanes: Lanes) -> dict[str, str]:
    """Field → its encoded tokens."""
    fields = dict.fromkeys((*FIELDS.values(), VIEWS), "")
    if lanes.covers:
        return fields | {
            FIELDS[lane]: _join_tokens(encode_tokens(some)) for lane, some in lanes.tokens.items()
        }
    views = [
        token
        for lane, some in reversed(lanes.tokens.items())  # a cut drops the end of the body
        for token in encode_tokens(some, view=lane)
    ]
    return fields | {VIEWS: _join_tokens(views)}


def _join_tokens(tokens: list[str]) -> str:
    text = " ".join(tokens)
    return text if len(text) <= TEXT_MAX else text[:TEXT_MAX].rpartition(" ")[0]


def _pieces(raw: bytes) -> list[str]:
    """Divide UTF-8 into pieces of at most TEXT_BYTES; mostly there is one."""
    pieces = []
    while len(raw) > TEXT_BYTES:
        end = TEXT_BYTES
        while raw[end] & 0xC0 == 0x80:  # not inside a character
            end -= 1
        pieces.append(raw[:end].decode())
        raw = raw[end:]
    return [*pieces, raw.decode()]


def _unique_names(names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if len(name.encode()) <= NAME_BYTES][:MANY_MAX]


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode(errors="ignore")


def _line(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 32 else 0
