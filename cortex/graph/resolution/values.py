"""What a name or chain may stand for, and how a search for that is kept from turning in a
circle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, TypeVar

from cortex.graph.resolution.project import Ref

#: values that one chain may have; more says nothing
VALUES_MAX = 6
#: methods of one name that a type may have: text builders have thirty
OVERLOADS_MAX = 48


class Value(NamedTuple):
    """`def` itself, an instance (`inst`) of a type, a `super` of one, a `mod`ule (`path` its key),
    a container's `list` of instances, an `elem`ent getter of it, an `iter`ator over it (C++), or
    something of another project
    (`ext`). `given` is what stands for each type parameter of an instance's type, where that is
    known (generics.py).
    """

    tag: Literal["def", "inst", "super", "mod", "list", "elem", "iter", "ext"]
    path: str = ""
    at: int = -1
    depth: int = 0
    type_arguments: tuple[tuple[Value, ...], ...] = ()

    @property
    def ref(self) -> Ref:
        return (self.path, self.at)


def merge_values(groups: Iterable[tuple[Value, ...]], most: int = VALUES_MAX) -> tuple[Value, ...]:
    """All of these, each once; none where they are more than `most`."""
    values = tuple(dict.fromkeys(value for group in groups for value in group))
    return values if len(values) <= most else ()


def nearest_definitions(refs: list[Ref], path: str) -> list[Ref]:
    """Those whose folders share most of their beginning with the folder of `path`."""
    if len(refs) < 2:
        return refs
    parts = path.split("/")[:-1]

    def shared(ref: Ref) -> int:
        pairs = enumerate(zip(ref[0].split("/")[:-1], parts, strict=False))
        return next(
            (at for at, (part_name, other) in pairs if part_name != other), min(len(parts), ref[0].count("/"))
        )

    most = max(map(shared, refs))
    return [ref for ref in refs if shared(ref) == most]


EXTERNAL = Value("ext")
#: searches that are begun again inside of one, until what they find is kept although it may be too
#: little
AGAIN_MAX = 1_000
#: more than are ever under way
_NONE = 1 << 30
T = TypeVar("T")
How = Literal["exact", "import", "receiver"]


class Recursion:
    """What is being looked for right now. Names depend on each other in circles (`a = b`, `b = a`):
    a search that comes to what is already under way is cut short there. What was found until then
    may be too little to be remembered, for all that is looked for inside of what it came to; for
    that itself it is everything.

    Where very many circles meet, as those of several copies of a library do, what is not remembered
    would be looked for again by each way that leads to it, and there are exponentially many. From
    AGAIN_MAX of these searches on, what a search has found halfway is kept for the others, until
    that ends at which it was cut short.
    """

    def __init__(self) -> None:
        #: evaluations inside one another
        self.depth = 0
        #: what is under way → how many others were when that began
        self._under_way: dict[object, int] = {}
        #: how many were under way around the outermost one that a search was cut short at
        self._outermost = _NONE
        #: what was begun since nothing was under way, and how often one of these was begun again
        self._begun: set[object] = set()
        self._repeated = 0
        #: what was found halfway, with the place at which it was cut short; and what of it is to be
        #: dropped when that which has a place ends
        self._halfway: dict[object, tuple[int, Any]] = {}
        self._until: dict[int, list[object]] = {}

    def enter(self, key: object, *, allowed: bool = True) -> int | None:
        """Begin to look for `key`: what `leave` wants back. None when that is under way already, or
        was found halfway, or is not `allowed`: the search is cut short here, and `found` says what
        there is.
        """
        place = self._under_way.get(key, _NONE) if allowed else -1
        if place == _NONE and key in self._halfway:
            place = self._halfway[key][0]
        if place != _NONE:
            self._outermost = min(self._outermost, place)
            return None
        if key in self._begun:
            self._repeated += 1
        else:
            self._begun.add(key)
        self._under_way[key] = len(self._under_way)
        return self.begin()

    def answer(self, key: object, nothing: T) -> T:
        """What is known of `key`, which could not be entered."""
        known_answer: T = self._halfway[key][1] if key in self._halfway else nothing
        return known_answer

    def leave(self, key: object, before: int, answer: object) -> bool:
        """Whether what was found for `key` is everything, and may be remembered."""
        place = self._under_way.pop(key)
        for other in self._until.pop(place, ()):
            del self._halfway[other]
        outermost = self._outermost
        complete = self.end(before) or self.depth == 0
        if not place:
            self._begun.clear()
            self._repeated = 0
        elif not complete and self._repeated > AGAIN_MAX:
            self._halfway[key] = outermost, answer
            self._until.setdefault(max(0, outermost), []).append(key)
        return complete

    def begin(self) -> int:
        """As `enter`, for what cannot come to itself."""
        before, self._outermost = self._outermost, _NONE
        return before

    def end(self, before: int) -> bool:
        """Whether what was found since `begin` is everything."""
        complete = self._outermost >= len(self._under_way)
        self._outermost = before if complete else min(before, self._outermost)
        return complete
