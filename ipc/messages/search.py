"""Messages of the embed, the vector and the text worker."""

from dataclasses import dataclass
from typing import Literal

from msgspec import field

from cortex.system.arrays import Array
from ipc.messages.control import Blobs, Message, repeatable
from ipc.messages.signals import Hit

Mode = Literal["query", "passage"]
Detail = Literal["full", "snippet", "location"]
MatchType = Literal["exact", "phrase", "prefix", "fuzzy", "regex", "substring", "boolean"]


@repeatable
class Embed(Message, frozen=True):
    """Request to the embed worker for vectors of `texts`."""

    texts: tuple[str, ...]
    mode: Mode = "query"


class Embedded(Message, frozen=True):
    """Reply with `vectors` float32 [len(texts), dimensions], unit length; `model`: the embedder's
    identity.
    """

    model: str
    vectors: Array


@dataclass(frozen=True, slots=True)
class Filters:
    """Restrictions of a search; an empty one restricts nothing.

    Chunk types: any of; tags: all of; path globs: any of / none of; `within`: a folder's path.
    """

    chunk_types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    language: str = ""
    within: str = ""


@repeatable
class VectorSearch(Message, frozen=True):
    """Request to the vector worker for the `limit` chunks nearest to `vector` (float32
    [dimensions]).

    `model` must be the identity that the served rows were embedded with. `generation` 0 means the
    newest; another number must still be open there (NotReady if not). `alone`: there is no word
    search besides it, so the subject of a chunk's file counts, too.
    """

    vector: Array
    model: str
    limit: int
    filters: Filters = Filters()
    generation: int = 0
    alone: bool = False


@repeatable
class MeaningSearch(Message, frozen=True):
    """Request to the vector worker for the `limit` chunks nearest to the meaning of `query`.

    The worker embeds the query itself, which needs a quick embedder; `generation` and `alone` as in
    VectorSearch.
    """

    query: str
    limit: int
    filters: Filters = Filters()
    generation: int = 0
    alone: bool = False


@repeatable
class CountWords(Message, frozen=True):
    """Request to the text worker for the number of chunks with each word that TextSignals searches
    for `query`; with `keywords`, each word that ExactSearch scores, read as `match_type`.
    """

    query: str
    generation: int = 0
    keywords: bool = False
    match_type: MatchType | None = None


class WordCounts(Message, frozen=True):
    """Reply to CountWords: how many of `chunks` hold a word, by "field word". The sums over several
    projects tell each project how rare a word is in all of them.
    """

    generation: int = 0
    chunks: int = 0
    holding: dict[str, int] = field(default_factory=dict)


#: counts without any project
NO_COUNTS = WordCounts()


@repeatable
class Bring(Message, frozen=True):
    """Request to the text worker for the current generations of projects in the same store as its
    own, and to download the data needed to answer for them: for `within_s` seconds, after which the
    remainder is left for the next request.
    """

    projects: tuple[str, ...]
    within_s: float


class Brought(Message, frozen=True):
    """Reply to Bring, for each project: the generation that can be searched, 0 for none; its live
    rows; and the reason for none ("" otherwise).
    """

    generations: tuple[int, ...]
    rows: tuple[int, ...]
    why: tuple[str, ...]


@repeatable
class Among(Message, frozen=True):
    """Request to apply `request`, the frame of another message to this worker, to these generations
    of projects in one store as if they were one project. The reply is that message's; keys and
    paths in it begin with the index of their project in `projects`
    (cortex/ranking/multi_project.py).
    """

    projects: tuple[str, ...]
    generations: tuple[int, ...]
    request: Blobs


@repeatable
class Apart(Message, frozen=True):
    """As Among, but with a message for each project: `requests[i]` goes to project i alone; the
    data that they need is read at once. The reply is Answers.
    """

    projects: tuple[str, ...]
    generations: tuple[int, ...]
    requests: Blobs


@repeatable
class TextSignals(Message, frozen=True):
    """Request to the text worker for the ranking signals of a free-text `query`.

    The reply holds the best `limit` chunks of each lane. `counts`: of all projects that are
    searched together; without chunks, a word is as rare as in this project.
    """

    query: str
    limit: int
    filters: Filters = Filters()
    generation: int = 0
    counts: WordCounts = WordCounts()


