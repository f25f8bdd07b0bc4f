"""Identity of a project for memory: the folder with its git data, so that all worktrees of a
repository are one project; or its remote, if a person listed that. Does not run git.
"""

import hashlib
import os
import re
from collections.abc import Collection
from pathlib import Path

from cortex.system import files
from cortex.system.git_files import read_config

#: largest git file that points to a folder, in bytes
POINTER_BYTES_MAX = 8_192
#: beginning of a pointer file
GITDIR = "gitdir: "
#: files of a git folder that hold its commits and their names
_HISTORY = ("HEAD", "objects", "packed-refs", "refs", "refs/heads")
#: characters of the name at the start of an identity; the column holds 64
NAME_CHARS = 40


def identity_of(root: Path, remotes: Collection[str] = ()) -> str:
    """Return `<name>-<16 hex digits>`, the same for every worktree of a repository and every folder
    in it; without git for this folder alone.

    It is also the same for all repositories with the same origin among `remotes`. Only a person may
    list remotes: a repository can claim any origin.
    """
    folder, common = _find_repository(root)
    plain_remotes = {plain_remote(remote) for remote in remotes}
    if common and plain_remotes and (origin := _read_origin(common)) in plain_remotes:
        return _identity_name(origin.rpartition("/")[2], b"remote\0" + origin.encode())
    common = common or folder
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
    return f"{plain_name(name)}-{hashlib.sha256(digest_input).hexdigest()[:16]}"


def plain_name(name: str) -> str:
    """Return a project's name as the start of an identifier."""
    return re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII)[:NAME_CHARS].strip(".-") or "project"


def birth_of(root: Path) -> str:
    """Return the moment of birth of the folder's own `.git`, in nanoseconds; of the folder if it
    has no such folder, as a worktree has none; "" if there is no folder.

    Another folder in this place, and a copy of this one, have another moment. Where the file system
    keeps none, it is the folder's inode, with a mark.
    """
    from cortex.system.folders.birth import folder_mark  # a hook has no time to load ctypes

    for folder in (root / ".git", root):
        if mark := folder_mark(folder):
            return mark.rpartition(":")[2]
    try:
        return f"inode {os.lstat(root).st_ino}"
    except OSError:
        return ""


def git_folder_of(root: Path) -> Path | None:
    """Return the git data of a folder, which its worktrees share; None without git."""
    _, common = _find_repository(root)
    return common if common is not None and common.name == ".git" else None


def origin_of(root: Path) -> str:
    """Return a repository's origin as host/owner/name from its configuration, or ""."""
    _, common = _find_repository(root)
    return _read_origin(common) if common else ""


def _read_origin(common: Path) -> str:
    address = dict(read_config(common / "config", includes_max=0)).get("remote.origin.url", "")
    return plain_remote(address) if address else ""


def _find_repository(root: Path) -> tuple[Path, Path | None]:
    """Return (the real folder with the nearest `.git` at or above `root`, the real folder with its
    git data); the second is None without proof that the repository is this folder's, and both are
    (`root`, None) without git.

    A `.git` that is a link proves nothing: an archive can bring one to any repository.
    """
    real_root = Path(os.path.realpath(root))
    for folder in (real_root, *real_root.parents):
        place = folder / ".git"
        if place.is_symlink():
            return folder, None
        if place.is_dir():
            return folder, place
        if place.is_file():
            folders = worktree_folders(place)
            return folder, folders[1] if folders else None
    return real_root, None


def is_own_history(root: Path) -> bool:
    """Whether the commits that git finds for a folder are of its own repository: a forged `.git`
    can lead git to any other. A submodule's are, if the repository around it has its data.
    """
    real_root = Path(os.path.realpath(root))
    for folder in (real_root, *real_root.parents):
        place = folder / ".git"
        if place.is_symlink():
            return False
        if place.is_dir():
            return not (
                os.path.lexists(place / "commondir") or any((place / name).is_symlink() for name in _HISTORY)
            )
        if place.is_file():
            pointer = _read_pointer(place)
            git_dir = (
                _real_folder(folder, pointer.removeprefix(GITDIR)) if pointer.startswith(GITDIR) else None
            )
            return worktree_folders(place) is not None or (
                git_dir is not None and _is_submodule(folder, git_dir)
            )
    return True  # git finds none


def _is_submodule(folder: Path, git_dir: Path) -> bool:
    around = (outer / ".git" for outer in folder.parents)
    folders = ((worktree_folders(place) or (place,))[0] for place in around if not place.is_symlink())
    return any(git_dir.is_relative_to(place / "modules") for place in folders)


def worktree_folders(place: Path) -> tuple[Path, Path] | None:
    """Return (the git folder of the worktree with the pointer file `place`, the one that all its
    worktrees share); None for anything else.

    A folder can come with a `.git` file that points to any repository: it belongs there only if
    the repository has a folder for this worktree, and that folder names this file. The three files
    are read as git reads them, blanks included, so that git cannot see another repository.
    """
    pointer = _read_pointer(place)
    if not pointer.startswith(GITDIR):
        return None
    git_dir = _real_folder(place.parent, pointer.removeprefix(GITDIR))
    if git_dir is None:
        return None
    common = _real_folder(git_dir, _read_pointer(git_dir / "commondir"))
    back = _real_folder(git_dir, _read_pointer(git_dir / "gitdir"))
    if common is None or back != place or git_dir.parent != common / "worktrees":
        return None  # also a submodule, or damaged
    return git_dir, common


def _real_folder(base: Path, pointer: str) -> Path | None:
    """Return the real path that a pointer in `base` names; None for no pointer, and for one with a
    NUL, where git would end the path.
    """
    return Path(os.path.realpath(os.path.join(base, pointer))) if pointer and "\0" not in pointer else None


def _read_pointer(path: Path) -> str:
    """Return a pointer file's content without line ends; "" if unreadable or too long."""
    try:
        raw = files.read_plain(path, POINTER_BYTES_MAX + 1)
    except OSError:
        return ""
    return os.fsdecode(raw.rstrip(b"\r\n")) if len(raw) <= POINTER_BYTES_MAX else ""


def read_text(path: Path, bytes_max: int = POINTER_BYTES_MAX) -> str:
    """Return the text of a small file without spaces around it; "" if it cannot be read."""
    try:
        return os.fsdecode(files.read_plain(path, bytes_max)).strip()
    except OSError:
        return ""
