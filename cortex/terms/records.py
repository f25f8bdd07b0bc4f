"""The nouns inside a process: chunks and what they are made of. No I/O.

docs/CHUNKS.md describes the JSON forms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

ChunkType = Literal["symbols", "definitions", "data", "documentation", "code"]

#: every chunk type, in the order of the chunk files that the indexer writes
CHUNK_TYPES: tuple[str, ...] = ("symbols", "definitions", "data", "documentation", "code")

#: tags of what nobody of the project wrote by hand (indexer/syntax/origins.py)
GENERATED, VENDORED = "generated", "vendored"
#: the kinds that are views of lines which other chunks of a file hold
VIEW_TYPES: frozenset[str] = frozenset(("symbols", "definitions", "data"))


def covers(kind: str) -> bool:
    """Whether chunks of a kind hold lines of a file as they are, each line once: all but the views,
    so that kinds of other programs are searched as ours.
    """
    return kind not in VIEW_TYPES


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk as the indexer makes it, before embedding.

    `embed_text` is what is embedded (path words and scope in front); `text` is what is shown.
    `metadata` as in the chunk files: source, file_path, language, start_line, end_line, … Lines are
    1-based and inclusive.
    """

    id: str
    chunk_type: ChunkType
    title: str
    text: str
    tags: tuple[str, ...]
    metadata: dict[str, Any]
    embed_text: str = ""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A defined name. `scope` is the enclosing path without the name ("" at the top); `kind` is
    function, method, class, struct, interface, trait, enum, type, constant, variable, module or
    macro.
    """

    name: str
    kind: str
    scope: str
    start_line: int
    end_line: int
    signature: str = ""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that the indexer left out, and why (one short phrase)."""

    path: str
    reason: str


#: bytes of a file that holds an IndexerState: one path for each file that was just saved
STATE_BYTES_MAX = 64 << 20
#: files that an indexer has still to read from which on a run goes on for seconds: while it does, a
#: generation is published when it is worth it
LONG_FILES = 100


@dataclass(frozen=True, slots=True)
class IndexerState:
    """`run/indexer.json`: what the indexer is doing. `dirty` maps a saved path to the sequence that
    will hold it; `files` is how many files the last walk found to be indexed. `looking`: it has
    begun, and not yet compared the files with what was indexed before.
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
    #: what `pid` is a number of: `ipc.locks.namespace`
    namespace: int = 0

    @property
    def is_long(self) -> bool:
        """Whether it is in the middle of a run over many files: it reads them, or resolves their
        names.
        """
        return self.state == "indexing" and self.total >= LONG_FILES

    @property
    def remaining_share(self) -> float:
        """The share of a long run's files whose chunk files are still to come; 0 where there is
        none.
        """
        return max(0.0, 1 - self.done / self.total) if self.is_long else 0.0
