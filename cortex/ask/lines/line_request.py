"""The common part of answers of detail "auto": the request for their lines, and its entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from cortex.ask.query_context import Turn
from ipc.messages import Hit, Show, Shown


async def request_lines(turn: Turn, workers: Sequence[str], request: Show) -> Shown:
    """Return the lines from the first of `workers` that answers. Raises as Turn.fetch."""
    if not request.keys:
        return Shown(turn.generation.number)
    return await turn.first_of(workers, request, Shown, {})


def make_entries(
    reply: Shown, hits: Sequence[Hit], scores: Sequence[float], stale: Iterable[str], name: str
) -> list[dict[str, Any]]:
    """Return the results: each chunk with its chosen lines, and under `name` the score in two
    digits.

    The score is that of the file's best hit, because entries of one file stand together.
    """
    changed = frozenset(stale)
    best: dict[str, float] = {}
    for hit, score in zip(hits, scores, strict=True):
        best.setdefault(hit.path or hit.id, score)
    out = []
    for at, body in zip(reply.of, reply.entries, strict=True):
        hit = hits[at]
        result: dict[str, Any] = {
            "chunk": orjson.Fragment(body),
            name: round(best[hit.path or hit.id], 2),
        }
        if hit.path in changed:
            result["stale"] = True
        out.append(result)
    return out


def make_notes(reply: Shown, results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields on lines that the answer leaves out, and the next step for the reader."""
    fields: dict[str, Any] = {}
    if reply.truncated:
        fields["truncated"] = True
    if reply.more:
        fields["more"] = reply.more
    if reply.omitted:
        fields["omitted"] = reply.omitted
    if any(result.get("stale") for result in results):
        fields["next"] = "Read the stale files: they were saved since."
    elif reply.truncated:
        fields["next"] = "There is more: raise `max_tokens` or `limit`, or narrow by `paths`."
    return fields
