"""How calls went in the last hour, minute by minute: for people, where Prometheus has the rest."""

from __future__ import annotations

import time
from array import array
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

#: minutes that are kept, and seconds of one
MINUTES, MINUTE_S = 60, 60
#: durations that are kept of a minute and a tool: more say little more of its percentiles
KEPT_MAX = 500


@dataclass(slots=True)
class _Kept:
    """One tool in one minute. `seconds`: of the first calls alone."""

    calls: int = 0
    faults: int = 0
    seconds: array[float] = field(default_factory=lambda: array("f"))


@dataclass(frozen=True, slots=True)
class Told:
    """Calls, how many of them failed, and percentiles in milliseconds; None where none was."""

    calls: int
    faults: int
    p50_ms: float | None
    p95_ms: float | None


class Hour:
    """Use it in one event loop. Times are seconds since 1970."""

    def __init__(self) -> None:
        self._minutes: OrderedDict[int, dict[str, _Kept]] = OrderedDict()

    def note(self, tool: str, seconds: float, *, good: bool, now: float | None = None) -> None:
        minute = int((time.time() if now is None else now) // MINUTE_S)
        kept = self._minutes.setdefault(minute, {}).setdefault(tool, _Kept())
        kept.calls += 1
        kept.faults += not good
        if len(kept.seconds) < KEPT_MAX:
            kept.seconds.append(seconds)
        while len(self._minutes) > MINUTES:
            self._minutes.popitem(last=False)

    def minutes(self, now: float | None = None) -> list[tuple[int, Told]]:
        """(the minute's begin, what is told of it) of each of the last hour, also without calls."""
        last = int((time.time() if now is None else now) // MINUTE_S)
        return [
            (minute * MINUTE_S, _told(self._minutes.get(minute, {}).values()))
            for minute in range(last - MINUTES + 1, last + 1)
        ]

    def tools(self, now: float | None = None) -> dict[str, Told]:
        """By tool, over the last hour, the most called first."""
        first = int((time.time() if now is None else now) // MINUTE_S) - MINUTES + 1
        by_tool: dict[str, list[_Kept]] = {}
        for minute, tools in self._minutes.items():
            for tool, kept in tools.items() if minute >= first else ():
                by_tool.setdefault(tool, []).append(kept)
        told = {tool: _told(kept) for tool, kept in by_tool.items()}
        return dict(sorted(told.items(), key=lambda one: -one[1].calls))


def _told(kept: Iterable[_Kept]) -> Told:
    found = list(kept)
    seconds = sorted(one for each in found for one in each.seconds)

    def at(share: float) -> float | None:
        return round(1000 * seconds[min(len(seconds) - 1, int(share * len(seconds)))], 2) if seconds else None

    return Told(sum(one.calls for one in found), sum(one.faults for one in found), at(0.5), at(0.95))
