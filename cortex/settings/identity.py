"""Which project a folder belongs to, for what is remembered: the folder that git keeps it in, so
that all worktrees of a repository are one. git itself is not asked.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from cortex.system import files

#: bytes of a file of git's that names another: one path
POINTER_BYTES_MAX = 8_192
#: characters of the name that an identity begins with; the column holds 64
NAME_CHARS = 40


def identity_of(root: Path) -> str:
    """`<name>-<16 hex digits>`, the same for every worktree of a repository and every folder in it;
    without git for this folder alone.
    """
    common = _common_folder(root) or root
    named = common.parent if common.name == ".git" else common
    name = re.sub(r"[^\w.-]+", "-", named.name, flags=re.ASCII)[:NAME_CHARS].strip(".-")
    return f"{name or 'project'}-{hashlib.sha256(os.fsencode(common)).hexdigest()[:16]}"


def _common_folder(root: Path) -> Path | None:
    for folder in (root, *root.parents):
        place = folder / ".git"
        if place.is_dir():
            return Path(os.path.realpath(place))
        if place.is_file():
            return _of_worktree(place) or folder
    return None


def _of_worktree(place: Path) -> Path | None:
    """The common folder of the worktree that the file `place` makes; None for anything else.

    A folder can come with a `.git` that names anybody's repository: it belongs there only when that
    repository names it, too.
    """
    told = _read(place)
    if not told.startswith("gitdir:"):
        return None
    own = Path(os.path.realpath(place.parent / told.removeprefix("gitdir:").strip()))
    common, back = _read(own / "commondir"), _read(own / "gitdir")
    if not common or not back:
        return None  # a submodule, or damaged
    if os.path.realpath(own / back) != os.path.realpath(place):
        return None
    return Path(os.path.realpath(own / common))


def _read(path: Path) -> str:
    try:
        return os.fsdecode(files.read_plain(path, POINTER_BYTES_MAX)).strip()
    except OSError:
        return ""
