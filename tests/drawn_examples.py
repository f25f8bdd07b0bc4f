"""The number of drawn examples of a test: few by day, many by night, as the profile says
(`pytest --hypothesis-profile=many`).
"""

from __future__ import annotations

from hypothesis import settings

#: profile → examples of a test that names no number; hypothesis itself draws 100
EXAMPLES = {"day": 25, "many": 1_000, "night": 5_000}
#: examples that a test draws at least
LEAST = 10


def scaled(number: int) -> int:
    """Return the part or the multiple of `number` that the profile draws; 100 are EXAMPLES."""
    return max(number * settings().max_examples // 100, min(number, LEAST))
