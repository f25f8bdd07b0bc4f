"""The freshness of an answer: its `index` block, and the hits that no longer match their files.

Reads the files that the watcher and the indexer publish (CURRENT, run/indexer.json, manifest.json)
and the sources of an answer; writes nothing. Silent staleness is the worst fault that a
search tool can have.
"""

import logging
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from cortex.ask.lines.saved_files import MANIFEST_BYTES_MAX, SavedFiles
from cortex.generation.contract import chunk_folders, say_waiting, waiting_files
from cortex.generation.current import CURRENT, EMPTY, Generation, read_current
from cortex.generation.damage import UNREADABLE
from cortex.generation.formats import has_other
from cortex.generation.manifest import FileState, Listing
from cortex.generation.others import OthersSource, say_origins
from cortex.settings.config import Config
from cortex.system import files, git_files, hosts
from cortex.system.errors import Damaged
from cortex.system.folders import path_names
from cortex.terms.ids import stem_of
from cortex.terms.records import STATE_BYTES_MAX, IndexerState
from cortex.terms.text.encodings import BY_GUESS
from ipc.locks import namespace

log = logging.getLogger(__name__)

T = TypeVar("T")

#: pending files that an answer names; the others are a number
PENDING_NAMED = 5
#: sentences on files that were read with a reservation
RESERVATIONS_MAX = 3
#: seconds without a heartbeat (there is one in ten) after which an indexer counts as gone
HEARTBEAT_MAX_S = 30.0
#: seconds between two looks for files that wait for consent
WAITING_S = 0.5
#: while the text of the newest changes is served, and their names are not
LINKING = (
    "Names of the newest changes are still being linked: definitions and uses may be missing or those of "
    "before; ask again in a few seconds."
)
#: seconds for which changed graph files may wait for the watcher
LINKING_S = 60.0
#: most files that are all compared for one answer
COMPARED_MAX = 30_000
#: nanoseconds after which the indexer has reported a new file: longer than between two sweeps
SWEPT_NS = 60_000_000_000
#: bytes free on the disk of the index below which nothing new can be written
FREE_BYTES_MIN = 1 << 20


class _Cached(Generic[T]):
    """The decoded content of a file, read again when the file's identity changes."""

    def __init__(self, path: Path, empty: T) -> None:
        self.path = path
        self._value = self.empty = empty
        self._identity: tuple[int, ...] | None = None

    @property
    def mtime_ns(self) -> int:
        """When the last read file was written, in ns of the epoch; 0 before the first."""
        return self._identity[3] if self._identity else 0

    def get(self, read: Callable[[], T]) -> T:
        """Return the last value; call `read` first if the file was replaced since.

        A `read` that fails keeps the old value, and the next call tries again. The value of a
        missing file is `empty`.
        """
        try:
            info = os.stat(self.path)
        except OSError:
            self._value, self._identity = self.empty, None
            return self._value
        identity = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)
        if identity != self._identity:
            try:
                self._value, self._identity = read(), identity
            except (OSError, Damaged, *UNREADABLE) as error:
                log.debug("%s cannot be read: %s", self.path, error)
        return self._value


@dataclass(frozen=True, slots=True)
class Progress:
    """The indexer's progress; `running` also while it only watches."""

    state: str = "stopped"
    done: int = 0
    total: int = 0
    files: int = 0
    running: bool = False
    message: str = ""
    dirty: dict[str, int] = field(default_factory=dict)
    #: seconds since the last heartbeat of a running indexer
    silent_s: float = 0.0

    @property
    def indexing(self) -> bool:
        return self.running and self.state == "indexing"

    @property
    def looking(self) -> bool:
        return self.running and self.state == "looking"

    @property
    def all_read(self) -> bool:
        return 0 < self.total <= self.done