@repeatable
class ExactSearch(Message, frozen=True):
    """Request to the text worker to answer a keyword query (syntax: docs/SEARCH.md).

    `lines` asks for so many matching lines, grouped, in place of chunks; 0 for chunks. `alike`: a
    line that occurs in several files may be returned once. `every`: for a reader of text, who wants
    each line or at least its number (ExactHits.places). `bare`: leave out the JSON of chunks,
    and suggestions for an empty result. `counts` as in TextSignals. `facets`: count all hits by
    language and folder.
    """

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
    every: bool = False
    facets: bool = False


class ExactHits(Message, frozen=True):
    """Reply to ExactSearch: best first, `chunks` the chunk JSON of each hit (empty if `bare`),
    `scores` in 0–1.

    `highlights[i]` are at most 3 fragments of hit i with <em> around matched terms,
    `highlight_lines[i]` their lines, 0 for a line of a view that is not in the file. `omitted`:
    reason of left-out lines → how many. `classes[i]`: sort keys of lines before scores, the least
    first; hits of several projects are merged by them. `places`: numbers of further lines, (path,
    numbers) each. `facets`: "languages" and "folders" → name → chunks that match.
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
    places: tuple[tuple[str, tuple[int, ...]], ...] = ()
    facets: dict[str, dict[str, int]] = field(default_factory=dict)


@repeatable
class Fetch(Message, frozen=True):
    """Request to a vector or text worker for the JSON of the chunks with `keys`.

    They are cut to `detail` and `max_bytes`; `query` selects the lines of a "snippet".
    """

    keys: tuple[int, ...]
    detail: Detail = "full"
    max_bytes: int = 80_000
    query: str = ""
    generation: int = 0


class Chunks(Message, frozen=True):
    """Reply to Fetch: a JSON object for each key, in its order; empty bytes for an unknown key."""

    generation: int
    truncated: bool
    chunks: Blobs


@dataclass(frozen=True, slots=True)
class Place:
    """A chunk's `id`, or a file's `path` with a 1-based `line` (0: the whole file).

    A path may be longer or shorter than the file's in the index: it means the file with the most
    equal last parts.
    """

    path: str = ""
    line: int = 0
    id: str = ""


@repeatable
class Show(Message, frozen=True):
    """Request to a vector or text worker for the lines that answer `query`, in and around the
    chunks with `keys` (best first, each with one of `scores`), within `max_bytes`.

    `limit`: number of entries; 0 lets their scores decide. `places`: lines that the question names.
    `found`: keys of all hits in these files, `speaking` the relevance of each (0-2.5). `chosen`:
    the caller selected by filters, so that repetitions are not left out. `names`: only the line of
    each chunk that declares it, whatever the query.
    """

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


class Shown(Message, frozen=True):
    """Reply to Show: the JSON of each entry, a chunk with only its used fields; `of`: the index of
    its key. `omitted`: reason of left-out keys → how many; `more`: `path:line` of the best files
    without an entry.
    """

    generation: int = 0
    truncated: bool = False
    entries: Blobs = ()
    of: tuple[int, ...] = ()
    omitted: dict[str, int] = field(default_factory=dict)
    more: tuple[str, ...] = ()


@repeatable
class Locate(Message, frozen=True):
    """Request to a vector or text worker for the chunks at `places`, among those that `filters`
    admit.

    `bare`: the chunks alone, without names and vectors.
    """

    places: tuple[Place, ...]
    filters: Filters = Filters()
    generation: int = 0
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Spot:
    """The chunk at place number `place`: the one that covers the line, or the first of the file.

    `shared` is the number of equal last parts of both paths, `whole` whether those are all of the
    shorter one. `file_rows`: chunks of the file. `symbols`: names defined there, around the line if
    it is given.
    """

    place: int
    hit: Hit
    shared: int = 0
    whole: bool = True
    file_rows: int = 0
    symbols: tuple[str, ...] = ()


class Located(Message, frozen=True):
    """Reply to Locate: the spots of each place.

    None for an unknown place, several if a path may mean several files. `vectors` float32 [spots,
    dimensions]: of the chunk, or the mean of a whole file; 0 if there is none.
    """

    generation: int
    spots: tuple[Spot, ...]
    model: str
    vectors: Array
