"""Bounds for numbers that callers choose. Pure."""

from __future__ import annotations

from cortex.system.errors import BadRequest


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def check_page(limit: int, most: int, offset: int = 0) -> None:
    """Raise BadRequest for a page of other than 1 to `most` rows, and an offset below 0."""
    if not 1 <= limit <= most:
        raise BadRequest(f"limit is {limit}; it must be between 1 and {most}.")
    if offset < 0:
        raise BadRequest(f"offset is {offset}; it must be 0 or more.")
