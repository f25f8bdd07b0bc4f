"""A small project with its own cache, runtime folder and clock, and its processes.

Each file has a word that is in no other file.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from cortex.settings.config import Config, load
from torture.front import Front
from torture.record import Record

#: seconds without a front after which a set ends
IDLE_EXIT_S = 1
#: seconds within which every process of a set must end after its last front: the idle seconds,
#: three stages of five, and a machine under load
GONE_S = 40.0
#: MB that all processes of a set may have together
MEMORY_MB_MAX = 2_500
#: seconds between two measurements
LOOK_S = 0.5
#: the checkout that is hurt, wherever another is installed
ROOT = Path(__file__).resolve().parents[2]
#: letters of a word; two drawn words are never equal in practice
WORD_CHARS = 12
#: adds a link's number to `time.time` in every process of the world: a clock that jumps
CLOCK = """import os, time
_shift = {path!r}
_time, _time_ns = time.time, time.time_ns
def _seconds():
    try:
        return int(os.readlink(_shift))
    except OSError:
        return 0
time.time = lambda: _time() + _seconds()
time.time_ns = lambda: _time_ns() + _seconds() * 10**9
"""
FORMS = {
    ".py": '"""The part {name} of the project."""\n\n\ndef {word}(value: int) -> int:\n    return shared(value) + 1\n',
    ".go": "package {name}\n\n// {word} adds one.\nfunc {word}(value int) int {{\n\treturn shared(value) + 1\n}}\n",
    ".md": "# Part {name}\n\nHere `{word}` is described.\n",
    ".ts": "export function {word}(value: number): number {{\n  return shared(value) + 1;\n}}\n",
}


@dataclass
class World:
    """A project; `words` maps each word to its file now, `gone` holds the removed words."""

    base: Path
    environment: dict[str, str]
    words: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    @property
    def root(self) -> Path:
        return self.base / "project"

    @property
    def cache(self) -> Path:
        return self.base / "cache"

    @property
    def runtime(self) -> Path:
        return self.base / "run"

    @property
    def log(self) -> Path:
        return self.base / "front.log"

    @property
    def config(self) -> Config:
        return load(self.root)

    def front(self) -> Front:
        """Start a front, without a handshake."""
        return Front(self.root, self.environment, self.log)

    def save(self, path: str, draws: random.Random) -> str:
        """Write the file with a new word, and return the word."""
        word = draw_word(draws)
        text = FORMS[Path(path).suffix].format(name=Path(path).stem, word=word)
        self.forget(path)
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text)
        self.words[word] = path
        return word

    def remove(self, path: str) -> None:
        (self.root / path).unlink(missing_ok=True)
        self.forget(path)

    def forget(self, path: str) -> None:
        """Move the word of `path` to `gone`."""
        for word in [word for word, file in self.words.items() if file == path]:
            del self.words[word]
            self.gone.add(word)

    def jump(self, seconds: int) -> None:
        """Set the clock of the world's processes so many seconds off the right time."""
        link, new_link = self.base / "shift", self.base / "shift.new"
        new_link.symlink_to(str(seconds))
        new_link.replace(link)

    def command(self, *arguments: str, bound_s: float = 120.0) -> subprocess.CompletedProcess[str]:
        """Run `cortex` for the project. Raises subprocess.TimeoutExpired."""
        return self.run(*arguments, "--project", str(self.root), bound_s=bound_s)

    def run(
        self, *arguments: str, folder: Path | str = "/", bound_s: float = 60.0
    ) -> subprocess.CompletedProcess[str]:
        """Run `cortex` with these arguments in this world. Raises subprocess.TimeoutExpired."""
        return subprocess.run(
            [sys.executable, "-P", "-m", "cortex", *arguments],
            env=self.environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=bound_s,
            check=False,
        )

    def processes(self) -> list[psutil.Process]:
        """Return every living process that was started for this world, whatever its command
        line.
        """
        mark = b"CORTEX_HOME=" + os.fsencode(self.cache) + b"\0"
        living = []
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                with contextlib.suppress(OSError, psutil.Error):
                    if mark in Path("/proc", name, "environ").read_bytes():
                        living.append(psutil.Process(int(name)))
        return living

    def memory_mb(self) -> float:
        """Return the resident MB of all its processes; shared pages count each time."""
        return sum(map(_resident, self.processes())) / 1e6

    def wait_for_exit(self, bound_s: float = GONE_S) -> list[str]:
        """Wait for the end of all its processes; return the command lines of those left."""
        deadline = time.monotonic() + bound_s
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return [f"{process.pid} {role(process)}" for process in left]

    def kill_all(self) -> None:
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                process.kill()


