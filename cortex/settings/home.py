"""Whose folder this is: the project's root, what its own file may set, `.cortex` and the runtime
folders. No values.
"""

from __future__ import annotations

import ipaddress
import os
import re
import stat
import tempfile
import urllib.parse
from pathlib import Path
from typing import Any, Protocol

from ipc.errors import Misconfigured

#: set by `--yes-really`, and so by whatever that process starts: a project may be / or the home
#: folder
REALLY = "CORTEX_YES_REALLY"
#: what to do about a project that cannot be used
ADVICE = "pass an existing one with --project, as an absolute path"

#: sun_path holds 104 bytes on macOS and 108 on Linux, with the final NUL
SOCKET_PATH_MAX = 103


class Folders(Protocol):
    """The folders of one project, as a Config names them."""

    @property
    def home(self) -> Path: ...

    @property
    def index_dir(self) -> Path: ...

    @property
    def graph_dir(self) -> Path: ...

    @property
    def run_dir(self) -> Path: ...

    @property
    def runtime_dir(self) -> Path: ...


def user_config() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(base) / "cortex" / "config.yml"


def project_config(root: Path) -> Path:
    return root / ".cortex" / "config.yml"


def find_root(project: str | os.PathLike[str] | None = None) -> tuple[Path, bool]:
    """(root, named explicitly?): the argument, CORTEX_PROJECT, CLAUDE_PROJECT_DIR, or the nearest
    parent with .git or .cortex/config.yml. Never /, the home folder or anything above it; one that
    was named only with REALLY set.
    """
    named = project or os.environ.get("CORTEX_PROJECT") or os.environ.get("CLAUDE_PROJECT_DIR")
    if named:
        return _named_root(os.fspath(named)), True
    here = Path.cwd().resolve()
    for folder in (here, *here.parents):
        if _too_high(folder):
            break
        if (folder / ".git").exists() or project_config(folder).is_file():
            return folder, False
    raise Misconfigured(
        f"No project found at or above {here}: run `git init` or `cortex init` there, or pass --project DIR "
        '(in an agent\'s configuration: "args": ["mcp", "--project", "/path/to/project"]).'
    )


def _named_root(named: str) -> Path:
    root = Path(named).expanduser()
    if not root.is_dir():
        raise Misconfigured(f"The project folder {str(root)!r} {_why_no_folder(root)}; {ADVICE}.")
    root = root.resolve()
    if _too_high(root) and not os.environ.get(REALLY):
        raise Misconfigured(
            f"The project folder {str(root)!r} holds far more than a project (it is the home folder or above "
            f"it); {ADVICE}, or add --yes-really if you mean it."
        )
    return root


def _why_no_folder(root: Path) -> str:
    if re.search(r"\$\{.*\}|\$\(.*\)|%\w+%|\$\w+", str(root)):
        return "is a placeholder that was not filled in"
    return "is a file" if root.exists() else "does not exist"


def _too_high(folder: Path) -> bool:
    home = Path(os.path.expanduser("~")).resolve()
    return folder == home or folder in home.parents


def runtime_base() -> Path:
    """`${XDG_RUNTIME_DIR:-/tmp}/cortex-<uid>`; the temporary folder when that makes socket paths
    too long.

    Agents start us with few variables: where XDG_RUNTIME_DIR is missing its usual value is tried,
    so that their fronts and a person's terminal meet at one set.
    """
    uid = os.getuid()
    usual = f"/run/user/{uid}"
    named = os.environ.get("XDG_RUNTIME_DIR") or usual
    for base in (named, "/tmp", tempfile.gettempdir()):  # noqa: S108 - private_dir checks it
        if os.path.isdir(base) and os.access(base, os.W_OK):
            path = Path(base) / f"cortex-{uid}"
            if len(os.fsencode(path)) + 40 <= SOCKET_PATH_MAX:
                return path
    raise Misconfigured("No folder for sockets: set XDG_RUNTIME_DIR to a short, writable folder.")


def private_dir(path: Path) -> Path:
    """Make `path` (0700) and check that it is a real folder owned by this user.

    Raises Misconfigured for a link, another owner, or rights that others have.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = path.lstat()
    except OSError as error:
        raise Misconfigured(f"Cannot make the folder {path}: {error.strerror}.") from error
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
        raise Misconfigured(f"{path} must be a real folder owned by you; move it away.")
    if info.st_mode & 0o077:
        os.chmod(path, 0o700)
    return path


def open_runtime(project: Folders) -> Path:
    """The project's runtime folder, made and checked, each level of it."""
    private_dir(runtime_base())
    return private_dir(project.runtime_dir)


def open_home(project: Folders) -> Path:
    """`.cortex` with its .gitignore. Raises Misconfigured when it cannot be written, or is a link
    or another's.
    """
    home = project.home
    try:
        home.mkdir(exist_ok=True)
        index = project.index_dir
        for folder in (home, index.parent, index, project.run_dir, project.graph_dir, home / "chunks"):
            if folder.exists() or folder.is_symlink():
                info = folder.lstat()
                if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
                    raise Misconfigured(
                        f"{folder} must be a real folder owned by you, not a link; move it away."
                    )
        ignore = home / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n!config.yml\n!.gitignore\n", encoding="utf-8")
        project.run_dir.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Misconfigured(
            f"Cannot write {home}: {reason}; make the project folder writable or free some space."
        ) from error
    return home


def check_trust(layer: dict[str, Any], root: Path) -> dict[str, Any]:
    """`layer`, the content of the project's own file. It comes with a cloned repository:
    Misconfigured when it names an endpoint outside this machine or a path outside the root.
    """
    where = project_config(root)
    embedding, server = layer.get("embedding"), layer.get("server")
    endpoint = embedding.get("endpoint") if isinstance(embedding, dict) else None
    if endpoint and not is_loopback(str(endpoint)):
        raise Misconfigured(
            f"{where} sets embedding.endpoint to {endpoint!r}, which is not on this machine; a project's file may "
            f"not send your code away. Set CORTEX_EMBEDDING_ENDPOINT or {user_config()} if you want it."
        )
    chunks = server.get("chunks_dir") if isinstance(server, dict) else None
    if chunks and not (root / str(chunks)).resolve().is_relative_to(root):
        raise Misconfigured(
            f"{where} sets server.chunks_dir to {chunks!r}, which is outside the project; set CORTEX_CHUNKS_DIR or "
            f"{user_config()} if you want it."
        )
    return layer


def is_loopback(endpoint: str) -> bool:
    """Whether the URL's host is this machine (localhost, 127.0.0.0/8 or ::1)."""
    host = urllib.parse.urlsplit(endpoint).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
