"""Folders inside an indexed project: they are served from the project's index through a filter, and
get no index of their own.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import orjson

from cortex.settings.folders import dependencies
from cortex.settings.folders.home import (
    PROJECT_FOLDER,
    cache_base,
    cache_home,
    is_sealed,
    private_dir,
    root_id,
    too_high,
)
from cortex.system import files

#: a larger manifest is not searched: such a folder gets an index of its own
MANIFEST_BYTES_MAX = 256 << 20


def enclosing_project(folder: Path) -> tuple[Path, str]:
    """Return (the root of the project that serves `folder`, the folder's path below that root; ""
    for the root itself).

    That project is the nearest folder above whose index holds files of `folder`, up to the root of
    the repository. `folder` is a project of its own if it has `.git` or `.cortex` or an index, or
    if it holds installed packages that a user added.
    """
    if _is_own(folder) or dependencies.is_noted(folder):
        return folder, ""
    for above in folder.parents:
        if too_high(above):
            break
        subfolder = folder.relative_to(above).as_posix()
        if _has_index_of(above, subfolder):
            return above, subfolder
        if _is_marked(above):
            break
    return folder, ""


def keep_own(folder: Path) -> None:
    """Give the folder an index of its own from now on. Raises Misconfigured."""
    private_dir(cache_home(folder, root_id(folder)))


def _is_own(folder: Path) -> bool:
    home = cache_home(folder, root_id(folder))
    return _is_marked(folder) or home.is_dir() or is_sealed(cache_base(), root_id(folder))


def _is_marked(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in (".git", PROJECT_FOLDER))


def _has_index_of(root: Path, subfolder: str) -> bool:
    """Whether `root` has an index with files below `subfolder`. A sealed index cannot be read and
    counts as one, lest a part of it is written unsealed.
    """
    manifests = [*_manifests(cache_home(root, root_id(root)))]
    if not manifests:
        return is_sealed(cache_base(), root_id(root))
    with contextlib.suppress(TypeError):  # a name that is not Unicode, which no index holds
        wanted = orjson.dumps(f"{subfolder}/").removesuffix(b'"')
        return any(wanted in raw for raw in manifests)
    return False


def _manifests(home: Path) -> Iterator[bytes]:
    """Yield the manifests, which list the files that were read, of each folder of chunk files."""
    with contextlib.suppress(OSError):
        for name in files.names(home):
            if name.startswith("manifest") and name.endswith(".json"):
                with contextlib.suppress(OSError):
                    yield files.read_ours(home / name, MANIFEST_BYTES_MAX)
