"""Units that the best units call: a function that answers often delegates the work. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cortex.engines.chunks.line_scores import ScoredUnit
from cortex.engines.chunks.source import Source

#: definitions of one name in the compared files, above which a call of it is ignored
MEANINGS_MAX = 3

#: a name that is called or used as a member; possessive, so a failed match is not retried from
#: later letters of the name
_CALLED = re.compile(r"(?<![A-Za-z_])[A-Za-z_](?:(?<=[.>:][A-Za-z_])\w*|\w*+(?=[(<]))")


def find_callees(
    callers: Iterable[ScoredUnit], sources: Sequence[Source]
) -> Iterator[tuple[int, Source, int]]:
    """Yield (index of the caller, file of the callee, index of its unit there)."""
    for at, caller in enumerate(callers):
        names, definitions = _called_names(caller), dict[str, list[tuple[Source, int]]]()
        for source in sources:  # most callees are defined in none of them
            for name in names & source.defined.keys():
                definitions.setdefault(name, []).extend((source, unit) for unit in source.defined[name])
        for targets in definitions.values():
            if len(targets) <= MEANINGS_MAX:
                yield from ((at, source, unit) for source, unit in targets)


def _called_names(caller: ScoredUnit) -> frozenset[str]:
    """The names that a definition calls; none for other units."""
    if not caller.unit.kind:
        return frozenset()
    own_name = caller.unit.symbol.rpartition(".")[2]
    lines = caller.source.lines
    text = lines.between(caller.unit.start, caller.unit.end)
    return frozenset(_CALLED.findall(text)) - {own_name}
