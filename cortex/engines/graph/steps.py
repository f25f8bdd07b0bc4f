"""Steps from a definition back to the code that may run it: references to it, constructions of its
type, and calls by dispatch. Callers at any depth, impact and paths take the same steps.

A constructor runs where its type, or a subtype that inherits it, is made; where languages call the
constructor of a base without a word, also in the constructors of subtypes. A method runs where a
method that it implements or overrides is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cortex.engines.graph.arrays import Graph, Keyed, make_keyed
from cortex.engines.graph.lookup.members import ARE_IS_A, Members
from cortex.generation.graph import EDGE_TYPES
from cortex.system.arrays import Array
from cortex.terms.ids import keys_of
from cortex.terms.kinds import MEMBER_KINDS, TYPE_KINDS
from cortex.terms.languages import Language, language_of

#: kinds of steps, and their names in answers
DIRECT, CONSTRUCTS, DISPATCH = 0, 1, 2
STEP_NAMES = ("", "constructs", "dispatch")

#: bool [edge types]: edges of a constructor or of an overridden method that reach others
_RUNS = np.array([kind in ("calls", "references", "routes_to") for kind in EDGE_TYPES])
_CALLS, _EMBEDS = EDGE_TYPES.index("calls"), EDGE_TYPES.index("embeds")
#: kinds of types without method bodies: implementations cannot call those of their base
_BODILESS = ("interface", "trait")

#: factor that mixes a number into a key
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps as parallel arrays: row of the edge, the definition from which it leads, the one that
    it may run, and the kind of the step. An edge may be several steps.
    """

    rows: Array
    sources: Array
    ends: Array
    kinds: Array

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, at: Array) -> Steps:
        """The steps at positions, or where a mask is true."""
        return Steps(self.rows[at], self.sources[at], self.ends[at], self.kinds[at])


def join_steps(parts: Iterable[Steps]) -> Steps:
    every = list(parts)
    columns = (np.concatenate([getattr(part, name) for part in every]) for name in Steps.__slots__)
    return Steps(*columns)


def _make_steps(rows: Array, sources: Array, ends: Array, kind: int) -> Steps:
    return Steps(rows, sources, ends, np.full(len(rows), kind, "<i1"))


_NONE = np.zeros(0, "<i8")
NO_STEPS = _make_steps(_NONE, _NONE, _NONE, DIRECT)


