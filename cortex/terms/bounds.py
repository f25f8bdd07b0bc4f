"""Bounds for numbers that callers choose. Pure."""

from __future__ import annotations


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)
