"""Operations on a name in a folder, for `cortex.system.files` alone: by the folder's descriptor, or
by its path on systems that open no folders (Windows).

With a descriptor nobody can put a link in the way meanwhile. With a path each step is checked
before, and the opened file is checked again: another writer of a folder on the way could still be
quicker, and in the user's own profile that is the user alone. On Windows an open file can be
neither replaced nor removed, so both are tried again for RETRY_S.
"""

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable

from cortex.system.hosts import WINDOWS, flags

Name = str | os.PathLike[str]
#: a folder, as its descriptor or its path
Folder = int | str

#: whether folders are given by their paths
BY_PATH = os.open not in os.supports_dir_fd
#: flags to open a folder on the way; O_PATH (Linux) needs no right to list it
STEP = flags("O_PATH", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC")
#: flags to open a folder that is listed
LIST = flags("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC")
#: flags to open a file; O_NONBLOCK does not wait for the writer of a pipe
FILE = flags("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT")
#: seconds of trying again while a file is open elsewhere, and between two tries
RETRY_S, RETRY_LOOK_S = 1.0, 0.01
#: seconds to remove a folder in which another thread makes files
TREE_S = 10.0
#: attribute bit of links, junctions and mounted folders (winnt.h)
_REPARSE_POINT = 0x400


def reach(path: str, how: int = STEP) -> Folder:
    """Open a folder by its absolute path, step by step. Raises OSError for a link on the way."""
    if BY_PATH:
        return _walk_to(path)
    parts = [component for component in path.split("/") if component]
    descriptor = os.open("/", how if not parts else STEP)
    for depth, component in enumerate(parts, 1):
        try:
            inner = os.open(component, how if depth == len(parts) else STEP, dir_fd=descriptor)
        except OSError as error:
            raise explain_error(error, descriptor, component, path) from error
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def _walk_to(path: str) -> str:
    drive, tail = os.path.splitdrive(path)
    at = drive + os.sep
    for component in tail.replace("\\", "/").split("/") if os.sep == "\\" else tail.split("/"):
        at = os.path.join(at, component)
        info = os.lstat(at)
        if is_link(info):
            raise _link_error(component, path)
        if not stat.S_ISDIR(info.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    return at


def is_link(info: os.stat_result) -> bool:
    """Whether it is a link, or Windows' junction or mounted folder."""
    return stat.S_ISLNK(info.st_mode) or bool(getattr(info, "st_file_attributes", 0) & _REPARSE_POINT)


def leave(folder: Folder) -> None:
    if isinstance(folder, int):
        os.close(folder)


def explain_error(error: OSError, folder: Folder, name: str, path: Name) -> OSError:
    """Return the error with the whole path, and with a remark if `name` is a link."""
    with contextlib.suppress(OSError):
        if is_link(stat_in(folder, name)):
            return _link_error(name, path)
    return OSError(error.errno, error.strerror, os.fspath(path))


def _link_error(name: str, path: Name) -> OSError:
    return OSError(errno.ELOOP, f"{name!r} is a link, and links are not followed", os.fspath(path))


def sync(folder: Folder, name: str) -> None:
    """Flush a file, or the names in a folder, to the disk; by a path only a file."""
    if isinstance(folder, str) and stat.S_ISDIR(stat_in(folder, name).st_mode):
        return
    # Windows flushes only descriptors that were opened for writing
    descriptor = open_in(folder, name, os.O_RDONLY if isinstance(folder, int) else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def stat_of(folder: Folder) -> os.stat_result:
    return os.stat(folder)


def stat_in(folder: Folder, name: str) -> os.stat_result:
    """Return the status of an entry; of a link the link's own."""
    if isinstance(folder, int):
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    return os.lstat(os.path.join(folder, name))


def open_in(folder: Folder, name: str, how: int, mode: int = 0o600) -> int:
    if isinstance(folder, int):
        return os.open(name, how | FILE, mode, dir_fd=folder)
    path = os.path.join(folder, name)
    with contextlib.suppress(FileNotFoundError):
        if is_link(os.lstat(path)):
            raise _link_error(name, path)
    descriptor = os.open(path, how | FILE, mode)
    if not os.path.samestat(os.lstat(path), os.fstat(descriptor)):
        os.close(descriptor)
        raise _link_error(name, path)
    return descriptor


def mkdir_in(folder: Folder, name: str) -> None:
    if isinstance(folder, int):
        os.mkdir(name, 0o700, dir_fd=folder)
    else:
        os.mkdir(os.path.join(folder, name), 0o700)


def chmod_in(folder: Folder, name: str, mode: int) -> None:
    if isinstance(folder, int):
        os.chmod(name, mode, dir_fd=folder)
    else:
        os.chmod(os.path.join(folder, name), mode)


def unlink_in(folder: Folder, name: str) -> None:
    if isinstance(folder, int):
        os.unlink(name, dir_fd=folder)
    else:
        retry_if_open(lambda: os.unlink(os.path.join(folder, name)))


def rmdir_in(folder: Folder, name: str) -> None:
    if isinstance(folder, int):
        os.rmdir(name, dir_fd=folder)
    else:
        os.rmdir(os.path.join(folder, name))


def remove_tree_in(folder: Folder, name: str) -> None:
    """Remove a folder with its content. Another thread may make and remove files in it meanwhile,
    as a library's merges do: it is removed again and again until it is gone, for TREE_S. Raises
    OSError, FileNotFoundError if it is missing.
    """
    until = time.monotonic() + TREE_S
    while True:
        try:
            _remove_tree_once(folder, name)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT) or time.monotonic() >= until:
                raise
            stat_in(folder, name)
            time.sleep(RETRY_LOOK_S)  # no event reports that the other thread has ended
        else:
            return


def _remove_tree_once(folder: Folder, name: str) -> None:
    import shutil  # half of the start time of a hook, which needs none of it

    if isinstance(folder, int):
        shutil.rmtree(name, dir_fd=folder)
    else:
        retry_if_open(lambda: shutil.rmtree(os.path.join(folder, name)))


def link_in(source: tuple[Folder, str], target: tuple[Folder, str]) -> None:
    """Make a hard link. Both folders are descriptors, or both paths."""
    (source_folder, old), (target_folder, new) = source, target
    if isinstance(source_folder, int) and isinstance(target_folder, int):
        os.link(old, new, src_dir_fd=source_folder, dst_dir_fd=target_folder, follow_symlinks=False)
    else:
        os.link(
            os.path.join(str(source_folder), old),
            os.path.join(str(target_folder), new),
            follow_symlinks=False,
        )


def replace_in(source: tuple[Folder, str], target: tuple[Folder, str]) -> None:
    """Rename over an existing file. Raises IsADirectoryError for a folder in the place of a file,
    on every system. Both folders are descriptors, or both paths.
    """
    (source_folder, old), (target_folder, new) = source, target
    if isinstance(source_folder, int) and isinstance(target_folder, int):
        os.replace(old, new, src_dir_fd=source_folder, dst_dir_fd=target_folder)
        return
    before, after = os.path.join(str(source_folder), old), os.path.join(str(target_folder), new)
    if os.path.isdir(after) and not os.path.isdir(before):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), after)
    retry_if_open(lambda: os.replace(before, after))


def set_moment(descriptor: int, path: Name, moment_ns: int) -> None:
    """Set the modification time of an open file."""
    os.utime(descriptor if os.utime in os.supports_fd else path, ns=(moment_ns, moment_ns))


def set_mode(descriptor: int, mode: int) -> None:
    """Set the rights of an open file, where the system has them."""
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode)


def retry_if_open(act: Callable[[], object], *, retries: bool = WINDOWS) -> None:
    """Run `act`, again while Windows refuses because another process has the file open."""
    until = time.monotonic() + (RETRY_S if retries else 0.0)
    while True:
        try:
            act()
        except PermissionError:
            if time.monotonic() >= until:
                raise
            time.sleep(RETRY_LOOK_S)  # no event reports that a file was closed
        else:
            return
