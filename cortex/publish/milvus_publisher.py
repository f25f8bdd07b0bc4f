"""An index that Milvus keeps: publishing a generation there, and bringing its small files here.

What publishing writes is the same as at home, in a folder of its own, but its rows are lean: texts
and vectors are in Milvus alone. Beside the rows lie the files of `segments/` by their content, and
one document that says which generation is current: so any machine can go on, and any can serve.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import orjson

from cortex.engines import ENGINES, REMOTE, open_engine
from cortex.engines.milvus.collection import SCHEMA, WRITE_S, Collection
from cortex.engines.milvus.documents import (
    KEPT_TIMES,
    Body,
    Document,
    Ref,
    fetch_body,
    put,
    put_body,
    read_document,
    sweep,
    write_document,
)
from cortex.engines.milvus.downloads import FILE_BYTES_MAX, all_files, bring_files
from cortex.engines.milvus.lease import lease
from cortex.engines.milvus.removal import drop_rows
from cortex.generation import current as generations
from cortex.generation.current import PRUNE_AFTER_S, Generation, segment_files
from cortex.generation.formats import LOCK
from cortex.publish.builder import Builder
from cortex.settings.config import Config
from cortex.settings.home import open_home
from cortex.settings.milvus import milvus_place
from cortex.system import files
from cortex.system.errors import CortexError, Damaged, NotFound
from ipc.locks import holder_of

#: how often a generation that goes while it is read is read again
TRIES = 3


@contextlib.contextmanager
def writing(config: Config) -> Iterator[Callable[[], Generation]]:
    """The right to publish the project to Milvus, while the `with` lasts: a function that publishes
    what the chunk files hold by then. `config` is that of who writes (`Config.writes`).

    Raises Occupied while another indexer does, Misconfigured, Unavailable.
    """
    open_home(config)
    collection = Collection(milvus_place(config), WRITE_S)
    prune_places(config.index_dir)
    try:
        with lease(collection.place, config.milvus) as check:
            collection.create_collections()
            current = pull(config.index_dir, collection) or generations.EMPTY
            # of a first publishing that ended too early no token tells, and numbers begin again
            drop_rows(collection, f"born > {current.number}")
            yield lambda: _publish(config, collection, check)
    finally:
        collection.close()


def _publish(config: Config, collection: Collection, check: Callable[[], None]) -> Generation:
    engines = {name: open_engine(ENGINES[name], config) for name in REMOTE}
    builder = Builder(config, engines=engines, lean=True)
    try:
        while builder.refresh() is not None:
            check()
        push(config.index_dir, builder.current, collection, check)
        return builder.current
    finally:
        builder.close()


def push(index_dir: Path, generation: Generation, collection: Collection, check: Callable[[], None]) -> None:
    """Make `generation`, whose rows are in Milvus, current there. `check` raises when the right to
    do so is lost.
    """
    before = read_document(collection)
    known_body = fetch_body(collection, before.body) if before else Body({}, {})
    if before is not None and before.generation == generation.number:
        return
    row_count = collection.count(collection.at(generation.number))
    if row_count != generation.rows:
        raise Damaged(
            f"Milvus has {row_count} rows of generation {generation.number}, and {generation.rows} were written; run "
            "`cortex index --to milvus` again."
        )
    by_content = {ref.sha256: ref for ref in known_body.files.values()}
    refs: dict[str, Ref] = {}
    for name in segment_files(generation):
        data = files.read_ours(index_dir / "segments" / name, FILE_BYTES_MAX)
        refs[name] = by_content.get(hashlib.sha256(data).hexdigest()) or put(collection, data)
    body = Body(orjson.loads(orjson.dumps(generation)), refs)
    ref = put_body(collection, body)
    times = dict(sorted((before.published if before else {}).items())[-KEPT_TIMES + 1 :])
    document = Document(
        SCHEMA,
        generation.number,
        generation.rows,
        ref,
        before.body if before else None,
        {**times, generation.number: time.time()},
    )
    check()
    write_document(collection, document)
    bodies = [(ref, body), *([(before.body, known_body)] if before else [])]
    sweep(collection, bodies)
    purge(collection, document)


def purge(collection: Collection, document: Document, older_than_s: float = PRUNE_AFTER_S) -> None:
    """Remove the rows that no reader needs: a generation is read until it is neither the current
    one nor the one before, and sixty seconds longer.
    """
    limit = time.time() - older_than_s
    times = sorted(document.published.items())
    # when the later of two became current, what was before the earlier was read no more
    old = [number for (number, _), (_, at) in itertools.pairwise(times) if at < limit]
    if old:
        drop_rows(collection, f"died <= {max(old)}")


def pull(index_dir: Path, collection: Collection) -> Generation | None:
    """Make the folder what is current in Milvus; None where nothing is, and then it holds nothing.
    CURRENT is written last, by one rename. Raises NotFound when it goes on while it is read.
    """
    for left in reversed(range(TRIES)):
        document = read_document(collection)
        if document is None:
            files.remove_tree(index_dir / generations.CURRENT)
            return None
        try:
            return _pull(index_dir, collection, document)
        except NotFound:
            if not left:
                raise
    raise AssertionError("unreachable")


def _pull(index_dir: Path, collection: Collection, document: Document) -> Generation:
    body = fetch_body(collection, document.body)
    try:
        generation = msgspec.convert(body.current, Generation)
    except msgspec.ValidationError as error:
        raise Damaged(f"What is current in Milvus cannot be read: {error}.") from error
    project, segments = collection.place.project, index_dir / "segments"
    files.make_folder(segments)
    wanted = [(project, segments / name, ref) for name, ref in all_files(body, generation).items()]
    if gone := bring_files(collection, wanted, sync=True):
        raise gone[project]
    if _read_local_current(index_dir) != generation:
        generations.publish(index_dir, generation)
    return generation


def _read_local_current(index_dir: Path) -> Generation | None:
    try:
        return generations.read_current(index_dir)
    except (CortexError, OSError):
        return None


def prune_places(index_dir: Path) -> None:
    """Remove what was brought of the project from elsewhere, or by another name, and what stood
    here before there was a folder for each. What is being written stays.
    """
    own_folder = index_dir.parent
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = files.names(own_folder.parent)
    for name in names:
        if name == own_folder.name or _is_written(own_folder.parent / name):
            continue
        with contextlib.suppress(OSError):  # one that cannot be removed keeps no other
            files.remove_tree(own_folder.parent / name)


def _is_written(place: Path) -> bool:
    """Whether a process writes an index there, of whichever format; also one whose number is not
    known, as in a sandbox.
    """
    formats: list[str] = []
    with contextlib.suppress(OSError):
        formats = files.names(place)
    return any(
        holder_of(folder / LOCK) is not None for folder in (place, *(place / name for name in formats))
    )


class Mirror:
    """Follows what is current in Milvus, for the processes that serve it here."""

    def __init__(self, config: Config) -> None:
        self._dir = config.index_dir
        self._collection = Collection(milvus_place(config))
        prune_places(self._dir)
        #: what was brought last
        self.current = _read_local_current(self._dir) or generations.EMPTY
        self._document: Document | None = None
        #: what is wrong although Milvus answers
        self.fault = ""

    def refresh(self) -> bool:
        """Whether there is another generation now. Raises Unavailable and what `pull` raises."""
        document = read_document(self._collection)
        self.fault = "" if document else self._collection.place.missing_message
        # who serves another place of the project removes what is brought from this one
        is_here = (self._dir / generations.CURRENT).exists()
        if document is None or (document == self._document and is_here):
            return False
        before, brought = self.current, pull(self._dir, self._collection)
        self._document = document
        if brought is None:
            return False
        self.current = brought
        generations.prune(self._dir, (before, brought))
        return brought.number != before.number

    def close(self) -> None:
        self._collection.close()
