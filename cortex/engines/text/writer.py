"""Writes the text index: one persisted tantivy index, and a folder of hard links for each
generation of it.

A tantivy commit publishes by itself and an old commit cannot be opened again. So the folder
`writer` is never served; generation N is the folder `N`: hard links of the files that the commit
names, and that commit's meta.json.
"""

from __future__ import annotations

import contextlib
import itertools
import shutil
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import orjson
import tantivy

from cortex.engines.text.checksums import (
    META,
    META_BYTES_MAX,
    SUMS,
    IntegrityChecker,
    raising_damaged,
    write_sums,
)
from cortex.engines.text.schema import make_document, make_schema, register
from cortex.system import files
from cortex.system.errors import Damaged
from cortex.system.timers import late_threads

WRITER = "writer"

#: chunks; a change of more is written with a large heap, because fewer, larger segments come of it
_BULK_CHUNKS = 4_000
#: bytes of heap: tantivy takes at least 15 MB; 1 000 chunks fill some 10 MB
_LEAST_HEAP, _SMALL_HEAP, _BULK_HEAP = 15_000_000, 30_000_000, 200_000_000
#: With two, each commit leaves two segments, which every query pays for, and takes a quarter more
#: time in all: the other core is busy with making the documents.
_THREADS = 1
#: attempts to link a commit's files while background merges replace them; each merge ends in
#: milliseconds
_LINK_ATTEMPTS = 20
#: the files of each tantivy segment
_PARTS = frozenset({"fast", "fieldnorm", "idx", "pos", "store", "term"})


