"""Vector search over the rows of a generation: usearch's exact search, above a bound its HNSW
index, and a scan where filters were set.

Scores are cosines. Scores are exact for every returned row: usearch proposes rows, float16 scores
them. Ties are broken by chunk id, so the same question to the same generation has the same answer.
"""

from __future__ import annotations

import logging
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cortex.engines.vector.file_centroids import FileCentroids
from cortex.engines.vector.quantized import QuantizedVectors, exact_search, quantize, quantize_query, spread
from cortex.generation.candidates import make_signals
from cortex.generation.read import Rows
from cortex.system import files
from cortex.system.arrays import Array
from cortex.system.dot_products import products
from cortex.system.errors import BadRequest, Damaged, NotReady
from cortex.system.process import allocator
from ipc.messages import Filters, Signals, VectorSearch

if TYPE_CHECKING:  # 8 MB, needed only with an HNSW index
    from usearch.index import Index

log = logging.getLogger(__name__)

#: a filter that keeps less than this share of the rows is answered by a scan of them
SELECTIVE_SHARE = 0.05
#: prefix of HNSW file names: vectors in a byte a number, as in `QuantizedVectors`. Their lengths
#: differ after rounding, so they are compared by angle
KIND = "hnsw8"
#: HNSW connectivity and effort; 47 000 rows: recall@10 0.9995 and @45 0.997 after exact re-scoring,
#: as with vectors of float16, which take 1.7 times as much memory and disk, and 1.4 times as long
CONNECTIVITY, EXPANSION_ADD, EXPANSION_SEARCH = 16, 128, 128
#: when less than one row in so many matches, of the segments with matches, all matching rows are
#: compared one by one: gathering one takes as long as scanning so many
GATHERED = 64
#: filters in the cache of a snapshot: 6 MB each with 345 000 rows
KEPT_MAX = 4
#: rows in the sample for the mean and deviation of cosines, when not all are scanned
SAMPLE_ROWS = 4096
#: most neighbours requested from HNSW, 2 µs each: when the rows that a filter keeps are far from
#: the question, the search would visit all
WALKED_MAX = 8192
LIMIT_MAX = 1000
#: values in a heap, of which only the highest is compared at first
HEAP = 64
#: bytes per read when a file is checked
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for the use of the HNSW index, and for building the next."""

    #: live rows up to which all are compared: 150 000 × 384 bytes take 4 ms on one core. HNSW takes
    #: 4 ms for so many or more, and minutes, 160 MB of memory and 80 MB of disk to build
    scan_rows_max: int = 150_000
    #: a new index is built when the last one lacks this share of the rows
    uncovered_share_max: float = 0.2


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """The way to scan rows as bytes: `places` are their places among the rows of the segments
    `which`, None for all of those rows. `which` None: compare the rows one by one.
    """

    which: tuple[int, ...] | None
    places: Array | None = None


@dataclass(frozen=True, slots=True)
class FilteredRows:
    """The rows that the filters of a question keep and that have a vector of its model."""

    usable: int  #: rows with such a vector, kept by the filters or not
    mask: Array  #: bool [rows]
    ordinals: Array  #: i64 [n], ascending
    fresh: Array  #: those of `ordinals` that HNSW lacks; empty without HNSW
    sample: Array  #: float16 [m, dimensions]: vectors of some of them, for HNSW
    #: the way to scan `ordinals`; with HNSW, `fresh`
    scan_plan: ScanPlan = ScanPlan(None)
    #: those of all `ordinals` if the filters keep every row with a vector, else None
    moments: Array | None = None


@dataclass(frozen=True)
class VectorSnapshot:
    """One generation, opened for vector search. Frozen."""

    rows: Rows
    has_vector: Array  #: bool [n]
    hnsw: Index | None
    quantized: QuantizedVectors
    #: highest row key in the HNSW index; later rows are scanned
    watermark: int
    limits: Limits = Limits()
    #: whether vectors without the name of a model count as the model's of the question: the
    #: built-in model never made them, a configured server may have
    takes_unnamed: bool = True
    filter_cache: dict[tuple[Filters, str], FilteredRows] = field(default_factory=dict)
    #: model of a question → centroids of the files
    centroids: dict[str, FileCentroids] = field(default_factory=dict)

    def search(self, request: VectorSearch) -> Signals:
        """The `limit` live, matching rows nearest to the query; names ("cosine", *ABOUT).

        `stats`: `cosine_mean` and `cosine_std` over matching rows (a sample of them when the HNSW
        index answered), `matching` of them, `rows` with a vector of the question's model,
        `left_out` without. With `alone` the rows are the same, but scored and ordered by the
        cosines of FileCentroids. Raises BadRequest for a vector of the wrong size, NotReady when no
        row was embedded by `request.model`.
        """
        query = self._query(request)
        filtered = self._filter_rows(request.filters, request.model)
        wanted = min(max(request.limit, 1), LIMIT_MAX)
        if self._uses_index(len(filtered.ordinals)):
            walked = self._search_index(query, filtered, wanted)
            plan = filtered.scan_plan if walked else self._plan_scan(filtered.ordinals)
        elif filtered.moments is not None and len(filtered.ordinals) > wanted:
            walked, plan = self._search_all(query, filtered, wanted, filtered.moments), filtered.scan_plan
        else:
            walked, plan = None, filtered.scan_plan
        ordinals, scores, stats = walked or self._scan(query, filtered.ordinals, plan, wanted)
        stats |= {"rows": float(filtered.usable), "left_out": float(self.rows.live_count - filtered.usable)}
        stats["matching"] = float(len(filtered.ordinals))
        best = self._order_by_score(ordinals, scores)[:wanted]
        ordinals, scores = ordinals[best], scores[best]
        if request.alone:
            scores = self._file_centroids(request.model).cosines(query, ordinals, scores)
            order = self._order_by_score(ordinals, scores)
            ordinals, scores = ordinals[order], scores[order]
        return make_signals(self.rows, ordinals, ("cosine",), scores, stats)

    def _file_centroids(self, model: str) -> FileCentroids:
        centroids = self.centroids.get(model)
        if centroids is None:
            centroids = self.centroids[model] = FileCentroids(self.rows, self._usable_rows(model))
        return centroids

    def _order_by_score(self, ordinals: Array, scores: Array) -> Array:
        """The order of `ordinals` by score, best first, i64 indices; ties by chunk id."""
        order = np.argsort(-scores, kind="stable")
        same = np.flatnonzero(np.diff(scores[order]) == 0)
        if len(same):
            tied = np.union1d(same, same + 1)
            ids = dict(zip(order[tied].tolist(), self.rows.ids(ordinals[order[tied]]), strict=True))
            ranked = sorted(ids, key=lambda at: (-scores[at], ids[at]))
            order[tied] = ranked
        return order

    def _uses_index(self, matching: int) -> bool:
        """Whether HNSW answers when so many rows match."""
        return (
            self.hnsw is not None
            and matching > self.limits.scan_rows_max
            and matching >= SELECTIVE_SHARE * len(self.rows)
        )

    def _query(self, request: VectorSearch) -> Array:
        vector = np.asarray(request.vector, np.float32).ravel()
        if self.rows.dimensions and len(vector) != self.rows.dimensions:
            raise BadRequest(
                f"The query vector has {len(vector)} dimensions, the index has {self.rows.dimensions}; "
                "they must come from the same embedder."
            )
        norm = float(np.linalg.norm(vector))
        return vector / norm if norm else vector

    def _filter_rows(self, filters: Filters, model: str) -> FilteredRows:
        """The rows that the filters keep, cached for the last few filters."""
        filtered = self.filter_cache.get((filters, model))
        if filtered is None:
            if len(self.filter_cache) >= KEPT_MAX:
                self.filter_cache.clear()
            filtered = self.filter_cache[filters, model] = self._compute_filtered(filters, model)
        return filtered

    def _compute_filtered(self, filters: Filters, model: str) -> FilteredRows:
        usable = self._usable_rows(model)
        mask = self.rows.mask(filters) & usable
        ordinals = np.flatnonzero(mask)
        fresh, sample = ordinals[:0], np.zeros((0, self.rows.dimensions), np.float16)
        if self._uses_index(len(ordinals)):
            fresh = ordinals[self.rows.keys[ordinals] > self.watermark]
            sample = self.rows.vectors(ordinals[:: max(1, len(ordinals) // SAMPLE_ROWS)])
        plan = self._plan_scan(fresh if self._uses_index(len(ordinals)) else ordinals)
        usable_count, moments = int(np.count_nonzero(usable)), None
        if not self._uses_index(len(ordinals)) and len(ordinals) == usable_count:
            absent = np.flatnonzero(self.has_vector & ~mask)
            if len(absent) < len(ordinals):
                moments = self.quantized.sum_moments(self.rows.vectors(absent))
        return FilteredRows(usable_count, mask, ordinals, fresh, sample, plan, moments)

    def _usable_rows(self, model: str) -> Array:
        usable = self.rows.live & self.has_vector
        names = self.rows.names["model"]
        same = [at for at, name in enumerate(names) if self._models_agree(name, model)]
        if len(same) < len(names):
            usable = usable & np.isin(self.rows.columns["model"], same)
        if not usable.any() and bool((self.rows.live & self.has_vector).any()):
            model_names = ", ".join(name or "a model without a name" for name in names)
            raise NotReady(
                f"The index was embedded with {model_names}, questions with {model}; run `cortex index` to embed it anew. "
                "Chunk files of another program need its embedding server (CORTEX_EMBEDDING_ENDPOINT) and the name "
                "that they give its model (CORTEX_EMBEDDING_MODEL)."
            )
        return usable

    def _models_agree(self, name: str, model: str) -> bool:
        """Whether vectors of the model `name` may be compared with vectors of `model`."""
        return same_model(name, model) if name and model else self.takes_unnamed or name == model

    def _search_all(
        self, query: Array, filtered: FilteredRows, wanted: int, moments: Array
    ) -> tuple[Array, Array, dict[str, float]]:
        """Ask usearch for the nearest of all rows; the exact cosine decides."""
        quantized = quantize_query(query)
        mask = None if len(filtered.ordinals) == len(filtered.mask) else filtered.mask
        ordinals = self.quantized.propose(quantized, wanted, mask)
        scores = _cosines(query, self.rows.vectors(ordinals))
        mean, deviation = spread(moments, len(filtered.ordinals), quantized)
        return *_best_with_ties(ordinals, scores, wanted), {"cosine_mean": mean, "cosine_std": deviation}

    def _scan(
        self, query: Array, ordinals: Array, plan: ScanPlan, wanted: int
    ) -> tuple[Array, Array, dict[str, float]]:
        ordinals, cosines = self._nearest_candidates(query, ordinals, plan, wanted)
        scores = _cosines(query, self.rows.vectors(ordinals))
        return *_best_with_ties(ordinals, scores, wanted), _stats(scores if cosines is None else cosines)

    def _plan_scan(self, ordinals: Array) -> ScanPlan:
        """The way to scan `ordinals`, which ascend."""
        starts = self.rows.starts
        ends = np.searchsorted(ordinals, starts)
        which = np.flatnonzero(np.diff(ends)).tolist()
        shift = np.concatenate([[0], np.cumsum([starts[at + 1] - starts[at] for at in which])]).astype(int)
        if len(ordinals) * GATHERED <= shift[-1]:
            return ScanPlan(None)
        if len(ordinals) == shift[-1]:
            return ScanPlan(tuple(which))
        places = [
            ordinals[ends[at] : ends[at + 1]] - (starts[at] - before)
            for at, before in zip(which, shift, strict=False)
        ]
        return ScanPlan(tuple(which), np.concatenate(places))

    def _nearest_candidates(
        self, query: Array, ordinals: Array, plan: ScanPlan, wanted: int
    ) -> tuple[Array, Array | None]:
        """(those of `ordinals`, which ascend, that may be among the `wanted` nearest or tie with
        them; the estimated cosines of all, None when too few to estimate).
        """
        if plan.which is None or len(ordinals) <= wanted:
            return ordinals, None
        cosines, off = self.quantized.estimate_cosines(query, plan.which)
        if plan.places is not None:
            cosines = cosines[plan.places]
        cut = highest(cosines, wanted)
        # A row whose estimate is `off` too low may be nearer than one whose estimate is `off` too
        # high.
        return ordinals[cosines >= cut - 2 * off], cosines

    def _search_index(
        self, query: Array, filtered: FilteredRows, wanted: int
    ) -> tuple[Array, Array, dict[str, float]] | None:
        """Ask HNSW for more and more neighbours until twice `wanted` match; add the rows that it
        lacks. None when too few of WALKED_MAX match: a scan is then faster, and exact.
        """
        assert self.hnsw is not None
        query_bytes = quantize(query[None])[0][0]
        count = max(4 * wanted, 64)
        while True:
            neighbours = self.hnsw.search(query_bytes, min(count, len(self.hnsw)))
            ordinals = self.rows.locate(np.asarray(neighbours.keys, np.uint64).ravel())
            ordinals = ordinals[ordinals >= 0]
            ordinals = ordinals[filtered.mask[ordinals]]
            if len(ordinals) >= 2 * wanted or count >= len(self.hnsw):
                break
            count *= 2
            if count > max(WALKED_MAX, 4 * wanted):
                return None
        ordinals = np.unique(
            np.concatenate(
                [ordinals, self._nearest_candidates(query, filtered.fresh, filtered.scan_plan, wanted)[0]]
            )
        )
        scores = _cosines(query, self.rows.vectors(ordinals))
        return *_best_with_ties(ordinals, scores, wanted), _stats(_cosines(query, filtered.sample))


def _cosines(query: Array, vectors: Array) -> Array:
    """Cosines of the query with each of `vectors` (float16 [n, dimensions]), float32 [n]."""
    return products(query.astype(np.float16), vectors)


def highest(values: Array, number: int) -> float:
    """The `number`th highest of `values` [n], 1 ≤ `number` ≤ n. With many values, only those are
    compared that reach the `number`th best maximum of the heaps: a tenth of the time.
    """
    heaps = len(values) // HEAP
    if heaps > number:
        tops = values[: heaps * HEAP].reshape(HEAP, heaps).max(axis=0)
        values = values[values >= np.partition(tops, heaps - number)[heaps - number]]
    return float(np.partition(values, len(values) - number)[len(values) - number])


def _best_with_ties(ordinals: Array, scores: Array, wanted: int) -> tuple[Array, Array]:
    """The `wanted` best rows and all that tie with the last of them."""
    if len(scores) > wanted:
        cut = highest(scores, wanted)
        keep = scores >= cut
        return ordinals[keep], scores[keep]
    return ordinals, scores


def _stats(scores: Array) -> dict[str, float]:
    if not len(scores):
        return {"cosine_mean": 0.0, "cosine_std": 0.0}
    return {"cosine_mean": float(scores.mean()), "cosine_std": float(scores.std())}


def same_model(name: str, other: str) -> bool:
    """Whether two embedder identities (`name@content-hash`) name one vector space; an unknown hash
    agrees with any.
    """
    if name == other:
        return True
    (one_name, _, one_hash), (other_name, _, other_hash) = name.partition("@"), other.partition("@")
    return one_name == other_name and not (one_hash and other_hash)


def build_vectors(rows: Rows, folder: Path) -> str:
    """Build and save the HNSW index of all live rows with a vector; return its file name.

    Slow: ~20 s for 100 000 rows.
    """
    from usearch.index import Index

    has_vector = rows.column("has_vector").astype(bool)
    ordinals = np.flatnonzero(rows.live & has_vector)
    index = Index(
        ndim=rows.dimensions,
        metric="cos",
        dtype="i8",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
    )
    for batch in np.array_split(ordinals, max(1, len(ordinals) // 10_000)):
        index.add(rows.keys[batch], quantize(rows.vectors(batch).astype(np.float32))[0], threads=1)
        allocator.release_mapped_files(folder.parent)  # of vectors that are not read again
    watermark = int(rows.keys.max()) if len(rows) else 0
    files.make_folder(folder)
    new = folder / f"{KIND}-{rows.generation:08d}.new"
    with files.replacing_by_name(new) as temporary:
        index.save(os.fspath(temporary))
    name = f"{KIND}-{rows.generation:08d}-{watermark}-{_checksum(new):08x}.usearch"
    files.move(new, folder / name)
    return name


def check_vectors(path: Path) -> None:
    """Compare the HNSW file with the checksum in its name: usearch itself has none.

    Raises Damaged when the file is missing or changed, OSError when it cannot be read.
    """
    try:
        checksum = _checksum(path)
    except FileNotFoundError as error:
        raise Damaged(f"{path} does not exist.") from error
    if not path.stem.endswith(f"-{checksum:08x}"):
        raise Damaged(f"{path} fails its checksum.")


def _checksum(path: Path) -> int:
    checksum = 0
    with files.open_ours(path) as file:
        while block := file.read(_BLOCK_BYTES):
            checksum = zlib.crc32(block, checksum)
    return checksum


def open_vectors(
    rows: Rows,
    folder: Path,
    name: str = "",
    limits: Limits = Limits(),
    *,
    takes_unnamed: bool = True,
    reuse: QuantizedVectors | None = None,
) -> VectorSnapshot:
    """Open a generation for vector search. `name`: its HNSW file ("" for none), `takes_unnamed` as
    in VectorSnapshot, `reuse` as in QuantizedVectors.

    Raises Damaged when the file is missing or changed. An intact file that cannot be opened is left
    out with a warning: the scan answers.
    """
    hnsw: Index | None = None
    if is_ours(name):
        check_vectors(folder / name)
        try:
            hnsw = _map_index(folder / name, rows.dimensions)
        except Exception as error:  # usearch raises its own and RuntimeError
            log.warning("the HNSW index %s cannot be opened (%s); scanning instead", name, error)
    quantized = QuantizedVectors(rows.segments, reuse)
    if hnsw is None and len(rows):  # else few questions compare all rows
        exact_search()
        quantized.make_tables()
    return VectorSnapshot(
        rows=rows,
        has_vector=rows.column("has_vector").astype(bool),
        hnsw=hnsw,
        quantized=quantized,
        watermark=watermark_of(name) if hnsw is not None else 0,
        limits=limits,
        takes_unnamed=takes_unnamed,
    )


def _map_index(path: Path, dimensions: int) -> Index:
    from usearch.index import Index

    # usearch 2.23 closes descriptor 0, by which a worker notices its parent's end, when the file is
    # missing or empty; check_vectors has excluded that.
    index = Index(ndim=dimensions, metric="cos", dtype="i8", expansion_search=EXPANSION_SEARCH)
    index.view(os.fspath(path))
    return index


def is_ours(name: str) -> bool:
    """Whether this version reads the HNSW file `name`; files of older versions have other names."""
    return name.startswith(f"{KIND}-")


def watermark_of(name: str) -> int:
    """The highest row key in the HNSW file `name`; 0 for no file."""
    return int(name.split("-")[2]) if name else 0
