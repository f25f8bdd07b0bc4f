"""What is known of the model in the package without its table: its name, its dimensions, how it
counts tokens. Who indexes needs no more: its vectors are made by who publishes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from cortex.embedders.protocol import estimate_tokens
from cortex.system.errors import Damaged

#: the folder of the model
MODEL_DIR = Path(__file__).with_name("cortex_static_384")


class Shipped:
    """What every embedder by this model is."""

    def __init__(self, identity: str, dimensions: int) -> None:
        self.identity = identity
        self.dimensions = dimensions

    #: asked of every line of a project
    count_tokens = staticmethod(estimate_tokens)


def about(folder: Path) -> dict[str, Any]:
    """What the model in `folder` says of itself. Raises Damaged."""
    try:
        told: dict[str, Any] = orjson.loads((folder / "model.json").read_bytes())
        _ = told["name"], told["hash"], told["dimensions"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable(folder, error) from error
    return told


def named(told: dict[str, Any], dimensions: int) -> tuple[str, int]:
    """(the identity, the dimensions) of the model cut to `dimensions`; of all of it where it was
    not trained for that prefix.
    """
    if dimensions in told.get("prefixes", ()):
        return f"{told['name']}:{dimensions}@{told['hash']}", dimensions
    return f"{told['name']}@{told['hash']}", told["dimensions"]


def unreadable(folder: Path, why: Exception) -> Damaged:
    return Damaged(f"The model in {folder} cannot be read ({why}); install Cortex again.")
