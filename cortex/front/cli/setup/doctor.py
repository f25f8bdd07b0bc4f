"""The checks of `cortex doctor`: interpreter, packages, configuration, folders, model, running
workers.
"""

import importlib.metadata
import os
import platform
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from typing import Literal

from cortex.front.cli.running.sets import SESSIONS
from cortex.front.cli.setup.key import say_sealed
from cortex.front.cli.status import faults, memory_state, skip_and_remark_counts
from cortex.generation.contract import say_waiting, waiting_files
from cortex.processes import attach, starting, stored_projects
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.egress import describe_egress
from cortex.settings.folders.home import SOCKET_PATH_MAX, cache_base, open_home, open_runtime
from cortex.settings.unused import say_unused
from cortex.system import files, hosts
from cortex.system.errors import CortexError
from cortex.system.folders.mounts import FOREIGN, file_system
from cortex.system.installation import DISTRIBUTION, EXTRAS, how_to_add, missing_extras
from cortex.system.loaded_code import full_version
from cortex.terms.selection.ignores import NO_GLOB

PYTHON_MIN = (3, 11)
#: the name at the start of a requirement
_NAME = re.compile(r"[\w.-]*")
#: bytes that an index may need at any time
FREE_BYTES_MIN = 500 * 1024 * 1024
#: cache folders of missing projects that are named
GONE_NAMED = 5

State = Literal["fine", "odd", "wrong"]


@dataclass(frozen=True, slots=True)
class Check:
    """One check. "odd" works, but not as well as it could; "wrong" needs a repair."""

    name: str
    state: State
    text: str


def examine(project: str | None) -> list[Check]:
    """Run all checks, in the best order of repair. Starts only the commands of connected agents."""
    checks = [_python(), _packages(), _extras()]
    try:
        config = configuration.load(project)
    except CortexError as error:
        return [*checks, Check("configuration", "wrong", str(error))]
    note = f"; {config.subfolder} is served from its index" if config.subfolder else ""
    checks.append(Check("configuration", "fine", f"{config.root} (hash {config.hash()}){note}"))
    for name, look in (
        ("trust", _trust),
        ("network", network),
        ("folders", _folders),
        ("encryption", _encryption),
        ("cache", _cache),
        ("ignore files", _ignore_files),
        ("sockets", _sockets),
        ("file system", _file_system),
        ("free space", _free_space),
        ("model", _model),
        ("start", _start),
        ("workers", _workers),
        ("memory", _memory),
        ("agents", _agents),
    ):
        try:
            checks.append(Check(name, *look(config)))
        except CortexError as error:
            checks.append(Check(name, "wrong", str(error)))
        except OSError as error:
            checks.append(Check(name, "wrong", f"{error.strerror or error}: {error.filename or ''}"))
    return checks


def _agents(config: Config) -> tuple[State, str]:
    """Check that the entry of each connected agent starts a server that answers."""
    from cortex.front.agents import connections

    entries = list(connections.entries(config.root))
    if not entries:
        return "fine", "none is connected; `cortex install` connects those that are there"
    tried: dict[tuple[str, ...], str] = {}
    answering, wrong, odd = [], [], []
    for entry in entries:
        label = f"{entry.agent.title} ({entry.path})"
        try:
            command = connections.trial_command(entry, config.root)
            if not command:
                odd.append(
                    f"{label} was not started, as its command is not the one of `cortex install`: read it, for it may "
                    "have come with the project"
                )
                continue
            version = tried.get(command) or connections.try_out(command, config.root)
        except CortexError as error:
            wrong.append(f"{label}: {error}; `cortex install {entry.agent.name}` writes it anew")
        else:
            tried[command] = version
            answering.append(f"{label} answers, version {version}")
    odd += filter(None, [connections.outdated(config.root)])
    state: State = "wrong" if wrong else "odd" if odd else "fine"
    return state, "; ".join([*wrong, *odd, *answering])


def _python() -> Check:
    fits = sys.version_info >= PYTHON_MIN
    python = f"{platform.python_version()} ({sys.executable})"
    return Check("python", "fine" if fits else "wrong", f"{python}, Cortex {full_version()}")


def _packages() -> Check:
    try:
        requirements = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return Check("packages", "odd", f"{DISTRIBUTION} is not installed, it runs from its sources.")
    names = [line.split(";")[0] for line in requirements if "extra ==" not in line]
    missing = []
    for requirement in names:
        try:
            importlib.metadata.version(_NAME.match(requirement)[0])  # type: ignore[index]
        except importlib.metadata.PackageNotFoundError:
            missing.append(shlex.quote(requirement.strip()))
    if missing:
        return Check("packages", "wrong", f"missing: {', '.join(missing)}; pip install {' '.join(missing)}")
    return Check("packages", "fine", f"{len(names)} required packages are installed")


