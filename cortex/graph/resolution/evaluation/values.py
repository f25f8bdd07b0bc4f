"""Values of names and chains, and the guard against circular searches for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from cortex.graph.facts.reaching_bindings import ANYWHERE
from cortex.graph.facts.tables import Ref

#: values that one chain may have; above that it has none
VALUES_MAX = 6
#: methods of one name that a type may have: string builders have thirty
OVERLOADS_MAX = 48


class Value(NamedTuple):
    """A value: a definition (`def`), an instance (`inst`) of a type, a `super` of one, a `mod`ule
    (`path` is its key), a container's `list` of instances, a `map` of them whose own elements are
    pairs (C#), a getter of its `elem`ents, an `iter`ator over it (C++), or an `ext`ernal value.

    A method to be called later, of a job, has `depth` 1: a call of it does not give its result.

    `type_arguments` are the values of the type's parameters for an instance, if known
    (generics.py).
    """

    tag: Literal["def", "inst", "super", "mod", "list", "map", "elem", "iter", "ext"]
    path: str = ""
    at: int = -1
    depth: int = 0
    type_arguments: tuple[tuple[Value, ...], ...] = ()

    @property
    def ref(self) -> Ref:
        return (self.path, self.at)


Values = tuple[Value, ...]
#: type parameter → its values
TypeArguments = Mapping[str, Values]
NO_TYPE_ARGUMENTS: TypeArguments = {}


def merge_values(groups: Iterable[Values], most: int = VALUES_MAX) -> Values:
    """Return all values without duplicates; () if they are more than `most`."""
    values = unique([value for group in groups for value in group])
    return values if len(values) <= most else ()


def unique(values: Sequence[Value]) -> Values:
    """Return the values without duplicates, in order; mostly there is one at most."""
    return tuple(values if len(values) < 2 else dict.fromkeys(values))


def as_function(value: Value) -> Value:
    """Return an unnamed function that returns `value`."""
    return value._replace(tag="elem", depth=value.depth + 1) if value.tag in ("inst", "list") else value


def nearest_definitions(refs: list[Ref], path: str) -> list[Ref]:
    """Return the definitions whose folders share the longest prefix with the folder of `path`."""
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
#: repeated searches within one outermost search; above that partial results are stored
AGAIN_MAX = 1_000
#: larger than any number of active searches
_NONE = 1 << 30
T = TypeVar("T")
Helper = TypeVar("Helper")
How = Literal["exact", "import", "receiver"]


class ChainEvaluator(Protocol):
    """The evaluator of chains, as its parts use it."""

    def evaluate(self, chain: str, path: str, scope: int, at: int = ANYWHERE) -> Values: ...

    def member(self, owner: Ref, name: str, *, past: bool = False) -> Values: ...

    def member_of_kind(self, owner: Ref, name: str, *, static: bool) -> Values: ...

    def attribute(self, value: Value, name: str) -> Values: ...

    def called(self, value: Value) -> Values: ...

    def types_of(self, chain: str, path: str, scope: int = -1, at: int = ANYWHERE) -> list[Ref]: ...

    def declared(
        self, text: str, path: str, scope: int, type_arguments: TypeArguments = NO_TYPE_ARGUMENTS
    ) -> Values: ...

    def helper(self, kind: Callable[[Any, Any], Helper]) -> Helper: ...

    def methods_named(self, family: str, name: str) -> tuple[Ref, ...]: ...


class Remembering:
    """A part of the evaluation, with caches that stay from file to file."""

    memos: tuple[dict[Any, Any], ...] = ()

    def relax(self, memo_max: int) -> None:
        """Clear caches that have more than `memo_max` entries."""
        for memo in self.memos:
            if len(memo) > memo_max:
                memo.clear()


class Recursion:
    """The active searches, as a guard against circles.

    Names depend on each other in circles (`a = b`, `b = a`): a search that reaches an active search
    stops there. Its result may then be incomplete, so that no search inside of the reached one is
    cached; the result of the reached search itself is complete.

    Where very many circles meet, as in several copies of a library, each path to an uncached name
    would search it again, and the number of paths is exponential. After AGAIN_MAX repeated
    searches, partial results are stored for the others, until the search ends at which they
    stopped.
    """

    def __init__(self) -> None:
        #: depth of nested evaluations
        self.depth = 0
        #: active search → number of searches that were active before it
        self._active: dict[object, int] = {}
        #: least number, in `_active`, of the searches at which the current one stopped
        self._outermost = _NONE
        #: searches since none was active, and how often one of these was repeated
        self._searched: set[object] = set()
        self._repeated = 0
        #: partial results, with the number of the search at which each stopped; and the keys to
        #: drop when the search of a number ends
        self._partial: dict[object, tuple[int, Any]] = {}
        self._dropped_at_end: dict[int, list[object]] = {}

    def enter(self, key: object, *, allowed: bool = True) -> int | None:
        """Begin a search for `key`. Return the state for `leave`, or None if it must not begin.

        None if it is active, has a partial result, or is not `allowed`: the current search stops
        there, and `answer` returns the partial result.
        """
        place = self._active.get(key, _NONE) if allowed else -1
        if self._partial and place == _NONE and key in self._partial:
            place = self._partial[key][0]
        if place != _NONE:
            self._outermost = min(self._outermost, place)
            return None
        count = len(self._searched)
        self._searched.add(key)
        self._repeated += len(self._searched) == count
        self._active[key] = len(self._active)
        return self.begin()

    def answer(self, key: object, nothing: T) -> T:
        """Return the partial result for `key`, else `nothing`, after `enter` returned None."""
        return self._partial[key][1] if key in self._partial else nothing

    def leave(self, key: object, before: int, answer: object) -> bool:
        """End a search. Return True if its result is complete and may be cached."""
        place = self._active.pop(key)
        if self._dropped_at_end:
            for other in self._dropped_at_end.pop(place, ()):
                del self._partial[other]
        outermost = self._outermost
        complete = self.end(before) or self.depth == 0
        if not place:
            self._searched.clear()
            self._repeated = 0
        elif not complete and self._repeated > AGAIN_MAX:
            self._partial[key] = outermost, answer
            self._dropped_at_end.setdefault(max(0, outermost), []).append(key)
        return complete

    def begin(self) -> int:
        """Begin a search that cannot reach itself. Return the state for `end`."""
        before, self._outermost = self._outermost, _NONE
        return before

    def end(self, before: int) -> bool:
        """Return True if the result since `begin` is complete."""
        complete = self._outermost >= len(self._active)
        self._outermost = before if complete else min(before, self._outermost)
        return complete
