"""Periods in arguments: a day, a month or a year, in local time."""

from __future__ import annotations

import time

import pytest

from cortex.memory.operations import carry_out
from cortex.memory.times import read_end, read_moment
from cortex.system.errors import BadRequest
from tests.memory.small_memory import open_small


@pytest.fixture
def library(data):
    with open_small(data) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("2026-03-05", "2026-03-05T00:00:00Z", "2026-03-05T23:59:59.999Z"),
        ("20260305", "2026-03-05T00:00:00Z", "2026-03-05T23:59:59.999Z"),
        ("2026-02", "2026-02-01T00:00:00Z", "2026-02-28T23:59:59.999Z"),
        ("2026", "2026-01-01T00:00:00Z", "2026-12-31T23:59:59.999Z"),
        ("2026-W10", "2026-03-02T00:00:00Z", "2026-03-08T23:59:59.999Z"),
        ("1772000000", "2026-02-25T06:13:20Z", "2026-02-25T06:13:20Z"),
        (1_772_000_000, "2026-02-25T06:13:20Z", "2026-02-25T06:13:20Z"),
    ],
)
def test_a_period_means_its_beginning_and_its_end(monkeypatch, text, begin, end):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert read_moment(text, "since") == read_moment(begin, "since")
    assert read_end(text, "until") == read_moment(end, "until")


@pytest.mark.parametrize("text", ["202603", "2026-13", "20261399", "12", "9999-99", "2026-02-30"])
def test_what_is_no_moment_is_refused(text):
    with pytest.raises(BadRequest, match="until is"):
        read_end(text, "until")


def test_a_day_is_the_local_one_and_the_answer_says_so(monkeypatch, library):
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    try:
        assert read_moment("2026-03-05", "since") == read_moment("2026-03-04T11:00:00Z", "since")
        answer = carry_out(library, "timeline", {"until": "2026-03-05"}, project="here")
        assert answer["dates"] == "2026-03-05: in local time, UTC+13:00"
    finally:
        monkeypatch.undo()
        time.tzset()
