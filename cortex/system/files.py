"""The only module that opens, creates, replaces and removes files: of projects, of their folders in
the cache, of the runtime folder.

A clone can bring links, pipes and files of any size, so no function here follows a link at any step
of a path: callers resolve folders of the user first (`cache_base`, `find_root`). Only regular files
are opened, without waiting for the other end of a pipe, and reads are bounded. Changes are made
only in folders of this user; new files are 0600, new folders 0700, and temporary names are random
and new.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from cortex.system.folders import folder_operations
from cortex.system.folders.folder_operations import Folder
from cortex.system.hosts import user_id

# Some imports are local to functions: a hook of an agent's program imports this module for each
# event, and pathlib, shutil and secrets would be half of its time.
if TYPE_CHECKING:
    from pathlib import Path

Name = str | os.PathLike[str]

#: flags to create a file that must not exist
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
#: random bytes of a temporary name
_RANDOM_BYTES = 8
_LEFT = re.compile(rf"\..+\.[0-9a-f]{{{2 * _RANDOM_BYTES}}}\.tmp")
#: age in seconds from which on a temporary file has no writer any more
LEFT_S = 3600.0


def open_plain(path: Name) -> BinaryIO:
    """Open a regular file for reading, of any owner: a source, a file of another program.

    Raises OSError, also for a link on the way and for anything but a regular file.
    """
    return os.fdopen(_require_regular(_open_readable(_absolute(path)), path), "rb")


def open_ours(path: Name) -> BinaryIO:
    """As `open_plain`, for a file of this user: raises PermissionError for another's."""
    file = open_plain(path)
    try:
        _check_owner(file.fileno(), path)
    except OSError:
        file.close()
        raise
    return file


def read_plain(path: Name, bytes_max: int) -> bytes:
    """Read at most `bytes_max` bytes from the start of a file, opened as by `open_plain`.

    To tell a file that is too large from one that fits, ask for one byte more than fits. Raises
    OSError as `open_plain` does.
    """
    with open_plain(path) as file:
        return file.read(min(bytes_max, os.fstat(file.fileno()).st_size + 1))


def read_ours(path: Name, bytes_max: int) -> bytes:
    """Read a file opened by `open_ours`. Raises OSError as it does, and above `bytes_max` bytes."""
    with open_ours(path) as file:
        if os.fstat(file.fileno()).st_size > bytes_max:
            raise OSError(errno.EFBIG, f"More than {bytes_max} bytes", os.fspath(path))
        return file.read(bytes_max)


def entries(folder: Name) -> dict[str, os.stat_result]:
    """Return name → status of entries, of a link its own. Raises OSError as `open_plain`."""
    with _open_folder(folder) as directory, os.scandir(directory) as listing:
        listed: dict[str, os.stat_result] = {}
        for entry in listing:
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                listed[entry.name] = entry.stat(follow_symlinks=False)
        return listed


def names(folder: Name) -> list[str]:
    """Return the names in a folder. Raises OSError as `open_plain` does."""
    with _open_folder(folder) as directory:
        return os.listdir(directory)


