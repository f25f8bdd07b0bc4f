"""Where the plain bytes of a sealed project may be: in a private folder of a file system in
memory.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from cortex.system import files, hosts
from cortex.system.errors import Misconfigured
from cortex.system.mounts import file_system

#: the variables that name a file with the master key, and hold the key itself; the second leaves
#: the environment as soon as it is read
FILE_VARIABLE, VARIABLE = "CORTEX_KEY_FILE", "CORTEX_KEY"
#: file systems in memory
IN_MEMORY = frozenset(("tmpfs", "ramfs"))
#: below the user's folder there: one for each project
PLAIN = "plain"
#: below the cache, where plain bytes are while they are served if nothing is in memory
ON_DISK = "served"
#: bytes that have to be free for a project of which nothing is sealed yet: a small one takes some
FIRST_BYTES = 32 << 20
#: the folder on the disk that a person permitted, if one did
_permitted: list[Path] = []
#: how often what is sealed has to fit: while segments are merged, both are there
TIMES = 2


@dataclass(frozen=True, slots=True)
class SealedPlace:
    """One project's: `store` is its sealed folder on the disk, `base` its folder in memory, of
    which `home` is what was sealed. `old`: the plain folder on the disk, from before.
    """

    store: Path
    base: Path
    old: Path | None
    #: security.key_path
    key_path: str = ""
    #: the folder of all keys, where it is not the one that `store` is in. What is sealed there
    #: cannot be made anew: its key is never replaced
    keys: Path | None = None

    @property
    def home(self) -> Path:
        return self.base / "home"


def sealed_base(cache: Path) -> Path:
    """The folder of all sealed folders, in the user's cache."""
    return cache / "sealed"


def sealed_place(cache: Path, root_id: str, old: Path, key_path: str) -> SealedPlace:
    """Where the project is sealed, and plain. Raises Misconfigured where nothing is in memory."""
    store = sealed_base(cache) / root_id
    return SealedPlace(store, plain_of(store), old, key_path)


def plain_of(store: str | Path) -> Path:
    """The folder in memory of a sealed folder. Raises Misconfigured where nothing is in memory."""
    return plain_base() / hashlib.sha256(os.fsencode(store)).hexdigest()[:16]


def is_sealed(cache: Path, root_id: str) -> bool:
    """Whether a project was sealed once: it stays so until somebody says otherwise."""
    return (sealed_base(cache) / root_id).is_dir()


def permit_disk(cache: Path) -> None:
    """From here on plain bytes may lie below this folder, where nothing is in memory: a person said
    so.
    """
    _permitted[:] = [cache / ON_DISK / PLAIN]


def plain_base() -> Path:
    """The folder of all plain folders of this user, in memory, or on the disk where that is
    permitted.
    """
    on_disk = _permitted[0] if _permitted else None
    return _plain_base(os.environ.get("XDG_RUNTIME_DIR", ""), hosts.user_id(), on_disk)


def is_in_memory(base: Path) -> bool:
    """Whether a plain folder, or where it would be, is in memory."""
    return file_system(base) in IN_MEMORY


def is_plain(path: Path) -> bool:
    """Whether a path is in a plain folder in memory."""
    try:
        return path.is_relative_to(plain_base())
    except Misconfigured:
        return False


@functools.lru_cache(maxsize=8)
def _plain_base(runtime: str, uid: int, on_disk: Path | None) -> Path:
    """The largest of the usual ones, else the one on the disk. In a sandbox ours is bound, and
    nothing can be made beside it.
    """
    candidates = [path for path in ("/dev/shm", runtime, f"/run/user/{uid}") if os.path.isabs(path)]  # noqa: S108 - checked
    bases = [
        (shutil.disk_usage(path).total, Path(os.path.realpath(path)) / f"cortex-{uid}" / PLAIN)
        for path in dict.fromkeys(candidates)
        if os.path.isdir(path) and file_system(Path(os.path.realpath(path))) in IN_MEMORY
    ]
    existing = [(size, path) for size, path in bases if path.is_dir()]
    if on_disk and not existing and (not bases or on_disk.is_dir()):
        return on_disk
    if not bases:
        raise Misconfigured(
            "security.encrypt_index keeps plain bytes in memory alone, and neither /dev/shm nor $XDG_RUNTIME_DIR is a "
            "tmpfs here: mount one there, let them lie in a private folder on the disk while they are served "
            "(security.plain_runtime: true), or switch it off and use an encrypted disk."
        )
    return max(existing or bases)[1]


def check_room(base: Path, bytes_sealed: int) -> None:
    """Raises Misconfigured when what is sealed would not fit in memory."""
    needed, free = max(FIRST_BYTES, TIMES * bytes_sealed), shutil.disk_usage(base).free
    if free < needed:
        raise Misconfigured(
            f"{base} has {_megabytes(free)} free, and the index needs {_megabytes(needed)} in memory while it is served "
            f"({TIMES} times its size, for merges): enlarge that tmpfs (`mount -o remount,size=…`; of a container "
            "--shm-size), or index less."
        )


def make_base(base: Path) -> None:
    """The folder, private on each level that is ours. Raises Misconfigured."""
    try:
        for folder in (base.parent.parent, base.parent, base):
            files.make_private(folder)
    except OSError as error:
        raise Misconfigured(
            f"{error.filename or base} must be a real folder owned by you ({error.strerror or error}); move away what "
            "is there."
        ) from error


def swaps() -> list[str]:
    """Where the system may write memory to."""
    try:
        lines = files.read_plain("/proc/swaps", 65_536).decode(errors="replace").splitlines()[1:]
    except OSError:
        return []
    return [line.split()[0] for line in lines if line.strip()]


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.0f} MB"


#: of a plain folder's name
NAME = re.compile(r"[0-9a-f]{16}")
