"""Kills: processes die at any moment while agents search and files are saved. No wrong answer, no
call without an end, no lost file, no process left behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

import psutil

from cortex.generation.current import CURRENT
from torture.front import Front, Reply
from torture.record import Record
from torture.world import World, draw_path, freeze, open_world, role

SCENARIO = "kills"
#: files of the project, and agents that search at the same time
FILES, AGENTS = 30, 2
#: files of a burst, which occupy the indexer and its pool
BURST_FILES = 300
#: kills between two searches for every word
KILLS_BETWEEN = 40
#: seconds without progress after which missing words count as lost: a process that was killed
#: repeatedly starts after 30 at the latest, and must then read its files
QUIET_S = 90.0
#: seconds after which they count as lost in any case; a machine at a load of 20 took 80
WHOLE_S = 600.0
#: seconds between two actions
PAUSE_S = (0.05, 0.8)
#: jumps of the clock, in seconds
JUMPS_S = (-86_400, -3_600, 3_600, 86_400, 0)


def run(record: Record, until: float) -> None:
    """Run steps until `until` (monotonic), and end the set."""
    with open_world(record, SCENARIO, FILES) as world:
        agents = [Agent(world, record, number) for number in range(AGENTS)]
        for agent in agents:
            agent.start()
        try:
            settle(world, record)
            ended = False
            while not ended:  # at least once, however long the start took
                for _ in range(KILLS_BETWEEN):
                    act(world, record)
                settle(world, record)
                ended = time.monotonic() >= until
        finally:
            for agent in agents:
                agent.stop.set()
            for agent in agents:
                agent.join()
        end(world, record)


def act(world: World, record: Record) -> None:
    """Do a drawn step: save a file, and kill or freeze a process."""
    draws = record.draws(SCENARIO)
    _change(world, record, draws)
    time.sleep(draws.uniform(*PAUSE_S))
    if draws.random() < 0.05:
        world.jump(draws.choice(JUMPS_S))
        record.count("clock jumps")
    running = sorted(world.processes(), key=lambda process: process.pid)
    by_role: dict[str, list[psutil.Process]] = {}
    for process in running:
        by_role.setdefault(role(process), []).append(process)
    by_role.pop("gone", None)
    if not by_role:
        return
    # First the role, then the process: a pool of eight is one role among eight.
    name = draws.choice(sorted(by_role))
    victim = draws.choice(by_role[name])
    if draws.random() < 0.1:
        freeze(victim, draws.uniform(0.2, 2.0))
        record.count("freezes")
        return
    try:
        victim.kill()
    except psutil.Error:
        return
    record.count("kills")
    record.count(f"kills of {name}")


def _change(world: World, record: Record, draws: random.Random) -> None:
    """Save a file with a new word, add, rename or delete one, or add many."""
    paths = sorted(set(world.words.values()))
    kind = draws.random()
    if kind < 0.08:
        folder = world.root / f"burst_{draws.randrange(4)}"
        folder.mkdir(exist_ok=True)
        for number in range(BURST_FILES):
            lines = (f"def burst_{number}_{line}(x): return x + {draws.random()}" for line in range(20))
            (folder / f"file_{number}.py").write_text("\n".join(lines))
        record.count("files in bursts", BURST_FILES)
    elif kind < 0.15 and len(paths) > FILES // 2:
        world.remove(draws.choice(paths))
        record.count("files removed")
    elif kind < 0.3:
        world.save(draw_path(draws, draws.randrange(1000, 2000)), draws)
        record.count("files saved")
    else:
        path = draws.choice(paths)
        world.save(path, draws)
        if draws.random() < 0.2:
            moment = time.time() + draws.choice((-3e8, -86_400, 86_400, 3e8))
            os.utime(world.root / path, (moment, moment))
        record.count("files saved")


class Agent(threading.Thread):
    """An agent that searches without a pause; it opens another front when its front is killed."""

    def __init__(self, world: World, record: Record, number: int) -> None:
        super().__init__(daemon=True)
        self.world, self.record, self.number = world, record, number
        self.stop = threading.Event()
        self.draws = random.Random(f"{record.seed} agent {number}")

    def run(self) -> None:
        front: Front | None = None
        while not self.stop.is_set():
            if front is None or not front.alive:
                if front is not None:
                    front.close()
                front = self._open()
                continue
            self._ask(front)
            self.stop.wait(0.02)
        if front is not None and not front.close(5.0):
            self.record.breaks(SCENARIO, "a front ends with its standard input", "it did not within 5 s")

    def _open(self) -> Front:
        front = self.world.front()
        reply = front.initialize()
        self.record.count("fronts")
        self.record.measure("start of a front, s", reply.seconds)
        if reply.kind == "silent":
            self.record.breaks(
                SCENARIO,
                "a front answers soon after its start",
                f"no answer after {reply.seconds:.1f} s; {load()}",
            )
            front.close()
        return front

    def _ask(self, front: Front) -> None:
        words = list(self.world.words.items())
        word, path = self.draws.choice(words)
        reply = front.call("cortex_exact", query=word, detail="location")
        self.record.count("calls")
        self.record.count(f"calls {reply.kind}")
        self.record.measure("a call, s", reply.seconds)
        if reply.kind == "silent":
            detail = (
                f"{word} of {path}: nothing after {reply.seconds:.1f} s; {load()}; front {front.process.pid}"
            )
            self.record.breaks(SCENARIO, "every call ends within its deadline", detail)
        elif reply.kind == "answer" and (fault := self._fault(reply, word, path)):
            self.record.count("wrong answers")
            self.record.breaks(SCENARIO, "no answer is wrong", fault)

    def _fault(self, reply: Reply, word: str, path: str) -> str:
        """Return the fault in an answer, "" for none.

        A word was never in another file; an answer that reports a missing part may miss the word.
        """
        others = [file for file in reply.files if file != path]
        if others:
            return f"{word} of {path} was found in {others}"
        return ""


@dataclass
class Missing:
    """A search for every word: words without a hit, and removed words with hits."""

    lost: list[str] = field(default_factory=list)
    ghosts: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        refusals = "; ".join(f"{number} × {reason}" for reason, number in self.refused.most_common(3))
        return (
            f"missing {self.lost[:6]} of {len(self.lost)}, still there {self.ghosts[:6]}, refused: {refusals}"
        )

    @property
    def has_any(self) -> bool:
        return bool(self.lost or self.ghosts or self.refused)


def look(world: World, front: Front) -> Missing:
    """Search for every word, for some removed words, and for one meaning."""
    missing = Missing()
    for word, path in list(world.words.items()):
        reply = front.call("cortex_exact", query=word, detail="location")
        if reply.kind != "answer":
            missing.refused[f"{reply.kind} {str(reply.value.get('message', ''))[:150]}"] += 1
            return missing  # the others would wait, too
        if reply.files != [path] and set(reply.files) != {path}:
            missing.lost.append(f"{word} of {path}, found in {reply.files}")
    for word in sorted(world.gone)[-5:]:
        reply = front.call("cortex_exact", query=word, detail="location")
        if word in world.gone and reply.kind == "answer" and reply.files:
            missing.ghosts.append(f"{word} in {reply.files}")
    reply = front.call("cortex_search", query="what adds one to a value", detail="location", limit=3)
    if reply.kind != "answer" or not reply.files or reply.index.get("degraded"):
        missing.refused[
            f"search: {reply.kind} {reply.index.get('degraded')} {str(reply.value.get('message', ''))[:150]}"
        ] += 1
    return missing


class Patience:
    """Time without any progress from a saved file to an answer; a busy machine is no loss."""

    def __init__(self, world: World, quiet_s: float, whole_s: float) -> None:
        self._world, self._quiet_s, self._whole_s = world, quiet_s, whole_s
        self._progress: object = None
        self.started = self._moved = time.monotonic()

    def should_wait(self, missing: Missing) -> bool:
        """Return whether the missing words may still be found."""
        now = time.monotonic()
        progress = (len(missing.lost), len(missing.ghosts), *missing.refused, *self._traces())
        if progress != self._progress:
            self._progress, self._moved = progress, now
        return now - self._moved < self._quiet_s and now - self.started < self._whole_s

    def _traces(self) -> list[object]:
        """Return the changing files of the indexer and the watcher, without signs of life."""
        config = self._world.config
        traces: list[object] = []
        for path in (config.manifest, config.index_dir / CURRENT):
            with contextlib.suppress(OSError):
                traces.append((path.name, path.stat().st_mtime_ns))
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            state = json.loads(config.indexer_state.read_bytes())
            traces += [state["state"], state["done"], state["total"], state["sequence"]]
        return traces


def settle(world: World, record: Record) -> None:
    """Wait until a new front finds every word in its file."""
    missing = Missing()
    front: Front | None = None
    patience = Patience(world, QUIET_S, WHOLE_S)
    while patience.should_wait(missing):
        if front is None or not front.alive:
            if front is not None:
                front.close()
            front = world.front()
            front.initialize()
        missing = look(world, front)
        if not missing.has_any:
            break
        time.sleep(0.1)
    record.measure("until everything is found after kills, s", time.monotonic() - patience.started)
    if missing.has_any:
        record.count("files lost", len(missing.lost))
        detail = f"{missing}; {describe_processes(world)}; {load()}"
        record.breaks(
            SCENARIO, f"everything is found again while anything moves, and {QUIET_S:g} s longer", detail
        )
    if front is not None:
        front.close()


def describe_processes(world: World) -> str:
    """Return the processes of a set by role: words that stay lost mostly lack a process."""
    roles = Counter(role(process) for process in world.processes())
    return "processes " + ", ".join(f"{number} {name}" for name, number in sorted(roles.items()))


def end(world: World, record: Record) -> None:
    """Check that every process ends with the fronts, and that `cortex down` leaves no folder
    behind.
    """
    left = world.wait_for_exit()
    record.count("orphans", len(left))
    if left:
        record.breaks(SCENARIO, "no process outlives its purpose", ", ".join(left))
    world.command("down")
    names = sorted(str(path.relative_to(world.runtime)) for path in world.runtime.glob("*/*"))
    record.count("runtime folders left", len(names))
    if names:
        record.breaks(SCENARIO, "`cortex down` leaves no runtime folder", ", ".join(names))


def load() -> str:
    return f"load {os.getloadavg()[0]:.0f}"