def _extras() -> Check:
    missing = missing_extras()
    if not missing:
        return Check("extras", "fine", f"{', '.join(EXTRAS)} are installed")
    return Check(
        "extras",
        "fine",
        f"optional, not installed: {', '.join(missing)}; {how_to_add(','.join(missing))} adds them",
    )


def _trust(config: Config) -> tuple[State, str]:
    ignored = say_unused(config), say_waiting(waiting_files(config))
    if any(ignored):
        return "odd", " ".join(filter(None, ignored))
    return "fine", "nothing in the project's configuration is ignored"


def network(config: Config) -> tuple[State, str]:
    """Report the data that is sent to other machines."""
    leaving = describe_egress(config)
    return ("odd", leaving) if leaving else ("fine", "nothing leaves this machine")


def _folders(config: Config) -> tuple[State, str]:
    open_home(config)
    for folder in (config.home, config.run_dir):
        if not os.access(folder, os.W_OK | os.X_OK):
            return "wrong", f"{folder} cannot be written; make it writable."
    return "fine", f"{config.home} can be written"


def _encryption(config: Config) -> tuple[State, str]:
    sentence, amiss = say_sealed(config)
    return ("odd" if amiss else "fine"), sentence


def _ignore_files(config: Config) -> tuple[State, str]:
    left_out = skip_and_remark_counts(config.manifest)["left_out"]
    if wrong := [reason for reason in left_out if reason.startswith(NO_GLOB)]:
        return (
            "odd",
            f"{'; '.join(wrong)}: left out, the other lines count; `cortex index --verbose` says why.",
        )
    return "fine", "every line could be read"


def _cache(_config: Config) -> tuple[State, str]:
    """Report cache folders of moved or deleted projects: nothing removes them by itself."""
    base = cache_base() / "projects"
    if not base.is_dir():
        return "fine", f"nothing is kept in {base}"
    folders = [base / name for name in sorted(files.names(base))]
    gone = [folder for folder in folders if (root := stored_projects.root_of(folder)) and not root.is_dir()]
    if not gone:
        return "fine", f"every folder in {base} has its project"
    size = sum(stored_projects.measure(folder)[0] for folder in gone) / 1e6
    names = ", ".join(folder.name for folder in gone[:GONE_NAMED]) + (" …" if len(gone) > GONE_NAMED else "")
    return (
        "odd",
        f"{len(gone)} in {base} ({size:.0f} MB) are of projects that were moved or deleted: {names}.",
    )


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
    if kind in FOREIGN:
        return (
            "odd",
            f"{kind}: a network or foreign file system; the index is slower there, events may not arrive.",
        )
    return "fine", kind or "unknown"


def _free_space(config: Config) -> tuple[State, str]:
    free = shutil.disk_usage(config.home if config.home.exists() else config.root).free
    text = f"{free / 1e9:.1f} GB free"
    return ("fine", text) if free >= FREE_BYTES_MIN else ("odd", f"{text}; an index may need more.")


def _model(config: Config) -> tuple[State, str]:
    from cortex.embedders import open_embedder

    embedder = open_embedder(config)
    return "fine", f"{embedder.identity}, {embedder.dimensions} dimensions"


def _start(config: Config) -> tuple[State, str]:
    starting.check_start(config)
    return "fine", "nothing prevents the workers from starting"


def _workers(config: Config) -> tuple[State, str]:
    status = attach.set_status(config)
    if not status["running"]:
        alone = ", ".join(process["name"] for process in status["processes"])
        return (
            "fine",
            f"without a supervisor: {alone}" if alone else "not running; the first question starts them",
        )
    if status["problem"]:
        return "wrong", status["problem"]
    good = ("running", "finished", attach.ALONE)
    if bad := [process for process in status["processes"] if process["state"] not in good]:
        return "wrong", "; ".join(
            f"{process['name']} is {process['state']}: {process['last_error']}" for process in bad
        )
    if problems := hosts.run(faults(config)):
        return "wrong", " ".join(problems)
    return "fine", f"{len(status['processes'])} processes, {status['fronts']} fronts"


def _memory(config: Config) -> tuple[State, str]:
    state = hosts.run(memory_state(config.data))
    if state["warnings"]:
        return "wrong" if state["set"]["processes"] else "odd", " ".join(state["warnings"])
    served = "served" if state["set"]["processes"] else "served from the first call on"
    database = f", kept in {state['database']}" if state["database"] else ""
    remark = f". {state['remark']}" if state["remark"] else ""
    return "fine", f"{state['folder']}{database}, {served}; sessions {SESSIONS[state['sessions']]}{remark}"
