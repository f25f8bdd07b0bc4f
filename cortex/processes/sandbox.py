"""The sandbox that a set runs in where `security.sandbox` is on: namespaces of its own, made by
bubblewrap. Says how a command is started in it, and why that cannot be done here.

A project's set sees the system's programs, the interpreter, its project (to read), its folder of
the cache and its sockets. Memory's set has to read the sessions of all projects: it sees what its
user sees, and writes to its own folder alone. Neither has a network, another's processes, or a
capability.
"""

from __future__ import annotations

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
from cortex.settings.data import DataFolder
from cortex.settings.home import (
    EMBED_TOKEN,
    OLD_TOKEN,
    TOKEN,
    cache_base,
    real,
    runtime_base,
    user_config,
    user_home,
)
from cortex.settings.trust import note_of
from cortex.system import files
from cortex.system.errors import Misconfigured
from cortex.system.git import search_path

#: whose set it is, as in `starting`, which asks this
Owner = Config | DataFolder

PROGRAM = "bwrap"
#: what its processes have of their own; the rights of a set's user inside them are dropped as well
NAMESPACES = (
    "--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL"
).split()
#: what programs of the system need, of those that are there
SYSTEM = (
    "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /gnu/store /etc/alternatives /etc/ld.so.cache "
    "/etc/localtime /etc/passwd"
).split()
#: beginnings of the variables that processes of a set act on, and those of them that are secrets
VARIABLES = ("CORTEX_", "XDG_", "LC_", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "HOME", "LANG", "PATH", "TZ")
SECRETS = frozenset((EMBED_TOKEN, FILE_VARIABLE, OLD_TOKEN, TOKEN, VARIABLE))
#: seconds that trying it out may take: some 20 ms on a machine with nothing else to do
TRY_S = 10.0
#: what a kernel may be set to, and what is to be done about it
SWITCHES = (
    ("/proc/sys/kernel/unprivileged_userns_clone", b"0", "set kernel.unprivileged_userns_clone=1 by sysctl"),
    ("/proc/sys/user/max_user_namespaces", b"0", "set user.max_user_namespaces to 10000 by sysctl"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        b"1",
        "give bwrap a profile of AppArmor with `userns,`, or set kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)
#: where none of them is set so
DEFAULT_REMEDY = (
    "in a container, start that with --security-opt seccomp=unconfined --security-opt systempaths=unconfined"
)
_OFF = "or switch security.sandbox off"


def check(owner: Owner, *, http: bool = False) -> None:
    """Raises Misconfigured, one sentence, where the owner's set cannot run in a sandbox. `http`:
    with the server of HTTP.
    """
    if isinstance(owner, Config):
        _check_settings(owner)
    elif owner.settings.database:
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
    embedding = config.embedding
    if embedding.provider in ("http", "local"):
        raise Misconfigured(
            f"embedding.provider is {embedding.provider}, which needs a network, and a sandbox has none: set it "
            f"to static or onnx, {_OFF}."
        )
    if embedding.device != "cpu":
        raise Misconfigured(
            f"embedding.device is {embedding.device}, and a sandbox has no devices: set it to cpu, {_OFF}."
        )
    if config.explicit_chunks:
        raise Misconfigured(
            f"server.chunks_dir is {config.server.chunks_dir!r}, and a sandbox writes to the cache alone: leave "
            f"it out, {_OFF}."
        )


def _program(owner: Owner) -> str:
    """The path of bubblewrap, which is none of the project's. Raises Misconfigured without one."""
    path = shutil.which(PROGRAM, path=search_path(owner.root))
    if path is None:
        raise Misconfigured(
            f"security.sandbox needs bubblewrap, and no {PROGRAM} is on the PATH: install it (`apt install "
            f"bubblewrap`, `dnf install bubblewrap`), {_OFF}."
        )
    return path


def _try_out(program: str) -> None:
    """Raises Misconfigured with what bubblewrap says when the system does not let it."""
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
    """`command`, to be run in the owner's sandbox; its folders are there. Raises Misconfigured.

    `dies_with_us`: when the one who starts it ends, however that is.
    """
    sees = _project_options(owner) if isinstance(owner, Config) else _memory_options()
    if isinstance(owner, Config):
        writes = (owner.sealing.base, owner.sealing.store) if owner.sealing else (owner.home,)
    else:
        writes = (owner.root, *((owner.sealing.base,) if owner.sealing else ()))
    binds = [word for path in (*writes, owner.runtime_dir) for word in ("--bind", str(path), str(path))]
    ends = ["--die-with-parent"] if dies_with_us else []
    return [_program(owner), *NAMESPACES, *ends, *sees, *binds, "--chdir", "/", "--", *command]


def environment() -> dict[str, str]:
    """The variables of a process in a sandbox: no token, and nothing of other programs. It makes no
    sandbox itself.
    """
    variables = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(VARIABLES) and name not in SECRETS
    }
    return variables | {"CORTEX_SECURITY_SANDBOX": "0"}


def _memory_options() -> list[str]:
    """What memory's set sees: all, to read, but the sockets of the system's services."""
    return "--ro-bind / / --tmpfs /run --tmpfs /var/tmp --dev /dev --proc /proc".split()


def _project_options(config: Config) -> list[str]:
    """What a project's set sees beside what it writes. What is not named here is not there."""
    from cortex.indexer.rules import global_ignore, usual_ignore

    user_key()  # its file has to be there to be shown
    options = "--dev /dev --proc /proc --tmpfs /tmp --tmpfs /var/tmp".split()
    options += ["--perms", "0700", "--dir", str(runtime_base())]
    options += ["--perms", "0700", "--dir", str(cache_base())]
    for path in (*map(Path, SYSTEM), *_interpreter_folders(), config.root):
        options += ["--ro-bind-try", str(path), str(path)]
    #: of what is the user's own, single files: where each is → where it is seen
    user_files = {cache_base() / "origin.key": cache_base() / "origin.key"}
    user_files |= {real(path): path for path in (user_config(), note_of(config.root))}
    user_files[Path(os.path.realpath(global_ignore()))] = Path(usual_ignore())
    user_files |= {path: path for path in _model_folders(config)}
    for source, target in user_files.items():
        options += ["--ro-bind-try", str(source), str(target)]
    return options


def _interpreter_folders() -> Iterator[Path]:
    """The folders of the interpreter, of what is installed for it, and of our own modules."""
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
    """The folder of a model of the user's own, and where links in it lead."""
    if not config.embedding.model_path:
        return
    folder = config.root / Path(config.embedding.model_path).expanduser()
    if folder.is_relative_to(config.root):  # whoever made the project may have made links there
        return
    yield folder
    with contextlib.suppress(OSError):
        for name in files.names(folder):
            yield Path(os.path.realpath(folder / name))
