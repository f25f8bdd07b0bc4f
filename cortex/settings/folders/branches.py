"""The branch and the commit of a folder, from git's files, and the branches of its repository. Does
not run git. Imports only the standard library and modules of ours: hooks use it.
"""

import hashlib
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from cortex.settings.folders.identity import read_text, worktree_folders

#: bytes of the file of packed references that are read
PACKED_BYTES_MAX = 4 << 20
#: names of a repository's main branch, besides the one that its origin names
MAIN_NAMES = frozenset(("main", "master", "trunk"))
_REFERENCE, _HEADS, _ORIGIN = "ref:", "refs/heads/", "refs/remotes/origin/"
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Head:
    """The work tree around a folder, links resolved, else the folder itself; its branch, "" for a
    detached one and without git; its commit, "" if that is unknown; `common`: the folder with the
    references, None without git.
    """

    root: str
    branch: str = ""
    commit: str = ""
    common: Path | None = None

    @property
    def key(self) -> str:
        """16 hex digits for the work tree and its branch, or a detached commit."""
        return hashlib.sha256(f"{self.root}\0{self.branch or self.commit}".encode()).hexdigest()[:16]


def head_of(folder: Path) -> Head:
    real = Path(os.path.realpath(folder))
    for root in (real, *real.parents):
        place = root / ".git"
        if place.is_dir():
            return _read_head(root, place, place)
        if place.is_file():
            folders = worktree_folders(place)
            return _read_head(root, *folders) if folders else Head(str(root))
    return Head(str(real))


def on_branch(head: Head, branch: str) -> Head:
    """The head of the same work tree when it was on another branch; "HEAD": on none, "": as now."""
    if branch in ("", head.branch):
        return head
    return Head(head.root, "" if branch == "HEAD" else branch, "", head.common)


def handover_file(project: str, key: str) -> str:
    """The name of the file with the hand-over of a work tree and branch (`Head.key`)."""
    return f"{project}.{key}.md"


def briefing_file(project: str, branch: str) -> str:
    """The name of the file with the briefing of a branch that is not the main one."""
    key = hashlib.sha256(f"{project}\0{branch}".encode()).hexdigest()[:16]
    return f"{project}.{key}.md"


def existing(common: Path, branches: Collection[str]) -> tuple[str, ...]:
    """Those of the branches that the repository has."""
    loose = {branch for branch in branches if _loose_commit(common, _HEADS + branch)}
    if loose.issuperset(branches):
        return tuple(branches)
    packed = {line.partition(" ")[2] for line in _read_packed(common).splitlines()}
    return tuple(branch for branch in branches if branch in loose or _HEADS + branch in packed)


def main_branches(common: Path) -> frozenset[str]:
    """The names that the repository's main branch may have."""
    origin = read_text(common / _ORIGIN / "HEAD").removeprefix(_REFERENCE).strip()
    named = {origin.removeprefix(_ORIGIN)} if origin.startswith(_ORIGIN) else set[str]()
    return MAIN_NAMES | named


def _read_head(root: Path, git: Path, common: Path) -> Head:
    head = read_text(git / "HEAD")
    if not head.startswith(_REFERENCE):
        return Head(str(root), "", head if _COMMIT.fullmatch(head) else "", common)
    reference = head.removeprefix(_REFERENCE).strip()
    if not reference.startswith(_HEADS):
        return Head(str(root), "", "", common)
    return Head(str(root), reference.removeprefix(_HEADS), _commit_of(common, reference), common)


def _commit_of(common: Path, reference: str) -> str:
    """The commit of a reference, "" for none."""
    if loose := _loose_commit(common, reference):
        return loose
    match = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(reference)}$", _read_packed(common), re.MULTILINE)
    return match[1] if match else ""


def _loose_commit(common: Path, reference: str) -> str:
    """The commit in a reference's file; "" for none, and for a name that leads outside."""
    commit = "" if ".." in reference else read_text(common / reference)
    return commit if _COMMIT.fullmatch(commit) else ""


def _read_packed(common: Path) -> str:
    return read_text(common / "packed-refs", PACKED_BYTES_MAX)
