"""The arguments that several tools of memory share, with the descriptions that agents read."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

#: notes of an answer, and the most of them; steps of a walk
LIMIT, LIMIT_MAX, DEPTH_MAX = 10, 100, 6

Limit = Annotated[int, Meta(description="1 to 100.")]
AsOf = Annotated[str, Meta(description="A date: what was believed then.")]
Whose = Annotated[str, Meta(description='Another project\'s notes, or "all".')]
OperationId = Annotated[str, Meta(description="Of a call whose outcome is unknown.")]


def drop_empty(**arguments: Any) -> dict[str, Any]:
    """The arguments of an operation without those that were left out."""
    return {name: value for name, value in arguments.items() if value not in (None, "")}
