"""Whose folder this is: the project's root, its folder in the user's cache, and the runtime
folders. No values.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import ipaddress
import json
import os
import re
import tempfile
import urllib.parse
from pathlib import Path
from typing import Protocol

from cortex.sealing.places import SealedPlace, is_sealed
from cortex.system import files, hosts, path_names
from cortex.system.errors import CortexError, Misconfigured, Unavailable

#: set by `--yes-really`, and so by whatever that process starts: a project may be / or the home
#: folder
REALLY = "CORTEX_YES_REALLY"
#: the token that embedding servers want, and that ours is given
EMBED_TOKEN = "CORTEX_EMBED_TOKEN"  # noqa: S105 - the name of a variable
#: the token of `cortex serve` and of who asks it; the second is its name in older set-ups
TOKEN, OLD_TOKEN = "CORTEX_TOKEN", "WORKER_TOKEN"
#: the port of the older transport of MCP, HTTP+SSE, beside the main one
SSE_PORT = "CORTEX_MCP_SSE_PORT"
#: what to do about a project that cannot be used
ADVICE = "pass an existing one with --project, as an absolute path"

#: sun_path holds 104 bytes on macOS and 108 on Linux, with the final NUL
SOCKET_PATH_MAX = 103
#: the folder of a project that holds its configuration, and what other programs wrote for us
PROJECT_FOLDER = ".cortex"
#: how files of a project's run folder begin that note what was asked, one for each day
USAGE = "usage-"
#: characters of a project's name that its folder in the cache begins with
NAME_CHARS = 40


class Folders(Protocol):
    """The folders of one project, as a Config names them."""

    @property
    def root(self) -> Path: ...

    @property
    def home(self) -> Path: ...

    @property
    def run_dir(self) -> Path: ...

    @property
    def root_id(self) -> str: ...

    @property
    def sealing(self) -> SealedPlace | None: ...


class Sockets(Protocol):
    """Who has a folder of sockets and locks."""

    @property
    def runtime_dir(self) -> Path: ...


def variable_folder(variable: str) -> str:
    """The folder that an environment variable names, "" for none.

    Raises Misconfigured for one that is not absolute: processes work in different folders.
    """
    folder = os.environ.get(variable) or ""
    if folder and not path_names.is_absolute(folder):
        raise Misconfigured(f"{variable} is {folder!r}, which is not an absolute path; set it to one.")
    return folder


def user_home() -> str:
    """The user's home folder. Raises Misconfigured as `place` does."""
    return variable_folder(path_names.home_variable()) or os.path.expanduser("~")


def user_config() -> Path:
    config_home = variable_folder("XDG_CONFIG_HOME")
    if hosts.WINDOWS and not config_home:
        return Path(path_names.own_folder("config", user_home())) / "config.yml"
    return Path(config_home or os.path.join(user_home(), ".config")) / "cortex" / "config.yml"


def project_config(root: Path) -> Path:
    return root / PROJECT_FOLDER / "config.yml"


def cache_base() -> Path:
    r"""Where everything is that Cortex makes: `CORTEX_HOME`, else `cortex` in the user's cache
    folder (a relative XDG_CACHE_HOME does not count, as its specification says), on Windows
    `%LOCALAPPDATA%\cortex\cache`.

    Raises Misconfigured for a place that is not absolute: processes work in different folders.
    """
    base = os.path.expanduser(os.environ.get("CORTEX_HOME") or _usual_cache())
    if not path_names.is_absolute(base):
        raise Misconfigured(f"The cache folder {base!r} is not an absolute path; set CORTEX_HOME to one.")
    return real(base)


def _usual_cache() -> str:
    cache = os.environ.get("XDG_CACHE_HOME") or ""
    if path_names.is_absolute(cache):
        return os.path.join(cache, "cortex")
    if hosts.WINDOWS:
        return path_names.own_folder("cache", user_home())
    return os.path.join(user_home(), ".cache", "cortex")


@functools.lru_cache(maxsize=16)
def real(folder: str | Path) -> Path:
    """A folder that the user named, which links may lead to. Below it none is followed."""
    return Path(os.path.realpath(folder))


def cache_home(root: Path, root_id: str) -> Path:
    """The folder in the user's cache of the project in `root`: its name, and what tells it from
    another one of this name.
    """
    name = re.sub(r"[^\w.-]+", "-", root.name, flags=re.ASCII)[:NAME_CHARS].strip(".-")
    return cache_base() / "projects" / f"{name or 'project'}-{root_id}"


def find_root(project: str | os.PathLike[str] | None = None) -> tuple[Path, bool]:
    """(root, named explicitly?): the argument, CORTEX_PROJECT, CLAUDE_PROJECT_DIR, or the nearest
    parent with .git or .cortex/config.yml. Never /, the home folder or anything above it; one that
    was named only with REALLY set.
    """
    requested = project or os.environ.get("CORTEX_PROJECT") or os.environ.get("CLAUDE_PROJECT_DIR")
    if requested:
        return _named_root(os.fspath(requested)), True
    working_folder = Path.cwd().resolve()
    for folder in (working_folder, *working_folder.parents):
        if too_high(folder):
            break
        if (folder / ".git").exists() or project_config(folder).is_file():
            return folder, False
    raise Misconfigured(
        f"No project found at or above {working_folder}: run `git init` or `cortex init` there, or pass --project DIR "
        '(in an agent\'s configuration: "args": ["mcp", "--project", "/path/to/project"]).'
    )


