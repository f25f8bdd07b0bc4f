"""The description of a model in the package: its name, its dimensions. The indexer needs no more
of the model for code: the publisher computes its vectors.
"""

from pathlib import Path
from typing import Any

import orjson

from cortex.embedders.protocol import estimate_tokens
from cortex.system.errors import Damaged

#: the folder of the model for code
MODEL_DIR = Path(__file__).with_name("cortex_static_384")


class Shipped:
    """The common part of the embedders with this model."""

    def __init__(self, identity: str, dimensions: int) -> None:
        self.identity, self.dimensions = identity, dimensions

    #: called for every line of a project
    count_tokens = staticmethod(estimate_tokens)


def read_description(folder: Path) -> dict[str, Any]:
    """Return the description of the model in `folder`. Raises Damaged."""
    try:
        description: dict[str, Any] = orjson.loads((folder / "model.json").read_bytes())
        _ = description["name"], description["hash"], description["dimensions"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable(folder, error) from error
    return description


def identify(description: dict[str, Any], dimensions: int) -> tuple[str, int]:
    """Return (identity, dimensions) of the model cut to `dimensions`; of the full model where it
    was not trained for that prefix.
    """
    if dimensions in description.get("prefixes", ()):
        return f"{description['name']}:{dimensions}@{description['hash']}", dimensions
    return f"{description['name']}@{description['hash']}", description["dimensions"]


def unreadable(folder: Path, error: Exception) -> Damaged:
    return Damaged(f"The model in {folder} cannot be read ({error}); install Cortex again.")
