"""Downloads of the small files of generations in Milvus into local folders, by content."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from cortex.engines.milvus.storage.collection import Collection
from cortex.engines.milvus.storage.documents import Body, Ref, fetch_all
from cortex.generation.current import Generation, segment_files
from cortex.system import files
from cortex.system.errors import CortexError, Damaged

#: names of files in `segments/`
_SEGMENT = re.compile(r"[a-z]+-[0-9a-f]{1,64}\.seg")
#: most bytes of a file in `segments/`
FILE_BYTES_MAX = 1 << 30


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