class TextWriter:
    """The one writer of a text index; only the watcher holds one.

    `folder` is `.cortex/index/text`; `published` the folder of the published generation inside it
    ("" for none). What was committed but never published is forgotten: the writer starts again from
    `published`.
    """

    def __init__(self, folder: Path, published: str) -> None:
        self._folder = folder
        self._checker = IntegrityChecker()
        self._writer: tantivy.IndexWriter | None = None
        self._bulk = False
        #: the writer's list of tantivy segments when it was last at rest
        self._rested_at = b""
        #: the checksums of the files of the last generation, by name
        self._sums: dict[str, int] = {}
        self.reset(published)

    def reset(self, published: str) -> None:
        """Make the writer's state that of generation folder `published` ("" for empty). Raises
        Damaged.
        """
        self._close_writer()
        home = self._folder / WRITER
        files.remove_tree(home)
        files.make_folder(home)
        self._sums = {}
        if published:
            source = self._folder / published
            try:
                names = _committed_files(source)
                self._sums = self._checker.check(source)
                _link_all((*names, META), source, home)
            except FileNotFoundError as error:
                raise Damaged(f"{source} is not complete: {error}.") from error
            # tantivy deletes only files that it knows it made.
            files.replace(home / ".managed.json", orjson.dumps([*names, META]))
        # Raises Damaged for what the first write would find. Not kept: who has it open looks at it
        # by the clock.
        open_index(home)
        self._base = published
        self._rested_at = b""

    def build(self, number: int, added: Iterable[tuple[int, dict[str, Any]]], deleted: Iterable[int]) -> str:
        """Write generation `number`: the last one built, without the rows `deleted`, with `added`
        (row key, chunk).

        Returns the name of its folder. On an error nothing is changed and the error is raised.
        """
        if not self._is_plain():
            self.reset(self._base)
        try:
            self._write(added, deleted)
            self._publish(str(number))
        except BaseException:
            self.reset(self._base)
            raise
        self._base = str(number)
        return self._base

    def publish_merged(self, number: int) -> str:
        """Publish as generation `number` what tantivy has merged since the last one was built: the
        same documents in fewer segments, each of which costs every question, in less space. Returns
        the name of the folder to serve.
        """
        try:
            merged, served = (
                len(_segments(files.read_ours(folder / META, META_BYTES_MAX), folder))
                for folder in (self._folder / WRITER, self._folder / self._base)
            )
        except (OSError, Damaged):  # the next build says so, or mends it
            return self._base
        if merged < served and self._is_plain():
            self._publish(str(number))
            self._base = str(number)
        return self._base

    def release_if_idle(self) -> None:
        """Let go of the folder when nothing has been merged since this was called before."""
        with contextlib.suppress(OSError):
            meta = files.read_ours(self._folder / WRITER / META, META_BYTES_MAX)
            if meta == self._rested_at:
                self.close()
            self._rested_at = meta

    def _is_plain(self) -> bool:
        """Whether the writer's folder holds nothing but files: tantivy opens them, and who opens a
        pipe waits for its other end, for ever and without a word.
        """
        try:
            entries = files.entries(self._folder / WRITER)
        except OSError:
            return False
        return all(stat.S_ISREG(info.st_mode) for info in entries.values())

    def _write(self, added: Iterable[tuple[int, dict[str, Any]]], deleted: Iterable[int]) -> None:
        rows = iter(added)
        first = list(itertools.islice(rows, _BULK_CHUNKS))
        writer = self._open_writer(bulk=len(first) == _BULK_CHUNKS)
        for key in deleted:
            writer.delete_documents_by_term("row", str(key))
        for key, chunk in itertools.chain(first, rows):
            writer.add_document(make_document(key, chunk))
        writer.commit()

    def _open_writer(self, *, bulk: bool) -> tantivy.IndexWriter:
        """The open writer when its size suits, because merges run on in the background of it; else
        another one.
        """
        if self._writer is None or self._bulk != bulk:
            self._close_writer()
            # Not kept: tantivy-py's index is a reader, too, which opens and maps what each commit
            # wrote, half a second later, in a thread of its own, and holds a lock meanwhile.
            self._bulk = bulk
            self._writer = open_index(self._folder / WRITER).writer(
                _BULK_HEAP if bulk else _SMALL_HEAP, _THREADS
            )
        return self._writer

    def _close_writer(self) -> None:
        """Let the writer go without waiting for its merges (seconds): the next writer begins them
        anew, and what is published does not need them.
        """
        self._writer = None

    def _publish(self, name: str) -> None:
        home, target = self._folder / WRITER, self._folder / name
        temporary = self._folder / f".{name}.tmp"
        files.remove_tree(temporary)
        files.remove_tree(target)
        for _ in range(_LINK_ATTEMPTS):
            files.make_folder(temporary)
            try:
                meta = files.read_ours(home / META, META_BYTES_MAX)
                names = _committed_files(home, meta)
                _link_all(names, home, temporary)
                self._sums = write_sums(temporary, meta, names, self._sums)
                files.replace(temporary / META, meta)
                files.move(temporary, target)
            except FileNotFoundError:  # a merge ended meanwhile: the same documents in other files
                files.remove_tree(temporary)
                continue
            return
        raise Damaged(
            f"{home} lacks files that its {META} names; delete the folder and it will be built again."
        )

    def close(self) -> None:
        """Let go of the folder, until there is something to write again: an open writer has
        threads, one of which looks at its folder by the clock, and the heap of its last change.
        """
        self._close_writer()


def open_index(folder: Path) -> tantivy.Index:
    """The tantivy index in `folder`, made if there is none. Raises Damaged, also for one with other
    fields; OSError.
    """
    with raising_damaged(folder):
        files.check_folder(folder)
        # tantivy-py's index begins with a reader that looks twice a second whether there is another
        # commit, whatever is asked of it later, and its thread ends with the index.
        with late_threads():
            index = tantivy.Index(make_schema(), path=str(folder))
    register(index)
    return index


def index_in_memory(chunks: Iterable[tuple[int, dict[str, Any]]]) -> tantivy.Index:
    """An index of these chunks (row key, chunk) that is in no file."""
    index = tantivy.Index(make_schema())
    register(index)
    writer = index.writer(_LEAST_HEAP, _THREADS)
    for key, chunk in chunks:
        writer.add_document(make_document(key, chunk))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index


def list_committed_files(folder: Path) -> tuple[Path, ...]:
    """All files of the generation in `folder` that are written once. Raises nothing: of one that is
    not whole, what its meta.json is.
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
