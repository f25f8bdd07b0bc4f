"""Checkouts of git in a project: the files that git tracks, the rules of a whole checkout, and the
folders below it that are no part of it.
"""

import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from cortex.indexer.rules import Rules, common_rules, rules_between
from cortex.system import files, git, git_files

#: the file of a worktree or submodule in place of a `.git` folder
GIT_LINK = ".git"
#: checkouts whose index is kept
KEPT_MAX = 256
#: the reasons of folders that are left out
GIT_FOLDER = "git's own folder"
WORKTREE = "another worktree of this repository"
CLONE = "a clone of another repository, no submodule"

_lists: OrderedDict[tuple[str, str], tuple[tuple[int, ...], git.Tracked]] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Checkout:
    """A checkout that contains the project or lies in it. `depth` and `prefix` make a path relative
    to the project's root relative to the checkout's top, as in `Rules`.
    """

    top: Path
    folder: Path
    common: Path
    folds: bool
    depth: int = 0
    prefix: str = ""

    def tracks(self, path: str) -> bool:
        """Whether git tracks the file, or any file below a folder, which ends in `/`."""
        return self._tracked().has(self._relative(path))

    def is_submodule(self, path: str) -> bool:
        """Whether a folder (without `/`) is a submodule, by git or else by .gitmodules."""
        tracked, relative = self._tracked(), self._relative(path)
        if not tracked.fault:
            return os.fsencode(relative) in tracked.links
        modules = git_files.read_config(self.top / ".gitmodules")
        return any(name.endswith(".path") and value.strip("/") == relative for name, value in modules)

    @property
    def fault(self) -> str:
        """The reason why git does not tell which files it tracks; "" if it does."""
        return self._tracked().fault

    @property
    def tracked_paths(self) -> object:
        """A value that differs once git tracks other files."""
        tracked = self._tracked()
        return tracked.paths, tracked.links, tracked.fault

    def rules(self, root: Path) -> tuple[Rules, ...]:
        """Return the rules of folders above the root, of `info/exclude`, of the user."""
        common = common_rules(self.common, prefix=self.prefix, depth=self.depth, folds=self.folds)
        between = rules_between(self.top, root, folds=self.folds) if self.prefix else ()
        return (*between, *common)

    def _relative(self, path: str) -> str:
        return self.prefix + path[self.depth :]

    def _tracked(self) -> git.Tracked:
        """Return git's list; git is asked again only when the index changed."""
        try:
            mark = git_files.identity(self.folder / "index")
            is_there = self.folder.is_dir()
        except (OSError, ValueError):  # a link file with another text than a path
            mark, is_there = (), False
        if not is_there:
            return git.Tracked(fault=f"{self.top / GIT_LINK} names no folder of git")
        key = str(self.top), str(self.folder)
        with _lock:
            entry = _lists.get(key)
            if entry is None or entry[0] != mark:
                entry = mark, self._ask(mark)
                _lists[key] = entry
                while len(_lists) > KEPT_MAX:
                    _lists.popitem(last=False)
            _lists.move_to_end(key)
        return entry[1]

    def _ask(self, mark: tuple[int, ...]) -> git.Tracked:
        if not mark:
            return git.Tracked()  # before the first `git add`
        is_ours = not any(map(git_files.belongs_to_another, (self.top, self.folder)))
        if not is_ours and not git_files.is_safe(self.top):
            return git.Tracked(fault="it belongs to another user (`git config --global safe.directory`)")
        return git.list_index(self.top, self.folder)


def checkout_around(root: Path) -> Checkout | None:
    """Return the checkout that contains a folder; None without one."""
    top = next((folder for folder in (root, *root.parents) if (folder / GIT_LINK).exists()), None)
    if top is None:
        return None
    return _checkout(top, prefix=f"{root.relative_to(top).as_posix()}/" if root != top else "")


def checkout_in(root: Path, path: str) -> Checkout:
    """Return the checkout whose top is the folder `path` below the project's root."""
    return _checkout(root / path, depth=len(path) + 1)


def _checkout(top: Path, *, depth: int = 0, prefix: str = "") -> Checkout:
    folder = Path(os.path.realpath(git_files.git_dir(top)))
    common = Path(os.path.realpath(git_files.common_dir(folder)))
    return Checkout(top, folder, common, git_files.folds_case(common), depth, prefix)


def is_checkout(folder: Path) -> bool:
    """Whether a folder below a project is the top of a checkout: its `.git` is a repository, or
    leads to one, which may be gone if it is a worktree's or a submodule's.
    """
    place = folder / GIT_LINK
    if place.is_dir():
        return (place / "HEAD").is_file()
    try:
        raw = files.read_plain(place, git_files.PATH_BYTES_MAX)
    except OSError:
        return False
    if not raw.startswith(b"gitdir: "):
        return False
    target = git_files.git_dir(folder)
    return target.is_dir() or target.parent.name == "worktrees" or "modules" in target.parts


def foreign_reason(root: Path, outer: Checkout | None, inner: Checkout) -> str:
    """Return the reason why the checkout `inner` is no part of the project; "" if it is: a
    submodule, or a clone in a folder without git around it.
    """
    is_worktree = inner.folder != inner.common
    if outer is None:
        return WORKTREE if is_worktree and inner.common.is_relative_to(root) else ""
    if is_worktree and inner.common == outer.common:
        return WORKTREE
    if outer.is_submodule(inner.top.relative_to(root).as_posix()):
        return ""
    if outer.fault and not is_worktree and "modules" in inner.folder.parts:
        return ""
    return CLONE
