"""Key commands, with caches and runtime folders that vanish between them: no acknowledged note is
lost, and no sealed project becomes plain.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
import time

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
            _run(world, record, ("memory", "down"))
        record.count("sealed worlds")


def _act(world: World, record: Record, draws: random.Random) -> None:
    _run(world, record, ("memory", "encrypt"))
    notes: list[str] = []
    sealed = False
    history: list[str] = []
    for _ in range(ACTIONS):
        if (choice := draws.random()) < 0.3:
            _vanish(world, record, draws, history)
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
        plain = list((world.cache / "projects").glob("*/chunks/*")) if sealed else []
        if plain:
            detail = f"{plain[0].name} after {', '.join(history)}"
            record.breaks(SCENARIO, "a sealed project stays sealed", detail)
            return
    for note in notes:
        record.count("notes of sealed memory")
        if _run(world, record, ("memory", "recall", note)) != 0:
            detail = f"{note} after {', '.join(history)}; {load()}"
            record.breaks(SCENARIO, "no acknowledged note is lost to a command for keys", detail)


def _vanish(world: World, record: Record, draws: random.Random, history: list[str]) -> None:
    """Remove the cache or the runtime folder, at times under running workers."""
    if draws.random() < 0.7:
        _run(world, record, ("down",))
        _run(world, record, ("memory", "down"))
    folder = draws.choice((world.cache, world.runtime))
    history.append(f"without {folder.name}")
    shutil.rmtree(folder, ignore_errors=True)
    if folder == world.runtime or draws.random() < 0.5:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
    record.count("vanished folders")


def _run(world: World, record: Record, command: tuple[str, ...]) -> int:
    """Return the exit code of a command in the project; -1 if it does not end."""
    record.count("commands for keys")
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "cortex", *command],
            env=os.environ | world.environment,
            cwd=world.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        record.breaks(SCENARIO, "every command for keys ends", f"cortex {' '.join(command)}; {load()}")
        return -1
    if "Traceback" in done.stderr or done.returncode not in (0, 1, 2, 3, 4):
        detail = f"cortex {' '.join(command)} ended with {done.returncode}: {done.stderr[-600:]}"
        record.breaks(SCENARIO, "a fault of a command for keys is one sentence", detail)
    return done.returncode
