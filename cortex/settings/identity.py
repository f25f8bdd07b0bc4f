"""Identity of a project for memory: the folder with its git data, so that all worktrees of a
repository are one project; or its remote, if a person listed that. Does not run git.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection
from pathlib import Path

from cortex.system import files

#: largest git file that points to a folder, in bytes
POINTER_BYTES_MAX = 8_192
#: bytes of a repository's configuration that are read
CONFIG_BYTES_MAX = 65_536
#: characters of the name at the start of an identity; the column holds 64
NAME_CHARS = 40


def identity_of(root: Path, remotes: Collection[str] = ()) -> str:
    """Return `<name>-<16 hex digits>`, the same for every worktree of a repository and every folder
    in it; without git for this folder alone.

    It is also the same for all repositories with the same origin among `remotes`. Only a person may
    list remotes: a repository can claim any origin.
    """
    common = _common_folder(root)
    plain_remotes = {plain_remote(remote) for remote in remotes}
    if common and plain_remotes and (origin := _origin_in(common)) in plain_remotes:
        return _identity_name(origin.rpartition("/")[2], b"remote\0" + origin.encode())
    common = common or root
    place = common.parent if common.name == ".git" else common
    return _identity_name(place.name, os.fsencode(common))


def plain_remote(address: str) -> str:
    """Return a repository's address as host/owner/name, the same for all forms of its URL."""
    stripped = re.sub(r"^[a-z][a-z0-9+.-]*://", "", address.strip(), flags=re.IGNORECASE)
    host, mark, path = re.sub(r"^[^/@]*@", "", stripped).partition("/")
    if ":" in host:  # git@host:path, or a port
        host, _, more = host.partition(":")
        path = path if more.isdecimal() else f"{more}{mark}{path}"
    return f"{host.lower()}/{path.strip('/').removesuffix('.git')}"


def _identity_name(name: str, digest_input: bytes) -> str:
    plain = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII)[:NAME_CHARS].strip(".-")
    return f"{plain or 'project'}-{hashlib.sha256(digest_input).hexdigest()[:16]}"


def git_folder_of(root: Path) -> Path | None:
    """Return the folder with the git data of a folder, which its worktrees share; None without
    git.
    """
    common = _common_folder(root)
    return common if common is not None and common.name == ".git" else None


def origin_of(root: Path) -> str:
    """Return the origin of a folder's repository as host/owner/name, from its configuration; "" if
    it has none, and without git.
    """
    common = _common_folder(root)
    return _origin_in(common) if common else ""


def _origin_in(common: Path) -> str:
    """Return the origin in a repository's configuration; "" for none."""
    section, origin = "", ""
    for line in _read_text(common / "config", CONFIG_BYTES_MAX).splitlines():
        stripped = line.strip()
        if stripped.startswith("["):
            section = stripped.partition("]")[0].strip("[").replace(" ", "")
        elif section == 'remote"origin"' and stripped.partition("=")[0].strip() == "url":
            origin = plain_remote(stripped.partition("=")[2].strip().strip('"'))
    return origin


def _common_folder(root: Path) -> Path | None:
    for folder in (root, *root.parents):
        place = folder / ".git"
        if place.is_dir():
            return Path(os.path.realpath(place))
        if place.is_file():
            return _worktree_common(place) or folder
    return None


def _worktree_common(place: Path) -> Path | None:
    """Return the common folder of the worktree with the pointer file `place`; None for anything
    else.

    A folder can come with a `.git` file that points to any repository: it belongs there only if
    that repository points back.
    """
    pointer = _read_text(place)
    if not pointer.startswith("gitdir:"):
        return None
    git_dir = Path(os.path.realpath(place.parent / pointer.removeprefix("gitdir:").strip()))
    common, back = _read_text(git_dir / "commondir"), _read_text(git_dir / "gitdir")
    if not common or not back:
        return None  # a submodule, or damaged
    if os.path.realpath(git_dir / back) != os.path.realpath(place):
        return None
    return Path(os.path.realpath(git_dir / common))


def _read_text(path: Path, bytes_max: int = POINTER_BYTES_MAX) -> str:
    try:
        return os.fsdecode(files.read_plain(path, bytes_max)).strip()
    except OSError:
        return ""
