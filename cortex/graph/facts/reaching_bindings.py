"""Which of the meanings that a name gets in one scope hold at a place there. A test's file gives
one name hundreds of them, each in a block of its own.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import NamedTuple

from cortex.graph.facts.facts import Binding, Definition, Import

#: what gives a name its meaning: a binding, an import, or the number of a definition
Place = Binding | Import | int

#: a place in a file after everything that is bound in it
ANYWHERE = 1 << 60
#: where the meaning of what a block does not bound ends
_NEVER = 1 << 62


class Standing(NamedTuple):
    """`number` is the same wherever the same `places` hold, the last that was bound last."""

    number: int
    places: tuple[Place, ...]


_NOWHERE = Standing(-1, ())


class Meanings:
    """Of one name in one scope; `held` in the order of FileIndex.places. Never changed."""

    __slots__ = ("_around", "_found", "_marks", "_numbers", "_only", "_since", "_spans")

    def __init__(self, held: Sequence[Place], definitions: Sequence[Definition]) -> None:
        self._spans = [_span(what, definitions) for what in held]
        self._since = [definitions[what].since if isinstance(what, int) else 0 for what in held]
        self._only = Standing(0, tuple(held)) if len(held) == 1 else None  # as of most names
        self._marks: list[int] = []
        if self._only is None:
            marks = {begin for begin, _, _ in self._spans} | {until for _, until, _ in self._spans}
            marks.update(self._since)
            self._marks = sorted(marks)
        self._found: dict[int, Standing] = {}
        self._around: dict[int, Standing] = {}
        self._numbers: dict[tuple[int, ...], int] = {}

    def at(self, at: int) -> Standing:
        if self._only is not None:
            begin, until, what = self._spans[0]
            if isinstance(what, int):  # known before it stands there, and where nobody says a place
                begin, until = self._since[0], until if at < ANYWHERE else _NEVER
            return self._only if begin <= at < until else _NOWHERE
        stretch = bisect.bisect_right(self._marks, at)
        found = self._found.get(stretch)
        if found is None:
            found = self._found[stretch] = self._of(at)
        return found

    def _of(self, at: int) -> Standing:
        order: list[tuple[int, int]] = []
        for number, (begin, until, what) in enumerate(self._spans):
            if begin <= at < until:
                order.append((begin, number))
            elif isinstance(what, int) and self._since[number] <= at < until:
                # known before it stands there, as what is least in its scope
                order.append((self._since[number] or -1, number))
        if at >= ANYWHERE and not order:
            order = [(0, n) for n, (_, _, what) in enumerate(self._spans) if isinstance(what, int)]
        return self._standing(order)

    def around(self, at: int) -> Standing:
        """What holds in a function that is defined at `at`, which may be called at any time: all
        that the scope has, and of the blocks in it those around `at`, whose meanings come last.
        """
        if self._only is not None and self._spans[0][1] == _NEVER:
            return self._only
        found = self._around.get(at)
        if found is None:
            order = [
                (begin if until < _NEVER else begin - _NEVER, number)
                for number, (begin, until, _) in enumerate(self._spans)
                if until == _NEVER or (self._since[number] or begin) <= at < until
            ]
            found = self._around[at] = self._standing(order)
        return found

    def _standing(self, order: list[tuple[int, int]]) -> Standing:
        order.sort()
        numbers = tuple(number for _, number in order)
        known = self._numbers.setdefault(numbers, len(self._numbers))
        return Standing(known, tuple(self._spans[number][2] for number in numbers))


def _span(what: Place, definitions: Sequence[Definition]) -> tuple[int, int, Place]:
    if isinstance(what, int):
        return definitions[what].begin, definitions[what].until or _NEVER, what
    until = what.until if isinstance(what, Binding) else 0
    return what.at, until or _NEVER, what
