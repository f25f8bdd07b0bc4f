"""Arguments that several tools of memory share, with the descriptions that agents read."""

from typing import Annotated, Any

from msgspec import Meta

#: notes of an answer: default and maximum; maximum of steps of a walk
LIMIT, LIMIT_MAX, DEPTH_MAX = 10, 100, 6

Limit = Annotated[int, Meta(description="Results, 1 to 100.")]
AsOf = Annotated[str, Meta(description="Date of the notes' state.")]
Whose = Annotated[str, Meta(description='Another project\'s notes, or "all".')]
OperationId = Annotated[str, Meta(description="Same id: carried out once.")]


def drop_empty(**arguments: Any) -> dict[str, Any]:
    """Return the arguments that are neither None nor ""."""
    return {name: value for name, value in arguments.items() if value not in (None, "")}
