"""Locations of a sealed project's plain bytes: a private folder of a file system in memory."""

import functools
import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from cortex.system import files, hosts
from cortex.system.errors import Misconfigured
from cortex.system.folders.folder_faults import explain_folder
from cortex.system.folders.mounts import file_system

#: variables with the path of a master key file, and with the key itself; the second leaves the
#: environment as soon as it is read
FILE_VARIABLE, VARIABLE = "CORTEX_KEY_FILE", "CORTEX_KEY"
#: file systems in memory
IN_MEMORY = frozenset(("tmpfs", "ramfs"))
#: folder below the user's folder in memory, with a subfolder for each project
PLAIN = "plain"
#: folder of the notes about sealed projects, in that of the notes about keys
PROJECTS = "projects"
#: folder below the cache for plain bytes while they are served, without a file system in memory
ON_DISK = "served"
#: bytes that must be free for a project without sealed files yet; a small one takes some
FIRST_BYTES = 32 << 20
#: the folder on the disk that a person permitted, if any
_permitted: list[Path] = []
#: free space in multiples of the sealed size: during a merge, old and new segments exist
TIMES = 2


@dataclass(frozen=True, slots=True)
class SealedPlace:
    """The folders of one project: `store` is sealed, on the disk; `base` is in memory, and its
    `home` holds the plain files. `old`: the plain folder on the disk, from before sealing.
    """

    store: Path
    base: Path
    old: Path | None
    #: security.key_path
    key_path: str = ""
    #: the folder of the notes about all keys, which is in no cache; None: the one above `store`
    keys: Path | None = None
    #: whether the data cannot be made again: its key is never replaced
    is_lasting: bool = False

    @property
    def home(self) -> Path:
        return self.base / "home"


def sealed_base(cache: Path) -> Path:
    """Return the folder of all sealed folders, in the user's cache."""
    return cache / "sealed"


def sealed_place(cache: Path, root_id: str, old: Path, key_path: str, keys: Path) -> SealedPlace:
    """The folders of a project. Raises Misconfigured without a file system in memory."""
    store = sealed_base(cache) / root_id
    return SealedPlace(store, plain_of(store), old, key_path, keys)


def plain_of(store: str | Path) -> Path:
    """A sealed folder's plain one. Raises Misconfigured without a file system in memory."""
    return plain_base() / hashlib.sha256(os.fsencode(store)).hexdigest()[:16]


def is_sealed(cache: Path, root_id: str, keys: Path) -> bool:
    """Whether a project was sealed; it stays so until a person changes that. Its note in `keys`
    counts, for the cache may be deleted.
    """
    return os.path.lexists(project_note(keys, root_id)) or (sealed_base(cache) / root_id).is_dir()


def project_note(keys: Path, root_id: str) -> Path:
    """Return the path of the note that a project is sealed; it names its sealed folders."""
    return keys / PROJECTS / f"{root_id}.json"


def permit_disk(cache: Path) -> None:
    """Permit plain bytes below this folder on systems without a file system in memory, as a person
    configured.
    """
    _permitted[:] = [cache / ON_DISK / PLAIN]


def plain_base() -> Path:
    """The folder of this user's plain folders, in memory or, if permitted, on the disk."""
    on_disk = _permitted[0] if _permitted else None
    return _plain_base(os.environ.get("XDG_RUNTIME_DIR", ""), hosts.user_id(), on_disk)


def is_in_memory(base: Path) -> bool:
    """Whether a plain folder, existing or not, is in memory."""
    return file_system(base) in IN_MEMORY


def is_plain(path: Path) -> bool:
    """Whether a path is in a plain folder in memory."""
    try:
        return path.is_relative_to(plain_base())
    except Misconfigured:
        return False


@functools.lru_cache(maxsize=8)
def _plain_base(runtime: str, uid: int, on_disk: Path | None) -> Path:
    """Return the largest of the usual folders in memory, else the folder on the disk. In a sandbox
    our folder is bound, and nothing can be made next to it.
    """
    candidates = [path for path in ("/dev/shm", runtime, f"/run/user/{uid}") if os.path.isabs(path)]  # noqa: S108 - checked
    bases = [
        (shutil.disk_usage(path).total, Path(os.path.realpath(path)) / f"cortex-{uid}" / PLAIN)
        for path in dict.fromkeys(candidates)
        if os.path.isdir(path) and file_system(Path(os.path.realpath(path))) in IN_MEMORY
    ]
    bases = [(size, path) for size, path in bases if os.access(path.parents[1], os.W_OK) or path.is_dir()]
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
    """Raise Misconfigured if the sealed files would not fit in memory."""
    needed, free = max(FIRST_BYTES, TIMES * bytes_sealed), shutil.disk_usage(base).free
    if free < needed:
        raise Misconfigured(
            f"{base} has {_megabytes(free)} free, and the index needs {_megabytes(needed)} in memory while it is served "
            f"({TIMES} times its size, for merges): enlarge that tmpfs (`mount -o remount,size=…`; of a container "
            "--shm-size), or index less."
        )


def make_base(base: Path) -> None:
    """Make the folder, private on each level that is ours. Raises Misconfigured."""
    try:
        for folder in (base.parent.parent, base.parent, base):
            files.make_private(folder)
    except OSError as error:
        raise Misconfigured(explain_folder(Path(error.filename or base), error)) from error


def swaps() -> list[str]:
    """List the devices and files to which the system may write memory."""
    try:
        lines = files.read_plain("/proc/swaps", 65_536).decode(errors="replace").splitlines()[1:]
    except OSError:
        return []
    return [line.split()[0] for line in lines if line.strip()]


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.0f} MB"


#: form of a plain folder's name
NAME = re.compile(r"[0-9a-f]{16}")
