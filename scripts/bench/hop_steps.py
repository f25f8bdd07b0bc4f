"""For hops.py: what a search waits for, step by step between processes, and whose functions its
processor time goes to.
"""

from __future__ import annotations

import asyncio
import cProfile
import os
import pstats
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import usage
from product import set_of
from report import Figures, summarise

from cortex.front.link import Link
from cortex.front.mcp.server import run_tool
from cortex.front.tool import Tool
from cortex.settings.config import Config
from ipc.client import Client

#: calls before anything counts
WARM_UP = 40
#: what a search asks of the workers, in its order: the last one needs what the others told
WORDS, MEANING, CHUNKS = "TextSignals", "MeaningSearch", "Fetch"
#: the processes that answer a search
WORKERS = ("text", "vector")
#: whose a function is, by where it stands or how it is called; the first that matches counts
OWNERS = (
    ("tantivy", "tantivy"),
    ("simsimd", "[Ss]im[Ss][Ii][Mm][Dd]"),
    ("numpy", "numpy"),
    ("JSON", "orjson|msgspec"),
    ("files (stat, read)", "posix|_io"),
    ("asyncio, contexts, threads", "asyncio|_contextvars|selectors|select\\.|threading|contextlib"),
    ("cortex/\\1", "cortex/(\\w+)/"),
    ("ipc", "ipc/"),
)
REST = "Python itself"
#: seconds a question below which an owner is not told
TOLD_S = 1e-5


class Noted(Client):
    """A client that notes when each message was asked and answered."""

    def __init__(self, runtime_dir: Path) -> None:
        super().__init__(runtime_dir)
        self.asked: dict[str, float] = {}
        self.answered: dict[str, float] = {}

    async def ask(self, worker: str, message: Any, deadline_s: float) -> Any:
        name = type(message).__name__
        self.asked[name] = time.perf_counter()
        reply = await super().ask(worker, message, deadline_s)
        self.answered[name] = time.perf_counter()
        return reply


def steps(
    config: Config, tool: Tool, arguments: Sequence[Mapping[str, Any]], *, first: bool
) -> list[Figures]:
    """A row for each step of a search, from the front's arguments to its answer, in their order; of
    each process what it computes meanwhile and how often its threads waited. The set runs already.
    `first`: whatever else this machine does waits meanwhile, which the superuser may ask for.
    """
    return asyncio.run(_steps(config, tool, arguments, first=first))


async def _steps(
    config: Config, tool: Tool, arguments: Sequence[Mapping[str, Any]], *, first: bool
) -> list[Figures]:
    link, client = Link(config), Noted(config.runtime_dir)
    own, link._client = link._client, client
    link.open()
    try:
        for given in arguments[:WARM_UP]:
            await run_tool(link, tool, given)
        pids = {name: _pid(config, name) for name in WORKERS} | {"front": os.getpid()}
        before, waited = usage.processor_s(config.root), {name: _waits(pid) for name, pid in pids.items()}
        spent = time.process_time()
        with _first(pids.values()) if first else nullcontext():
            taken = [await _timed(link, client, tool, given) for given in arguments]
        front = time.process_time() - spent
        after = usage.processor_s(config.root)
        cpu = {"front": front} | {name: after[name] - before[name] for name in WORKERS}
        rows = [summarise(step, [each[step] for each in taken]) for step in taken[0]]
        count = len(arguments)
        rows += [
            {
                "case": f"{name}: processor time, waits of its threads",
                "cpu_ms": round(1000 * cpu[name] / count, 2),
                "waits": round((_waits(pid) - waited[name]) / count, 1),
            }
            for name, pid in pids.items()
        ]
        return rows
    finally:
        await link.close()
        await own.close()


async def _timed(link: Link, client: Noted, tool: Tool, given: Mapping[str, Any]) -> dict[str, float]:
    client.asked.clear()
    client.answered.clear()
    began = time.perf_counter()
    await run_tool(link, tool, given)
    ended, asked, answered = time.perf_counter(), client.asked, client.answered
    told = max(answered[WORDS], answered[MEANING])
    return {
        "arguments, root, set": min(asked.values()) - began,
        "both lanes, there and back": told - min(asked.values()),
        "  of the words": answered[WORDS] - asked[WORDS],
        "  of the meaning": answered[MEANING] - asked[MEANING],
        "ranking": asked[CHUNKS] - told,
        "chunks, there and back": answered[CHUNKS] - asked[CHUNKS],
        "freshness, the answer as JSON": ended - answered[CHUNKS],
        "all": ended - began,
    }


@contextmanager
def _first(pids: Iterable[int]) -> Iterator[None]:
    """All threads of these processes run before those of any other."""
    tasks = [int(task.name) for pid in pids for task in Path(f"/proc/{pid}/task").iterdir()]
    raised: list[int] = []
    try:
        for task in tasks:
            with suppress(ProcessLookupError):  # a thread that has ended since
                os.sched_setscheduler(task, os.SCHED_RR, os.sched_param(1))
                raised.append(task)
        yield
    finally:
        for task in raised:
            with suppress(ProcessLookupError):
                os.sched_setscheduler(task, os.SCHED_OTHER, os.sched_param(0))


def _pid(config: Config, worker: str) -> int:
    """The process of the first replica."""
    return next(one.pid for name, one in set_of(config).items() if name.split(".")[0] == worker)


def _waits(pid: int) -> int:
    """How often the threads of a process gave the core away to wait for something."""
    found = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        said = re.search(r"^voluntary_ctxt_switches:\s*(\d+)", (task / "status").read_text(), re.MULTILINE)
        found += int(said[1]) if said else 0
    return found


class Profiles:
    """Whose functions the time of each process goes to; all of them run in this thread."""

    def __init__(self) -> None:
        self._of: dict[str, cProfile.Profile] = {}
        self._now: list[str] = []

    @contextmanager
    def of(self, process: str) -> Iterator[None]:
        """What runs meanwhile is of this process, and of no other."""
        if self._now:
            self._of[self._now[-1]].disable()
        self._now.append(process)
        profile = self._of.setdefault(process, cProfile.Profile(time.thread_time))
        profile.enable()
        try:
            yield
        finally:
            profile.disable()
            self._now.pop()
            if self._now:
                self._of[self._now[-1]].enable()

    def rows(self, spent: Mapping[str, float], count: int) -> list[Figures]:
        """Of each process what each owner takes of the seconds that it `spent` without a profiler,
        which makes short functions of Python dearer than they are.
        """
        found: list[Figures] = []
        for process, profile in self._of.items():
            owners: Counter[str] = Counter()
            for (path, _, name), (_, _, own, *_) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
                owners[_owner(path, name)] += own
            share = spent[process] / sum(owners.values())
            found += [
                {"process": process, "owner": owner, "cpu_ms": round(1000 * own * share / count, 3)}
                for owner, own in owners.most_common()
                if own * share >= TOLD_S * count
            ]
        return found


def _owner(path: str, name: str) -> str:
    where = name if path == "~" else path
    for owner, pattern in OWNERS:
        if found := re.search(pattern, where):
            return found.expand(owner)
    return REST
