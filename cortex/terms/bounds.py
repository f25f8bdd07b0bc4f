"""Bounds for numbers that callers choose. Pure."""

from cortex.system.errors import BadRequest


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def check_between(name: str, value: float, least: float, most: float) -> None:
    """Raise BadRequest for a value of the argument `name` that is not between the bounds."""
    if not least <= value <= most:
        raise BadRequest(f"{name} is {value}; it must be between {least} and {most}.")


def check_page(limit: int, most: int, offset: int = 0) -> None:
    """Raise BadRequest for a page of other than 1 to `most` rows, and an offset below 0."""
    check_between("limit", limit, 1, most)
    if offset < 0:
        raise BadRequest(f"offset is {offset}; it must be 0 or more.")
