"""Notes that were found, with what became of the places that they are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cortex.ask.asking import Asking


async def judged(asking: Asking, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """See `cortex.ask.meeting.judged`, which is imported for notes with places alone."""
    if not any(row.get("files") for row in rows):
        return list(rows)
    from cortex.ask.meeting.judged import judge

    return await judge(asking, rows)
