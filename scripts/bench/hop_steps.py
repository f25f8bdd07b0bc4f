"""The steps of a search between processes, for hops.py."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import usage
from product import processes_of_set
from report import Figures, summarise

from cortex.front.link import Link
from cortex.front.mcp.server import run_tool
from cortex.front.tool import Tool
from cortex.settings.config import Config
from ipc.client import Client

#: calls before measuring
WARM_UP = 40
#: messages of a search to the workers, in their order: the last needs the answers of the others
WORDS, MEANING, CHUNKS = "TextSignals", "MeaningSearch", "Fetch"
#: the processes that answer a search
WORKERS = ("text", "vector")


class TimedClient(Client):
    """A client that records when each message was sent and answered."""

    def __init__(self, runtime_dir: Path) -> None:
        super().__init__(runtime_dir)
        self.sent_at: dict[str, float] = {}
        self.answered_at: dict[str, float] = {}

    async def ask(self, worker: str, message: Any, deadline_s: float) -> Any:
        name = type(message).__name__
        self.sent_at[name] = time.perf_counter()
        reply = await super().ask(worker, message, deadline_s)
        self.answered_at[name] = time.perf_counter()
        return reply


def steps(config: Config, tool: Tool, arguments: Sequence[Mapping[str, Any]]) -> list[Figures]:
    """Return a row for each step of a search, from the front's arguments to its answer, in their
    order.

    Also for each process: its processor time meanwhile, and how often its threads waited. The set
    runs already.
    """
    return asyncio.run(_steps(config, tool, arguments))


async def _steps(config: Config, tool: Tool, arguments: Sequence[Mapping[str, Any]]) -> list[Figures]:
    link, client = Link(config), TimedClient(config.runtime_dir)
    link_client, link._client = link._client, client
    link.open()
    try:
        for call_arguments in arguments[:WARM_UP]:
            await run_tool(link, tool, call_arguments)
        pids = {name: _pid(config, name) for name in WORKERS} | {"front": os.getpid()}
        before, waited = usage.processor_s(config.root), {name: _waits(pid) for name, pid in pids.items()}
        spent = time.process_time()
        taken = [await _time_search(link, client, tool, call_arguments) for call_arguments in arguments]
        front = time.process_time() - spent
        after = usage.processor_s(config.root)
        cpu = {"front": front} | {name: after[name] - before[name] for name in WORKERS}
        rows = [summarise(step, [step_times[step] for step_times in taken]) for step in taken[0]]
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
        await link_client.close()


async def _time_search(
    link: Link, client: TimedClient, tool: Tool, call_arguments: Mapping[str, Any]
) -> dict[str, float]:
    client.sent_at.clear()
    client.answered_at.clear()
    began = time.perf_counter()
    await run_tool(link, tool, call_arguments)
    ended, sent, answers = time.perf_counter(), client.sent_at, client.answered_at
    lanes_end = max(answers[WORDS], answers[MEANING])
    return {
        "arguments, root, set": min(sent.values()) - began,
        "both lanes, there and back": lanes_end - min(sent.values()),
        "  of the words": answers[WORDS] - sent[WORDS],
        "  of the meaning": answers[MEANING] - sent[MEANING],
        "ranking": sent[CHUNKS] - lanes_end,
        "chunks, there and back": answers[CHUNKS] - sent[CHUNKS],
        "freshness, the answer as JSON": ended - answers[CHUNKS],
        "all": ended - began,
    }


def _pid(config: Config, worker: str) -> int:
    """Return the process of the first replica."""
    return next(
        process.pid for name, process in processes_of_set(config).items() if name.split(".")[0] == worker
    )


def _waits(pid: int) -> int:
    """Return how often the threads of a process gave up the core to wait."""
    waits = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        match = re.search(r"^voluntary_ctxt_switches:\s*(\d+)", (task / "status").read_text(), re.MULTILINE)
        waits += int(match[1]) if match else 0
    return waits
