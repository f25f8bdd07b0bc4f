"""Removal of rows for good, with the parts of long chunks."""

from cortex.engines.milvus.storage.collection import Collection


def continuation_key(project: str, key: int, number: int) -> str:
    """The primary key of the part `number`, from 1 on, of a row's chunk."""
    return f"{project}:chunk:{key}:{number}"


def drop_rows(collection: Collection, which: str) -> None:
    """Remove the project's matching rows, their parts first: without parts they look damaged."""
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