@dataclass(frozen=True, slots=True)
class Share:
    """How much of the project can be searched: `done` of `total` source files. A file without text
    to search counts as done once it has been read.
    """

    done: int
    total: int

    @property
    def is_complete(self) -> bool:
        return self.done >= self.total

    def __str__(self) -> str:
        percent = 100 * self.done // self.total if self.total else 100
        return f"{percent} % searchable ({_format_number(self.done)} of {_format_number(self.total)} files)"


class Freshness:
    """The state of the index: published generation, progress, saved files that it lacks.

    Each call costs a few `stat`s; files are read again only when they change.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._root, self._home = str(config.root), config.home
        self._current = _Cached[Generation](config.index_dir / CURRENT, EMPTY)
        self._indexer = _Cached[IndexerState | None](config.indexer_state, None)
        self._manifest = _Cached[Listing[FileState]](config.manifest, Listing())
        self.saved_files = SavedFiles(self._root, config.manifest, config.indexing.max_file_kb)
        #: paths of the manifest without their endings; None: not computed yet
        self._stems: frozenset[str] | None = None
        #: files of the manifest that have no chunks
        self._nothing_in = 0
        #: (`others` of a generation, its sources by path)
        self._others: tuple[object, dict[str, OthersSource]] = None, {}
        #: (when to look again, monotonic; the sentence on files that wait for consent)
        self._waiting = (0.0, -1, "")

    def current(self) -> Generation:
        """Return the published generation, EMPTY before the first; a damaged CURRENT is ignored."""
        return self._current.get(lambda: read_current(self._config.index_dir))

    def progress(self) -> Progress:
        state = self._indexer.get(self._read_state)
        if state is None:
            return Progress()
        running = state.state != "stopped" and _is_alive(state)
        silent_s = time.time() - state.heartbeat if running else 0.0
        return Progress(
            state=state.state,
            done=state.done,
            total=state.total,
            files=state.files,
            running=running,
            message=state.message,
            dirty=state.dirty,
            silent_s=silent_s,
        )

    def share(self, generation: Generation) -> Share:
        """Return how much of the project `generation` holds; all where files are not counted."""
        listing, progress = self._listing(), self.progress()
        unfinished = progress.running or progress.state == "indexing"  # the latter: killed
        total = max(len(listing.files), progress.files if unfinished else 0)
        if generation.rows and not (generation.sources and listing.files):
            return Share(total, total)  # another program's chunk files, or too many to count
        return Share(min(total, generation.sources + self._nothing_in), total)

    def serves(self, generation: Generation) -> bool:
        """Whether `generation` can be answered from: it holds rows, or nothing more will come."""
        if generation.rows or self.nothing_to_search():
            return True
        return bool(generation.number) and self.share(generation).is_complete

    def serves_all(self, generation: Generation) -> bool:
        """Whether `generation` holds the whole project and the indexer reads or looks for no more:
        before that look, the files missed by a killed run or brought by a pull are unknown.
        """
        is_complete, progress = (
            self.serves(generation) and self.share(generation).is_complete,
            self.progress(),
        )
        return is_complete and not (progress.indexing or progress.looking or self.behind(generation))

    def nothing_to_search(self) -> bool:
        """Whether the project was read and has no text and no chunk files of others."""
        listing, progress = self._listing(), self.progress()
        if not listing.recipe or len(listing.files) > self._nothing_in or progress.indexing or progress.dirty:
            return False
        return not any(folder.files() for folder in chunk_folders(self._config))

    def pending(self, generation: Generation) -> list[str]:
        """Return the saved files that `generation` does not hold yet, sorted by name."""
        dirty = self.progress().dirty
        return sorted(path for path, sequence in dirty.items() if sequence > generation.sequence)

    def unserved(self, generation: Generation) -> set[str]:
        """Return the saved, new and removed files that `generation` lacks, also before the indexer
        has reported them. Compares every file: 10 ms for a thousand.
        """
        records, pending = self._listing().files, set(self.pending(generation))
        if self._config.store is not None or not 0 < len(records) <= COMPARED_MAX:
            return pending
        since_ns = time.time_ns() - SWEPT_NS
        if not self.progress().running:
            since_ns = min(since_ns, self._manifest.mtime_ns)

        @cache
        def rules() -> Callable[[str], str]:
            from cortex.indexer.scan import Scanner  # few questions need it

            return Scanner(self._config).exclusion_reason

        def is_left_out(path: str) -> bool:
            is_ours = path.rpartition("/")[2] == ".git" or self._config.root / path == self._config.home
            return is_ours or bool(rules()(path))

        changed = self.saved_files.changed(records, records.keys() - pending)
        return pending | changed | self.saved_files.new(records, since_ns, is_left_out)

    def is_settled(self, generation: Generation, paths: Iterable[str]) -> bool:
        """Whether `generation` holds `paths` as they are now, and their names, and is the last."""
        records = self._listing().files
        return not (
            any(path not in records and self.is_there(path) for path in paths)
            or self.stale(paths, generation)
            or self.behind(generation)
            or self._is_linking(self.progress(), generation)
        )

    def block(
        self,
        generation: Generation,
        degraded: Sequence[str] = (),
        notes: Iterable[str] = (),
        stale: Iterable[str] = (),
        *,
        share_reported: bool = False,
    ) -> dict[str, Any]:
        """Return the `index` block of an answer from `generation`.

        `notes` are sentences for `message`. `stale` are changed files of the answer: they count as
        pending even before the watcher reports them. `share_reported`: the answer already states
        how much of the project can be searched.
        """
        progress = self.progress()
        pending = sorted({*self.pending(generation), *stale})
        block: dict[str, Any] = {
            "generation": generation.number,
            "pending": pending[:PENDING_NAMED],
            "pending_count": len(pending),
            "degraded": list(degraded),
        }
        sentences = list(dict.fromkeys(note for note in (self._upgrade(generation), *notes) if note))
        share, behind = self.share(generation), self.behind(generation)
        if progress.indexing:
            block["indexing"] = {"done": progress.done, "total": progress.total}
        if behind or not share.is_complete:
            block["publishing"] = behind or not progress.indexing
        if not share.is_complete:
            block["searchable"] = {"done": share.done, "total": share.total}
        sentences += filter(None, [self._say_full(), self._say_waiting(generation.number)])
        if generation.rows or not share_reported:
            linking = self._is_linking(progress, generation)
            sentences += _describe_state(
                progress, share, behind=behind, linking=linking, share_reported=share_reported
            )
        if progress.silent_s > HEARTBEAT_MAX_S:
            sentences.append(
                f"The indexer has not reported for {progress.silent_s:.0f} s (is the disk full?); see `cortex status`."
            )
        if sentences:
            block["message"] = " ".join(sentences)
        return block

    def _say_waiting(self, generation: int) -> str:
        """Return a sentence on files that wait for consent, at most WAITING_S old and of this
        generation: an answer with a file's chunks cannot say that the file waits.
        """
        until, last, sentence = self._waiting
        now = time.monotonic()
        if now >= until or generation != last:
            sentence = say_waiting(waiting_files(self._config))
            self._waiting = now + WAITING_S, generation, sentence
        return sentence

    def stale(self, paths: Iterable[str], generation: Generation) -> frozenset[str]:
        """Return those of `paths` that were changed or removed since `generation` was built.

        An agent that saves and searches at once is quicker than any file event, so this compares
        the files themselves.
        """
        records = self._listing().files
        dirty = self.progress().dirty
        distinct = set(paths)
        dirty_paths = {path for path in distinct if dirty.get(path, 0) > generation.sequence}
        others = self._others_sources(generation)
        compared = {
            path for path in distinct & others.keys() if not others[path].is_current(self._root, path)
        }
        return frozenset(dirty_paths | compared | self.saved_files.changed(records, distinct - dirty_paths))

    def _others_sources(self, generation: Generation) -> Mapping[str, OthersSource]:
        """Return the sources of other programs' chunks by path."""
        if self._others[0] is not generation.others:
            sources: dict[str, OthersSource] = {}
            for by_path in generation.others.values():
                sources |= {
                    path: source for path, source in by_path.items() if path not in sources or source.remark
                }
            self._others = generation.others, sources
        return self._others[1]

    def reservations(self, paths: Collection[str], generation: Generation) -> list[str]:
        """Return sentences on those of `paths` that were read by a guess or not understood, or with
        text by another program, for the first of them.
        """
        records = self._listing().files
        sentences = [
            sentence
            for path in sorted(paths)
            if (record := records.get(path)) is not None
            for remark in record.remarks
            if (sentence := _reservation(path, remark))
        ]
        origins = say_origins(self._others_sources(generation), paths)
        if len(sentences) <= RESERVATIONS_MAX:
            return origins + sentences
        more = len(sentences) - RESERVATIONS_MAX
        return [
            *origins,
            *sentences[:RESERVATIONS_MAX],
            f"{more} more such remarks: `cortex index --verbose`.",
        ]

    def listed(self) -> Collection[str]:
        """Return the paths that the indexer has read; none for other programs' chunk files."""
        return self._listing().files.keys()

    def has_chunks(self, path: str) -> bool:
        """Whether the indexer has read the file and found text in it."""
        record = self._listing().files.get(path)
        return record is not None and record.chunks > 0

    def stems(self) -> Collection[str]:
        """Return `listed` without file endings, as graph ids begin."""
        listing = self._listing()
        if self._stems is None:
            self._stems = frozenset(map(stem_of, listing.files))
        return self._stems

    def saved_ns(self, path: str) -> int:
        """Return when an indexed file was last saved, in ns of the epoch; 0 for an unknown file."""
        record = self._listing().files.get(path)
        return record.mtime_ns if record else 0

    def is_there(self, path: str) -> bool:
        """Whether a file or folder exists at this path below the root now."""
        return path_names.stays_inside(path) and os.path.lexists(f"{self._root}/{path}")

    def may_be_unlinked(self, generation: Generation) -> bool:
        """Whether places of the graph may be those of older files than the text of `generation`."""
        progress = self.progress()
        return progress.indexing or self._is_linking(progress, generation)

    def behind(self, generation: Generation) -> bool:
        """Whether there are chunk files that `generation` lacks and the next one will publish."""
        return bool(generation.backlog) or self._listing().sequence > generation.sequence

    def _is_linking(self, progress: Progress, generation: Generation) -> bool:
        """Whether names are being linked, or the graph was written after `generation`: chunk files
        of one change are published before its graph files.
        """
        if not generation.number:
            return False
        if progress.indexing:
            return progress.all_read
        try:
            written = os.stat(self._config.graph_dir).st_mtime
        except OSError:
            return False
        return max(generation.published_at, time.time() - LINKING_S) < written

    def _listing(self) -> Listing[FileState]:
        return self._manifest.get(self._read_manifest)

    def _read_state(self) -> IndexerState:
        return msgspec.json.decode(files.read_ours(self._indexer.path, STATE_BYTES_MAX), type=IndexerState)

    def _read_manifest(self) -> Listing[FileState]:
        path = self._manifest.path
        if path.stat().st_size > MANIFEST_BYTES_MAX:
            return self._manifest.empty
        read = msgspec.json.decode(files.read_ours(path, MANIFEST_BYTES_MAX), type=Listing[FileState])
        self._stems = None
        self.saved_files.forget()
        self._nothing_in = sum(not record.chunks for record in read.files.values())
        return read

    def explain_nothing(self) -> str:
        """Return why nothing is published yet and what to do, in one or two sentences."""
        if full := self._say_full():
            return f"Nothing is searchable yet. {full}"
        if self._config.store:
            return self._config.store.explain_nothing(self._config)
        progress, upgrade = self.progress(), self._upgrade(self.current())
        if progress.indexing:
            sentence = f"Nothing is searchable yet; ask again in a few seconds. {say_progress(progress)}"
            return f"{upgrade} {sentence}".lstrip()
        if progress.message:
            return progress.message
        if upgrade:
            return f"{upgrade} Ask again in a few seconds."
        if self.nothing_to_search():
            left_out = self._nothing_in + sum(self._listing().left_out.values())
            suffix = f"; {left_out} files were left out, see `cortex status`" if left_out else ""
            return f"There are no text files to be searched in {self._root}{suffix}.{self._name_worktrees()}"
        if not self._config.server.auto_index:
            return "Nothing is indexed and server.auto_index is off; run `cortex index` in the project."
        if progress.running:
            return "The index is being published; ask again in a second."
        return "Nothing is indexed yet; ask again in a few seconds, or see `cortex status`."

    def _name_worktrees(self) -> str:
        """Return a sentence with the other worktrees of the project's repository; "" for none. The
        folder of a bare repository has no files but theirs.
        """
        root = Path(self._root)
        folder = root if git_files.is_git_folder(self._root) else git_files.git_dir(root)
        places = git_files.worktrees_of(git_files.common_dir(folder))
        named = ", ".join(str(place) for place in places if place != root and place.is_dir())
        return f" Its repository has worktrees, each a project of its own: {named}." if named else ""

    def _say_full(self) -> str:
        """Return a sentence if the index cannot be written, which its writers cannot report."""
        if self._config.read_only:
            return (
                f"{self._home} cannot be written: answers come from its index, and saved files are not indexed. Make "
                "it writable, or set CORTEX_HOME to another folder."
            )
        try:
            free = shutil.disk_usage(self._home).free
        except OSError:
            return ""
        if free >= FREE_BYTES_MIN:
            return ""
        return f"The disk of {self._home} is full: saved files are not indexed until there is space."

    def _upgrade(self, generation: Generation) -> str:
        if generation.number or not has_other(self._config.index_dir):
            return ""
        return "The index is being rebuilt after an upgrade."


