"""The number of drawn examples of a test: small by day, large by night, which is
`pytest --hypothesis-profile=night`.
"""

from __future__ import annotations

from hypothesis import settings

#: how many times more examples a night draws
NIGHTS = 50


def scaled(number: int) -> int:
    """Return `number` by day, NIGHTS times as many by night."""
    return number * (settings().max_examples // settings.get_profile("busy").max_examples)