@contextlib.contextmanager
def replacing(
    path: Name, *, sync: bool = False, mode: int | None = None, moment_ns: int | None = None
) -> Iterator[BinaryIO]:
    """Yield a new file that is renamed over `path` at the end of the `with`: readers see the old or
    the new one.

    `sync` flushes the file to the disk first, so that a power cut leaves no empty one. `mode` sets
    the rights of a file that others may read; by default only this user can. `moment_ns` sets the
    modification time, for a file that is restored. A folder at `path` is moved aside. If the body
    or the rename fails, the new file is removed, `path` stays as it was, and the exception goes on.
    Raises OSError.
    """
    with _own_parent(path) as (folder, name):
        temporary, descriptor = _create(folder, name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                if mode is not None:
                    folder_operations.set_mode(descriptor, mode)
                if sync or moment_ns is not None:
                    file.flush()
                if sync:
                    os.fsync(descriptor)
                if moment_ns is not None:
                    temporary_path = os.path.join(os.path.dirname(path), temporary)
                    folder_operations.set_moment(descriptor, temporary_path, moment_ns)
            _rename((folder, temporary), (folder, name), path)
        except BaseException:
            with contextlib.suppress(OSError):
                folder_operations.unlink_in(folder, temporary)
            raise


@contextlib.contextmanager
def replacing_by_name(path: Name) -> Iterator[Path]:
    """As `replacing`, for a library that writes to a path: yields that of a new, empty file."""
    folder, name = os.path.split(path)
    temporary = write_new(folder, name, b"")
    try:
        yield temporary
        move(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            remove(temporary)
        raise


def replace(path: Name, raw: bytes, *, sync: bool = False, mode: int | None = None) -> None:
    """Replace `path` by `raw` with one rename, as `replacing` does. Raises OSError."""
    with replacing(path, sync=sync, mode=mode) as file:
        file.write(raw)


def write_new(folder: Name, stem: str, raw: bytes | memoryview) -> Path:
    """Write a file with a new name in `folder`, to be moved to its place later. Raises OSError."""
    from pathlib import Path

    path = Path(folder, stem)
    with _own_parent(path) as (parent, name):
        temporary, descriptor = _create(parent, name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(raw)
        except BaseException:
            folder_operations.unlink_in(parent, temporary)
            raise
    return path.with_name(temporary)


def make_new_folder(folder: Name, stem: str) -> Path:
    """Make a folder with a new name in `folder` (0700). Raises OSError."""
    from pathlib import Path

    path = Path(folder, f".{stem}.{os.urandom(_RANDOM_BYTES).hex()}.tmp")
    make_private(path)
    return path


def link_to_all(paths: Iterable[Name], folder: Name) -> None:
    """Make symbolic links to files in `folder`, under their names: for a library that reads files
    by path and writes beside them. Raises OSError.
    """
    for path in paths:
        os.symlink(_absolute(path), os.path.join(_absolute(folder), os.path.basename(path)))


def create(path: Name, raw: bytes) -> None:
    """Write a file that must not exist. Raises OSError, FileExistsError if it does."""
    with _own_parent(path) as (folder, name):
        descriptor = folder_operations.open_in(folder, name, _NEW)
    with os.fdopen(descriptor, "wb") as file:
        file.write(raw)


def move(source: Name, target: Name) -> None:
    """Rename a file over another or to a new name, or a folder to a new name. Raises OSError."""
    with _own_parent(source) as (source_folder, old), _own_parent(target) as (target_folder, new):
        _rename((source_folder, old), (target_folder, new), target)


def overwrite(path: Name) -> int:
    """Return a descriptor that writes over the content of a file. Raises OSError."""
    with _own_parent(path) as (folder, name):
        return folder_operations.open_in(folder, name, os.O_WRONLY)


def sync(path: Name) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    with _parent_folder(path) as (folder, name):
        folder_operations.sync(folder, name)


def link(source: Name, target: Name) -> None:
    """Give a file of ours a second name. Raises OSError, also where there are no hard links."""
    with _own_parent(source) as (source_folder, old), _own_parent(target) as (target_folder, new):
        folder_operations.link_in((source_folder, old), (target_folder, new))


def link_all(names: Iterable[str], source: Name, target: Name) -> None:
    """As `link`, for the files `names` of a folder; links made before a failure stay."""
    with (
        _open_folder(source, folder_operations.STEP) as source_folder,
        _open_folder(target, folder_operations.STEP) as target_folder,
    ):
        _check_owner(source_folder, source)
        _check_owner(target_folder, target)
        for name in names:
            folder_operations.link_in((source_folder, name), (target_folder, name))


def remove(path: Name) -> None:
    """Remove a file, or a link itself; a missing file is no error. Raises OSError."""
    with contextlib.suppress(FileNotFoundError), _own_parent(path) as (folder, name):
        folder_operations.unlink_in(folder, name)


def remove_empty(folder: Name) -> None:
    """Remove an empty folder, nothing else. Raises OSError if its parent is another user's."""
    with _own_parent(folder) as (parent, name), contextlib.suppress(OSError):
        folder_operations.rmdir_in(parent, name)


def remove_tree(path: Name) -> None:
    """Remove a folder as `rm -r`, of a link the link; missing is no error. Raises OSError."""
    with contextlib.suppress(FileNotFoundError), _own_parent(path) as (folder, name):
        info = folder_operations.stat_in(folder, name)
        if not stat.S_ISDIR(info.st_mode):
            folder_operations.unlink_in(folder, name)
        elif info.st_uid == user_id():
            folder_operations.remove_tree_in(folder, name)
        else:
            raise PermissionError(errno.EPERM, "Belongs to another user", os.fspath(path))


def sweep(folder: Name, older_than_s: float = LEFT_S) -> None:
    """Remove temporary files that killed processes left in `folder`, as far as possible."""
    limit = time.time() - older_than_s
    with contextlib.suppress(OSError):
        left = [name for name in names(folder) if _LEFT.fullmatch(name)]
        for name, info in (entries(folder) if left else {}).items():
            if name in left and info.st_mtime < limit:
                with contextlib.suppress(OSError):
                    remove(os.path.join(folder, name))


def make_folder(path: Name, *, anywhere: bool = False) -> None:
    """Make a folder (0700) and its parents; with `anywhere` also in a folder of another user, as
    /tmp is. Raises OSError, also if the path exists and is a link or another user's.
    """
    parent = os.path.dirname(_absolute(path))
    if not os.path.lexists(parent):
        make_folder(parent, anywhere=anywhere)
    made_in = _parent_folder(path) if anywhere else _own_parent(path)
    with made_in as (folder, name), contextlib.suppress(FileExistsError):
        folder_operations.mkdir_in(folder, name)
    check_folder(path)


def check_folder(path: Name) -> None:
    """Check a folder for a library. Raises OSError: missing, another user's, behind a link."""
    with _open_folder(path, folder_operations.STEP) as folder:
        _check_owner(folder, path)


def make_private(path: Name) -> None:
    """As `make_folder` with `anywhere`, and deny others all rights to it. Raises OSError."""
    make_folder(path, anywhere=True)
    with _open_folder(path) as folder:
        if folder_operations.stat_of(folder).st_mode & 0o077:
            folder_operations.chmod_in(folder, ".", 0o700)


def reopen(tree: Name) -> None:
    """Give their owner back the right to read and write files and folders of ours in a tree, after
    a restored copy or a mistaken chmod. Links and files of other users stay. Raises OSError.
    """
    opened = hasattr(os, "fwalk")  # systems without fwalk have no such rights
    while opened:  # the content of a closed folder becomes visible once it is open
        opened = False
        for _, names, others, folder in os.fwalk(_absolute(tree), follow_symlinks=False):
            for name in (*names, *others):
                info = folder_operations.stat_in(folder, name)
                wanted = 0o700 if stat.S_ISDIR(info.st_mode) else 0o600
                is_plain = stat.S_ISDIR(info.st_mode) or stat.S_ISREG(info.st_mode)
                if is_plain and info.st_uid == user_id() and info.st_mode & wanted != wanted:
                    folder_operations.chmod_in(folder, name, stat.S_IMODE(info.st_mode) | wanted)
                    opened = opened or stat.S_ISDIR(info.st_mode)


def close_to_others(folder: Name) -> list[Path]:
    """Take all rights of others to a folder of ours and to its direct entries; return the paths
    that were open. Links and files of other users stay. Raises OSError.
    """
    from pathlib import Path

    closed = []
    with _open_folder(folder) as directory:
        for name in (".", *os.listdir(directory)):
            info = folder_operations.stat_in(directory, name)
            is_plain = stat.S_ISDIR(info.st_mode) or stat.S_ISREG(info.st_mode)
            if is_plain and info.st_uid == user_id() and info.st_mode & 0o077:
                folder_operations.chmod_in(directory, name, stat.S_IMODE(info.st_mode) & 0o700)
                closed.append(Path(folder, name))
    return closed


def open_log(path: Name) -> int:
    """Return a descriptor that appends to a log, created if missing. Anything at `path` but a
    regular file of ours (a link, a pipe, a file with a second name) is replaced by a new file.
    Raises OSError.
    """
    with _own_parent(path) as (folder, name):
        with contextlib.suppress(FileNotFoundError):
            info = folder_operations.stat_in(folder, name)
            if stat.S_ISDIR(info.st_mode):
                _move_aside(folder, name)
            elif not _is_ours_alone(info):
                folder_operations.unlink_in(folder, name)
        descriptor = folder_operations.open_in(folder, name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    if _is_ours_alone(os.fstat(descriptor)):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EEXIST, "Is no log of ours", os.fspath(path))


def count_up(path: Name, raw: bytes, bytes_max: int) -> int:
    """Append to a file of ours, created if missing, and return the moment of that: nanoseconds
    since the epoch, later than each earlier one even if the clock was set back.

    Raises OSError, and appends nothing, if the file would exceed `bytes_max` bytes.
    """
    with os.fdopen(open_log(path), "ab", buffering=0) as file:
        before = os.fstat(file.fileno())
        if before.st_size + len(raw) > bytes_max:
            raise OSError(errno.EFBIG, f"More than {bytes_max} bytes", os.fspath(path))
        file.write(raw)
        moment_ns = max(time.time_ns(), before.st_mtime_ns + 1)
        folder_operations.set_moment(file.fileno(), path, moment_ns)
    return moment_ns


def count_anew(path: Name, length: int) -> None:
    """Truncate a file of `count_up` to `length` bytes; its moment stays. Raises OSError."""
    with os.fdopen(open_log(path), "ab", buffering=0) as file:
        moment_ns = os.fstat(file.fileno()).st_mtime_ns
        file.truncate(length)
        folder_operations.set_moment(file.fileno(), path, moment_ns)


def trim_log(path: Name, bytes_max: int) -> None:
    """If a log has more than `bytes_max` bytes, move its newer half to `<path>.1` and empty it.

    Writers append, so they go on at the new end. Raises OSError.
    """
    if os.lstat(path).st_size <= bytes_max:
        return
    with os.fdopen(open_log(path), "ab") as log, open_ours(path) as old:
        size = os.fstat(old.fileno()).st_size  # not of the path: open_log may have replaced a link
        old.seek(max(0, size - bytes_max // 2))
        replace(f"{os.fspath(path)}.1", old.read(bytes_max))
        log.truncate(0)


def _absolute(path: Name) -> str:
    # No link is followed, so ".." can be resolved by the text.
    return os.path.abspath(path)


def _open_readable(path: str) -> int:
    """Return a descriptor of `path`, reached without a link.

    Linux tells the path of an open descriptor, which is quicker than opening each folder on the way
    (30 µs instead of 100 on one machine); if that is not `path`, the steps decide.
    """
    descriptor = -1
    if not folder_operations.BY_PATH:
        try:
            descriptor = os.open(path, os.O_RDONLY | folder_operations.FILE)
        except FileNotFoundError:
            raise
        except OSError:
            pass
    if descriptor >= 0:
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/self/fd/{descriptor}") == path:
                return descriptor
        os.close(descriptor)
    with _parent_folder(path) as (folder, name):
        try:
            return folder_operations.open_in(folder, name, os.O_RDONLY)
        except OSError as error:
            raise folder_operations.explain_error(error, folder, name, path) from error


def _require_regular(descriptor: int, path: Name) -> int:
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "Not a regular file", os.fspath(path))


@contextlib.contextmanager
def _open_folder(path: Name, how: int = folder_operations.LIST) -> Iterator[Folder]:
    """Yield a folder, opened step by step."""
    folder = folder_operations.reach(_absolute(path), how)
    try:
        yield folder
    finally:
        folder_operations.leave(folder)


@contextlib.contextmanager
def _parent_folder(path: Name) -> Iterator[tuple[Folder, str]]:
    """Yield (the folder that holds `path`, its last part)."""
    parent, name = os.path.split(_absolute(path))
    with _open_folder(parent, folder_operations.STEP) as folder:
        yield folder, name


@contextlib.contextmanager
def _own_parent(path: Name) -> Iterator[tuple[Folder, str]]:
    """As `_parent_folder`, for changes in this user's folder; no-space errors name the path."""
    with _parent_folder(path) as (folder, name):
        _check_owner(folder, path)
        try:
            yield folder, name
        except OSError as error:
            if error.errno in _NO_SPACE:
                error.filename = os.fspath(path)
            raise


def _rename(source: tuple[Folder, str], target: tuple[Folder, str], path: Name) -> None:
    try:
        try:
            folder_operations.replace_in(source, target)
        except IsADirectoryError:
            _move_aside(*target)
            folder_operations.replace_in(source, target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _move_aside(folder: Folder, name: str) -> None:
    """Rename a folder in the place of a file: its owner is unknown, so none of it is deleted."""
    aside = f".{name}.{os.urandom(_RANDOM_BYTES).hex()}.aside"
    folder_operations.replace_in((folder, name), (folder, aside))


def _is_ours_alone(info: os.stat_result) -> bool:
    return stat.S_ISREG(info.st_mode) and info.st_uid == user_id() and info.st_nlink == 1


def _check_owner(target: Folder, path: Name) -> None:
    """Raise PermissionError if a folder, or an open file by its descriptor, is another user's."""
    if folder_operations.stat_of(target).st_uid != user_id():
        raise PermissionError(errno.EPERM, "Belongs to another user", os.fspath(path))


def _create(folder: Folder, name: str) -> tuple[str, int]:
    """Return (name, descriptor) of a new, empty file beside `name`; nobody can guess the name."""
    temporary = f".{name}.{os.urandom(_RANDOM_BYTES).hex()}.tmp"
    return temporary, folder_operations.open_in(folder, temporary, _NEW)
