"""The one small document of a project in Milvus that says what is current, and the files that
travel beside its rows, by their content.

A file is written before a document names it, and a document is one row, replaced at once: who reads
it finds all that it names, or finds out that it is gone and reads it again.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Any

import msgspec

from cortex.engines.milvus.collection import SCHEMA, Collection
from cortex.engines.milvus.collection import TEXT_BYTES as PIECE_BYTES
from cortex.system.zstd import pack, unpack
from ipc.errors import Damaged, Misconfigured, NotFound

#: generations whose time of publishing a document keeps
KEPT_TIMES = 50
#: bytes of a file that travels
FILE_BYTES_MAX = 1 << 30


class Ref(msgspec.Struct, frozen=True, array_like=True):
    """A file by its content: SHA-256, bytes, and the pieces that it lies in."""

    sha256: str
    size: int
    pieces: int


class Document(msgspec.Struct, frozen=True):
    """What is current. `body` is the file that lists all others, `before` that of the generation
    before; `published`: generation → when it became current, of the last ones.
    """

    schema: int
    generation: int
    rows: int
    body: Ref
    before: Ref | None = None
    published: dict[int, float] = {}


@dataclass(frozen=True, slots=True)
class Body:
    """What a document stands for: `current` is CURRENT's own, `files` by their names."""

    current: dict[str, Any]
    files: dict[str, Ref]


def read_document(collection: Collection) -> Document | None:
    """None where nothing was published. Raises Misconfigured for one of another version, Damaged,
    Unavailable.
    """
    try:
        found = collection.get([_document_key(collection)], ["content"], parts=True)
    except NotFound:
        return None
    if not found:
        return None
    try:
        document = msgspec.json.decode(found[0]["content"], type=Document)
    except msgspec.DecodeError as error:
        raise Damaged(
            f"The document of {collection.place.project} in Milvus cannot be read: {error}."
        ) from error
    if document.schema != SCHEMA:
        raise Misconfigured(
            f"The index of {collection.place.project} in Milvus has the shape {document.schema}, and this version "
            f"of Cortex reads {SCHEMA}: install the version that wrote it, or index it again."
        )
    return document


def write_document(collection: Collection, document: Document) -> None:
    content = msgspec.json.encode(document).decode()
    key = _document_key(collection)
    collection.insert_parts([{"pk": key, "project": collection.place.project, "content": content}])


def put(collection: Collection, data: bytes) -> Ref:
    """Keep a file."""
    name = hashlib.sha256(data).hexdigest()
    text = base64.b64encode(pack(data)).decode()
    pieces = [text[at : at + PIECE_BYTES] for at in range(0, len(text), PIECE_BYTES)]
    ref = Ref(name, len(data), len(pieces))
    keys = _piece_keys(collection, ref)
    collection.insert_parts(
        {"pk": key, "project": collection.place.project, "content": piece}
        for key, piece in zip(keys, pieces, strict=True)
    )
    return ref


def fetch(collection: Collection, ref: Ref) -> bytes:
    """A file. Raises NotFound for one that is gone, Damaged for one that is not as it was kept."""
    if ref.size > FILE_BYTES_MAX:
        raise Damaged(f"A file of {ref.size} bytes in Milvus is not one of ours.")
    keys = _piece_keys(collection, ref)
    found = {one["pk"]: one["content"] for one in collection.get(keys, ["content"], parts=True)}
    if len(found) < len(keys):
        raise NotFound("A file of the index in Milvus is gone: another generation took its place.")
    try:
        data = unpack(base64.b64decode("".join(found[key] for key in keys)), ref.size)
    except ValueError as error:
        raise Damaged(f"A file of the index in Milvus cannot be read: {error}.") from error
    if hashlib.sha256(data).hexdigest() != ref.sha256:
        raise Damaged("A file of the index in Milvus is not as it was written.")
    return data


def put_body(collection: Collection, body: Body) -> Ref:
    return put(collection, msgspec.json.encode(body))


def fetch_body(collection: Collection, ref: Ref) -> Body:
    try:
        return msgspec.json.decode(fetch(collection, ref), type=Body)
    except msgspec.DecodeError as error:
        raise Damaged(f"The list of files in Milvus cannot be read: {error}.") from error


def sweep(collection: Collection, bodies: list[tuple[Ref, Body]]) -> None:
    """Remove the files that none of `bodies` names."""
    kept = {
        key
        for ref, body in bodies
        for one in (ref, *body.files.values())
        for key in _piece_keys(collection, one)
    }
    begin = f"{collection.place.project}:file:"
    there = collection.parts_like(f'pk like "{begin}%"', ["pk"])
    gone = [one["pk"] for one in there if one["pk"] not in kept]
    if gone:
        collection.delete_parts(gone)


def _document_key(collection: Collection) -> str:
    return f"{collection.place.project}:document"


def _piece_keys(collection: Collection, ref: Ref) -> list[str]:
    return [f"{collection.place.project}:file:{ref.sha256}:{number}" for number in range(ref.pieces)]
