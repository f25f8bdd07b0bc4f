"""The writers of the text engine: one persistent tantivy index each, and a folder of hard links for
each generation.

A tantivy commit publishes at once, and an old commit cannot be opened again. So the folder `writer`
is never served. Generation N is the folder `N`: hard links to the files of a commit, and that
commit's meta.json.
"""

import contextlib
import itertools
import os
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import tantivy

from cortex.engines.text.index.checksums import (
    META,
    META_BYTES_MAX,
    SUMS,
    IntegrityChecker,
    raising_damaged,
    write_sums,
)
from cortex.engines.text.index.schema import make_document, make_schema, register
from cortex.settings.folders.home import private_dir, runtime_base
from cortex.system import files
from cortex.system.errors import Damaged, NotFound
from cortex.system.process.timers import late_threads

WRITER = "writer"

#: bytes of heap: tantivy wants at least 15 MB. It grows with the documents (1 000 chunks fill some
#: 10 MB), and a full one ends a segment: a large one makes fewer, larger segments
_LEAST_HEAP, _HEAP = 15_000_000, 200_000_000
#: With two, each commit leaves two segments, which slow every query, and takes a quarter more time
#: in all: the other core is busy making documents.
_THREADS = 1
#: attempts to link a commit's files while background merges replace them; each merge ends in
#: milliseconds
_LINK_ATTEMPTS = 20
#: the files of each tantivy segment
_PARTS = frozenset({"fast", "fieldnorm", "idx", "pos", "store", "term"})


