"""The tool cortex_outline: the symbols of a file or folder, the most referred-to first in a small
budget.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.asking import Asking
from cortex.ask.questions import Outline
from cortex.ask.structure import outline
from cortex.front.tools.arguments import MaxTokens


async def cortex_outline(
    asking: Asking,
    *,
    path: Annotated[
        str,
        Meta(description='A file or folder: "src/auth", "app/store.py". Leave empty for the whole project.'),
    ] = "",
    max_tokens: MaxTokens = 4_000,
) -> dict[str, Any]:
    """A map of a file, folder or the whole project: types, functions and methods with signatures
    and line ranges.

    Use it to see what is in a file before reading it, or to get an overview of unknown code. The
    symbols that the rest of the project refers to most are chosen first, until max_tokens is
    reached; "references" counts those edges.

    Examples:
    - {"path": "internal/auth/session.go"} - everything in one file
    - {"path": "src", "max_tokens": 2000} - the most important symbols below a folder
    - {} - a map of the project

    """
    return await outline(asking, Outline(path, max_tokens))
