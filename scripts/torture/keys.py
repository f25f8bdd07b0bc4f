"""Key commands, with folders that vanish between them: `CORTEX_HOME`, the runtime folder, notes
about keys, opened copies in memory, a memory that is not mounted. No acknowledged note is lost, and
no sealed project becomes plain.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import subprocess
import threading
import time

from cortex.sealing.places import plain_of
from torture.kills import load
from torture.record import Record
from torture.world import World, draw_word, open_world

SCENARIO = "keys"
FILES = 3
#: actions of one step, and seconds within which each command ends
ACTIONS, COMMAND_S = 6, 90.0
COMMANDS = (
    ("index", "--encrypt"), ("key", "rotate"), ("key", "rotate", "--reseal"), ("key", "show-location"),
    ("key", "forget", "--yes"), ("exact", "shared"), ("doctor",), ("down",), ("memory", "down"),
)  # fmt: skip


#: commands while a folder is away
COMMANDS_WITHOUT = [command for command in COMMANDS if command[0] == "key"]


def run(record: Record, until: float) -> None:
    """Run steps until `until` (monotonic); each is a sealed memory and a project."""
    while time.monotonic() < until:
        draws = record.draws(SCENARIO)
        with open_world(record, SCENARIO, FILES, draws) as world:
            keys = world.base / "keys"
            keys.mkdir(mode=0o700)
            world.environment |= {
                "CORTEX_SECURITY_KEY_PATH": str(keys / "master"),
                "CORTEX_MEMORY_DATA_DIR": str(world.base / "memory"),
                "HOME": str(world.base),
            }
            _act(world, record, draws)
            for command in (("memory", "down"), ("down",)):
                _run(world, record, command)
            world.environment["CORTEX_HOME"] = str(world.cache)
        record.count("sealed worlds")


def _act(world: World, record: Record, draws: random.Random) -> None:
    _show_recovery(world, record)
    notes: list[str] = []
    sealed = False
    history: list[str] = []
    for _ in range(ACTIONS):
        if (choice := draws.random()) < 0.3:
            history.append(_vanish(world, record, draws))
            continue
        if choice < 0.55:
            note = draw_word(draws)
            history.append("store")
            stored = _run(world, record, ("memory", "store", "--title", f"{note} note", "--body", "b"))
            notes += [note] if stored == 0 else []
            continue
        command = draws.choice(COMMANDS)
        history.append(" ".join(command))
        code = _run(world, record, command)
        sealed = sealed or (command == ("index", "--encrypt") and code == 0)
        plain = list(world.base.glob("cache*/projects/*/chunks/*")) if sealed else []
        if plain:
            detail = f"{plain[0].name} after {', '.join(history)}"
            record.breaks(SCENARIO, "a sealed project stays sealed", detail)
            return
    for note in notes:
        record.count("notes of sealed memory")
        if _run(world, record, ("memory", "recall", note)) != 0:
            detail = f"{note} after {', '.join(history)}; {load()}"
            record.breaks(SCENARIO, "no acknowledged note is lost to a command for keys", detail)


def _show_recovery(world: World, record: Record) -> None:
    """Encrypt memory, twice if opened copies that are removed meanwhile prevent it; once it is
    sealed, the recovery key must have been shown.
    """
    stop = threading.Event()

    def remove() -> None:
        while not stop.wait(0.005):
            if (world.base / "memory" / "memory.sqlite3").exists():  # memory was opened
                _remove_copies(world)

    remover = threading.Thread(target=remove, daemon=True)
    remover.start()
    try:
        done = world.run("memory", "encrypt", folder=world.root, bound_s=COMMAND_S)
    finally:
        stop.set()
        remover.join()
    record.count(f"encryption under a remover ended with {done.returncode}")
    if done.returncode and "Traceback" not in done.stderr:
        done = world.run("memory", "encrypt", folder=world.root, bound_s=COMMAND_S)
    if "Its recovery key is shown once" not in done.stdout or "Traceback" in done.stderr:
        record.breaks(SCENARIO, "the recovery key of memory is shown", done.stdout + done.stderr[-600:])


def _remove_copies(world: World) -> None:
    """Remove the opened copies of what is sealed."""
    for store in (world.base / "memory" / "sealed", *(world.cache / "sealed").glob("*")):
        shutil.rmtree(plain_of(store), ignore_errors=True)


def _vanish(world: World, record: Record, draws: random.Random) -> str:
    """Let a folder vanish, at times under running workers; return a description."""
    kind = draws.choice(("cache", "run", "another home", "away", "not mounted", "copies"))
    stopped = draws.random() < 0.7 or kind in ("another home", "away", "not mounted")
    if stopped:
        _run(world, record, ("down",))
        _run(world, record, ("memory", "down"))
    record.count(f"vanished: {kind}")
    if kind == "copies":
        _remove_copies(world)
    elif kind == "another home":
        world.environment["CORTEX_HOME"] = str(world.base / draws.choice(("cache", "cache2")))
    elif kind in ("away", "not mounted"):
        folder = world.cache if kind == "away" else world.base / "memory"
        command = draws.choice(COMMANDS_WITHOUT)
        aside = folder.with_name("kept")
        with contextlib.suppress(FileNotFoundError):
            folder.rename(aside)
            _run(world, record, command)
            _run(world, record, ("down",))
            shutil.rmtree(folder, ignore_errors=True)
            aside.rename(folder)
        return f"{kind} during {' '.join(command)}"
    else:
        folder = world.cache if kind == "cache" else world.runtime
        shutil.rmtree(folder, ignore_errors=True)
        if kind == "run" or draws.random() < 0.5:
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
    return f"{kind}{'' if stopped else ' under workers'}"


def _run(world: World, record: Record, command: tuple[str, ...]) -> int:
    """Return the exit code of a command in the project; -1 if it does not end."""
    record.count("commands for keys")
    try:
        done = world.run(*command, folder=world.root, bound_s=COMMAND_S)
    except subprocess.TimeoutExpired:
        record.breaks(SCENARIO, "every command for keys ends", f"cortex {' '.join(command)}; {load()}")
        return -1
    if "Traceback" in done.stderr or done.returncode not in (0, 1, 2, 3, 4):
        detail = f"cortex {' '.join(command)} ended with {done.returncode}: {done.stderr[-600:]}"
        record.breaks(SCENARIO, "a fault of a command for keys is one sentence", detail)
    return done.returncode
