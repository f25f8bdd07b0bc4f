"""What speaks for a file and against it: the values of the signals of docs/RANKING.md."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cortex.ranking.candidates import COLUMNS, Candidates, collect, shares
from cortex.ranking.names import Asked, Name, name_of
from cortex.system.arrays import Array
from cortex.terms.paths import EXAMPLE, FOREIGN, TEST, PathTraits, is_build, path_traits, superseded
from ipc.messages import Signals

#: the z-score of a cosine is divided by this, so that a good one is about 1 like the other signals
Z_SCALE = 4.0
#: bound of the z-score: a handful of rows has hardly any deviation
Z_MAX = 12.0
#: what a chunk's meaning adds at most to how much it speaks of a question, beside its words' 1
SPEAKING_Z_MAX = 1.5
#: what is left of the penalties when the question asks for tests or examples
ASKED_PENALTY = 0.25

#: paths of which is remembered what they say, less than a kilobyte each
_PATHS = 20_000

#: what a file's name and its folders' say to the question, both 0-1
NAMES = ("sshare", "folders")
#: float [3, 8]: of all that the file of a path may be, whether it is a test's, an example's,
#: somebody else's
_KINDS = np.array([[bool(kinds & one) for kinds in range(8)] for one in (TEST, EXAMPLE, FOREIGN)], float)
#: signals of some questions only, on top of the others
ON_TOP = ("cited", "asked")
#: all signals, in the order in which they are explained and added up
ORDER = (
    *("ctop3", "path", *NAMES, "defs", "comments", "defx", "smax", "refs", "test", "example"),
    *("document", "foreign", "superseded"),
    *ON_TOP,
)


@dataclass(frozen=True, slots=True)
class About:
    """What is worked out of a path once, whatever is asked of it."""

    said: PathTraits
    stem: Name
    folders: Name


@functools.lru_cache(_PATHS)
def about(path: str) -> About:
    said = path_traits(path)
    return About(said, name_of(said.stem), name_of(said.folders))


@dataclass(frozen=True, slots=True)
class Cosines:
    """The distribution that makes cosines comparable: `missing` stands for a chunk that the lane
    did not return.
    """

    mean: float
    deviation: float
    missing: float

    def z(self, cosines: Array) -> Array:
        if self.deviation <= 0:
            return np.zeros(len(cosines))
        return np.clip((cosines - self.mean) / self.deviation, -Z_MAX, Z_MAX) / Z_SCALE


def distribution(vector: Signals | None) -> Cosines:
    if vector is None or not len(vector):
        return Cosines(0.0, 0.0, 0.0)
    mean = vector.stats.get("cosine_mean", 0.0)
    missing = mean
    if len(vector) < vector.stats.get("rows", 0.0):
        # The lane was cut: what it left out lies between the mean and its last cosine.
        missing = (mean + float(vector.row("cosine").min())) / 2
    return Cosines(mean, vector.stats.get("cosine_std", 0.0), missing)


def tell_speaking(
    lanes: Sequence[Signals], paths: Collection[str]
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """(the row keys of the candidates in the files `paths`; how much each speaks of the question by
    itself: its share of the best BM25, plus its cosine as `smax` counts it, if that is good).
    """
    found = collect([signals for signals in lanes if len(signals)])
    if found is None:
        return (), ()
    cosines = distribution(next((signals for signals in lanes if "cosine" in signals.names), None))
    cosine = np.where(np.isnan(found.lane("cosine")), cosines.missing, found.lane("cosine"))
    speaking = shares(found.lane("body")) + np.clip(cosines.z(cosine), 0.0, SPEAKING_Z_MAX)
    own = np.array([path in paths for path in found.paths])[found.file]
    return tuple(found.keys[own].tolist()), tuple(speaking[own].tolist())


def values_of(question: str, asked: Asked, found: Candidates, smax: Array) -> dict[str, Array]:
    """Signal → its value for each file."""
    told = list(map(about, found.paths))
    said = [one.said for one in told]
    penalty = ASKED_PENALTY if asked.tests else 1.0
    test, example, foreign = _KINDS[:, [one.kinds for one in said]]
    best = dict(zip(COLUMNS, found.best(found.lanes), strict=True))
    body, defs = found.top("body", "defs")
    # Of an ordinary question they say nothing, and are not among what is explained.
    rare = {"cited": best["cited"]} if best["cited"].any() else {}
    if (kind := _asked(asked, found, body, best)) is not None:
        rare["asked"] = kind
    return {
        "ctop3": body,
        "path": shares(best["path"]),
        "sshare": np.array(asked.shares([one.stem for one in told])),
        "folders": np.array(asked.shares([one.folders for one in told])),
        "defs": defs,
        "comments": shares(_comments(found, best["comments"])),
        "defx": best["defx"],
        "smax": smax,
        "refs": shares(np.log1p(best["file_references"])),
        "test": penalty * test,
        "example": penalty * example,
        "document": (ASKED_PENALTY if asked.pages else penalty) * _alone(found),
        # its chunks are tagged as generated or vendored, or its path says so
        "foreign": np.fmax(best["foreign"], foreign),
        "superseded": np.array(superseded(said, question, found.projects), float),
        **rare,
    }


def _asked(asked: Asked, found: Candidates, body: Array, best: Mapping[str, Array]) -> Array | None:
    """Float [m]: what the text of a file says that is of the kind that the question asks for; None
    where it asks for neither. Nothing is defined there, and nothing refers to it.
    """
    if not (asked.build or asked.documents):
        return None
    pages: Array = body * _alone(found) if asked.documents else np.zeros(len(body))
    if not asked.build:
        return pages
    if asked.build_alone:  # what it does may stand in a remark or in its name alone
        body = np.maximum.reduce([body, shares(best["comments"]), shares(best["path"])])
    kind: Array = np.maximum(pages, body * np.array([is_build(path) for path in found.paths]))
    return kind


def _alone(found: Candidates) -> Array:
    """Float [m]: 1 for a file of which only documents were found, unless all candidates are
    documents.
    """
    alone = np.logical_and.reduceat(found.documents, found.starts)
    return np.zeros(len(alone)) if found.documents.all() else alone.astype(float)


def _comments(found: Candidates, best: Array) -> Array:
    """The comments' BM25 of each file, `best` of all its chunks. A document is all comment, which
    would count its text twice; so it has none, unless the candidates are documents only.
    """
    documents = found.documents
    if documents.all() or not documents.any():
        return best
    return found.best(np.where(documents, 0.0, found.lane("comments")))
