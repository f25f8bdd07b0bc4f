"""The sandbox of a set with `security.sandbox` on: separate namespaces, made by bubblewrap. Builds
the command lines, and explains why a sandbox is impossible.

A project's set sees the system's programs, the interpreter, its project (read-only), its folder of
the cache and its sockets. Memory's set must read the sessions of all projects: it reads all files
of its user, and writes to its own folder alone. Neither has a network, sees the processes of
others, or has a capability.
"""

import contextlib
import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from cortex.generation.current import user_key
from cortex.sealing.places import FILE_VARIABLE, VARIABLE
from cortex.settings.config import Config
from cortex.settings.consent.chunk_consent import chunk_note_of
from cortex.settings.consent.trust import note_of
from cortex.settings.data import DataFolder
from cortex.settings.folders.home import (
    EMBED_TOKEN,
    IN_SET,
    OLD_TOKEN,
    TOKEN,
    cache_base,
    real,
    runtime_base,
    user_config,
    user_home,
)
from cortex.settings.table import MEMORY_EMBEDDING, Embedding
from cortex.system import files
from cortex.system.errors import Misconfigured
from cortex.system.git import search_path

#: the owner of a set, as in `starting`, which imports this module
Owner = Config | DataFolder

PROGRAM = "bwrap"
#: the separate namespaces of the set's processes, and the drop of all capabilities in them
NAMESPACES = (
    "--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL"
).split()
#: the system paths that programs need; missing paths are skipped
SYSTEM = (
    "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /gnu/store /etc/alternatives /etc/ld.so.cache "
    "/etc/localtime /etc/passwd"
).split()
#: beginnings of the environment variables that a set reads, and the secret ones among them
VARIABLES = ("CORTEX_", "XDG_", "LC_", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "HOME", "LANG", "PATH", "TZ")
SECRETS = frozenset((EMBED_TOKEN, FILE_VARIABLE, OLD_TOKEN, TOKEN, VARIABLE))
#: seconds that the trial run may take: some 20 ms on an idle machine
TRY_S = 10.0
#: kernel switches that forbid namespaces: path, forbidding value, remedy
SWITCHES = (
    ("/proc/sys/kernel/unprivileged_userns_clone", b"0", "set kernel.unprivileged_userns_clone=1 by sysctl"),
    ("/proc/sys/user/max_user_namespaces", b"0", "set user.max_user_namespaces to 10000 by sysctl"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        b"1",
        "give bwrap a profile of AppArmor with `userns,`, or set kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)
#: the remedy if no switch forbids namespaces
DEFAULT_REMEDY = (
    "in a container, start that with --security-opt seccomp=unconfined --security-opt systempaths=unconfined"
)
_OFF = "or switch security.sandbox off"


def check(owner: Owner, *, http: bool = False) -> None:
    """Raise Misconfigured if the set cannot run in a sandbox. `http`: with the HTTP server."""
    if isinstance(owner, Config):
        _check_settings(owner)
        _check_embedding(owner.embedding, "embedding")
    else:
        _check_embedding(owner.embedding, MEMORY_EMBEDDING)
    if not isinstance(owner, Config) and owner.settings.database:
        raise Misconfigured(
            "memory.database names a server, which needs a network, and a sandbox has none: leave it out, "
            f"{_OFF}."
        )
    if http:
        raise Misconfigured(
            "The server of HTTP cannot run in a sandbox, which has no network: run `cortex serve` beside it, "
            f"{_OFF}."
        )
    _try_out(_program(owner))


def _check_settings(config: Config) -> None:
    if real(user_home()).is_relative_to(config.root):
        raise Misconfigured(
            f"The project {config.root} holds your home folder, which a sandbox is to keep out: name a project "
            f"below it, {_OFF}."
        )
    if config.explicit_chunks:
        raise Misconfigured(
            f"server.chunks_dir is {config.server.chunks_dir!r}, and a sandbox writes to the cache alone: leave "
            f"it out, {_OFF}."
        )


def _check_embedding(embedding: Embedding, section: str) -> None:
    if embedding.provider in ("http", "local"):
        raise Misconfigured(
            f"{section}.provider is {embedding.provider}, which needs a network, and a sandbox has none: set it "
            f"to static or onnx, {_OFF}."
        )
    if embedding.device != "cpu":
        raise Misconfigured(
            f"{section}.device is {embedding.device}, and a sandbox has no devices: set it to cpu, {_OFF}."
        )


def _program(owner: Owner) -> str:
    """Return the path of bubblewrap, outside the project. Raises Misconfigured if it is missing."""
    path = shutil.which(PROGRAM, path=search_path(owner.root))
    if path is None:
        raise Misconfigured(
            f"security.sandbox needs bubblewrap, and no {PROGRAM} is on the PATH: install it (`apt install "
            f"bubblewrap`, `dnf install bubblewrap`), {_OFF}."
        )
    return path


def _try_out(program: str) -> None:
    """Raise Misconfigured with bubblewrap's message if the system forbids the sandbox."""
    command = [program, *NAMESPACES, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--"]
    try:
        tried = subprocess.run(
            [*command, sys.executable, "-S", "-c", ""],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TRY_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Misconfigured(f"bubblewrap ({program}) cannot be run: {error}; mend that, {_OFF}.") from error
    if tried.returncode:
        lines = tried.stderr.decode(errors="replace").split("\n")
        reason = next((line.strip() for line in lines if line.strip()), "without a word")[:300]
        raise Misconfigured(f"bubblewrap cannot make a sandbox here ({reason}): {_remedy()}, {_OFF}.")


def _remedy() -> str:
    for path, value, advice in SWITCHES:
        with contextlib.suppress(OSError):
            if files.read_plain(path, 64).strip() == value:
                return advice
    return DEFAULT_REMEDY


def sandbox_command(owner: Owner, command: Sequence[str], *, dies_with_us: bool = False) -> list[str]:
    """Return the argument list that runs `command` in the owner's sandbox, with its folders.

    `dies_with_us`: the command ends with the process that starts it, however that ends. Raises
    Misconfigured.
    """
    if isinstance(owner, Config):
        sees = _project_options(owner)
        writes = (owner.sealing.base, owner.sealing.store) if owner.sealing else (owner.home,)
    else:  # all files are read-only, and sockets of system services are hidden
        sees = "--ro-bind / / --tmpfs /run --tmpfs /var/tmp --dev /dev --proc /proc".split()
        writes = (owner.root, *((owner.sealing.base,) if owner.sealing else ()))
    binds = [word for path in (*writes, owner.runtime_dir) for word in ("--bind", str(path), str(path))]
    ends = ["--die-with-parent"] if dies_with_us else []
    return [_program(owner), *NAMESPACES, *ends, *sees, *binds, "--chdir", "/", "--", *command]


def environment() -> dict[str, str]:
    """Return a sandbox's environment: no token, no others' variables; makes no further sandbox."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(VARIABLES) and name not in SECRETS
    }
    return variables | {"CORTEX_SECURITY_SANDBOX": "0", IN_SET: "1"}


def _project_options(config: Config) -> list[str]:
    """Return a project's options: its read-only files; others, but its own folders, are hidden."""
    from cortex.indexer.rules import global_ignore, usual_ignore

    user_key()  # creates the key's file: bubblewrap can bind only existing files
    options = "--dev /dev --proc /proc --tmpfs /tmp --tmpfs /var/tmp".split()
    options += ["--perms", "0700", "--dir", str(runtime_base())]
    options += ["--perms", "0700", "--dir", str(cache_base())]
    for path in (*map(Path, SYSTEM), *_interpreter_folders(), config.root):
        options += ["--ro-bind-try", str(path), str(path)]
    #: single files of the user: path outside → path in the sandbox
    user_files = {cache_base() / "origin.key": cache_base() / "origin.key"}
    user_files |= {
        real(path): path for path in (user_config(), note_of(config.root), chunk_note_of(config.root))
    }
    user_files[Path(os.path.realpath(global_ignore()))] = Path(usual_ignore())
    user_files |= {path: path for path in _model_folders(config)}
    for source, target in user_files.items():
        options += ["--ro-bind-try", str(source), str(target)]
    return options


def _interpreter_folders() -> Iterator[Path]:
    """Yield the folders of the interpreter, its installed packages, and Cortex's modules."""
    ours = [os.path.dirname(str(sys.modules[name].__file__)) for name in ("cortex", "ipc")]
    ours.append(os.path.join(os.path.dirname(ours[0]), "workers"))
    installed = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    folders = [sys.prefix, sys.base_prefix, sys.exec_prefix, *installed, *ours]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    for path in dict.fromkeys(folders):
        yield Path(path)
        yield Path(os.path.realpath(path))


def _model_folders(config: Config) -> Iterator[Path]:
    """Yield the folder of the user's own model, and the targets of links in it."""
    if not config.embedding.model_path:
        return
    folder = config.root / Path(config.embedding.model_path).expanduser()
    if folder.is_relative_to(config.root):  # the project's author may have made links in it
        return
    yield folder
    with contextlib.suppress(OSError):
        for name in files.names(folder):
            yield Path(os.path.realpath(folder / name))
