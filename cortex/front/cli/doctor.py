"""What `cortex doctor` looks at: the interpreter, packages, configuration, folders, the model, the
running set.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cortex.processes import attach
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.home import SOCKET_PATH_MAX, open_home, open_runtime
from ipc.errors import CortexError

#: the distribution whose requirements are checked
DISTRIBUTION = "cortex-context-engine"
PYTHON_MIN = (3, 11)
#: bytes that an index may need at any time
FREE_BYTES_MIN = 500 * 1024 * 1024
#: file systems on which locks, mapped files or events cannot be relied on
FOREIGN_FILE_SYSTEMS = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "drvfs", "vboxsf", "afs", "smbfs")
)

State = Literal["fine", "odd", "wrong"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. "odd" works, but not as well as it could; "wrong" has to be mended."""

    name: str
    state: State
    text: str


def examine(project: str | None) -> list[Check]:
    """All checks, in the order in which faults are best mended. Starts nothing."""
    checks = [_python(), _packages()]
    try:
        config = configuration.load(project)
    except CortexError as error:
        return [*checks, Check("configuration", "wrong", str(error))]
    checks.append(Check("configuration", "fine", f"{config.root} (hash {config.hash()})"))
    for name, look in (
        ("folders", _folders),
        ("sockets", _sockets),
        ("file system", _file_system),
        ("free space", _free_space),
        ("model", _model),
        ("start", _start),
        ("workers", _workers),
    ):
        checks.append(_look(name, look, config))
    return checks


def _look(name: str, look: Callable[[Config], tuple[State, str]], config: Config) -> Check:
    try:
        return Check(name, *look(config))
    except CortexError as error:
        return Check(name, "wrong", str(error))
    except OSError as error:
        return Check(name, "wrong", f"{error.strerror or error}: {error.filename or ''}")


def _python() -> Check:
    fits = sys.version_info >= PYTHON_MIN
    return Check("python", "fine" if fits else "wrong", f"{platform.python_version()} ({sys.executable})")


def _packages() -> Check:
    try:
        requirements = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return Check("packages", "odd", f"{DISTRIBUTION} is not installed, it runs from its sources.")
    names = [line.split(";")[0] for line in requirements if "extra ==" not in line]
    missing = []
    for requirement in names:
        name = requirement.split(">=")[0].split("==")[0].strip()
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            missing.append(requirement.strip())
    if missing:
        return Check("packages", "wrong", f"missing: {', '.join(missing)}; pip install {' '.join(missing)}")
    return Check("packages", "fine", f"{len(names)} required packages are installed")


def _folders(config: Config) -> tuple[State, str]:
    open_home(config)
    for folder in (config.home, config.run_dir):
        if not os.access(folder, os.W_OK | os.X_OK):
            return "wrong", f"{folder} cannot be written; make it writable."
    return "fine", f"{config.home} can be written"


def _sockets(config: Config) -> tuple[State, str]:
    folder = open_runtime(config)
    length = len(os.fsencode(folder / "supervisor.sock"))
    if length > SOCKET_PATH_MAX:
        return (
            "wrong",
            f"{folder} is too long for sockets ({length} bytes); set XDG_RUNTIME_DIR to a short folder.",
        )
    return "fine", str(folder)


def _file_system(config: Config) -> tuple[State, str]:
    kind = file_system(config.index_dir if config.index_dir.exists() else config.root)
    if kind in FOREIGN_FILE_SYSTEMS:
        return (
            "odd",
            f"{kind}: a network or foreign file system; the index is slower there, events may not arrive.",
        )
    return "fine", kind or "unknown"


def file_system(path: Path) -> str:
    """The kind of the file system that holds `path`, "" where the system does not say."""
    best, kind = "", ""
    try:
        lines = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        _, place, name, *_ = line.split()
        place = place.replace("\\040", " ")
        if (path.is_relative_to(place)) and len(place) >= len(best):
            best, kind = place, name
    return kind


def _free_space(config: Config) -> tuple[State, str]:
    free = shutil.disk_usage(config.root).free
    text = f"{free / 1e9:.1f} GB free"
    return ("fine", text) if free >= FREE_BYTES_MIN else ("odd", f"{text}; an index may need more.")


def _model(config: Config) -> tuple[State, str]:
    from cortex.embedders import open_embedder

    embedder = open_embedder(config)
    return "fine", f"{embedder.identity}, {embedder.dimensions} dimensions"


def _start(config: Config) -> tuple[State, str]:
    attach.check_start(config)
    return "fine", "nothing prevents the workers from starting"


def _workers(config: Config) -> tuple[State, str]:
    found = attach.set_status(config)
    if not found["running"]:
        return "fine", "not running; the first question starts them"
    if found["problem"]:
        return "wrong", found["problem"]
    bad = [one for one in found["processes"] if one["state"] not in ("running", "finished")]
    if bad:
        return "wrong", "; ".join(f"{one['name']} is {one['state']}: {one['last_error']}" for one in bad)
    return "fine", f"{len(found['processes'])} processes, {found['fronts']} fronts"
