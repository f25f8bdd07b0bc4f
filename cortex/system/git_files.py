"""The files of a git repository that are read without git: configuration, the pointers of worktrees
and submodules, and the shape of a git folder. Nothing of a repository runs.
"""

import contextlib
import errno
import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from cortex.system import files, hosts

#: bytes of a configuration with its includes that are read; of a file that names a folder; of HEAD
CONFIG_BYTES_MAX, PATH_BYTES_MAX, HEAD_BYTES_MAX = 4 << 20, 4096, 4096
#: files that one configuration includes, in all: people have a few
INCLUDES_MAX = 50
#: HEAD of a repository: a branch, or a commit
_HEAD = re.compile(rb"ref:\s*refs/\S|[0-9a-f]{40}")
#: entries of a git folder beside HEAD
_PARTS = frozenset(("objects", "refs", "packed-refs", "config", "commondir", "reftable"))
_SECTION = re.compile(r"\[\s*([\w.-]+)(?:\s+\"((?:\\.|[^\"\\])*)\")?\s*\]")
_KEY = re.compile(r"([A-Za-z][\w-]*)[ \t]*(=)?[ \t]*")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


def git_dir(top: Path) -> Path:
    """Return the git folder of a checkout: `.git`, or the target of its `.git` file."""
    pointer = top / ".git"
    try:
        return (
            resolve_pointer(top, files.read_plain(pointer, PATH_BYTES_MAX)) if pointer.is_file() else pointer
        )
    except OSError:
        return pointer


def common_dir(folder: Path) -> Path:
    """Return the folder that all worktrees of a repository share, from the git folder of one."""
    with contextlib.suppress(OSError):
        return resolve_pointer(folder, files.read_plain(folder / "commondir", PATH_BYTES_MAX))
    if folder.parent.name == "worktrees" and not folder.is_dir():  # on another machine, or removed
        return folder.parent.parent
    return folder


def resolve_pointer(folder: Path, raw: bytes) -> Path:
    """Return the path in a git file, from `folder`, with blanks. Raises OSError if invalid."""
    try:
        return (folder / os.fsdecode(raw.removeprefix(b"gitdir: ").rstrip(b"\r\n"))).resolve()
    except (ValueError, RuntimeError) as error:  # a NUL in the path, a loop of links
        raise OSError(errno.EINVAL, str(error)) from error


def is_git_folder(folder: str, names: Collection[str] | None = None) -> bool:
    """Whether a folder is a `.git` or a bare repository; `names`: its entries, None: look."""
    if names is not None and "HEAD" not in names:
        return False
    try:
        head = files.read_plain(os.path.join(folder, "HEAD"), HEAD_BYTES_MAX)
    except OSError:
        return False
    if not _HEAD.match(head):
        return False
    if names is not None:
        return not _PARTS.isdisjoint(names)
    return any(os.path.lexists(os.path.join(folder, part)) for part in _PARTS)


def worktrees_of(common: Path) -> list[Path]:
    """Return the checkouts of a repository but its main one, sorted."""
    places: list[Path] = []
    with contextlib.suppress(OSError):
        for name in files.names(common / "worktrees"):
            with contextlib.suppress(OSError):
                pointer = resolve_pointer(
                    common / "worktrees" / name,
                    files.read_plain(common / "worktrees" / name / "gitdir", PATH_BYTES_MAX),
                )
                places.append(pointer.parent)
    return sorted(places)


def belongs_to_another(folder: Path) -> bool:
    """Whether another user owns a folder. False on Windows."""
    try:
        owner = os.stat(folder).st_uid
    except OSError:
        return False
    return owner != hosts.user_id()


def read_config(path: str | os.PathLike[str], includes_max: int = INCLUDES_MAX) -> list[tuple[str, str]]:
    """Return the settings of one file of git's configuration and the files that it includes, in
    order: (`section.key` or `section.name.key`, value). Empty if it cannot be read. Conditions of
    includes are not examined: such a file does not count. `includes_max`: files that are included
    in all, for a clone's file may include itself many times.
    """
    left, left_bytes = includes_max, CONFIG_BYTES_MAX

    def read(place: str) -> Iterator[tuple[str, str]]:
        nonlocal left, left_bytes
        try:
            raw = files.read_plain(place, left_bytes)
        except OSError:
            return
        left_bytes -= len(raw)
        for name, value in _parse(raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff")):
            yield name, value
            if name == "include.path" and left > 0:
                left -= 1
                included = os.path.join(os.path.dirname(place), os.path.expanduser(value))
                yield from read(os.path.realpath(included))

    return list(read(os.path.realpath(path)))


def user_settings() -> dict[str, str]:
    """Return the last value of each setting of the system and the user."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    paths = ("/etc/gitconfig", os.path.join(base, "git", "config"), os.path.expanduser("~/.gitconfig"))
    return {name: value for path in paths for name, value in read_config(path)}


def is_safe(top: Path) -> bool:
    """Whether the user told git to trust the checkout of another (`safe.directory`)."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    safe: set[str] = set()
    for path in ("/etc/gitconfig", os.path.join(base, "git", "config"), os.path.expanduser("~/.gitconfig")):
        for name, value in read_config(path):
            if name == "safe.directory":
                safe = safe | {os.path.expanduser(value)} if value else set()
    return "*" in safe or str(top) in safe


def folds_case(common: Path) -> bool:
    """Whether names differ in more than case in a repository (`core.ignorecase`)."""
    settings = user_settings() | dict(read_config(common / "config"))
    return is_true(settings.get("core.ignorecase", ""))


def is_true(value: str) -> bool:
    return value.lower() in ("true", "yes", "on") or (value.isascii() and value.isdigit() and int(value) != 0)


def _parse(text: str) -> Iterator[tuple[str, str]]:
    """Yield the settings of a configuration; a line that is none ends it, as git refuses it."""
    section, at = "", 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] in "#;":
            at = _line_end(text, at)
        elif match := _SECTION.match(text, at):
            name = re.sub(r"\\(.)", r"\1", match[2]) if match[2] is not None else None
            section, at = match[1].lower() + ("" if name is None else f".{name}"), match.end()
        elif section and (match := _KEY.match(text, at)):
            at = match.end()
            value = "true"
            if match[2]:
                value, at = _value(text, at)
            yield f"{section}.{match[1].lower()}", value
        else:
            return


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _value(text: str, at: int) -> tuple[str, int]:
    """Return the value at `at`, without quotes, escapes and comment, and the offset behind it."""
    letters: list[str] = []
    length, quoted = 0, False  # length: letters that blanks at the end do not belong to
    while at < len(text) and text[at] != "\n":
        letter = text[at]
        if letter == "\\":
            at += 1
            follower = text[at : at + 1]
            if follower != "\n":
                letters.append(_ESCAPES.get(follower, follower))
                length = len(letters)
        elif letter == '"':
            quoted = not quoted
            length = len(letters)
        elif letter in "#;" and not quoted:
            at = _line_end(text, at)
            break
        else:
            letters.append(letter)
            length = len(letters) if quoted or not letter.isspace() else length
        at += 1
    return "".join(letters[:length]), at


def identity(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Return a value that differs once a file was replaced or written; empty for no file."""
    try:
        info = os.stat(path)
    except OSError:
        return ()
    if not stat.S_ISREG(info.st_mode):
        return ()
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns
