"""Other projects by name: those of the user's `projects.yml`, repositories that were cloned for
reading, installed packages.

Opens only that file; folders are only listed.
"""

import contextlib
import fnmatch
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from cortex.settings.config_files import read_settings
from cortex.settings.folders import dependencies
from cortex.settings.folders.home import cache_base, real, user_config, user_home
from cortex.system import files
from cortex.system.errors import Misconfigured
from cortex.terms.text.suggestions import hint_for

#: depth below the fixed part of a glob at which repositories are searched: `~/code/**` has
#: owner/name, and seldom a group above them
DEPTH_MAX = 4
#: folders that one glob opens; a home folder that was named by mistake has far more
FOLDERS_MAX = 5_000
#: keys of the file
FILE_KEYS = ("projects", "repo_globs")


@dataclass(frozen=True, slots=True)
class ProjectEntry:
    """A project. `read_only`: it is only read, and no memory is stored about it. `of`: the project
    that has it as installed packages.
    """

    name: str
    root: Path
    read_only: bool = False
    of: Path | None = None


def projects_file() -> Path:
    return user_config().with_name("projects.yml")


def clones_base() -> Path:
    """Return the folder of cloned repositories: `<host>/<owner>/<name>` below it."""
    return cache_base() / "clones"


def known_projects() -> dict[str, ProjectEntry]:
    """Return all projects by name: first those in the file, then repositories that its globs find,
    then clones, then installed packages. Missing folders are left out.

    Raises Misconfigured for a file that cannot be understood.
    """
    folders, globs = _read_file()
    projects = {name: ProjectEntry(name, root) for name, root in folders.items() if root.is_dir()}
    taken = {project.root for project in projects.values()}
    repositories = sorted({root for glob in globs for root in _repositories(glob)} - taken)
    for name, root in by_name(repositories).items():
        projects.setdefault(name, ProjectEntry(name, root))
    for name, root in _clones().items():
        projects.setdefault(name, ProjectEntry(name, root, read_only=True))
    for name, root, of in dependencies.read_notes():
        projects.setdefault(name, ProjectEntry(name, root, read_only=True, of=of))
    return projects


def is_clone(root: Path) -> bool:
    """Whether the project was cloned into the cache."""
    return ".." not in root.parts and root.is_relative_to(clones_base())


def is_read_only(root: Path) -> bool:
    """Whether the project is only read: no memory is stored about it."""
    return is_clone(root) or dependencies.is_noted(root)


def resolve_project(project: str | os.PathLike[str] | None) -> str | os.PathLike[str] | None:
    """Return the folder of a project that may be given by name; an existing folder counts as a
    path. Raises Misconfigured as `known_projects` does.
    """
    if not isinstance(project, str) or not project or Path(project).expanduser().is_dir():
        return project
    projects = known_projects()
    if project in projects:
        return projects[project].root
    suggestion = "" if os.path.dirname(project) else hint_for(project, projects)
    if suggestion:
        raise Misconfigured(f"No project is called {project!r}{suggestion}; `cortex projects` lists them.")
    return project


def _read_file() -> tuple[dict[str, Path], list[str]]:
    """(name → folder, globs). Raises Misconfigured."""
    path = projects_file()
    data = read_settings(Path(os.path.realpath(path)))
    if data is None:
        return {}, []
    if not isinstance(data, dict) or (set(data) - set(FILE_KEYS)):
        raise Misconfigured(f"{path} must hold `projects` (name: folder) and `repo_globs` (a list) alone.")
    folders, globs = data.get("projects") or {}, data.get("repo_globs") or []
    if not isinstance(folders, dict):
        raise Misconfigured(f"`projects` in {path} must be names with a folder each, as `shop: ~/code/shop`.")
    if not isinstance(globs, list):
        raise Misconfigured(f"`repo_globs` in {path} must be a list, as ['~/code/*'].")
    read = {name: real(_absolute(path, folder)) for name, folder in folders.items()}
    return read, [_absolute(path, glob) for glob in globs]


def _absolute(path: Path, written_path: Any) -> str:
    text = written_path if isinstance(written_path, str) else ""
    if text == "~" or text.startswith("~/"):
        text = user_home() + text[1:]
    if not os.path.isabs(text):
        raise Misconfigured(
            f"{written_path!r} in {path} is not a folder: write an absolute one, or one below ~."
        )
    return text


def _repositories(glob: str) -> Iterator[Path]:
    """Yield the folders with a `.git` that match a glob; `**` is any number of folders. Does not
    descend into a repository, and follows no link.
    """
    parts = PurePath(glob).parts
    fixed = next((at for at, component in enumerate(parts) if _is_pattern(component)), len(parts))
    base, patterns = real(os.path.join(*parts[:fixed])), parts[fixed:]
    waiting: list[tuple[Path, tuple[str, ...]]] = [(base, patterns)]
    for _ in range(FOLDERS_MAX):
        if not waiting:
            return
        folder, remaining = waiting.pop()
        inside = _folders(folder)
        if ".git" in inside:
            if not [pattern for pattern in remaining if pattern != "**"]:
                yield folder
            continue
        if len(folder.parts) - len(base.parts) < DEPTH_MAX:
            waiting += [
                (folder / name, left) for name in inside for left in _remaining_patterns(remaining, name)
            ]


def _remaining_patterns(patterns: tuple[str, ...], name: str) -> Iterator[tuple[str, ...]]:
    """Yield the patterns that remain inside a folder with this name, for each way to match it."""
    if not patterns or name.startswith("."):
        return
    if patterns[0] == "**":
        yield patterns
        yield from _remaining_patterns(patterns[1:], name)
    elif fnmatch.fnmatchcase(name, patterns[0]):
        yield patterns[1:]


def _is_pattern(component: str) -> bool:
    return any(mark in component for mark in "*?[")


def _folders(folder: Path) -> list[str]:
    """List the folders in `folder`, and a worktree's `.git`, which is a file."""
    with contextlib.suppress(OSError):
        entries = files.entries(folder)
        return sorted(n for n, info in entries.items() if stat.S_ISDIR(info.st_mode) or n == ".git")
    return []


def by_name(roots: Sequence[Path]) -> dict[str, Path]:
    """Return the roots by name; equal names get the parent folder's name as prefix."""
    names = [root.name for root in roots]
    return {
        root.name if names.count(root.name) == 1 else f"{root.parent.name}/{root.name}": root
        for root in roots
    }


def _clones() -> dict[str, Path]:
    base = clones_base()
    clones = {
        f"{host}/{owner}/{name}": base / host / owner / name
        for host in _folders(base)
        for owner in _folders(base / host)
        for name in _folders(base / host / owner)
        if not name.startswith(".") and ".git" in _folders(base / host / owner / name)
    }
    short = [full_name.partition("/")[2] for full_name in clones]
    return {
        full_name.partition("/")[2] if short.count(full_name.partition("/")[2]) == 1 else full_name: root
        for full_name, root in clones.items()
    }