class IndexWriter:
    """The only writer of a tantivy index; the watcher owns it.

    `folder` holds the generations; `published` is the folder of the published one inside it ("" for
    none). Unpublished commits are dropped: the writer starts again from `published`. `schema` makes
    the fields of its documents; `heap`: its most bytes of memory.
    """

    def __init__(
        self,
        folder: Path,
        published: str,
        schema: Callable[[], tantivy.Schema] = make_schema,
        heap: int = _HEAP,
    ) -> None:
        self._folder = folder
        self._schema, self._heap = schema, heap
        self._checker = IntegrityChecker()
        self._writer: tantivy.IndexWriter | None = None
        #: whether the writer has documents or deletions that are not committed
        self._has_added = False
        #: the writer's list of tantivy segments at the last idle check
        self._rested_at = b""
        #: checksums of the files of the last generation, by name
        self._sums: dict[str, int] = {}
        self.reset(published)

    def reset(self, published: str) -> None:
        """Reset the writer to the generation folder `published` ("" for empty). Raises Damaged."""
        self.close()
        self._has_added = False
        writer_folder = self._folder / WRITER
        files.remove_tree(writer_folder)
        files.make_folder(writer_folder)
        self._sums = {}
        if published:
            source = self._folder / published
            try:
                names = _committed_files(source)
                self._sums = self._checker.check(source)
                _link_all((*names, META), source, writer_folder)
            except FileNotFoundError as error:
                raise Damaged(f"{source} is not complete: {error}.") from error
            # tantivy deletes only files that it lists as its own
            files.replace(writer_folder / ".managed.json", orjson.dumps([*names, META]))
        # Raises Damaged as the first write would. The index is dropped: an open one checks its
        # folder periodically.
        open_index(writer_folder, self._schema)
        self._base = published
        self._rested_at = b""

    def add(self, added: Iterable[tantivy.Document], deleted: Iterable[tuple[str, str]]) -> None:
        """Begin a build: the previous one, without the documents with one of the terms `deleted`
        (field, value), with `added`. Tantivy works from the first document on; `commit` ends it.

        On an error nothing is changed and the error is raised.
        """
        with self._unchanged_on_error():
            if not self._is_plain():
                self.reset(self._base)
            # An index without a generation is empty: tantivy would look each term up in vain.
            documents, terms = iter(added), list(deleted) if self._base else []
            first = list(itertools.islice(documents, 1))
            if not (first or terms):
                return
            writer = self._open_writer()
            for field, value in terms:
                writer.delete_documents_by_term(field, value)
            for document in itertools.chain(first, documents):
                writer.add_document(document)
            self._has_added = True

    def commit(self, number: int) -> str:
        """Write the build as generation `number`; return the name of its folder. On an error
        nothing is changed and the error is raised.
        """
        with self._unchanged_on_error():
            if self._has_added and self._writer is not None:
                self._writer.commit()
            self._publish(str(number))
        self._has_added = False
        self._base = str(number)
        return self._base

    @contextlib.contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.reset(self._base)
            raise

    def has_merged(self) -> bool:
        """Return whether tantivy has merged segments since the last build: the same documents in
        fewer segments, each of which slows every query, and in less space.
        """
        try:
            merged, served = (
                len(_segments(files.read_ours(folder / META, META_BYTES_MAX), folder))
                for folder in (self._folder / WRITER, self._folder / self._base)
            )
        except (OSError, Damaged):  # the next build reports or repairs it
            return False
        return merged < served and self._is_plain()

    def release_if_idle(self) -> None:
        """Close the writer when nothing was merged since the previous call."""
        with contextlib.suppress(OSError):
            meta = files.read_ours(self._folder / WRITER / META, META_BYTES_MAX)
            if meta == self._rested_at:
                self.close()
            self._rested_at = meta

    def _is_plain(self) -> bool:
        """Whether the writer's folder holds only regular files: tantivy opens them all, and opening
        a pipe blocks until its other end is opened.
        """
        try:
            entries = files.entries(self._folder / WRITER)
        except OSError:
            return False
        return all(stat.S_ISREG(info.st_mode) for info in entries.values())

    def _open_writer(self) -> tantivy.IndexWriter:
        """The open writer, because merges continue in its background; else a new one."""
        if self._writer is None:
            # The index is dropped: in tantivy-py it is also a reader, which half a second after
            # each commit opens and maps its files in a thread, and holds a lock meanwhile.
            index = open_index(self._folder / WRITER, self._schema)
            self._writer = index.writer(self._heap, _THREADS)
        return self._writer

    def _publish(self, name: str) -> None:
        writer_folder, target = self._folder / WRITER, self._folder / name
        temporary = self._folder / f".{name}.tmp"
        files.remove_tree(temporary)
        files.remove_tree(target)
        for _ in range(_LINK_ATTEMPTS):
            files.make_folder(temporary)
            try:
                meta = files.read_ours(writer_folder / META, META_BYTES_MAX)
                names = _committed_files(writer_folder, meta)
                _link_all(names, writer_folder, temporary)
                self._sums = write_sums(temporary, meta, names, self._sums)
                files.replace(temporary / META, meta)
                files.move(temporary, target)
            except FileNotFoundError:  # a merge ended meanwhile: the same documents in other files
                files.remove_tree(temporary)
                continue
            return
        raise Damaged(
            f"{writer_folder} lacks files that its {META} names; delete the folder and it will be built again."
        )

    def close(self) -> None:
        """Free the writer until the next write, without waiting for its merges (seconds): the next
        one restarts them, and published generations do not need them. An open writer has threads,
        one of which checks its folder periodically, and the heap of its last change.
        """
        self._writer = None


class TextWriter(IndexWriter):
    """The writer of the documents of chunks, in `text/`."""

    def add_rows(self, added: Iterable[tuple[int, dict[str, Any]]], deleted: Iterable[int]) -> None:
        """Begin a build without the rows `deleted`, with `added` (row key, chunk), as `add`."""
        documents = (make_document(key, chunk) for key, chunk in added)
        self.add(documents, (("row", str(key)) for key in deleted))

    def build(self, number: int, added: Iterable[tuple[int, dict[str, Any]]], deleted: Iterable[int]) -> str:
        """`add_rows` and `commit`."""
        self.add_rows(added, deleted)
        return self.commit(number)


