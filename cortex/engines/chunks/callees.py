"""What the best units call: a function that answers mostly hands the work on. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cortex.engines.chunks.line_scores import Judged
from cortex.engines.chunks.source import Source

#: definitions that one name may mean in the files that are compared, above which a call says
#: nothing
MEANT_MAX = 3

#: a name that is called, or referred to as part of something; of one that is neither, nothing is
#: tried again from its later letters
_CALLED = re.compile(r"(?<![A-Za-z_])[A-Za-z_](?:(?<=[.>:][A-Za-z_])\w*|\w*+(?=[(<]))")


def find_callees(callers: Iterable[Judged], sources: Sequence[Source]) -> Iterator[tuple[int, Source, int]]:
    """(the number of a caller, the file and the number of the unit there that it calls)."""
    for at, caller in enumerate(callers):
        names, meant = _called_by(caller), dict[str, list[tuple[Source, int]]]()
        for source in sources:  # most of what is called is defined in none of them
            for name in names & source.defined.keys():
                meant.setdefault(name, []).extend((source, unit) for unit in source.defined[name])
        for told in meant.values():
            if len(told) <= MEANT_MAX:
                yield from ((at, source, unit) for source, unit in told)


def _called_by(one: Judged) -> frozenset[str]:
    """The names that a definition calls; none of what is no definition."""
    if not one.unit.kind:
        return frozenset()
    own = one.unit.symbol.rpartition(".")[2]
    lines = one.source.lines
    text = lines.between(one.unit.start, one.unit.end)
    return frozenset(_CALLED.findall(text)) - {own}
