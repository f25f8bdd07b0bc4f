"""The root of a project, its folder in the user's cache, and the runtime folders. No settings."""

import contextlib
import errno
import functools
import hashlib
import ipaddress
import json
import os
import re
import tempfile
import urllib.parse
from pathlib import Path
from typing import Protocol

from cortex.sealing import places
from cortex.sealing.places import SealedPlace, sealed_base
from cortex.settings.folders.identity import plain_name
from cortex.system import files, hosts
from cortex.system.errors import CortexError, Misconfigured, Unavailable
from cortex.system.folders import path_names
from cortex.system.folders.folder_faults import explain_folder

#: set by `--yes-really` and inherited by child processes: / or the home folder may be a project
REALLY = "CORTEX_YES_REALLY"
#: set for the processes of a set: they get the project's folder with --project, whoever named it
IN_SET = "CORTEX_IN_SET"
#: an empty file in the cache folder of a project that a person has named: it may be large
NAMED = "named"
#: token for embedding servers; ours is started with it
EMBED_TOKEN = "CORTEX_EMBED_TOKEN"  # noqa: S105 - the name of a variable
#: token of `cortex serve` and of its clients; the second is its name in older set-ups
TOKEN, OLD_TOKEN = "CORTEX_TOKEN", "WORKER_TOKEN"
#: port of MCP's older transport, HTTP+SSE, besides the main one
SSE_PORT = "CORTEX_MCP_SSE_PORT"
#: advice for a project folder that cannot be used
ADVICE = "pass an existing one with --project, as an absolute path"

#: sun_path holds 104 bytes on macOS and 108 on Linux, with the final NUL
SOCKET_PATH_MAX = 103
#: a project's folder with its configuration, and with chunk files of other programs
PROJECT_FOLDER = ".cortex"
#: prefix of the daily files in a run folder that record queries
USAGE = "usage-"


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
    def explicit_root(self) -> bool: ...

    @property
    def sealing(self) -> SealedPlace | None: ...

    @property
    def read_only(self) -> bool: ...


class Sockets(Protocol):
    """An object with a folder of sockets and locks."""

    @property
    def runtime_dir(self) -> Path: ...


def variable_folder(variable: str) -> str:
    """Return the folder that an environment variable names, "" for none.

    Raises Misconfigured for a relative path: processes have different working folders.
    """
    folder = os.environ.get(variable) or ""
    if folder and not path_names.is_absolute(folder):
        raise Misconfigured(f"{variable} is {folder!r}, which is not an absolute path; set it to one.")
    return folder


def user_home() -> str:
    """Return the user's home folder. Raises Misconfigured as `variable_folder` does."""
    return variable_folder(path_names.home_variable()) or os.path.expanduser("~")


def user_config() -> Path:
    config_home = variable_folder("XDG_CONFIG_HOME")
    if hosts.WINDOWS and not config_home:
        return Path(path_names.own_folder("config", user_home())) / "config.yml"
    return Path(config_home or os.path.join(user_home(), ".config")) / "cortex" / "config.yml"


def keys_folder() -> Path:
    """Return the folder of the notes about sealed data and its keys: beside the user's settings,
    for all in a cache may be deleted. A person's own links lead there.
    """
    return real(user_config().parent) / "sealed"


def is_sealed(cache: Path, project_id: str) -> bool:
    """Whether the project was sealed; it stays so until a person changes that."""
    return places.is_sealed(cache, project_id, keys_folder())


def keep_notes_of_keys() -> None:
    """Move notes about sealed data out of the cache, where earlier versions kept them. Raises
    Misconfigured if they cannot be written, and Unavailable.
    """
    former = sealed_base(cache_base())
    if former.is_dir() and not os.environ.get(IN_SET):  # a front has moved them for its set
        from cortex.sealing.keys import move_notes

        move_notes(former, keys_folder())


def project_config(root: Path) -> Path:
    return root / PROJECT_FOLDER / "config.yml"


def cache_base() -> Path:
    r"""Return the folder of all files that Cortex makes: `CORTEX_HOME`, else `cortex` in the user's
    cache folder (a relative XDG_CACHE_HOME is ignored, as its specification demands), on Windows
    `%LOCALAPPDATA%\cortex\cache`.

    Raises Misconfigured for a relative path: processes have different working folders.
    """
    base = os.path.expanduser(os.environ.get("CORTEX_HOME") or _usual_cache())
    if not path_names.is_absolute(base):
        raise Misconfigured(f"The cache folder {base!r} is not an absolute path; set CORTEX_HOME to one.")
    return real(base)


def _usual_cache() -> str:
    cache = os.environ.get("XDG_CACHE_HOME") or ""
    return os.path.join(cache, "cortex") if path_names.is_absolute(cache) else _own_cache()


def _own_cache() -> str:
    if hosts.WINDOWS:
        return path_names.own_folder("cache", user_home())
    return os.path.join(user_home(), ".cache", "cortex")


