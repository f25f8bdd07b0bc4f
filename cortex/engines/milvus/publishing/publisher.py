"""An index in Milvus: publishing a generation there, and downloading its small files.

Publishing writes the same files as for a local index, in a separate folder, but its rows are lean:
only Milvus stores texts and vectors. Besides the rows Milvus holds the files of `segments/`, by
their content, and one document that names the current generation: so any machine can continue the
index, and any can serve it.
"""

import contextlib
import hashlib
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import orjson

from cortex.engines import makers, open_engine
from cortex.engines.milvus.place import milvus_place
from cortex.engines.milvus.storage.collection import SCHEMA, WRITE_S, Collection
from cortex.engines.milvus.storage.documents import (
    FILE_BYTES_MAX,
    KEPT_TIMES,
    Body,
    Document,
    Ref,
    all_files,
    bring_files,
    fetch_body,
    put,
    put_body,
    read_document,
    sweep,
    write_document,
)
from cortex.engines.milvus.storage.lease import lease
from cortex.engines.milvus.storage.removal import drop_rows
from cortex.generation import current as generations
from cortex.generation.current import PRUNE_AFTER_S, Generation, segment_files
from cortex.generation.formats import LOCK
from cortex.publish.builder import Builder
from cortex.settings.config import Config
from cortex.settings.folders.home import open_home
from cortex.system import files
from cortex.system.errors import CortexError, Damaged, NotFound
from ipc.locks import holder_of

#: attempts to read a generation that is replaced meanwhile
TRIES = 3


@contextlib.contextmanager
def writing(config: Config) -> Iterator[Callable[[], Generation]]:
    """Hold the lease to publish the project to Milvus; yield a function that publishes the chunk
    files of that moment. `config` is the writer's (`Config.writes`).

    Raises Occupied while another indexer has the lease, Misconfigured, Unavailable.
    """
    open_home(config)
    collection = Collection(milvus_place(config), WRITE_S)
    prune_places(config.index_dir)
    try:
        with lease(collection.place, config.plug_settings) as check:
            collection.create_collections()
            current = pull(config.index_dir, collection) or generations.EMPTY
            # no token names the rows of a first publishing that was cut short, and numbers begin
            # again
            drop_rows(collection, f"born > {current.number}")
            yield lambda: _publish(config, collection, check)
    finally:
        collection.close()


def _publish(config: Config, collection: Collection, check: Callable[[], None]) -> Generation:
    engines = {name: open_engine(maker, config) for name, maker in makers(config).items()}
    builder = Builder(config, engines=engines, lean=True)
    try:
        while builder.refresh() is not None:
            check()
        push(config.index_dir, builder.current, collection, check)
        return builder.current
    finally:
        builder.close()


def push(index_dir: Path, generation: Generation, collection: Collection, check: Callable[[], None]) -> None:
    """Make `generation`, whose rows are in Milvus, the current one there. `check` raises when the
    lease is lost.
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


def purge(collection: Collection, document: Document) -> None:
    """Remove the rows that no reader needs: readers use the current generation, the one before it,
    and a replaced one for sixty seconds more.
    """
    limit = time.time() - PRUNE_AFTER_S
    times = sorted(document.published.items())
    # when the later of two became current, readers had left the generation before the earlier
    if old := [number for (number, _), (_, at) in itertools.pairwise(times) if at < limit]:
        drop_rows(collection, f"died <= {max(old)}")


def pull(index_dir: Path, collection: Collection) -> Generation | None:
    """Download the current generation from Milvus to the folder; None where there is none, and then
    the folder holds none. CURRENT is written last, by one rename. Raises NotFound when the
    generation is replaced while it is read.
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
        raise Damaged(f"The current generation in Milvus cannot be read: {error}.") from error
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
    """Remove downloads of the project from another server or by another name, and those of versions
    without a folder for each. Folders with a writer stay.
    """
    own_folder = index_dir.parent
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = files.names(own_folder.parent)
    for name in names:
        if name == own_folder.name or _is_written(own_folder.parent / name):
            continue
        with contextlib.suppress(OSError):  # a failure must not protect the other folders
            files.remove_tree(own_folder.parent / name)


def _is_written(place: Path) -> bool:
    """Return whether a process writes an index there, in any format; also a process whose number is
    unknown, as in a sandbox.
    """
    formats: list[str] = []
    with contextlib.suppress(OSError):
        formats = files.names(place)
    return any(
        holder_of(folder / LOCK) is not None for folder in (place, *(place / name for name in formats))
    )


class Mirror:
    """A local copy of the current generation's small files in Milvus, for processes that serve."""

    def __init__(self, config: Config) -> None:
        self._dir = config.index_dir
        self._collection = Collection(milvus_place(config))
        prune_places(self._dir)
        #: the last downloaded generation
        self.current = _read_local_current(self._dir) or generations.EMPTY
        self._document: Document | None = None
        #: the fault while Milvus answers, as a sentence
        self.fault = ""

    def refresh(self) -> bool:
        """Download the current generation if it is new; return whether it is. Raises Unavailable
        and the errors of `pull`.
        """
        document = read_document(self._collection)
        self.fault = "" if document else self._collection.place.missing_message
        # a process that serves another place of the project removes the downloads of this one
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
