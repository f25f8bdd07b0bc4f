"""The bindings, imports and definitions of a name that reach a place in its scope.

A test file may bind one name hundreds of times, each in a separate block.
"""

import bisect
from collections.abc import Sequence
from typing import NamedTuple

from cortex.graph.facts.facts import Binding, Definition, Import

#: a binding, an import, or the index of a definition
BindingSite = Binding | Import | int

#: a place in a file after all of its bindings
ANYWHERE = 1 << 60
#: end of the range of a site outside of blocks
_NEVER = 1 << 62


class ReachingSites(NamedTuple):
    """Sites that reach a place, the latest last. `number` is equal for equal `places`."""

    number: int
    places: tuple[BindingSite, ...]


_NOWHERE = ReachingSites(-1, ())


class Meanings:
    """The sites of one name in one scope, in the order of FileIndex.places. Never changed."""

    __slots__ = (
        "_around",
        "_around_bound",
        "_bound",
        "_by_stretch",
        "_defined",
        "_marks",
        "_numbers",
        "_only",
        "_since",
        "_spans",
    )

    def __init__(self, places: Sequence[BindingSite], definitions: Sequence[Definition]) -> None:
        self._spans = [_span(site, definitions) for site in places]
        self._since = [definitions[site].since if isinstance(site, int) else 0 for site in places]
        self._only = ReachingSites(0, tuple(places)) if len(places) == 1 else None  # the usual case
        #: (begin, end, number) of bindings and imports, maybe thousands; numbers of definitions
        self._bound = [(*span[:2], n) for n, span in enumerate(self._spans) if not isinstance(span[2], int)]
        #: for each of these, in order, the nearest before it that has not ended where it begins
        self._around_bound: list[int] = []
        self._defined = [n for n, span in enumerate(self._spans) if isinstance(span[2], int)]
        self._marks: list[int] = []
        if self._only is None:
            marks = {begin for begin, _, _ in self._spans} | {until for _, until, _ in self._spans}
            marks.update(self._since)
            self._marks = sorted(marks)
        self._by_stretch: dict[int, ReachingSites] = {}
        self._around: dict[int, ReachingSites] = {}
        self._numbers: dict[tuple[int, ...], int] = {}

    def at(self, at: int) -> ReachingSites:
        if self._only is not None:
            begin, until, site = self._spans[0]
            if isinstance(site, int):  # valid before its place, and everywhere without a place
                begin, until = self._since[0], until if at < ANYWHERE else _NEVER
            return self._only if begin <= at < until else _NOWHERE
        stretch = bisect.bisect_right(self._marks, at)
        sites = self._by_stretch.get(stretch)
        if sites is None:
            sites = self._by_stretch[stretch] = self._sites_at(at)
        return sites

    def _sites_at(self, at: int) -> ReachingSites:
        order = self._bound_at(at)
        for number in self._defined:
            begin, until, _ = self._spans[number]
            if begin <= at < until:
                order.append((begin, number))
            elif self._since[number] <= at < until:
                # valid before its place, with the least rank in its scope
                order.append((self._since[number] or -1, number))
        if at >= ANYWHERE and not order:
            order = [(0, n) for n, (_, _, site) in enumerate(self._spans) if isinstance(site, int)]
        return self._numbered_sites(order)

    def _bound_at(self, at: int) -> list[tuple[int, int]]:
        """Return (begin, number) of the bindings and imports whose range has a place: the last that
        begins before it, and those around that one. Blocks beside them are not read.
        """
        if len(self._around_bound) < len(self._bound):
            self._bound.sort()
            open_bounds = list[int]()
            for at_bound, (begin, _, _) in enumerate(self._bound):
                while open_bounds and self._bound[open_bounds[-1]][1] <= begin:
                    open_bounds.pop()
                self._around_bound.append(open_bounds[-1] if open_bounds else -1)
                open_bounds.append(at_bound)
        order, last = list[tuple[int, int]](), bisect.bisect_left(self._bound, (at + 1,)) - 1
        while last >= 0:
            begin, until, number = self._bound[last]
            if at < until:
                order.append((begin, number))
            last = self._around_bound[last]
        return order

    def around(self, at: int) -> ReachingSites:
        """Return the sites that reach a function defined at `at`, which may be called at any time.

        These are all sites of the scope outside of blocks, then those in blocks around `at`.
        """
        if self._only is not None and self._spans[0][1] == _NEVER:
            return self._only
        sites = self._around.get(at)
        if sites is None:
            order = [
                (begin if until < _NEVER else begin - _NEVER, number)
                for number, (begin, until, _) in enumerate(self._spans)
                if until == _NEVER or (self._since[number] or begin) <= at < until
            ]
            sites = self._around[at] = self._numbered_sites(order)
        return sites

    def _numbered_sites(self, order: list[tuple[int, int]]) -> ReachingSites:
        order.sort()
        numbers = tuple(number for _, number in order)
        stage_number = self._numbers.setdefault(numbers, len(self._numbers))
        return ReachingSites(stage_number, tuple(self._spans[number][2] for number in numbers))


def _span(site: BindingSite, definitions: Sequence[Definition]) -> tuple[int, int, BindingSite]:
    if isinstance(site, int):
        return definitions[site].begin, definitions[site].until or _NEVER, site
    until = site.until if isinstance(site, Binding) else 0
    return site.at, until or _NEVER, site
