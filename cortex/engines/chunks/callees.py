"""What the best units call: a function that answers mostly hands the work on. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cortex.engines.chunks.worth import Judged

#: definitions that one name may mean in the files that are compared, above which a call says
#: nothing
MEANT_MAX = 3

#: a name that is called, or referred to as part of something
_CALLED = re.compile(r"[A-Za-z_]\w*(?=[(<])|(?<=[.>:])[A-Za-z_]\w*")


def find_callees(callers: Iterable[Judged], judged: Sequence[Judged]) -> Iterator[tuple[int, int]]:
    """(the number of a caller, the number of a unit of `judged` that it calls), by name."""
    called = [_called_by(one) for one in callers]
    wanted = frozenset().union(*called)
    meant: dict[str, list[int]] = {}
    for at, one in enumerate(judged):
        if one.unit.kind and (name := one.unit.symbol.rpartition(".")[2]) in wanted:
            meant.setdefault(name, []).append(at)
    for caller, names in enumerate(called):
        for name in names & meant.keys():
            if len(meant[name]) <= MEANT_MAX:
                yield from ((caller, at) for at in meant[name])


def _called_by(one: Judged) -> frozenset[str]:
    """The names that a definition calls; none of what is no definition."""
    if not one.unit.kind:
        return frozenset()
    own = one.unit.symbol.rpartition(".")[2]
    lines = one.source.lines
    text = lines.between(one.unit.start, one.unit.end)
    return frozenset(_CALLED.findall(text)) - {own}
