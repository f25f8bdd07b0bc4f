"""Definitions that the graph does not hold: constants and variables, by the lists of the chunks.

The graph has functions and types of every language, and constants of some; the outline of a file
has the data of all.
"""

import re
from collections.abc import Sequence

import orjson

from cortex.ask.exploring.functions import Function
from cortex.ask.query_context import Turn
from cortex.terms.ids import stem_of
from cortex.terms.records import VIEW_TYPES, covers
from cortex.terms.tokens import WORD
from cortex.terms.units import is_definition
from ipc.messages import ExactHits, ExactSearch, Filters

#: chunks that define the name that are read, and their bytes
CHUNKS_MAX, BYTES_MAX = 20, 400_000
#: the file of an id, and its name: src/settings.py:LIMIT
_ID = re.compile(r"(?:(?=[^:#]*[./])([^:#]*)[:#](?!:))?(.*)", re.DOTALL)
#: ending of files that may hold a part of a type
_PARTIAL = ".cs"


async def find_data(turn: Turn, symbol: str) -> list[Function]:
    """Return the definitions that chunks list by the name of `symbol`, and by its owner if it has
    one: `CipherSuites`, `tls.CipherSuites`, `Limits::MAX`. Raises NotReady.
    """
    file, spelling = _ID.fullmatch(symbol).groups("")  # type: ignore[union-attr]
    names = WORD.findall(spelling)
    if not names or not names[-1].isidentifier():
        return []
    request = ExactSearch(
        " ".join((f'symbols:"{names[-1]}"', *(f"-chunk_type:{kind}" for kind in sorted(VIEW_TYPES)))),
        "boolean",
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
                if _is_owner(names[:-1], owner, hit.path) and _is_in(hit.path, file):
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


async def find_parts(turn: Turn, definition: Function) -> list[Function]:
    """Return the other parts of a partial C# type: the types of its name and kind in other files
    of its folder. Raises NotReady.
    """
    folder = definition.file.rpartition("/")[0]
    named = await find_data(turn, definition.name)
    parts = [
        other
        for other in named
        if other.name == definition.name
        and other.kind == definition.kind
        and other.file.rpartition("/")[0] == folder
        and other.file.endswith(_PARTIAL)
    ]
    return sorted(
        (part for part in parts if part.file != definition.file), key=lambda part: (part.file, part.start)
    )


def _is_owner(written: Sequence[str], owner: str, path: str) -> bool:
    """Return whether the names before a name mean its owner, or its module or package."""
    return not written or written[-1] in (*WORD.findall(owner), *WORD.findall(stem_of(path)))


def _is_in(path: str, file: str) -> bool:
    """Return whether `file` is the end of a path, with or without its ending, or its module; "" is
    of all.
    """
    ends = (f"/{file.lstrip('/')}", f"/{file.replace('.', '/')}")
    return not file or any(f"/{name}".endswith(ends) for name in (path, stem_of(path)))
