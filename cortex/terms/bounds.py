"""Keeps numbers that askers choose within their bounds. Pure."""

from __future__ import annotations


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)
