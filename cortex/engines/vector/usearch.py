"""Vector search over the rows of a generation: an exact scan, and above a bound a usearch HNSW
index beside it.

Scores are cosines. Every answer is exact for the rows that it names: HNSW proposes, the scan
decides. Ties are broken by chunk id, so the same question to the same generation has the same
answer.
"""

from __future__ import annotations

import logging
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

import numkong
import numpy as np
from usearch.index import Index

from cortex.generation.candidates import tell
from cortex.generation.read import Rows
from cortex.system import files
from ipc.arrays import Array
from ipc.errors import BadRequest, Damaged, NotReady
from ipc.messages import Signals, VectorSearch

log = logging.getLogger(__name__)

#: a filter that keeps less than this share of the rows is answered by scanning them
SELECTIVE_SHARE = 0.05
#: HNSW connectivity and effort; 100 000 rows: recall@10 above 0.99 after exact re-scoring
CONNECTIVITY, EXPANSION_ADD, EXPANSION_SEARCH = 16, 128, 128
#: rows of the sample for mean and deviation of the cosines when not all are scanned
SAMPLE_ROWS = 4096
#: neighbours that HNSW is asked for at most, 2 µs each: where the rows that a filter keeps are far
#: from the question, it would go through all
WALKED_MAX = 8192
LIMIT_MAX = 1000
#: bytes that are read at once to check a file
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """When the HNSW index is used, and when the next one is due."""

    #: live rows up to which everything is scanned: 50 000 × 384 float16 take 3–5 ms on one core
    scan_rows_max: int = 50_000
    #: a new index is built when this share of the rows is not in the last one
    uncovered_share_max: float = 0.2


