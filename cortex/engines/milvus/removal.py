"""Rows that are removed for good, with the parts in which long chunks go on."""

from __future__ import annotations

from cortex.engines.milvus.collection import Collection


def continuation_key(project: str, key: int, number: int) -> str:
    """The part `number`, from 1 on, of the chunk of a row."""
    return f"{project}:chunk:{key}:{number}"


def drop_rows(collection: Collection, which: str) -> None:
    """Remove the rows of the project that a filter finds. Their parts go first: a row without them
    could be told apart from no damage.
    """
    wanted, project = f"{collection.project} and {which}", collection.place.project
    long = collection.find(f"{wanted} and parts > 0", ["key", "parts"])
    parts = [
        continuation_key(project, int(row["key"]), at)
        for row in long
        for at in range(1, int(row["parts"]) + 1)
    ]
    if parts:
        collection.delete_parts(parts)
    collection.delete(wanted)
