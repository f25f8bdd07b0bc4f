"""Calls of the last hour, by the minute and by the tool."""

from __future__ import annotations

from cortex.front.http.metrics import KEPT_MAX, MINUTES, Hour


def test_each_minute_says_how_many_called_how_many_failed_and_how_long_it_took():
    hour = Hour()
    for number in range(100):
        hour.note("search", number / 1000, good=number < 90, now=120.0)
    hour.note("exact", 2.0, good=True, now=185.0)
    minutes = dict(hour.minutes(now=190.0))
    assert len(minutes) == MINUTES
    assert (minutes[120].calls, minutes[120].faults) == (100, 10)
    assert (minutes[120].p50_ms, minutes[120].p95_ms) == (50.0, 95.0)
    assert minutes[180].p50_ms == 2000.0
    assert (minutes[60].calls, minutes[60].p95_ms) == (0, None)


def test_tools_are_sorted_by_calls_and_old_minutes_expire():
    hour = Hour()
    hour.note("old", 1.0, good=True, now=0.0)
    for at in range(3):
        hour.note("often", 0.1, good=True, now=3600.0 + 60 * at)
    hour.note("once", 0.1, good=False, now=3600.0)
    assert [(name, summary.calls, summary.faults) for name, summary in hour.tools(now=3720.0).items()] == [
        ("often", 3, 0),
        ("once", 1, 1),
    ]


def test_call_history_is_bounded():
    hour = Hour()
    for number in range(2 * KEPT_MAX):
        hour.note("search", 0.1, good=True, now=60.0 * (number // KEPT_MAX))
        hour.note("search", 0.1, good=True, now=60.0 * (number // KEPT_MAX))
    tool_calls = [tool_call for tools in hour._minutes.values() for tool_call in tools.values()]
    assert [(tool_call.calls, len(tool_call.seconds)) for tool_call in tool_calls] == [
        (2 * KEPT_MAX, KEPT_MAX)
    ] * 2
    for minute in range(3 * MINUTES):
        hour.note("search", 0.1, good=True, now=60.0 * minute)
    assert len(hour._minutes) == MINUTES