@dataclass(frozen=True)
class VectorSnapshot:
    """One generation, opened for vector search. Frozen."""

    rows: Rows
    has_vector: Array  #: bool [n]
    hnsw: Index | None
    #: highest row key that the HNSW index was built from; later rows are scanned
    watermark: int
    limits: Limits = Limits()
    #: whether vectors that name no model count as those of the questions' one: the built-in model
    #: never made them, a server that was configured may have
    takes_unnamed: bool = True

    def search(self, request: VectorSearch) -> Signals:
        """The `limit` live, matching rows nearest to the query; names ("cosine", *ABOUT).

        `stats`: `cosine_mean` and `cosine_std` over matching rows (a sample of them when the HNSW
        index answered), `rows` with a vector of the asked model, `left_out` without. Raises
        BadRequest for a vector of wrong size, NotReady when no row was embedded by `request.model`.
        """
        query = self._query(request)
        usable = self._usable(request.model)
        mask = self.rows.mask(request.filters) & usable
        wanted = min(max(request.limit, 1), LIMIT_MAX)
        matching = int(mask.sum())
        if (
            matching <= self.limits.scan_rows_max
            or self.hnsw is None
            or matching < SELECTIVE_SHARE * len(self.rows)
        ):
            walked = None
        else:
            walked = self._walk(query, mask, wanted)
        ordinals, scores, stats = walked or self._scan(query, mask, matching, wanted)
        stats |= {"rows": float(usable.sum()), "left_out": float(self.rows.live_count - usable.sum())}
        # Best first; equal scores by chunk id.
        found = zip(scores.tolist(), self.rows.ids(ordinals), range(len(ordinals)), strict=True)
        best = sorted(found, key=lambda one: (-one[0], one[1]))[:wanted]
        chosen = np.array([at for _, _, at in best], np.int64)
        return tell(self.rows, ordinals[chosen], ("cosine",), scores[chosen], stats)

    def _query(self, request: VectorSearch) -> Array:
        vector = np.asarray(request.vector, np.float32).ravel()
        if self.rows.dimensions and len(vector) != self.rows.dimensions:
            raise BadRequest(
                f"The query vector has {len(vector)} dimensions, the index has {self.rows.dimensions}; "
                "they must come from the same embedder."
            )
        norm = float(np.linalg.norm(vector))
        return vector / norm if norm else vector

    def _usable(self, model: str) -> Array:
        usable = self.rows.live & self.has_vector
        names = self.rows.names["model"]
        same = [at for at, name in enumerate(names) if self._agree(name, model)]
        if len(same) < len(names):
            usable = usable & np.isin(self.rows.columns["model"], same)
        if not usable.any() and bool((self.rows.live & self.has_vector).any()):
            named = ", ".join(name or "a model without a name" for name in names)
            raise NotReady(
                f"The index was embedded with {named}, questions with {model}; run `cortex index` to embed it anew. "
                "Chunk files of another program need its embedding server (CORTEX_EMBEDDING_ENDPOINT) and the name "
                "that they give its model (CORTEX_EMBEDDING_MODEL)."
            )
        return usable

    def _agree(self, name: str, model: str) -> bool:
        """Whether vectors of the model `name` may be compared with one of `model`."""
        return same_model(name, model) if name and model else self.takes_unnamed or name == model

    def _scan(
        self, query: Array, mask: Array, matching: int, wanted: int
    ) -> tuple[Array, Array, dict[str, float]]:
        if matching < SELECTIVE_SHARE * len(self.rows):
            ordinals = np.flatnonzero(mask)
            scores = self.rows.vectors(ordinals) @ query
            return *_head(ordinals, scores, wanted), _stats(scores)
        scores = self._cosines(query)
        ordinals = np.flatnonzero(mask)
        scores = scores[ordinals]
        return *_head(ordinals, scores, wanted), _stats(scores)

    def _cosines(self, query: Array, segments: slice = slice(None)) -> Array:
        """Cosine of every row of the segments with the query, float32 [rows];
        read in place from the mapped files.
        """
        half = query.astype(np.float16).reshape(1, -1)
        parts = [
            np.asarray(numkong.cdist(half, segment.arrays["vectors"], metric="dot"), np.float32).ravel()
            for segment in self.rows.segments[segments]
            if len(segment.arrays["keys"])
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def _walk(self, query: Array, mask: Array, wanted: int) -> tuple[Array, Array, dict[str, float]] | None:
        """Ask HNSW for more and more until twice `wanted` of them match; add the rows that it does
        not hold. None where too few of WALKED_MAX match: a scan is quicker then, and exact.
        """
        assert self.hnsw is not None
        fresh = np.flatnonzero(mask & (self.rows.keys > self.watermark))
        count = max(4 * wanted, 64)
        while True:
            found = self.hnsw.search(query.astype(np.float16), min(count, len(self.hnsw)))
            ordinals = self.rows.locate(np.asarray(found.keys, np.uint64).ravel())
            ordinals = ordinals[ordinals >= 0]
            ordinals = ordinals[mask[ordinals]]
            if len(ordinals) >= 2 * wanted or count >= len(self.hnsw):
                break
            count *= 2
            if count > max(WALKED_MAX, 4 * wanted):
                return None
        ordinals = np.unique(np.concatenate([ordinals, fresh]))
        scores = self.rows.vectors(ordinals) @ query
        matching = np.flatnonzero(mask)
        step = max(1, len(matching) // SAMPLE_ROWS)
        sample = self.rows.vectors(matching[::step]) @ query
        return *_head(ordinals, scores, wanted), _stats(sample)


def _head(ordinals: Array, scores: Array, wanted: int) -> tuple[Array, Array]:
    """The `wanted` best and all that tie with the last of them."""
    if len(scores) > wanted:
        cut = np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
        keep = scores >= cut
        return ordinals[keep], scores[keep]
    return ordinals, scores


def _stats(scores: Array) -> dict[str, float]:
    if not len(scores):
        return {"cosine_mean": 0.0, "cosine_std": 0.0}
    return {"cosine_mean": float(scores.mean()), "cosine_std": float(scores.std())}


def same_model(one: str, other: str) -> bool:
    """Whether two embedder identities (`name@content-hash`) name one vector space;
    an unknown hash agrees with any.
    """
    if one == other:
        return True
    (one_name, _, one_hash), (other_name, _, other_hash) = one.partition("@"), other.partition("@")
    return one_name == other_name and not (one_hash and other_hash)


def build_vectors(rows: Rows, folder: Path) -> str:
    """Build and persist the HNSW index of all live rows with a vector; returns its file name.

    Slow: ~20 s for 100 000.
    """
    has_vector = rows.column("has_vector").astype(bool)
    ordinals = np.flatnonzero(rows.live & has_vector)
    index = Index(
        ndim=rows.dimensions,
        metric="ip",
        dtype="f16",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
    )
    for batch in np.array_split(ordinals, max(1, len(ordinals) // 10_000)):
        index.add(rows.keys[batch], rows.vectors(batch).astype(np.float16), threads=1)
    watermark = int(rows.keys.max()) if len(rows) else 0
    files.make_folder(folder)
    new = folder / f"hnsw-{rows.generation:08d}.new"
    with files.replacing_by_name(new) as temporary:
        index.save(os.fspath(temporary))
    name = f"hnsw-{rows.generation:08d}-{watermark}-{_checksum(new):08x}.usearch"
    files.move(new, folder / name)
    return name


def check_vectors(path: Path) -> None:
    """Raises Damaged when the HNSW file is not there or not as it was written: its name holds its
    checksum, which usearch itself has none of. OSError when it cannot be read.
    """
    try:
        found = _checksum(path)
    except FileNotFoundError as error:
        raise Damaged(f"{path} does not exist.") from error
    if not path.stem.endswith(f"-{found:08x}"):
        raise Damaged(f"{path} fails its checksum.")


def _checksum(path: Path) -> int:
    found = 0
    with files.open_ours(path) as file:
        while block := file.read(_BLOCK_BYTES):
            found = zlib.crc32(block, found)
    return found


def open_vectors(
    rows: Rows, folder: Path, name: str = "", limits: Limits = Limits(), *, takes_unnamed: bool = True
) -> VectorSnapshot:
    """Open a generation for vector search; `name` is its HNSW file ("" for none), `takes_unnamed`
    as in VectorSnapshot.

    Raises Damaged when that is not as it was written. One that is, and still cannot be opened, is
    left out with a warning: the scan answers in its place.
    """
    hnsw: Index | None = None
    if name:
        check_vectors(folder / name)
        try:
            hnsw = _map(folder / name, rows.dimensions)
        except Exception as error:  # usearch raises its own and RuntimeError
            log.warning("the HNSW index %s cannot be opened (%s); scanning instead", name, error)
    return VectorSnapshot(
        rows=rows,
        has_vector=rows.column("has_vector").astype(bool),
        hnsw=hnsw,
        watermark=watermark_of(name) if hnsw is not None else 0,
        limits=limits,
        takes_unnamed=takes_unnamed,
    )


def _map(path: Path, dimensions: int) -> Index:
    # usearch 2.26 closes descriptor 0, a worker's life line, when the file is missing or empty,
    # which check_vectors has seen that it is not.
    index = Index(ndim=dimensions, metric="ip", dtype="f16", expansion_search=EXPANSION_SEARCH)
    index.view(os.fspath(path))
    return index


def watermark_of(name: str) -> int:
    """The highest row key that the HNSW file `name` was built from; 0 for no file."""
    return int(name.split("-")[2]) if name else 0
