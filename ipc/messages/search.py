"""What is asked of the embed, the vector and the text worker, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from cortex.system.arrays import Array
from ipc.messages.control import Blobs
from ipc.messages.signals import Hit

Mode = Literal["query", "passage"]
Detail = Literal["full", "snippet", "location"]
MatchType = Literal["exact", "phrase", "prefix", "fuzzy", "regex", "substring", "boolean"]


@dataclass(frozen=True, slots=True)
class Embed:
    """Asks the embed worker for vectors of `texts`."""

    repeatable = True

    texts: tuple[str, ...]
    mode: Mode = "query"


@dataclass(frozen=True, slots=True)
class Embedded:
    """`vectors` float32 [len(texts), dimensions], unit length; `model`: the embedder's identity."""

    model: str
    vectors: Array


@dataclass(frozen=True, slots=True)
class Filters:
    """Restricts a search; what is empty does not.

    Chunk types: any of; tags: all of; path globs: any of / none of; `within`: a folder's path.
    """

    chunk_types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    language: str = ""
    within: str = ""


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """Asks the vector worker for the `limit` chunks nearest to `vector` (float32 [dimensions]).

    `model` must be the identity that the served rows were embedded with. `generation` 0 means the
    newest; another number must still be open there (NotReady if not). `alone`: no words are asked
    beside it, so what the file of a chunk is about counts, too.
    """

    repeatable = True

    vector: Array
    model: str
    limit: int
    filters: Filters = Filters()
    generation: int = 0
    alone: bool = False


@dataclass(frozen=True, slots=True)
class MeaningSearch:
    """Asks the vector worker for the `limit` chunks nearest to what `query` means.

    It embeds the question itself, which only one with a quick embedder does; `generation` and
    `alone` as in VectorSearch.
    """

    repeatable = True

    query: str
    limit: int
    filters: Filters = Filters()
    generation: int = 0
    alone: bool = False


@dataclass(frozen=True, slots=True)
class CountWords:
    """Asks the text worker how many chunks hold each word that TextSignals of `query` looks for;
    `keywords`: each that ExactSearch of it scores, read as `match_type`.
    """

    repeatable = True

    query: str
    generation: int = 0
    keywords: bool = False
    match_type: MatchType | None = None


@dataclass(frozen=True, slots=True)
class WordCounts:
    """The answer to CountWords: of `chunks` so many hold a word, by "field word"; added up over the
    projects that are asked together it says to each how rare a word is in all of them.
    """

    generation: int = 0
    chunks: int = 0
    holding: dict[str, int] = field(default_factory=dict)


#: of no project
NO_COUNTS = WordCounts()


@dataclass(frozen=True, slots=True)
class Bring:
    """Asks the text worker what is current of projects in the Milvus where its own is, and to bring
    what it needs to answer for them: for `within_s` seconds, after which the rest is left for the
    next question.
    """

    repeatable = True

    projects: tuple[str, ...]
    within_s: float


@dataclass(frozen=True, slots=True)
class Brought:
    """The answer to Bring: of each project the generation that can be asked for, 0 where there is
    none, its live rows, and why there is none ("" where there is one).
    """

    generations: tuple[int, ...]
    rows: tuple[int, ...]
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Among:
    """Asks `request`, the frame of a question to this worker, of these generations of projects in
    one Milvus as if they were one project. The reply is its own: its keys begin with the place of
    their project in `projects`, and so do its paths (cortex/ranking/multi_project.py).
    """

    repeatable = True

    projects: tuple[str, ...]
    generations: tuple[int, ...]
    request: Blobs


@dataclass(frozen=True, slots=True)
class Apart:
    """As Among, but each project is asked the one of `requests` that is for it, by itself; what
    they read is read at once. The reply is Answers.
    """

    repeatable = True

    projects: tuple[str, ...]
    generations: tuple[int, ...]
    requests: Blobs


@dataclass(frozen=True, slots=True)
class TextSignals:
    """Asks the text worker for the ranking signals of a free-text `query`.

    The reply holds the best `limit` chunks of each lane. `counts`: of all projects that are asked
    together; without chunks a word is as rare as it is in this one.
    """

    repeatable = True

    query: str
    limit: int
    filters: Filters = Filters()
    generation: int = 0
    counts: WordCounts = WordCounts()