def role(process: psutil.Process) -> str:
    """Return the role of a process: a worker's name, `indexer`, `supervisor`, `forkserver`,
    `front`, `pool`.
    """
    try:
        line = process.cmdline()
    except psutil.Error:
        return "gone"
    if "cortex.processes.supervisor" in line:
        return "supervisor"
    if "cortex.processes.forkserver" in line:
        return "forkserver"
    if "workers" in line:
        return str(line[line.index("workers") + 1])
    if "mcp" in line:
        return "front"
    return "indexer" if "--watch" in line else "pool"


def draw_word(draws: random.Random) -> str:
    return "".join(draws.choices("bcdfghjklmnpqrstvwxz", k=WORD_CHARS))


def draw_path(draws: random.Random, number: int) -> str:
    folder = draws.choice(["src", "src/core", "lib/deep/er", "docs", "web"])
    return f"{folder}/part_{number}{draws.choice(list(FORMS))}"


@contextlib.contextmanager
def open_world(
    record: Record, scenario: str, files: int, draws: random.Random | None = None
) -> Iterator[World]:
    """Make a world with so many files, and remove it in the end, whatever happened.

    Without `draws` it is the same for every step of the part.
    """
    draws = draws or random.Random(f"{record.seed} {scenario}")
    base = Path(tempfile.mkdtemp(prefix="ct", dir="/tmp")).resolve()  # short, for paths of sockets
    try:
        world = World(base, _environment(base))
        for folder in (world.root / ".git", world.runtime, base / "clock"):
            folder.mkdir(parents=True)
        world.runtime.chmod(0o700)
        (base / "clock" / "sitecustomize.py").write_text(CLOCK.format(path=str(base / "shift")))
        for number in range(files):
            world.save(draw_path(draws, number), draws)
        with _environ(world.environment), _bounded(world, record, scenario):
            yield world
            with contextlib.suppress(subprocess.TimeoutExpired):
                world.command("down")
    finally:
        World(base, {}).kill_all()
        # A tree may be too deep for Python's rmtree.
        subprocess.run(["chmod", "-R", "u+rwX", str(base)], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--", str(base)], check=False, stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def _bounded(world: World, record: Record, scenario: str) -> Iterator[None]:
    """Watch the memory of all its processes meanwhile; the largest is killed at the bound."""
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(LOOK_S):
            total = world.memory_mb()
            record.measure("memory of a set, MB", total)
            if total > MEMORY_MB_MAX:
                largest = max(world.processes(), key=_resident)
                detail = f"{total:.0f} MB, of which {role(largest)} {_resident(largest) / 1e6:.0f}"
                record.breaks(scenario, "memory is bounded", detail)
                with contextlib.suppress(psutil.Error):
                    largest.kill()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def _environment(base: Path) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    return inherited | {
        "XDG_RUNTIME_DIR": str(base / "run"),
        "XDG_CONFIG_HOME": str(base / "config"),
        "CORTEX_HOME": str(base / "cache"),
        "CORTEX_SERVER_IDLE_EXIT_S": str(IDLE_EXIT_S),
        "CORTEX_SERVER_DEBOUNCE_MS": "50",
        "CORTEX_INDEXING_DEBOUNCE_MS": "50",
        "PYTHONPATH": os.pathsep.join((str(base / "clock"), str(ROOT))),
    }


@contextlib.contextmanager
def _environ(values: dict[str, str]) -> Iterator[None]:
    """Set the world's environment for searches in this process."""
    names = [name for name in values if name.startswith(("CORTEX_", "XDG_"))]
    before = {name: os.environ.get(name) for name in names}
    os.environ.update({name: values[name] for name in names})
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def freeze(process: psutil.Process, seconds: float) -> None:
    """Stop a process for a while, as a suspended machine does."""
    with contextlib.suppress(psutil.Error, ProcessLookupError):
        process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        process.send_signal(signal.SIGCONT)
