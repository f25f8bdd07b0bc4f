"""What the best units call: a function that answers mostly hands the work on. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cortex.engines.chunks.line_scores import ScoredUnit
from cortex.engines.chunks.source import Source

#: definitions that one name may mean in the files that are compared, above which a call says
#: nothing
MEANINGS_MAX = 3

#: a name that is called, or referred to as part of something; of one that is neither, nothing is
#: tried again from its later letters
_CALLED = re.compile(r"(?<![A-Za-z_])[A-Za-z_](?:(?<=[.>:][A-Za-z_])\w*|\w*+(?=[(<]))")


def find_callees(
    callers: Iterable[ScoredUnit], sources: Sequence[Source]
) -> Iterator[tuple[int, Source, int]]:
    """(the number of a caller, the file and the number of the unit there that it calls)."""
    for at, caller in enumerate(callers):
        names, definitions = _called_names(caller), dict[str, list[tuple[Source, int]]]()
        for source in sources:  # most of what is called is defined in none of them
            for name in names & source.defined.keys():
                definitions.setdefault(name, []).extend((source, unit) for unit in source.defined[name])
        for targets in definitions.values():
            if len(targets) <= MEANINGS_MAX:
                yield from ((at, source, unit) for source, unit in targets)


def _called_names(caller: ScoredUnit) -> frozenset[str]:
    """The names that a definition calls; none of what is no definition."""
    if not caller.unit.kind:
        return frozenset()
    own_name = caller.unit.symbol.rpartition(".")[2]
    lines = caller.source.lines
    text = lines.between(caller.unit.start, caller.unit.end)
    return frozenset(_CALLED.findall(text)) - {own_name}
