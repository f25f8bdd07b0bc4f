"""The document of a project in Milvus, which names its current generation, and the files of that
generation, addressed by content; and downloads of these files.

A file is written before a document names it. The document is one row, replaced atomically: a reader
finds all files that it names, or finds one missing and reads the document again.
"""

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from cortex.engines.milvus.storage.collection import SCHEMA, Collection
from cortex.engines.milvus.storage.collection import TEXT_BYTES as PIECE_BYTES
from cortex.generation.current import Generation, segment_files
from cortex.system import files
from cortex.system.errors import CortexError, Damaged, Misconfigured, NotFound
from cortex.system.zstd import pack, unpack

#: names of files in `segments/`
_SEGMENT = re.compile(r"[a-z]+-[0-9a-f]{1,64}\.seg")
#: generations with their time of publishing in a document
KEPT_TIMES = 50
#: most bytes of a file
FILE_BYTES_MAX = 1 << 30
#: bytes of files that are fetched at once
FETCHED_BYTES = 64 << 20


class Ref(msgspec.Struct, frozen=True, array_like=True):
    """A file by its content: SHA-256, size in bytes, number of its pieces."""

    sha256: str
    size: int
    pieces: int


class Document(msgspec.Struct, frozen=True):
    """The current generation. `body`: the file with the list of all others, `before`: that of the
    previous generation; `published`: generation → time when it became current, of the latest ones.
    """

    schema: int
    generation: int
    rows: int
    body: Ref
    before: Ref | None = None
    published: dict[int, float] = {}


@dataclass(frozen=True, slots=True)
class Body:
    """The content of `Document.body`: `current` is that of CURRENT, `files` maps names to refs."""

    current: dict[str, Any]
    files: dict[str, Ref]


def read_document(collection: Collection) -> Document | None:
    """The project's document, None if nothing was published. Raises Misconfigured for a document of
    another version, Damaged, Unavailable.
    """
    project = collection.place.project
    document = read_documents(collection, [project]).get(project)
    if isinstance(document, CortexError):
        raise document
    return document


def read_documents(
    collection: Collection, projects: Sequence[str]
) -> dict[str, Document | Misconfigured | Damaged]:
    """The documents of `projects`, in one read. An unreadable document is replaced by the reason; a
    project without a document is missing. Raises Unavailable.
    """
    try:
        rows = collection.get(
            [_document_key(project) for project in projects], ["project", "content"], parts=True
        )
    except NotFound:
        return {}
    return {row["project"]: _decode_document(row["project"], row["content"]) for row in rows}


def _decode_document(project: str, content: str) -> Document | Misconfigured | Damaged:
    try:
        document = msgspec.json.decode(content, type=Document)
    except msgspec.DecodeError as error:
        return Damaged(f"The document of {project} in Milvus cannot be read: {error}.")
    if document.schema != SCHEMA:
        return Misconfigured(
            f"The index of {project} in Milvus has the shape {document.schema}, and this version "
            f"of Cortex reads {SCHEMA}: install the version that wrote it, or index it again."
        )
    return document


def write_document(collection: Collection, document: Document) -> None:
    content = msgspec.json.encode(document).decode()
    key = _document_key(collection.place.project)
    collection.insert_parts([{"pk": key, "project": collection.place.project, "content": content}])


def put(collection: Collection, data: bytes) -> Ref:
    name = hashlib.sha256(data).hexdigest()
    text = base64.b64encode(pack(data)).decode()
    pieces = [text[at : at + PIECE_BYTES] for at in range(0, len(text), PIECE_BYTES)]
    ref = Ref(name, len(data), len(pieces))
    keys = _piece_keys(collection.place.project, ref)
    collection.insert_parts(
        {"pk": key, "project": collection.place.project, "content": piece}
        for key, piece in zip(keys, pieces, strict=True)
    )
    return ref


def fetch_all(
    collection: Collection, wanted: Sequence[tuple[str, Ref]]
) -> Iterator[bytes | NotFound | Damaged]:
    """Yield files of projects in order, fetched FETCHED_BYTES at a time, which bounds the memory. A
    missing or changed file is replaced by the reason. Raises Unavailable.
    """
    at = 0
    while at < len(wanted):
        end, size = at + 1, wanted[at][1].size
        while end < len(wanted) and size + wanted[end][1].size <= FETCHED_BYTES:
            size += wanted[end][1].size
            end += 1
        some = wanted[at:end]
        keys = [
            key for project, ref in some if ref.size <= FILE_BYTES_MAX for key in _piece_keys(project, ref)
        ]
        contents = {row["pk"]: row["content"] for row in collection.get(keys, ["pk", "content"], parts=True)}
        for project, ref in some:
            yield _join_pieces(ref, [contents.get(key) for key in _piece_keys(project, ref)])
        at = end


