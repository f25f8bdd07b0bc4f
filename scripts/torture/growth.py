"""Growth: after many calls of every kind, and saved files, no process of a set has more memory,
descriptors or threads than before.
"""

from __future__ import annotations

import contextlib
import random
import time
from typing import Any

import psutil

from torture.front import Front
from torture.grammar import draw_query
from torture.record import Record
from torture.world import World, open_world, role

SCENARIO = "growth"
FILES = 20
#: calls to make everything that is made once, and calls between two measurements
WARM_CALLS, STEP_CALLS = 150, 250
#: calls between two saved files
CALLS_BETWEEN_SAVES = 50
#: MB that a process may grow after the first quarter: an allocator's reserve
GROWTH_MB_MAX = 16.0
#: MB for each thousand calls above which growth is endless, and calls before this can be judged. It
#: must go on in both halves of the calls: a watcher's first merges take memory once
GROWTH_MB_A_THOUSAND, JUDGED_CALLS = 1.5, 1_000
#: descriptors and threads of generations that are open for a moment
DESCRIPTORS_MAX, THREADS_MAX = 12, 3
#: seconds until files and threads of old generations must be gone: a generation is held for 2 s,
#: and tantivy's threads sleep `timers.LATE_S` and half a second
LEAVE_S, LOOK_S = 15.0, 0.5

Figures = dict[str, tuple[float, int, int]]


def run(record: Record, until: float) -> None:
    """Run steps of STEP_CALLS calls until `until` (monotonic), and compare."""
    with open_world(record, SCENARIO, FILES) as world:
        front = world.front()
        front.initialize()
        warm = random.Random(f"{record.seed} {SCENARIO} warm")
        _calls(world, front, record, warm, WARM_CALLS)
        looks: list[tuple[int, Figures]] = []
        done = 0
        while time.monotonic() < until or len(looks) < 2:
            _calls(world, front, record, record.draws(SCENARIO), STEP_CALLS)
            done += STEP_CALLS
            looks.append((done, _figures(world)))
        looks[-1] = done, _with_lasting_resources(world, looks)
        compare(record, looks)
        front.close(5.0)


def _calls(world: World, front: Front, record: Record, draws: random.Random, number: int) -> None:
    for at in range(number):
        words = sorted(world.words)
        word = draws.choice(words)
        tool, arguments = draws.choice(_questions(word, world.words[word], draws))
        reply = front.call(tool, **arguments)
        record.count("calls for growth")
        if reply.kind in ("silent", "gone"):
            record.breaks(
                SCENARIO, "every call ends within its deadline", f"{tool} {arguments}: {reply.kind}"
            )
            if not front.alive:
                return
        if at % CALLS_BETWEEN_SAVES == 0:
            world.save(draws.choice(sorted(world.words.values())), draws)


def _questions(word: str, path: str, draws: random.Random) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("cortex_exact", {"query": word}),
        ("cortex_exact", {"query": draw_query(draws).encode(errors="replace").decode()[:500]}),
        ("cortex_search", {"query": f"what does {word} add to a value"}),
        ("cortex_outline", {"path": path}),
        ("cortex_graph", {"operation": "callers", "target": word}),
        ("find_related", {"file": path}),
        ("cortex_nonsense", {}),
    ]


def _figures(world: World) -> Figures:
    """Return process → MB that it alone has, descriptors, threads."""
    figures = {}
    for process in world.processes():
        with contextlib.suppress(psutil.Error):
            memory = process.memory_full_info().uss / 1e6
            figures[f"{role(process)} {process.pid}"] = (memory, process.num_fds(), process.num_threads())
    return figures


def _with_lasting_resources(world: World, looks: list[tuple[int, Figures]]) -> Figures:
    """Return the last measurement, without the descriptors and threads that go after a while."""
    (_, before), (_, after) = looks[len(looks) // 4], looks[-1]
    until = time.monotonic() + LEAVE_S
    while True:
        now = _figures(world)
        figures = {
            name: (sizes[0], *map(min, sizes[1:], now.get(name, sizes)[1:])) for name, sizes in after.items()
        }
        grown = [name for name in before.keys() & figures.keys() if _is_more(before[name], figures[name])]
        if not grown or time.monotonic() >= until:
            return figures
        time.sleep(LOOK_S)


def _is_more(before: tuple[float, int, int], after: tuple[float, int, int]) -> bool:
    """Return whether descriptors or threads grew by more than generations come and go with."""
    return after[1] - before[1] > DESCRIPTORS_MAX or after[2] - before[2] > THREADS_MAX


def compare(record: Record, looks: list[tuple[int, Figures]]) -> None:
    """Compare the last measurement with the first quarter's, and one between them with both."""
    first = len(looks) // 4
    (calls, before), (all_calls, after) = looks[first], looks[-1]
    _, between = looks[(first + len(looks) - 1) // 2]
    thousands = max(1.0, (all_calls - calls) / 1000)
    record.measure("calls compared for growth", all_calls - calls)
    for name in before.keys() & after.keys():
        memory, descriptors, _ = (new - old for new, old in zip(after[name], before[name], strict=True))
        record.measure("growth of memory of one process, MB", max(0.0, memory))
        record.measure("growth of descriptors of one process", max(0, descriptors))
        middle = between.get(name, before[name])[0]
        goes_on = min(middle - before[name][0], after[name][0] - middle) > memory / 4
        endless = goes_on and memory > GROWTH_MB_MAX and memory / thousands > GROWTH_MB_A_THOUSAND
        if endless and all_calls - calls >= JUDGED_CALLS:
            detail = f"{name}: {before[name][0]:.0f} → {after[name][0]:.0f} MB in {all_calls - calls} calls"
            record.breaks(SCENARIO, "memory does not grow", detail)
        if _is_more(before[name], after[name]):
            detail = f"{name}: {before[name][1:]} → {after[name][1:]} descriptors, threads"
            record.breaks(SCENARIO, "descriptors and threads do not grow", detail)
    if missing := before.keys() - after.keys():
        detail = ", ".join(sorted(missing))
        record.count("processes that ended while growth was watched", len(missing))
        if any(not name.startswith("pool") for name in missing):
            record.breaks(SCENARIO, "no process ends by itself", detail)