@functools.lru_cache(maxsize=16)
def real(folder: str | Path) -> Path:
    """Resolve the links of a folder that the user named. Below it no link is followed."""
    return Path(os.path.realpath(folder))


def cache_home(root: Path, root_id: str) -> Path:
    """Return the cache folder of the project in `root`: its name, which may repeat, and its id."""
    return _cache_home(cache_base(), root.name, root_id)


@functools.lru_cache(maxsize=64)
def _cache_home(base: Path, name: str, root_id: str) -> Path:
    return base / "projects" / f"{plain_name(name)}-{root_id}"


def root_id(root: Path) -> str:
    """Return the identifier of a project: 16 hex digits of a hash of its folder's path."""
    return hashlib.sha256(os.fsencode(root)).hexdigest()[:16]


def runtime_id(root: Path) -> str:
    """Return the identifier of a project in the names of runtime folders: one for each cache folder
    that the user sets, for the processes of a set write into one cache.
    """
    cache = cache_base()
    if cache == real(_own_cache()):
        return root_id(root)
    return hashlib.sha256(os.fsencode(root) + b"\0" + os.fsencode(cache)).hexdigest()[:16]


def find_root(project: str | os.PathLike[str] | None = None) -> tuple[Path, bool]:
    """Return (root, whether it was named explicitly): from the argument, CORTEX_PROJECT,
    CLAUDE_PROJECT_DIR, or the nearest parent with .git or .cortex/config.yml.

    Never /, the home folder or a folder above it, unless it is named and REALLY is set.
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
        '(in an agent\'s configuration: "args": ["mcp", "--for", "agent", "--project", "/path/to/project"]).'
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
    """Whether `folder` is the home folder, or above it."""
    home = Path(user_home()).resolve()
    return folder == home or folder in home.parents


def runtime_base() -> Path:
    r"""Return `${XDG_RUNTIME_DIR:-/tmp}/cortex-<uid>`, or the temporary folder if that makes socket
    paths too long; on Windows, where port files have no such limit, `%LOCALAPPDATA%\cortex\run`.

    Agents start us with few variables: if XDG_RUNTIME_DIR is missing, its usual value is tried, so
    that their fronts and a person's terminal use the same workers.
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
        # in a sandbox our folder exists, and nothing can be made next to it
        is_usable = (os.path.isdir(base) and os.access(base, os.W_OK)) or path.is_dir()
        if is_usable and len(os.fsencode(path)) + 40 <= SOCKET_PATH_MAX:
            return path
    raise Misconfigured("No folder for sockets: set XDG_RUNTIME_DIR to a short, writable folder.")


def private_dir(path: Path) -> Path:
    """Make `path` (0700) and check that it is a real folder owned by this user.

    Raises Misconfigured for a link, another owner, or a folder that cannot be made.
    """
    try:
        files.make_private(path)
    except OSError as error:
        raise Misconfigured(explain_folder(path, error)) from error
    return path


def open_runtime(owner: Sockets) -> Path:
    """Make and check the owner's runtime folder and the folder above it."""
    private_dir(runtime_base())
    return private_dir(owner.runtime_dir)


def open_home(project: Folders) -> Path:
    """Make and check the project's folder in the user's cache, with a note of the project's root. A
    sealed one is opened, and stays open until this process ends. One that cannot be written stays
    as it is.

    Raises Misconfigured if it cannot be written, is a link or another user's; if `.cortex` in the
    project is a link, for nothing behind it is read; and if the project was sealed after its
    configuration was read.
    """
    refuse_link(project.root / PROJECT_FOLDER)
    home = project.home
    if project.read_only:
        return home
    try:
        files.make_folder(cache_base(), anywhere=True)
        keep_notes_of_keys()
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
        with contextlib.suppress(FileNotFoundError):  # another process removes unused files meanwhile
            files.reopen(home)
        note = json.dumps({"root": os.fspath(project.root)}).encode()
        if not _holds(home / "project.json", note):
            files.replace(home / "project.json", note)
        if project.explicit_root and not (home / NAMED).exists():
            with contextlib.suppress(FileExistsError):
                files.create(home / NAMED, b"")
            files.remove(project.run_dir / "indexer.json")  # its indexer may have refused the folder
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
    """Return the error class for a fault of the system: Unavailable for a passing one (no space, no
    descriptors), so that the process is restarted; else Misconfigured.
    """
    passing = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
    return Unavailable if error.errno in passing else Misconfigured


def refuse_link(folder: Path) -> None:
    """Raise Misconfigured if a project's `folder` is a link: a clone can bring one to any place."""
    if folder.is_symlink():
        raise Misconfigured(f"{folder} must be a real folder, not a link; move it away.")


def open_project_folder(root: Path) -> Path:
    """Make `.cortex` in the project if it is missing: for a person's configuration alone.

    Raises Misconfigured if it is a link or cannot be made.
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
