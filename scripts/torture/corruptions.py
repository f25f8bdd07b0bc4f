"""Corruptions: any file of the index, the cache and the runtime folder is cut, zeroed, scrambled,
replaced or removed, with a running set and between two sets. Every word is found again without
help.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import stat
import time
from collections import Counter
from pathlib import Path

import psutil

from torture.kills import Missing, load, look
from torture.record import Record
from torture.world import World, open_world, role

SCENARIO = "corruptions"
#: files of the project
FILES = 8
#: seconds in which damage must be healed without a save, on an idle machine: above HEALED_S it is
#: counted, above HEALED_S_MAX, which leaves room for load, it is a broken promise
HEALED_S, HEALED_S_MAX = 5.0, 40.0
#: damages of the shortest run
LEAST = 4
#: steps between two saves, which cause damaged files to be read and written again
STEPS_BETWEEN_SAVES = 4
#: share of the steps between two sets; each start reads all files damaged before
COLD_SHARE = 0.35
#: files damaged in one step, at most: a start costs as much over one damaged file as over six
COLD_MAX, HOT_MAX = 6, 3
#: bytes that are overwritten in one place
BYTES_MAX = 4096
#: characters of a log that are shown when a promise was broken
SAID_MAX = 3000
#: name of a file in a folder that replaces a file
INSIDE = "something"
#: names of one kind differ in these only: numbers and content hashes
_NUMBER = re.compile(r"[0-9a-f]{16,}|\d+")


def run(record: Record, until: float) -> None:
    """Run steps until `until` (monotonic), with or without a running set by chance.

    A last start reads the files that are still damaged.
    """
    with open_world(record, SCENARIO, FILES) as world:
        trial = Trial(world, record)
        trial.heal("first", "start")
        steps = 0
        while time.monotonic() < until or sum(trial.damage_counts.values()) < LEAST:
            steps += 1
            draws = record.draws(SCENARIO)
            if steps % STEPS_BETWEEN_SAVES == STEPS_BETWEEN_SAVES - 1:
                world.save(draws.choice(sorted(world.words.values())), draws)
            trial.step(draws)
        record.measure("kinds of files damaged", len(trial.damage_counts))
        trial.down()
        trial.heal("last", f"start after {trial.done}")
        trial.front.close(5.0)


class Trial:
    """A world with damaged files, and a front that searches it."""

    def __init__(self, world: World, record: Record) -> None:
        self.world, self.record = world, record
        #: how often each kind of file was damaged
        self.damage_counts: Counter[str] = Counter()
        #: damages since the last start: damage that goes unread is noticed by the next start
        self.done: list[str] = []
        self.front = world.front()
        self.front.initialize()

    def step(self, draws: random.Random) -> None:
        """Damage some files, of the least damaged kinds; wait until every word is found."""
        cold = draws.random() < COLD_SHARE
        if cold:
            self.down()
        most = COLD_MAX if cold else HOT_MAX
        done = [what for _ in range(draws.randint(1, most)) if (what := self._damage(draws, cold=cold))]
        if not done:
            return
        before = f" (before it {self.done})" if cold and self.done else ""
        self.heal("cold" if cold else "hot", f"{done}{before}")
        self.done = [] if cold else [*self.done, *done]

    def _damage(self, draws: random.Random, *, cold: bool) -> str:
        """Damage a file; return a description, "" if nothing was done."""
        kinds = kinds_of(self.world)
        least = min(self.damage_counts[kind] for kind in kinds)
        kind = draws.choice(sorted(kind for kind in kinds if self.damage_counts[kind] == least))
        self.damage_counts[kind] += 1
        path = draws.choice(kinds[kind])
        how = draws.choice(sorted(DAMAGES))
        try:
            DAMAGES[how](path, draws)
        except OSError:
            self.record.count("damages that the system refused")
            return ""
        self.record.count("corruptions")
        self.record.count(f"corruptions {'cold' if cold else 'hot'}")
        self.record.count(f"corruptions of {kind}")
        return f"{how} of {path.relative_to(self.world.base)}"

    def heal(self, when: str, what: str) -> None:
        """Wait until every word is found in its file."""
        started = asked_at = time.monotonic()
        missing = Missing()
        while time.monotonic() - started < HEALED_S_MAX:
            if not self.front.alive:
                self._open(what)
                started = time.monotonic()  # the start of a front is not measured here
            asked_at = time.monotonic()
            missing = look(self.world, self.front)
            if not missing.has_any:
                break
            time.sleep(0.1)
        if missing.has_any:
            took = time.monotonic() - started
            detail = f"{when} {what}: after {took:.0f} s {missing}; {self._signs_of_life()}; {load()}"
            self.record.breaks(SCENARIO, "a damage is healed by itself", detail)
            self._begin_anew()
            return
        # The last look, which found nothing missing, is no part of the healing.
        self.record.measure(f"healed {when}, s", asked_at - started)
        self.record.count("healed")
        if asked_at - started > HEALED_S:
            self.record.count(f"healed after more than {HEALED_S:g} s")

    def down(self) -> None:
        self.front.close(5.0)
        self.world.command("down")

    def _open(self, what: str) -> None:
        """Open another front, in place of one that was closed here, or that ended by itself."""
        if not self.front.closed:
            detail = f"after {what} it ended with {self.front.process.poll()}"
            self.record.breaks(SCENARIO, "a front lives on", detail)
            self.front.close()
        self.front = self.world.front()
        self.front.initialize()

    def _signs_of_life(self) -> str:
        """Return the last answer's state, the logs, and the stacks of the processes that write the
        index.
        """
        word = next(iter(self.world.words))
        message = self.front.call("cortex_exact", query=word, detail="location").index.get("message", "")
        config = self.world.config
        for process in self.world.processes():
            if role(process) in {"watcher", "indexer"}:
                with contextlib.suppress(psutil.Error):
                    process.send_signal(signal.SIGPROF)  # its stacks go to its log; then it ends
        time.sleep(1.0)
        lines = [f"says {message!r}"]
        for name in ("indexer.json", "indexer.log", "watcher.log"):
            with contextlib.suppress(OSError):
                log_text = (config.run_dir / name).read_text(errors="replace")
                lines.append(f"{name} ends with:\n{log_text[-SAID_MAX:]}")
        return "\n".join(lines)

    def _begin_anew(self) -> None:
        """Delete the index and start a front, so that the next damage is not blamed for
        this one.
        """
        self.front.close(5.0)
        with contextlib.suppress(Exception):
            self.world.command("down", bound_s=40)
        self.world.kill_all()
        for folder in (self.world.cache, *self.world.runtime.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)
        self.done = []
        self.front = self.world.front()
        self.front.initialize()


def kinds_of(world: World) -> dict[str, list[Path]]:
    """Return each file in the cache and the runtime folder, by its kind: the name without
    numbers.
    """
    kinds: dict[str, list[Path]] = {}
    for base in (world.cache, world.runtime):
        for folder, _, names in os.walk(base):
            for name in names if ".aside" not in folder else ():
                if name == INSIDE:
                    continue
                path = Path(folder, name)
                label = str(path.relative_to(world.base)).replace(world.config.root_id, "ID")
                kinds.setdefault(_NUMBER.sub("N", label), []).append(path)
    return {kind: sorted(paths) for kind, paths in kinds.items()}


def _truncate(path: Path, draws: random.Random) -> None:
    _regular(path)
    os.truncate(path, draws.choice((0, 1, draws.randrange(path.stat().st_size + 1))))


def _zero(path: Path, draws: random.Random) -> None:
    _overwrite(path, draws, bytes)


def _scramble(path: Path, draws: random.Random) -> None:
    _overwrite(path, draws, draws.randbytes)


def _overwrite(path: Path, draws: random.Random, content) -> None:  # type: ignore[no-untyped-def]
    """Overwrite in place, so that processes which have mapped the file see it."""
    size = _regular(path)
    with path.open("r+b") as file:
        start = draws.choice((0, draws.randrange(size + 1)))
        file.seek(start)
        file.write(content(min(BYTES_MAX, size - start) or 1))


def _regular(path: Path) -> int:
    """Return the size of a regular file. Raises OSError for others, such as sockets."""
    info = path.lstat()
    if not stat.S_ISREG(info.st_mode):
        raise OSError(f"{path} is not a regular file")
    return info.st_size


def _folder(path: Path, draws: random.Random) -> None:
    path.unlink()
    path.mkdir()
    if draws.random() < 0.5:
        (path / INSIDE).write_text("in it")


def _remove(path: Path, draws: random.Random) -> None:
    del draws
    path.unlink()


def _forbid(path: Path, draws: random.Random) -> None:
    del draws
    path.chmod(0)


def _link(path: Path, draws: random.Random) -> None:
    path.unlink()
    path.symlink_to(draws.choice(("/dev/zero", "/nowhere/at/all", str(path))))


def _pipe(path: Path, draws: random.Random) -> None:
    del draws
    path.unlink()
    os.mkfifo(path)


def _other(path: Path, draws: random.Random) -> None:
    """Copy another file of the same folder to this name."""
    others = [sibling for sibling in path.parent.iterdir() if sibling.is_file() and sibling != path]
    if not others:
        raise OSError("no other file")
    copy = path.with_name(f"{path.name}.torture")
    shutil.copyfile(draws.choice(sorted(others)), copy)
    copy.replace(path)


#: damages of a file; processes that have mapped it see those made in place
DAMAGES = {
    "truncate": _truncate,
    "zero": _zero,
    "scramble": _scramble,
    "folder": _folder,
    "remove": _remove,
    "chmod 000": _forbid,
    "link": _link,
    "pipe": _pipe,
    "another file": _other,
}
