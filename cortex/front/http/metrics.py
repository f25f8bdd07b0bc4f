"""Metrics for Prometheus: calls, latencies, errors, the index's age, queues, memory; and the calls
of the last hour by minute, for the web page.
"""

from __future__ import annotations

import time
from array import array
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from cortex.ask.freshness import Freshness
from cortex.front.http.access.tokens import Bearer
from cortex.front.usage import UNASKED

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


#: bounds of the histogram in seconds: a cached answer takes 2 ms, the default deadline is 10 s
BOUNDS_S = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class MetricSource(Protocol):
    """A collector, asked for its figures at each scrape."""

    def describe(self) -> Iterable[Metric]: ...
    def collect(self) -> Iterable[Metric]: ...


class Metrics:
    """Metrics of one server, in a registry of its own: one process may have several servers."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        #: calls of the last hour, of all projects and by project
        self.hour, self._hours = Hour(), defaultdict[str, Hour](Hour)
        self._calls = Counter(
            "cortex_calls", "Calls by tool and outcome.", ("tool", "code"), registry=self._registry
        )
        self._seconds = Histogram(
            "cortex_call_seconds",
            "How long calls take.",
            ("tool",),
            registry=self._registry,
            buckets=BOUNDS_S,
        )
        ProcessCollector(namespace="cortex_server", registry=self._registry)

    def note(self, project: str, tool: str, code: str, seconds: float) -> None:
        """Count one call of `tool` that ended with `code` ("ok", or an error's)."""
        self._calls.labels(tool, code).inc()
        self._seconds.labels(tool).observe(seconds)
        if tool not in UNASKED:
            for hour in (self.hour, self._hours[project]):
                hour.note(tool, seconds, good=code == "ok")

    def hour_for(self, bearer: Bearer, project: str) -> Hour:
        """Return the calls of the last hour of all projects; for a token for some, of `project`."""
        return self._hours[project] if bearer.projects else self.hour

    def watch(self, collector: MetricSource) -> None:
        source: Any = collector
        self._registry.register(source)

    def text(self, projects: Collection[str], *, is_complete: bool) -> bytes:
        """Return the metrics of these projects in Prometheus' format. `is_complete`: with the
        server's own, which count the calls of all projects.
        """
        visible: Any = _VisibleMetrics(self._registry, projects, is_complete)
        return bytes(generate_latest(visible))


class _VisibleMetrics:
    """The metrics of a registry for some projects. `is_complete`: also those without a project."""

    def __init__(self, registry: CollectorRegistry, projects: Collection[str], is_complete: bool) -> None:
        self._registry, self._projects, self._is_complete = registry, projects, is_complete

    def collect(self) -> Iterable[Metric]:
        for metric in self._registry.collect():
            metric.samples = [
                sample
                for sample in metric.samples
                if (
                    sample.labels["project"] in self._projects
                    if "project" in sample.labels
                    else self._is_complete
                )
            ]
            if metric.samples:
                yield metric


class Indexes:
    """Collector of the state of each project's index, and of the gate's queues."""

    def __init__(self, indexes: Mapping[str, Freshness], queues: Callable[[], Mapping[str, int]]) -> None:
        self._indexes, self._queues = indexes, queues

    def describe(self) -> Iterable[Metric]:
        """Return nothing: `collect` would otherwise run at registration, before there is a loop."""
        return ()

    def collect(self) -> Iterable[Metric]:
        generation = GaugeMetricFamily("cortex_index_generation", "Served generation.", labels=["project"])
        age = GaugeMetricFamily("cortex_index_age_seconds", "Time since publication.", labels=["project"])
        pending = GaugeMetricFamily(
            "cortex_index_pending_files", "Saved files, not served yet.", labels=["project"]
        )
        for name, freshness in self._indexes.items():
            current = freshness.current()
            generation.add_metric([name], current.number)
            pending.add_metric([name], len(freshness.pending(current)))
            if current.published_at:
                age.add_metric([name], max(0.0, time.time() - current.published_at))
        queue = GaugeMetricFamily("cortex_requests", "Requests by state.", labels=["state"])
        for state, count in self._queues().items():
            queue.add_metric([state], count)
        return (generation, age, pending, queue)