def open_to_read(
    folder: Path, *, may_be_empty: bool, schema: Callable[[], tantivy.Schema] = make_schema
) -> tantivy.Index:
    """Open the generation folder that a writer committed. With `may_be_empty` (nothing is published
    yet) the folder need not exist. Raises NotFound or Damaged.

    Tantivy makes a lock file beside the files that it reads: files of a folder that cannot be
    written are opened through links.
    """
    if not (folder / META).is_file():
        if not may_be_empty:
            raise NotFound(f"{folder / META} does not exist.")
        return _new_index(schema)
    with raising_damaged(folder):
        if os.access(folder, os.W_OK):
            return _with_reader(open_index(folder, schema))
        base = files.make_new_folder(private_dir(runtime_base()), "text")
        try:
            files.link_to_all(list_committed_files(folder), base)
            return _with_reader(open_index(base, schema))
        finally:
            files.remove_tree(base)  # all files are mapped


def _with_reader(index: tantivy.Index) -> tantivy.Index:
    index.config_reader("manual")
    index.reload()
    return index


def open_index(folder: Path, schema: Callable[[], tantivy.Schema] = make_schema) -> tantivy.Index:
    """Open the tantivy index in `folder`, or make one with the fields of `schema`. Raises Damaged,
    also for an index with other fields; OSError.
    """
    with raising_damaged(folder):
        files.check_folder(folder)
        # tantivy-py's index starts with a reader that checks twice a second for new commits,
        # whatever its later configuration; its thread ends with the index.
        with late_threads():
            index = tantivy.Index(schema(), path=str(folder))
    register(index)
    return index


def _new_index(schema: Callable[[], tantivy.Schema] = make_schema) -> tantivy.Index:
    """An empty index in memory."""
    index = tantivy.Index(schema())
    register(index)
    return index


def index_in_memory(chunks: Iterable[tuple[int, dict[str, Any]]]) -> tantivy.Index:
    """An index of these chunks (row key, chunk) in memory."""
    index = _new_index()
    writer = index.writer(_LEAST_HEAP, _THREADS)
    for key, chunk in chunks:
        writer.add_document(make_document(key, chunk))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index


def list_committed_files(folder: Path) -> tuple[Path, ...]:
    """All write-once files of the generation in `folder`. Raises nothing: for an incomplete one it
    lists meta.json and the checksums only.
    """
    try:
        return (folder / META, folder / SUMS, *(folder / name for name in sorted(_committed_files(folder))))
    except (OSError, Damaged):
        return (folder / META, folder / SUMS)


def _committed_files(folder: Path, meta: bytes | None = None) -> list[str]:
    """The files in `folder` of the tantivy segments that its meta.json names. Raises Damaged,
    FileNotFoundError.
    """
    segments = _segments(files.read_ours(folder / META, META_BYTES_MAX) if meta is None else meta, folder)
    names: list[str] = []
    complete: Counter[str] = Counter()
    for name in files.names(folder):
        segment, _, suffix = name.partition(".")
        entry = segments.get(segment)
        if entry is None:
            continue
        if suffix.endswith("del"):
            deletes = entry.get("deletes")
            if not deletes or suffix != f"{deletes['opstamp']}.del":
                continue
        complete[segment] += suffix in _PARTS
        names.append(name)
    if any(complete[segment] < len(_PARTS) for segment in segments):
        raise FileNotFoundError(f"{folder} lacks files of its tantivy segments")
    return names


def _segments(meta: bytes, folder: Path) -> dict[str, dict[str, Any]]:
    """The tantivy segments that the meta.json of `folder` names, by id. Raises Damaged."""
    try:
        return {str(s["segment_id"]).replace("-", ""): s for s in orjson.loads(meta)["segments"]}
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{folder / META} cannot be read: {error}.") from error


def _link_all(names: Sequence[str], source: Path, target: Path) -> None:
    try:
        files.link_all(names, source, target)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without hard links
        for name in names:
            with files.open_ours(source / name) as old, files.replacing(target / name) as new:
                shutil.copyfileobj(old, new)
