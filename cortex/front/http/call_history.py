"""Statistics of the calls of the last hour by minute, for the web page."""

from __future__ import annotations

import time
from array import array
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

#: number of minutes, and seconds of one
MINUTES, MINUTE_S = 60, 60
#: maximum of durations of a minute and a tool: more change the percentiles little
KEPT_MAX = 500


@dataclass(slots=True)
class _MinuteCalls:
    """Calls of one tool in one minute. `seconds`: durations of the first KEPT_MAX."""

    calls: int = 0
    faults: int = 0
    seconds: array[float] = field(default_factory=lambda: array("f"))


@dataclass(frozen=True, slots=True)
class CallSummary:
    """Number of calls, number of failed ones, and percentiles of durations; None without calls."""

    calls: int
    faults: int
    p50_ms: float | None
    p95_ms: float | None


class Hour:
    """Calls of the last hour. Use it in one event loop. Times are seconds since 1970."""

    def __init__(self) -> None:
        self._minutes: OrderedDict[int, dict[str, _MinuteCalls]] = OrderedDict()

    def note(self, tool: str, seconds: float, *, good: bool, now: float | None = None) -> None:
        minute = int((time.time() if now is None else now) // MINUTE_S)
        tool_calls = self._minutes.setdefault(minute, {}).setdefault(tool, _MinuteCalls())
        tool_calls.calls += 1
        tool_calls.faults += not good
        if len(tool_calls.seconds) < KEPT_MAX:
            tool_calls.seconds.append(seconds)
        while len(self._minutes) > MINUTES:
            self._minutes.popitem(last=False)

    def minutes(self, now: float | None = None) -> list[tuple[int, CallSummary]]:
        """Return (begin, summary) of each minute of the last hour, also without calls."""
        last = int((time.time() if now is None else now) // MINUTE_S)
        return [
            (minute * MINUTE_S, _summarise(self._minutes.get(minute, {}).values()))
            for minute in range(last - MINUTES + 1, last + 1)
        ]

    def tools(self, now: float | None = None) -> dict[str, CallSummary]:
        """Return tool → summary of the last hour, the most called first."""
        first = int((time.time() if now is None else now) // MINUTE_S) - MINUTES + 1
        by_tool: dict[str, list[_MinuteCalls]] = {}
        for minute, tools in self._minutes.items():
            for tool, tool_calls in tools.items() if minute >= first else ():
                by_tool.setdefault(tool, []).append(tool_calls)
        summaries = {tool: _summarise(tool_calls) for tool, tool_calls in by_tool.items()}
        return dict(sorted(summaries.items(), key=lambda pair: -pair[1].calls))


def _summarise(tool_minutes: Iterable[_MinuteCalls]) -> CallSummary:
    minutes = list(tool_minutes)
    seconds = sorted(duration for minute in minutes for duration in minute.seconds)

    def at(share: float) -> float | None:
        return round(1000 * seconds[min(len(seconds) - 1, int(share * len(seconds)))], 2) if seconds else None

    return CallSummary(
        sum(minute.calls for minute in minutes), sum(minute.faults for minute in minutes), at(0.5), at(0.95)
    )