def _named_root(name: str) -> Path:
    root = Path(name).expanduser()
    if not root.is_dir():
        raise Misconfigured(f"The project folder {str(root)!r} {_why_no_folder(root)}; {ADVICE}.")
    root = root.resolve()
    if too_high(root) and not os.environ.get(REALLY):
        raise Misconfigured(
            f"The project folder {str(root)!r} holds far more than a project (it is the home folder or above "
            f"it); {ADVICE}, or add --yes-really if you mean it."
        )
    return root


def _why_no_folder(root: Path) -> str:
    if re.search(r"\$\{.*\}|\$\(.*\)|%\w+%|\$\w+", str(root)):
        return "is a placeholder that was not filled in"
    return "is a file" if root.exists() else "does not exist"


def too_high(folder: Path) -> bool:
    """Whether it is the home folder, or above it."""
    home = Path(user_home()).resolve()
    return folder == home or folder in home.parents


def runtime_base() -> Path:
    r"""`${XDG_RUNTIME_DIR:-/tmp}/cortex-<uid>`; the temporary folder when that makes socket paths
    too long. On Windows, whose notes of ports have no such bound, `%LOCALAPPDATA%\cortex\run`.

    Agents start us with few variables: where XDG_RUNTIME_DIR is missing its usual value is tried,
    so that their fronts and a person's terminal meet at one set.
    """
    if hosts.WINDOWS:
        runtime_folder = variable_folder("XDG_RUNTIME_DIR")
        return real(
            os.path.join(runtime_folder, "cortex")
            if runtime_folder
            else path_names.own_folder("run", user_home())
        )
    uid = hosts.user_id()
    usual = f"/run/user/{uid}"
    runtime_folder = variable_folder("XDG_RUNTIME_DIR") or usual
    for base in (runtime_folder, "/tmp", tempfile.gettempdir()):  # noqa: S108 - private_dir checks it
        path = real(base) / f"cortex-{uid}"
        # in a sandbox ours is there, and nothing can be made beside it
        is_usable = (os.path.isdir(base) and os.access(base, os.W_OK)) or path.is_dir()
        if is_usable and len(os.fsencode(path)) + 40 <= SOCKET_PATH_MAX:
            return path
    raise Misconfigured("No folder for sockets: set XDG_RUNTIME_DIR to a short, writable folder.")


def private_dir(path: Path) -> Path:
    """Make `path` (0700) and check that it is a real folder owned by this user.

    Raises Misconfigured for a link, another owner, or one that cannot be made.
    """
    try:
        files.make_private(path)
    except OSError as error:
        raise Misconfigured(
            f"{path} must be a real folder owned by you ({_fault_text(error)}); move away what is there."
        ) from error
    return path


def open_runtime(owner: Sockets) -> Path:
    """The owner's runtime folder, made and checked, each level of it."""
    private_dir(runtime_base())
    return private_dir(owner.runtime_dir)


def open_home(project: Folders) -> Path:
    """The project's folder in the user's cache, made and checked, with a note of whose it is.

    A sealed one is opened, and stays so until this process ends.

    Raises Misconfigured when it cannot be written, or is a link or another's; also when `.cortex`
    in the project is a link: nothing behind one is read; and when the project was sealed after its
    configuration was read.
    """
    refuse_link(project.root / PROJECT_FOLDER)
    home = project.home
    try:
        files.make_folder(cache_base(), anywhere=True)
        if project.sealing:
            from cortex.sealing.plain_folder import ensure_open

            ensure_open(project.sealing)
        elif is_sealed(cache_base(), project.root_id):
            raise Misconfigured(
                f"{project.root} was sealed after this process started, which would write its index plain: start it "
                "again (an agent: open its window anew)."
            )
        for folder in (home.parent, home, project.run_dir):
            files.make_private(folder)
            files.sweep(folder)
        with contextlib.suppress(FileNotFoundError):  # another process removes what nobody needs
            files.reopen(home)
        note = json.dumps({"root": os.fspath(project.root)}).encode()
        if not _holds(home / "project.json", note):
            files.replace(home / "project.json", note)
    except OSError as error:
        raise refusal(error)(
            f"Cannot write {home}: {_fault_text(error)}; free some space, make it a writable folder "
            "of yours, or set CORTEX_HOME to one."
        ) from error
    return home


def _fault_text(error: OSError) -> str:
    return error.strerror or str(error)


def _holds(path: Path, raw: bytes) -> bool:
    try:
        return files.read_ours(path, len(raw)) == raw
    except OSError:
        return False


def refusal(error: OSError) -> type[CortexError]:
    """What a fault of the system is: Unavailable for one that goes by itself (no space, no
    descriptor), so that whoever met it is started again; else Misconfigured.
    """
    passing = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
    return Unavailable if error.errno in passing else Misconfigured


def refuse_link(folder: Path) -> None:
    """Raises Misconfigured when `folder`, in a project, is a link: a clone can bring one that leads
    anywhere.
    """
    if folder.is_symlink():
        raise Misconfigured(f"{folder} must be a real folder, not a link; move it away.")


def open_project_folder(root: Path) -> Path:
    """`.cortex` in the project, made if need be: for a person's configuration, and nothing else.

    Raises Misconfigured when it is a link or cannot be made.
    """
    folder = root / PROJECT_FOLDER
    refuse_link(folder)
    try:
        files.make_folder(folder, anywhere=True)
    except OSError as error:
        raise Misconfigured(f"Cannot make {folder}: {_fault_text(error)}.") from error
    return folder


def is_loopback(endpoint: str) -> bool:
    """Whether the URL's host is this machine (localhost, 127.0.0.0/8 or ::1)."""
    host = urllib.parse.urlsplit(endpoint).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