def _join_pieces(ref: Ref, pieces: Sequence[str | None]) -> bytes | NotFound | Damaged:
    if ref.size > FILE_BYTES_MAX:
        return Damaged(f"A file of {ref.size} bytes in Milvus is too large to be part of an index.")
    present = [piece for piece in pieces if piece is not None]
    if len(present) < len(pieces):
        return NotFound("A file of the index in Milvus is gone: another generation took its place.")
    try:
        data = unpack(base64.b64decode("".join(present)), ref.size)
    except ValueError as error:
        return Damaged(f"A file of the index in Milvus cannot be read: {error}.")
    if hashlib.sha256(data).hexdigest() != ref.sha256:
        return Damaged("A file of the index in Milvus is not as it was written.")
    return data


def put_body(collection: Collection, body: Body) -> Ref:
    return put(collection, msgspec.json.encode(body))


def fetch_body(collection: Collection, ref: Ref) -> Body:
    (body,) = fetch_bodies(collection, [(collection.place.project, ref)])
    if isinstance(body, CortexError):
        raise body
    return body


def fetch_bodies(
    collection: Collection, wanted: Sequence[tuple[str, Ref]]
) -> list[Body | NotFound | Damaged]:
    """Fetch lists of files, as `fetch_all` does."""
    out: list[Body | NotFound | Damaged] = []
    for data in fetch_all(collection, wanted):
        try:
            out.append(msgspec.json.decode(data, type=Body) if isinstance(data, bytes) else data)
        except msgspec.DecodeError as error:
            out.append(Damaged(f"The list of files in Milvus cannot be read: {error}."))
    return out


def sweep(collection: Collection, bodies: list[tuple[Ref, Body]]) -> None:
    """Remove the files that none of `bodies` names."""
    current_keys = {
        key
        for ref, body in bodies
        for file_ref in (ref, *body.files.values())
        for key in _piece_keys(collection.place.project, file_ref)
    }
    begin = f"{collection.place.project}:file:"
    stored = collection.parts_like(f'pk like "{begin}%"', ["pk"])
    if gone := [row["pk"] for row in stored if row["pk"] not in current_keys]:
        collection.delete_parts(gone)


def _document_key(project: str) -> str:
    return f"{project}:document"


def _piece_keys(project: str, ref: Ref) -> list[str]:
    return [f"{project}:file:{ref.sha256}:{number}" for number in range(ref.pieces)]


def all_files(body: Body, generation: Generation) -> dict[str, Ref]:
    """The files of a generation, by name. Raises Damaged."""
    return _file_refs(body, segment_files(generation))


def rows_files(body: Body, generation: Generation) -> dict[str, Ref]:
    """The files of a generation without those of the graph, by name. Raises Damaged."""
    graph = frozenset(generation.graph.values())
    return _file_refs(body, [name for name in segment_files(generation) if name not in graph])


def _file_refs(body: Body, names: Sequence[str]) -> dict[str, Ref]:
    for name in names:  # any writer of Milvus may put any name there
        if not _SEGMENT.fullmatch(name) or name not in body.files:
            raise Damaged(
                f"What is current in Milvus names {name!r}, which is no file of it; index it again."
            )
    return {name: body.files[name] for name in names}


def bring_files(
    collection: Collection, wanted: Sequence[tuple[str, Path, Ref]], *, sync: bool = False
) -> dict[str, CortexError]:
    """Download the `wanted` files (project, path, ref), in one go, unless a file with that content
    exists. Returns for each project with a failed download the reason. Raises Unavailable.
    """
    missing = [entry for entry in wanted if not _is_there(entry[1], entry[2])]
    for folder in {path.parent for _, path, _ in missing}:
        files.make_folder(folder)
    failures: dict[str, CortexError] = {}
    contents = fetch_all(collection, [(project, ref) for project, _, ref in missing])
    for (project, path, _), data in zip(missing, contents, strict=True):
        if isinstance(data, CortexError):
            failures.setdefault(project, data)
        else:
            files.replace(path, data, sync=sync)
    return failures


def _is_there(path: Path, ref: Ref) -> bool:
    try:
        return hashlib.sha256(files.read_ours(path, FILE_BYTES_MAX)).hexdigest() == ref.sha256
    except OSError:
        return False