@dataclass(frozen=True, slots=True)
class ExactSearch:
    """Asks the text worker to answer a keyword query (syntax: docs/SEARCH.md).

    `lines` asks for so many lines in which it matches, grouped, in place of chunks; 0 for chunks.
    `alike`: a line that stands in several files may come once. `bare`: nobody reads the JSON of
    chunks, nor what would be suggested where nothing is found. `counts` as in TextSignals.
    """

    repeatable = True

    query: str
    match_type: MatchType | None = None
    limit: int = 15
    offset: int = 0
    filters: Filters = Filters()
    detail: Detail = "full"
    max_bytes: int = 80_000
    generation: int = 0
    lines: int = 0
    alike: bool = False
    bare: bool = False
    counts: WordCounts = WordCounts()


@dataclass(frozen=True, slots=True)
class ExactHits:
    """The answer to ExactSearch: best first, `chunks` the chunk JSON of each hit (none where nobody
    reads it), `scores` in 0–1.

    `highlights[i]` are at most 3 fragments of hit i with <em> around matched terms,
    `highlight_lines[i]` their lines, 0 for a line of a view that is none of the file's. `omitted`:
    why lines are left out, and how many. `classes[i]`: what of lines is compared before scores, the
    least first: hits of several projects are put in order by them.
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
    omitted: dict[str, int] = field(default_factory=dict)
    classes: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Fetch:
    """Asks a vector or text worker for the JSON of the chunks with `keys`.

    They are cut to `detail` and `max_bytes`; `query` chooses the lines that "snippet" keeps.
    """

    repeatable = True

    keys: tuple[int, ...]
    detail: Detail = "full"
    max_bytes: int = 80_000
    query: str = ""
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Chunks:
    """One JSON object for each key of a Fetch, in its order; empty bytes for an unknown key."""

    generation: int
    truncated: bool
    chunks: Blobs


@dataclass(frozen=True, slots=True)
class Place:
    """A chunk's `id`, or a file's `path` with a 1-based `line` (0: the whole file).

    A path may be longer or shorter than the file's in the index: the file that shares most of its
    last parts is meant.
    """

    path: str = ""
    line: int = 0
    id: str = ""


@dataclass(frozen=True, slots=True)
class Show:
    """Asks a vector or text worker for the lines that answer `query`, in and around the chunks with
    `keys` (best first, each with one of `scores`), as far as `max_bytes` goes.

    `limit`: entries that are wanted; 0 leaves it to what they are worth. `places`: lines that the
    question names. `found`: keys of all chunks of these files that were found, and how much each is
    `speaking` of the query (0-2.5). `chosen`: the asker selected by filters, nothing that says the
    same is left out. `names`: of each chunk only the line that says what it is, whatever the query.
    """

    repeatable = True

    keys: tuple[int, ...]
    scores: tuple[float, ...]
    query: str
    limit: int = 0
    places: tuple[Place, ...] = ()
    chosen: bool = False
    names: bool = False
    max_bytes: int = 6_000
    generation: int = 0
    found: tuple[int, ...] = ()
    speaking: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """The answer to Show: the JSON of each entry, a chunk with only what is used; `of`: the number
    of the key that it stands for. `omitted`: why keys have no entry → how many; `more`:
    `path:line` of the best files without one.
    """

    generation: int = 0
    truncated: bool = False
    entries: Blobs = ()
    of: tuple[int, ...] = ()
    omitted: dict[str, int] = field(default_factory=dict)
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Locate:
    """Asks a vector or text worker what lies at `places`, among the chunks that `filters` keep.

    `bare`: which chunks alone, without names and vectors.
    """

    repeatable = True

    places: tuple[Place, ...]
    filters: Filters = Filters()
    generation: int = 0
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Spot:
    """What lies at place number `place`: the chunk that covers the line, or the first of the file.

    `shared` is how many of the last parts of the two paths are the same, `whole` whether those are
    all of the shorter one. `file_rows`: chunks of the file. `symbols`: names that are defined
    there, those around the line if it is given.
    """

    place: int
    hit: Hit
    shared: int = 0
    whole: bool = True
    file_rows: int = 0
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Located:
    """The answer to Locate: the spots of each place.

    None where nothing is known of it, several where a path may be several files'. `vectors` float32
    [spots, dimensions]: of the chunk, of a whole file their mean; 0 where there is none.
    """

    generation: int
    spots: tuple[Spot, ...]
    model: str
    vectors: Array
