"""Evidence for and against a file: the values of the signals of docs/RANKING.md."""

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cortex.ranking.candidates import COLUMNS, Candidates, collect, shares
from cortex.ranking.names import Name, QuestionProfile, name_of
from cortex.system.arrays import Array
from cortex.terms.paths import EXAMPLE, FOREIGN, TEST, PathTraits, is_build, path_traits, superseded
from ipc.messages import Signals

#: divisor of a cosine's z-score, so that a good one is about 1 like the other signals
Z_SCALE = 4.0
#: bound of the z-score: a handful of rows has hardly any deviation
Z_MAX = 12.0
#: largest part of a chunk's cosine in its relevance, besides 1 for its words
SPEAKING_Z_MAX = 1.5
#: remaining share of the penalties if the question asks for tests or examples
ASKED_PENALTY = 0.25

#: entries of the memo of paths, less than a kilobyte each
_PATHS = 20_000

#: signals of a file's name and of its folders' names, both 0-1
NAMES = ("sshare", "folders")
#: float [3, 8]: for each combination of class bits, whether it has TEST, EXAMPLE, FOREIGN
_KINDS = np.array([[bool(kinds & flag) for kinds in range(8)] for flag in (TEST, EXAMPLE, FOREIGN)], float)
#: signals of some questions only, in addition to the others
ON_TOP = ("cited", "asked")
#: all signals, in the order of explanation and summation
ORDER = (
    *("ctop3", "path", *NAMES, "defs", "comments", "defx", "smax", "refs", "test", "example"),
    *("document", "foreign", "superseded"),
    *ON_TOP,
)


@dataclass(frozen=True, slots=True)
class PathProfile:
    """Properties of a path that do not depend on the question."""

    description: PathTraits
    stem: Name
    folders: Name


@functools.lru_cache(_PATHS)
def describe_path(path: str) -> PathProfile:
    description = path_traits(path)
    return PathProfile(description, name_of(description.stem), name_of(description.folders))


def share_names(
    profile: QuestionProfile, paths: Iterable[str]
) -> tuple[list[PathTraits], list[float], list[float]]:
    """Return (the traits of each path; the share of its file's name in the question; the share of
    its folders' names). Both are cached, so they may be computed ahead.
    """
    profiles = list(map(describe_path, paths))
    stems = profile.shares([path_profile.stem for path_profile in profiles])
    folders = profile.shares([path_profile.folders for path_profile in profiles])
    return [path_profile.description for path_profile in profiles], stems, folders


@dataclass(frozen=True, slots=True)
class Cosines:
    """The distribution that makes cosines comparable; `missing`: for chunks that the lane lacks."""

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
        # The lane was cut: chunks left out lie between the mean and its last cosine.
        missing = (mean + float(vector.row("cosine").min())) / 2
    return Cosines(mean, vector.stats.get("cosine_std", 0.0), missing)


def score_candidates(
    lanes: Sequence[Signals], paths: Collection[str]
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return (the row keys of the candidates in the files `paths`; the relevance of each by itself:
    its share of the best BM25, plus its cosine as in `smax`, if that is good).
    """
    candidates = collect([signals for signals in lanes if len(signals)])
    if candidates is None:
        return (), ()
    cosines = distribution(next((signals for signals in lanes if "cosine" in signals.names), None))
    cosine = np.where(np.isnan(candidates.lane("cosine")), cosines.missing, candidates.lane("cosine"))
    speaking = shares(candidates.lane("body")) + np.clip(cosines.z(cosine), 0.0, SPEAKING_Z_MAX)
    selected = np.array([path in paths for path in candidates.paths])[candidates.file]
    return tuple(candidates.keys[selected].tolist()), tuple(speaking[selected].tolist())


def signal_values(
    question: str, profile: QuestionProfile, candidates: Candidates, smax: Array
) -> dict[str, Array]:
    descriptions, stems, folders = share_names(profile, candidates.paths)
    penalty = ASKED_PENALTY if profile.tests else 1.0
    test, example, foreign = _KINDS[:, [description.kinds for description in descriptions]]
    best = dict(zip(COLUMNS, candidates.best(candidates.lanes), strict=True))
    body, defs = candidates.top("body", "defs")
    # For an ordinary question they are left out, also from explanations.
    rare = {"cited": best["cited"]} if best["cited"].any() else {}
    if (kind := _kind_evidence(profile, candidates, body, best)) is not None:
        rare["asked"] = kind
    return {
        "ctop3": body,
        "path": shares(best["path"]),
        "sshare": np.array(stems),
        "folders": np.array(folders),
        "defs": defs,
        "comments": shares(_comment_scores(candidates, best["comments"])),
        "defx": best["defx"],
        "smax": smax,
        "refs": shares(np.log1p(best["file_references"])),
        "test": penalty * test,
        "example": penalty * example,
        "document": (ASKED_PENALTY if profile.pages else penalty) * _documents_alone(candidates),
        # its chunks are tagged as generated or vendored, or its path says so
        "foreign": np.fmax(best["foreign"], foreign),
        "superseded": np.array(superseded(descriptions, question, candidates.projects), float),
        **rare,
    }


def _kind_evidence(
    profile: QuestionProfile, candidates: Candidates, body: Array, best: Mapping[str, Array]
) -> Array | None:
    """Return float [m]: how well the text of a file of the requested kind (build file, document)
    matches; None if the question asks for neither. Such files have no definitions and no
    references.
    """
    if not (profile.build or profile.documents):
        return None
    pages: Array = body * _documents_alone(candidates) if profile.documents else np.zeros(len(body))
    if not profile.build:
        return pages
    if profile.build_alone:  # its purpose may be only in a comment or in its name
        body = np.maximum.reduce([body, shares(best["comments"]), shares(best["path"])])
    kind: Array = np.maximum(pages, body * np.array([is_build(path) for path in candidates.paths]))
    return kind


def _documents_alone(candidates: Candidates) -> Array:
    """Return float [m]: 1 for files with documents alone, unless all candidates are documents."""
    alone = np.logical_and.reduceat(candidates.documents, candidates.starts)
    return np.zeros(len(alone)) if candidates.documents.all() else alone.astype(float)


def _comment_scores(candidates: Candidates, best: Array) -> Array:
    """Return each file's BM25 of comments; `best` is over all its chunks. A document is all
    comment, which would count its text twice; so it gets 0, unless all candidates are documents.
    """
    documents = candidates.documents
    if documents.all() or not documents.any():
        return best
    return candidates.best(np.where(documents, 0.0, candidates.lane("comments")))