def _reservation(path: str, remark: str) -> str:
    """Return a remark as a sentence; "" for one that casts no doubt on the shown text."""
    kind, _, rest = remark.partition(": ")
    if kind == "syntax errors" and rest:
        return f"{path}: {rest}."
    return f"{path} is {remark}." if kind == "not UTF-8" and rest.endswith(BY_GUESS) else ""


def _describe_state(
    progress: Progress, share: Share, *, behind: bool, linking: bool, share_reported: bool
) -> list[str]:
    """Return sentences on the work of the indexer and the watcher. `linking`: names are behind the
    text.
    """
    message = [progress.message] if progress.message else []
    if not share.is_complete:
        status = "is being indexed" if progress.indexing else "is about to be served"
        sentence = f"The project is {share}: answers may miss the rest, which {status}."
        return message if share_reported else [sentence, *message]
    if progress.indexing and not progress.all_read:
        return [f"{say_progress(progress)} Answers may miss what is not indexed yet."]
    if behind or (progress.indexing and not linking):
        return [*message, "The newest changes are indexed and about to be served."]
    if linking:
        return [*message, LINKING]
    if progress.looking:
        return [
            *message,
            "The files that changed since the index was last in use are being searched; answers may miss them.",
        ]
    return message


def _format_number(number: int) -> str:
    """Format as in `4 274`."""
    return f"{number:,}".replace(",", " ")


def say_progress(progress: Progress) -> str:
    if not progress.total:
        return "Indexing has begun: the files are being listed."
    if progress.all_read:
        return f"All {progress.total} files are read, and their names are being linked."
    share = 100 * progress.done // progress.total
    return f"Indexing is at {share} % ({progress.done} of {progress.total} files)."


def _is_alive(state: IndexerState) -> bool:
    """Whether the process that wrote `state` still lives; not looked up after a fresh heartbeat.

    A heartbeat in the future is not fresh: the clock was set back. For a process in a sandbox only
    the heartbeat is known.
    """
    if 0 <= time.time() - state.heartbeat < HEARTBEAT_MAX_S:
        return True
    if state.namespace not in (0, namespace()):
        return False
    return state.pid > 0 and hosts.is_alive(state.pid)
