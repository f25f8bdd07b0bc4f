"""Definitions that the graph does not hold: constants and variables, by the lists of the chunks.

The graph has functions and types of every language, and constants of some; the outline of a file
has the data of all.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from cortex.ask.exploring.functions import Function
from cortex.ask.query_context import Turn
from cortex.terms.records import covers
from cortex.terms.tokens import WORD
from cortex.terms.units import is_definition
from ipc.messages import ExactHits, ExactSearch, Filters

#: chunks with the name that are read, definitions first, and their bytes
CHUNKS_MAX, BYTES_MAX = 20, 400_000


async def find_data(turn: Turn, symbol: str) -> list[Function]:
    """Return the definitions that chunks list by the name of `symbol`, and by its owner if it has
    one: `CipherSuites`, `tls.CipherSuites`, `Limits::MAX`. Raises NotReady.
    """
    names = WORD.findall(symbol)
    if not names or not names[-1].isidentifier():
        return []
    request = ExactSearch(
        names[-1],
        "exact",
        limit=CHUNKS_MAX,
        filters=turn.context.scope_filters(Filters()),
        max_bytes=BYTES_MAX,
        generation=turn.generation.number,
    )
    hits = await turn.lane("text", request, ExactHits, ours=True)
    listed: dict[str, Function] = {}
    for hit, raw in zip(hits.hits, hits.chunks, strict=True) if hits is not None else ():
        chunk = orjson.loads(raw)
        for entry in (chunk.get("metadata") or {}).get("definitions") or ():
            if covers(hit.chunk_type) and is_definition(entry) and entry["name"] == names[-1]:
                owner = str(entry.get("scope") or "")
                if _is_owner(names[:-1], owner, hit.path):
                    name = f"{owner}.{names[-1]}" if owner else names[-1]
                    function = Function(
                        f"{hit.path}:{name}",
                        hit.path,
                        entry["start_line"],
                        entry["end_line"],
                        str(entry.get("kind")),
                    )
                    listed.setdefault(f"{function.id}:{function.start}", function)
    return list(listed.values())


def _is_owner(written: Sequence[str], owner: str, path: str) -> bool:
    """Return whether the names before a name mean its owner, or its module or package."""
    return not written or written[-1] in (*WORD.findall(owner), *WORD.findall(path))
