"""Every message that crosses a process, one frozen dataclass each. No behaviour, no I/O.

Fields of type `Array` travel as raw frames (dtype and shape in the JSON), fields of type `Blobs` as one raw frame
each; everything else is JSON. docs/PROTOCOL.md describes each message; a test holds it there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from ipc.arrays import Array

#: raised with every change that an older process would misread; part of the sockets' folder name
PROTOCOL = 2

Blobs = tuple[bytes, ...]
Mode = Literal["query", "passage"]
Detail = Literal["full", "snippet", "location"]
GraphOperation = Literal[
    "implementations", "callers", "callees", "dependencies", "dependents", "type_usages", "path", "impact"
]
MatchType = Literal["exact", "phrase", "prefix", "fuzzy", "regex", "substring", "boolean"]


@dataclass(frozen=True, slots=True)
class Failure:
    """The reply when a handler raised: `code` as in ipc.errors, `message` one sentence."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class GetStatus:
    """Asks any worker how it is."""


@dataclass(frozen=True, slots=True)
class Status:
    """How a worker is. `config` is the hash of its effective configuration; `info` is free-form, for people."""

    worker: str
    pid: int
    version: str
    config: str
    generation: int
    uptime_s: float
    info: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Embed:
    """Asks the embed worker for vectors of `texts`."""

    texts: tuple[str, ...]
    mode: Mode = "query"


@dataclass(frozen=True, slots=True)
class Embedded:
    """`vectors` float32 [len(texts), dimensions], unit length; `model` is the embedder's identity."""

    model: str
    vectors: Array


@dataclass(frozen=True, slots=True)
class Filters:
    """Restricts a search. Chunk types: any of; tags: all of; path globs: any of / none of. Empty means no restriction."""

    chunk_types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    language: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a chunk lies. `key` is the row key: unique over all time in one index."""

    key: int
    id: str
    chunk_type: str
    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """Asks the vector worker for the `limit` chunks nearest to `vector` (float32 [dimensions]).

    `model` must be the identity that the served rows were embedded with. `generation` 0 means the newest; another
    number must still be open there (NotReady if not).
    """

    vector: Array
    model: str
    limit: int
    filters: Filters = Filters()
    generation: int = 0


@dataclass(frozen=True, slots=True)
class TextSignals:
    """Asks the text worker for the ranking signals of a free-text `query`: the best `limit` chunks of each lane."""

    query: str
    limit: int
    filters: Filters = Filters()
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Signals:
    """Candidates with the value of each signal: `values` float32 [len(names), len(hits)], 0 where a lane has none.

    `stats` holds what a ranking needs beside them (mean and deviation of the cosines, number of files, …).
    """

    generation: int
    hits: tuple[Hit, ...]
    names: tuple[str, ...]
    values: Array
    stats: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExactSearch:
    """Asks the text worker to answer a keyword query (syntax: docs/TOOLS.md)."""

    query: str
    match_type: MatchType | None = None
    limit: int = 15
    offset: int = 0
    filters: Filters = Filters()
    detail: Detail = "full"
    max_bytes: int = 80_000
    generation: int = 0


@dataclass(frozen=True, slots=True)
class ExactHits:
    """The answer to ExactSearch: best first, `chunks` the chunk JSON of each hit, `scores` in 0–1.

    `highlights[i]` are at most 3 fragments of hit i with <em> around matched terms, `highlight_lines[i]` their lines.
    """

    generation: int = 0
    match_type: MatchType = "exact"
    hits: tuple[Hit, ...] = ()
    scores: tuple[float, ...] = ()
    highlights: tuple[tuple[str, ...], ...] = ()
    highlight_lines: tuple[tuple[int, ...], ...] = ()
    total_found: int = 0
    truncated: bool = False
    suggestion: str = ""
    chunks: Blobs = ()


@dataclass(frozen=True, slots=True)
class Fetch:
    """Asks a vector or text worker for the JSON of the chunks with `keys`, cut to `detail` and `max_bytes`.

    `query` chooses the lines that "snippet" keeps.
    """

    keys: tuple[int, ...]
    detail: Detail = "full"
    max_bytes: int = 80_000
    query: str = ""
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Chunks:
    """One JSON object for each key of a Fetch, in its order; empty bytes where the key is not in this generation."""

    generation: int
    truncated: bool
    chunks: Blobs


@dataclass(frozen=True, slots=True)
class Place:
    """A chunk's `id`, or a file's `path` with a 1-based `line` (0: the whole file). A path may be longer or shorter than
    the file's in the index: the file that shares most of its last parts is meant.
    """

    path: str = ""
    line: int = 0
    id: str = ""


@dataclass(frozen=True, slots=True)
class Locate:
    """Asks a vector or text worker what lies at `places`, among the chunks that `filters` keep."""

    places: tuple[Place, ...]
    filters: Filters = Filters()
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Spot:
    """What lies at place number `place`: the chunk that covers the line, or the first of the file.

    `shared` is how many of the last parts of the two paths are the same, `whole` whether those are all of the shorter
    one. `file_rows`: chunks of the file. `symbols`: names that are defined there, those around the line if it is given.
    """

    place: int
    hit: Hit
    shared: int = 0
    whole: bool = True
    file_rows: int = 0
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Located:
    """The answer to Locate: the spots of each place, none where nothing is known of it, several where a path may be several
    files'. `vectors` float32 [spots, dimensions]: of the chunk, of a whole file their mean; 0 where there is none.
    """

    generation: int
    spots: tuple[Spot, ...]
    model: str
    vectors: Array


@dataclass(frozen=True, slots=True)
class GraphSearch:
    """Asks the graph worker about structure. `to` is for the operation path only; `scope` is a glob, "" for all files."""

    operation: GraphOperation
    target: str
    to: str = ""
    scope: str = ""
    exclude_patterns: tuple[str, ...] = ()
    include_context: bool = True
    context_lines: int = 3
    depth: int = 1
    max_results: int = 100
    max_per_level: int = 50
    generation: int = 0


@dataclass(frozen=True, slots=True)
class OutlineSearch:
    """Asks the graph worker for the symbols of a file or folder ("" for the whole project) in at most `max_bytes`."""

    path: str = ""
    max_bytes: int = 16_000
    generation: int = 0


@dataclass(frozen=True, slots=True)
class PatternSearch:
    """Asks the graph worker for the places in files of `language` that have the shape of `pattern` (ast-grep's syntax)."""

    pattern: str
    language: str
    paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    limit: int = 50
    generation: int = 0


@dataclass(frozen=True, slots=True)
class GraphHits:
    """The answer to GraphSearch, OutlineSearch and PatternSearch: `results` are JSON, `paths` the file that each was cut from.

    `target` is the id that was meant, "" when it is unknown or may be several: `candidates` are then ids to choose from;
    with a target they are what else its name might have meant.
    """

    generation: int = 0
    target: str = ""
    paths: tuple[str, ...] = ()
    total_found: int = 0
    truncated: bool = False
    suggestion: str = ""
    candidates: tuple[str, ...] = ()
    summary: dict[str, Any] = field(default_factory=dict)
    results: Blobs = ()


@dataclass(frozen=True, slots=True)
class Reload:
    """Event: generation `generation` is published. A hint only; the file CURRENT is the truth."""

    generation: int


Message = (
    Failure
    | GetStatus
    | Status
    | Embed
    | Embedded
    | VectorSearch
    | TextSignals
    | Signals
    | ExactSearch
    | ExactHits
    | Fetch
    | Chunks
    | Locate
    | Located
    | GraphSearch
    | OutlineSearch
    | PatternSearch
    | GraphHits
    | Reload
)