class StepFinder:
    """The steps of one graph. Arrays over its nodes are made for the first question."""

    def __init__(self, graph: Graph, members: Members) -> None:
        self._graph, self._members = graph, members

    def into(self, reached: Array, are_running: Array, wanted: Array) -> Steps:
        """The steps into `reached` (numbers, i64 [n]) over edges of the types `wanted` (bool).
        `are_running`: types whose initialisers run the code behind them, bool [n].
        """
        at, rows = self._graph.incoming.pairs(reached)
        are_wanted = wanted[self._graph.edges[rows, 2]]
        at, rows = at[are_wanted], rows[are_wanted]
        direct = _make_steps(rows, self._graph.edges[rows, 0], reached[at], DIRECT)
        if not wanted[_CALLS]:
            return direct
        runs = wanted & _RUNS
        return join_steps(
            (direct, self._constructing(reached, are_running, runs), self._dispatching(reached, runs))
        )

    def without_constructors(self, numbers: Sequence[int]) -> list[int]:
        """`numbers` without constructors: their signatures may differ from those of a base."""
        nodes = self._graph.node_of[list(numbers)]
        flags = (nodes >= 0) & self._are_constructors[nodes]
        return [number for number, flag in zip(numbers, flags.tolist(), strict=True) if not flag]

    def dispatching(self, related: Mapping[int, int]) -> dict[int, int]:
        """Those of `related` (method → edge between the types) that calls by dispatch reach: a
        struct that embeds another hides its methods and overrides none.
        """
        rows = np.array(list(related.values()), dtype="<i8")
        edges = self._graph.edges[rows]
        hidden = (edges[:, 2] == _EMBEDS) & self._are_structs(edges[:, 1])
        return {
            number: row for (number, row), hides in zip(related.items(), hidden, strict=True) if not hides
        }

    def _constructing(self, reached: Array, are_running: Array, runs: Array) -> Steps:
        """Steps from the code that makes objects of a type to the constructors that run then."""
        nodes, _ = self._nodes_of(reached)
        are_constructors = (nodes >= 0) & self._are_constructors[nodes]
        are_types = (nodes >= 0) & are_running & self._runs_base[nodes] & self._are_types[nodes]
        if not (are_constructors | are_types).any():
            return NO_STEPS
        some = np.flatnonzero(are_constructors | are_types)
        ends = reached[some]
        types = np.where(are_constructors[some], self._owners[nodes[some]], ends)
        seen_keys = [self._mix(types, ends.astype("<u8"))]
        type_ends, parts = [(types[are_constructors[some]], ends[are_constructors[some]])], list[Steps]()
        while len(types):
            at, rows = self._graph.incoming.pairs(types)
            is_a = ARE_IS_A[self._graph.edges[rows, 2]]
            subtypes, above, rows = self._graph.edges[rows[is_a], 0], ends[at[is_a]], rows[is_a]
            at_own, constructors = self._constructors_of(subtypes, above)
            has_own = np.zeros(len(subtypes), dtype=bool)
            has_own[at_own] = True
            parts.append(self._base_calls(rows[at_own], constructors, above[at_own]))
            keys = self._mix(subtypes, above.astype("<u8"))
            fresh = ~has_own & _are_new(keys, seen_keys)
            types, ends = subtypes[fresh], above[fresh]
            seen_keys.append(keys[fresh])
            type_ends.append((types, ends))
        types, ends = (np.concatenate([pair[column] for pair in type_ends]) for column in (0, 1))
        at, rows = self._graph.incoming.pairs(types)
        are_wanted = runs[self._graph.edges[rows, 2]]
        makers = _make_steps(
            rows[are_wanted], self._graph.edges[rows[are_wanted], 0], ends[at[are_wanted]], CONSTRUCTS
        )
        return join_steps((makers, *parts))

    def _constructors_of(self, types: Array, above: Array) -> tuple[Array, Array]:
        """(positions in `types`, constructors): those that take the place of `above`; a named one
        only of the same name.
        """
        at, numbers = self._lookup(self._constructors_by_owner, types.astype("<u8"))
        if not len(at):
            return at, numbers
        node_of = self._graph.node_of
        upper, lower = node_of[above[at]], node_of[numbers]
        same = self._lasts[upper] == self._lasts[lower]
        same |= self._are_types[upper] | self._runs_base[lower]
        return at[same], numbers[same]

    def _base_calls(self, rows: Array, constructors: Array, above: Array) -> Steps:
        """Steps from constructors to the base's, which a language runs without an edge."""
        if not len(rows):
            return NO_STEPS
        nodes = self._graph.node_of[constructors]
        runs = self._runs_base[nodes]
        for at in np.flatnonzero(runs & self._may_call_base[nodes]).tolist():
            runs[at] = self._runs_base_silently(int(constructors[at]), int(above[at]))
        return _make_steps(rows[runs], constructors[runs], above[runs], CONSTRUCTS)

    def _runs_base_silently(self, constructor: int, above: int) -> bool:
        """Whether a constructor calls none by an edge, and `above` takes no parameters."""
        graph = self._graph
        rows = graph.outgoing.of(np.array([constructor]))
        nodes = graph.node_of[graph.edges[rows[graph.edges[rows, 2] == _CALLS], 1]]
        if self._are_constructors[nodes[nodes >= 0]].any():
            return False
        (node,) = graph.nodes_json([int(graph.node_of[above])])
        return not node.get("parameters")

    def _dispatching(self, reached: Array, runs: Array) -> Steps:
        """Steps from the code that calls a method to the methods that override it."""
        graph = self._graph
        methods, uppers = self.overridden(reached, each=False)
        if not len(methods):
            return NO_STEPS
        first = _are_first(uppers)
        methods, uppers = methods[first], uppers[first]
        at, rows = graph.incoming.pairs(uppers)
        are_wanted = runs[graph.edges[rows, 2]] & ~self.are_unsure[rows]
        at, rows = at[are_wanted], rows[are_wanted]
        sources, ends, called = graph.edges[rows, 0], methods[at], uppers[at]
        reaches = sources != ends
        reaches[reaches] = ~self._call_base(sources[reaches], called[reaches])
        return _make_steps(rows[reaches], sources[reaches], ends[reaches], DISPATCH)

    def _call_base(self, sources: Array, called: Array) -> Array:
        """Bool [n]: whether a method calls the body that it overrides itself: that call reaches no
        other override. Methods of interfaces have no bodies.
        """
        nodes, of_called = self._graph.node_of[sources], self._graph.node_of[called]
        named: Array = self._lasts[nodes] == self._lasts[of_called]
        same: Array = (nodes >= 0) & named & self._have_bodies[of_called]
        if not same.any():
            return same
        methods, uppers = self.overridden(np.unique(sources[same]))
        overriding = self._mix(methods, uppers.astype("<u8"))
        return same & np.isin(self._mix(sources, called.astype("<u8")), overriding)

    def overridden(self, numbers: Array, *, each: bool = True) -> tuple[Array, Array]:
        """Pairs (method, method that it implements or overrides), as two arrays; of a C++ method
        also its declaration and definition; of a function the method for which it is given.
        Constructors and methods of embedded structs override nothing. Not `each`: of several
        methods that override one, the first is enough.
        """
        graph = self._graph
        nodes, present = self._nodes_of(numbers)
        methods = numbers[present & self._are_methods[nodes] & ~self._are_constructors[nodes]]
        owners = self._owners[graph.node_of[methods]]
        methods, owners = methods[owners >= 0], owners[owners >= 0]
        pairs = [self._twins(methods, owners), self._functions_for(numbers)]
        marks = methods.astype("<u8") if each else self._lasts[graph.node_of[methods]]
        # A base of some of `numbers` may own others, and has further overloads of their name.
        seen_keys = [self._mix(owners, marks)] if each else []
        while len(owners):
            at, rows = graph.outgoing.pairs(owners)
            is_a = ARE_IS_A[graph.edges[rows, 2]]
            at, rows = at[is_a], rows[is_a]
            types, lower = graph.edges[rows, 1], methods[at]
            hidden = (graph.edges[rows, 2] == _EMBEDS) & self._are_structs(types)
            # A type that is embedded may be a base on another way, too.
            keys = self._mix(types, marks[at]) ^ hidden * _MIX
            fresh = _are_new(keys, seen_keys)
            types, lower, marks, called = types[fresh], lower[fresh], marks[at][fresh], ~hidden[fresh]
            seen_keys.append(keys[fresh])
            at, uppers = self._methods_of(types[called], lower[called])
            pairs.append((lower[called][at], uppers))
            methods, owners = lower, types
        lower, upper = (np.concatenate([pair[column] for pair in pairs]) for column in (0, 1))
        return lower, upper

    def _functions_for(self, numbers: Array) -> tuple[Array, Array]:
        """Pairs (function, the method for which it is given)."""
        graph = self._graph
        at, rows = graph.outgoing.pairs(numbers)
        edges = graph.edges[rows]
        nodes, present = self._nodes_of(edges[:, 1])
        are_given = ARE_IS_A[edges[:, 2]] & present & self._are_methods[nodes]
        return numbers[at[are_given]], edges[are_given, 1].astype("<i8")

    def _twins(self, methods: Array, owners: Array) -> tuple[Array, Array]:
        """Pairs (C++ method, its declaration or definition in another file)."""
        graph = self._graph
        some = self._are_declaring[graph.node_of[methods]]
        methods, owners = methods[some], owners[some]
        at, twins = self._methods_of(owners, methods)
        apart = graph.nodes[graph.node_of[twins], 2] != graph.nodes[graph.node_of[methods[at]], 2]
        return methods[at[apart]], twins[apart]

    def _methods_of(self, types: Array, like: Array) -> tuple[Array, Array]:
        """(positions, methods): the methods of `types` with the names of `like`."""
        lasts = self._lasts[self._graph.node_of[like]]
        return self._lookup(self._methods_by_name, self._mix(types, lasts))

    def _lookup(self, index: Keyed, keys: Array) -> tuple[Array, Array]:
        at, rows = index.pairs(keys)
        return at, self._graph.nodes[rows, 0].astype("<i8")

    def _nodes_of(self, numbers: Array) -> tuple[Array, Array]:
        """(rows of the nodes, whether a number has a node)."""
        nodes = self._graph.node_of[numbers] if len(self._graph.nodes) else np.full(len(numbers), -1)
        return nodes, nodes >= 0

    @staticmethod
    def _mix(numbers: Array, keys: Array) -> Array:
        """Keys (u64) of pairs of a number and a key."""
        return (numbers.astype("<u8") + np.uint64(1)) * _MIX ^ keys

    def _are_structs(self, numbers: Array) -> Array:
        nodes, present = self._nodes_of(numbers)
        structs: Array = present & (self._graph.nodes[nodes, 1] == self._graph.kinds.get("struct", -1))
        return structs

    @cached_property
    def _lasts(self) -> Array:
        return self._keys_by_node(self._graph.by_last)

    def _keys_by_node(self, index: Keyed) -> Array:
        keys = np.zeros(len(self._graph.nodes), "<u8")
        keys[index.rows] = index.keys
        return keys

    @cached_property
    def _owners(self) -> Array:
        """For each node the number of the node around it, of a method in another file than its type
        the type; -1 without one.
        """
        graph = self._graph
        above, at = np.unique(self._keys_by_node(graph.by_above), return_inverse=True)
        numbers = graph.names.numbers(above)
        numbers = np.where((numbers >= 0) & (graph.node_of[numbers] >= 0), numbers, -1)
        owners = numbers[at.ravel()]
        for method, owner in self._members.owners_elsewhere.items():
            node = graph.node_of[method]
            owners[node] = owner if owners[node] < 0 else owners[node]
        return owners

    def _are_of_kinds(self, kinds: Iterable[str]) -> Array:
        return np.isin(self._graph.nodes[:, 1], [self._graph.kinds.get(kind, -1) for kind in kinds])

    @cached_property
    def _are_types(self) -> Array:
        return self._are_of_kinds(TYPE_KINDS)

    @cached_property
    def _are_methods(self) -> Array:
        return self._are_of_kinds(MEMBER_KINDS)

    @cached_property
    def _have_bodies(self) -> Array:
        """Bool [nodes]: whether a method's type is none without bodies."""
        bodiless = self._are_of_kinds(_BODILESS)
        nodes = np.where(self._owners >= 0, self._graph.node_of[self._owners], -1)
        return ~((nodes >= 0) & bodiless[nodes])

    @cached_property
    def _languages(self) -> tuple[list[Language], Array]:
        """(languages, for each node the number of its file's)."""
        graph = self._graph
        files, at = np.unique(graph.nodes[:, 2], return_inverse=True)
        languages: dict[Language, int] = {}
        numbers = [
            languages.setdefault(language_of(path), len(languages)) for path in graph.names.texts(files)
        ]
        return list(languages), np.array(numbers, "<i4")[at.ravel()]

    def _are_in(self, is_wanted: Callable[[Language], bool]) -> Array:
        """Bool [nodes]: whether a node is in a wanted language."""
        languages, numbers = self._languages
        return np.array([is_wanted(language) for language in languages], dtype=bool)[numbers]

    @cached_property
    def _runs_base(self) -> Array:
        return self._are_in(lambda language: language.runs_base)

    @cached_property
    def _may_call_base(self) -> Array:
        return self._are_in(lambda language: language.may_call_base)

    @cached_property
    def _are_declaring(self) -> Array:
        return self._are_in(lambda language: language.headers)

    @cached_property
    def _are_constructors(self) -> Array:
        named = np.zeros(len(self._graph.nodes), dtype=bool)
        languages, numbers = self._languages
        for number, language in enumerate(languages):
            named |= (numbers == number) & np.isin(self._lasts, keys_of(language.constructors))
        nodes = np.where(self._owners >= 0, self._graph.node_of[self._owners], -1)
        like_type = self._are_in(lambda language: language.named_like_type) & (nodes >= 0)
        like_type &= self._lasts[nodes] == self._lasts
        return self._are_methods & (self._owners >= 0) & (named | like_type)

    @cached_property
    def _constructors_by_owner(self) -> Keyed:
        nodes = np.flatnonzero(self._are_constructors)
        return make_keyed(self._owners.astype("<u8"), nodes)

    @cached_property
    def _methods_by_name(self) -> Keyed:
        nodes = np.flatnonzero(self._are_methods & (self._owners >= 0))
        return make_keyed(self._mix(self._owners, self._lasts), nodes)

    @cached_property
    def are_unsure(self) -> Array:
        """Bool [edges]: whether an edge is ambiguous between names that are not just overloads of
        one, or has one candidate.
        """
        graph = self._graph
        unsure = np.zeros(len(graph.edges), dtype=bool)
        rows = np.flatnonzero(graph.edges[:, 7] > 0)
        if not len(rows):
            return unsure
        ends = graph.edges[rows, 1]
        nodes = graph.node_of[ends]
        above = self._keys_by_node(graph.by_above)
        names = np.where(nodes >= 0, self._lasts[nodes] ^ above[nodes] * _MIX, ends.astype("<u8"))
        starts = np.flatnonzero(np.diff(graph.edges[rows, 7], prepend=-1))
        differ = np.minimum.reduceat(names, starts) != np.maximum.reduceat(names, starts)
        sizes = np.diff(np.append(starts, len(rows)))
        unsure[rows] = np.repeat(differ | (sizes == 1), sizes)
        return unsure


def _are_new(keys: Array, seen_keys: list[Array]) -> Array:
    """Bool [n]: whether a key is the first of its value, and none of `known`."""
    return _are_first(np.concatenate((*seen_keys, keys)))[sum(map(len, seen_keys)) :]


def _are_first(keys: Array) -> Array:
    """Bool [n]: whether a key is the first of its value."""
    first = np.zeros(len(keys), dtype=bool)
    first[np.unique(keys, return_index=True)[1]] = True
    return first
