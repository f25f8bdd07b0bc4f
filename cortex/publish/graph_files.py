"""The graph files that have changed, and the writing of their segments: the watcher's work."""

import hashlib
import logging
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from cortex.generation.contract import GRAPH_BYTES_MAX, Folder, files_in, folder_of, unpack
from cortex.generation.current import FileRef, graph_segment
from cortex.generation.damage import read_seals
from cortex.generation.graph import write_graph
from cortex.publish.others_graph import Presence, keep_present
from cortex.system.errors import Damaged

log = logging.getLogger(__name__)

#: seconds that changed graph files wait at most during a long run, and the factor by which that
#: grows with each generation that contains some of them. Each such generation counts the references
#: of all files anew, and the graph worker reads them all: so there are few, however long the run is
WAIT_S, WAIT_GROWS = 20.0, 2.0


class GraphFiles:
    """The graph folders. Of a damaged file the previous version is still served, with a warning."""

    def __init__(self, folders: Sequence[Folder], segments: Path, wait_s: float = WAIT_S) -> None:
        self._folders, self._segments, self._wait_s = folders, segments, wait_s
        #: generations of the current long run that were published before its end
        self._times = 0
        #: start (monotonic, seconds) of the wait of changes; 0: none wait
        self._waiting = 0.0
        self._faults: dict[str, tuple[FileRef, str]] = {}
        self._touched: dict[str, FileRef] = {}
        #: waiting files with written segments; pruning spares young segments
        self._ahead: dict[str, FileRef] = {}
        #: graph file of another program → the files of the project that it depends on
        self._presence: dict[str, Presence] = {}
        #: files that the last scan found
        self.file_count = 0

    @property
    def set_aside(self) -> dict[str, FileRef]:
        """Files that were read and cannot be served."""
        return {name: ref for name, (ref, _) in list(self._faults.items())}

    def warnings(self) -> tuple[str, ...]:
        return tuple(text for _, (_, text) in sorted(self._faults.items()))

    @property
    def waits(self) -> bool:
        """Whether `read` has left changes for later."""
        return self._waiting > 0

    def read(self, served: Mapping[str, FileRef], *, patient: bool = False) -> dict[str, FileRef] | None:
        """Return the graph files as they are now, each with its segment written; None when they
        equal `served`.

        `patient`: also None while they have changed for less than WAIT_S, each further time for
        longer. Segments are written meanwhile, so that at the end of a run only their names are
        missing.
        """
        present = self._present()
        self.file_count = len(present)
        files = self._write_changed(present, served)
        if patient and self._should_wait(present, served):
            self._ahead = {name: ref for name, ref in files.items() if ref != served.get(name)}
            return None
        self._waiting, self._ahead = 0.0, {}
        if not patient:  # the run is over, even if nothing was left to publish
            self._times = 0
        if files == served:
            return None
        self._times += patient
        return files

    def _write_changed(
        self, present: Mapping[str, tuple[int, int]], served: Mapping[str, FileRef]
    ) -> dict[str, FileRef]:
        """Write the segments of changed files; return the references of all files of `present`, for
        unchanged and damaged files those of `served`.
        """
        self._faults = {name: fault for name, fault in self._faults.items() if name in present}
        files = {name: ref for name, ref in served.items() if name in present}
        for name, (size, mtime_ns) in present.items():
            outdated = self._is_outdated(name)
            known_refs = (files.get(name), self._touched.get(name), self._faults.get(name, (None, ""))[0])
            is_known = any(
                ref is not None and (ref.size, ref.mtime_ns) == (size, mtime_ns) for ref in known_refs
            )
            if is_known and not outdated:
                continue
            ahead = self._ahead.get(name)
            if (
                ahead is not None
                and not outdated
                and (ahead.size, ahead.mtime_ns) == (size, mtime_ns)
                and self._is_there(ahead)
            ):
                files[name] = ahead
                continue
            read = self._read_file(name)
            if read is None:
                continue
            raw, ref = read
            if name in files and files[name].sha256 == ref.sha256:
                self._touched[name] = ref
                continue
            try:
                write_graph(self._segments / graph_segment(ref.sha256), unpack(name, raw, GRAPH_BYTES_MAX))
            except (Damaged, ValueError) as error:
                self._fault(name, ref, str(error))
                continue
            self._faults.pop(name, None)
            files[name] = ref
        return files

    def _is_outdated(self, name: str) -> bool:
        """Return whether to read another program's graph file again, as files came or went."""
        if not folder_of(self._folders, name).others:
            return False
        return name not in self._presence or not self._presence[name].is_current()

    def _is_there(self, ref: FileRef) -> bool:
        """Return whether the segment exists: it may have been pruned while it waited."""
        path = self._segments / graph_segment(ref.sha256)
        return read_seals([path])[path] is not None

    def _should_wait(self, present: Mapping[str, tuple[int, int]], served: Mapping[str, FileRef]) -> bool:
        if present == {name: (ref.size, ref.mtime_ns) for name, ref in served.items()}:
            return False
        now = time.monotonic()
        self._waiting = self._waiting or now
        return now - self._waiting < self._wait_s * WAIT_GROWS**self._times

    def _present(self) -> dict[str, tuple[int, int]]:
        try:
            return {name: (info.st_size, info.st_mtime_ns) for name, info in files_in(self._folders).items()}
        except OSError:
            return {}

    def _read_file(self, name: str) -> tuple[bytes, FileRef] | None:
        """Return (bytes, reference) of a file, None if removed; a too large one is a fault."""
        try:
            with folder_of(self._folders, name).open(name) as file:
                info = os.fstat(file.fileno())
                large = info.st_size > GRAPH_BYTES_MAX
                raw = b"" if large else file.read(GRAPH_BYTES_MAX)
        except OSError:
            return None
        folder = folder_of(self._folders, name)
        if folder.others:
            presence = self._presence[name] = Presence(folder.root)
            raw = keep_present(raw, presence)
        ref = FileRef(info.st_size, info.st_mtime_ns, hashlib.sha256(raw).hexdigest())
        if large:
            self._fault(name, ref, f"larger than {GRAPH_BYTES_MAX >> 20} MB")
            return None
        return raw, ref

    def _fault(self, name: str, ref: FileRef, text: str) -> None:
        self._faults[name] = (ref, f"{name}: {text}; its previous version is still served.")
        log.warning("%s", self._faults[name][1])
