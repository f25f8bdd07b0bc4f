"""Records of chunks, symbols and the indexer's state. No I/O.

docs/CHUNKS.md describes the JSON forms.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

ChunkType = Literal["symbols", "definitions", "data", "documentation", "code"]

#: every chunk type, in the order of the chunk files that the indexer writes
CHUNK_TYPES: tuple[str, ...] = ("symbols", "definitions", "data", "documentation", "code")

#: tags of generated and vendored files (indexer/chunkers/frame.py)
GENERATED, VENDORED = "generated", "vendored"
#: the kinds that repeat lines of other chunks of the same file
VIEW_TYPES: frozenset[str] = frozenset(("symbols", "definitions", "data"))


def covers(kind: str) -> bool:
    """Whether chunks of a kind hold the lines of a file as they are, each line once: all kinds but
    the views, so that unknown kinds of other programs are searched too.
    """
    return kind not in VIEW_TYPES


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk as the indexer makes it, before embedding.

    `metadata` is as in the chunk files: source, file_path, language, start_line, end_line, … Lines
    are 1-based and inclusive.
    """

    id: str
    chunk_type: ChunkType
    title: str
    text: str
    tags: tuple[str, ...]
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A defined name. `scope` is the enclosing path without the name ("" at the top); `kind` is
    function, method, class, struct, interface, trait, enum, type, constant, variable, module or
    macro. `blocks` are the statements of a long body: first line, last line, depth.
    """

    name: str
    kind: str
    scope: str
    start_line: int
    end_line: int
    signature: str = ""
    doc: str = ""
    blocks: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that the indexer left out, and the reason (one short phrase)."""

    path: str
    reason: str


#: largest file of an IndexerState, in bytes: it holds a path for each file that was just saved
STATE_BYTES_MAX = 64 << 20
#: files from which on a run counts as long (seconds): during it, generations are published only
#: when that is worth it
LONG_FILES = 100


@dataclass(frozen=True, slots=True)
class IndexerState:
    """`run/indexer.json`: the state of the indexer. `dirty` maps a saved path to the sequence
    number that will hold it; `files` is the number of files to index in the last walk. `looking`:
    it has begun and has not yet compared the files with the last index.
    """

    state: Literal["looking", "idle", "indexing", "stopped"]
    done: int
    total: int
    sequence: int
    heartbeat: float
    pid: int
    dirty: dict[str, int] = field(default_factory=dict)
    message: str = ""
    files: int = 0
    #: the namespace of `pid`: `ipc.locks.namespace`
    namespace: int = 0

    @property
    def is_long(self) -> bool:
        """Whether a run over many files is in progress: reading them, or resolving their names."""
        return self.state == "indexing" and self.total >= LONG_FILES

    @property
    def remaining_share(self) -> float:
        """The share of a long run's files without a chunk file yet; 0 without such a run."""
        return max(0.0, 1 - self.done / self.total) if self.is_long else 0.0
