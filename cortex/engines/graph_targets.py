"""Which nodes a target means: a full id, a unique end of one, a file's path; the nearest names when there is none."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from cortex.engines.graph_segments import Graph

#: ids that an answer lists when a target has several meanings, and names that it suggests when it has none
LISTED = 10
SUGGESTED = 5

_SEPARATOR = re.compile(r"::|[:/.#\\]")
_COPY = re.compile(r"~\d+$")


@dataclass(frozen=True, slots=True)
class Found:
    """`nodes` are the numbers that are meant; none: `candidates` are the ids to choose from, `suggestion` the sentence."""

    nodes: tuple[int, ...] = ()
    candidates: tuple[str, ...] = ()
    suggestion: str = ""


class Targets:
    """The names of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._last: dict[str, list[int]] = {}
        #: path → its node
        self.files: dict[str, int] = {}
        #: id → the nodes directly below it
        self._children: dict[str, list[int]] = {}
        self._kinds = [graph.names[kind] for kind in graph.nodes[:, 1].tolist()]
        for row, (number, _, file, _, _) in enumerate(graph.nodes.tolist()):
            if graph.node_of[number] != row:
                continue
            name = graph.names[number]
            self._last.setdefault(_parts(name)[-1], []).append(number)
            self._children.setdefault(_above(name), []).append(number)
            if self._kinds[row] == "module":
                self.files[graph.names[file]] = number

    def find(self, target: str) -> Found:
        graph = self._graph
        target = target.strip()
        number = graph.numbers.get(target)
        if number is not None and graph.node_of[number] >= 0:
            return Found(self._copies(number))
        if target in self.files:
            return Found((self.files[target],))
        parts = _parts(target)
        if not parts:
            return Found(suggestion="The target is empty; pass the name of a type, function, method or file.")
        matching = [n for n in self._last.get(parts[-1], ()) if self._ends(n, parts)]
        groups: dict[str, list[int]] = {}
        for n in matching:
            groups.setdefault(_COPY.sub("", graph.names[n]), []).append(n)
        if len(groups) == 1:
            return Found(tuple(next(iter(groups.values()))))
        if groups:
            listed = sorted(groups)
            more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
            return Found(
                candidates=tuple(listed[:LISTED]),
                suggestion=f"{target!r} may be any of {len(listed)}; ask again with one of: "
                f"{', '.join(listed[:LISTED])}{more}.",
            )
        return self._nothing(target, parts)

    def _copies(self, number: int) -> tuple[int, ...]:
        """A definition and its overloads."""
        graph = self._graph
        name = graph.names[number]
        same = [n for n in self._last.get(_parts(name)[-1], ()) if _COPY.sub("", graph.names[n]) == name]
        return tuple(same) or (number,)

    def _ends(self, number: int, parts: list[str]) -> bool:
        """Whether an id ends in `parts`; its file's own name may be left out (Go: `package.Name`)."""
        name = self._graph.names[number]
        whole = _parts(name)
        if whole[-len(parts) :] == parts:
            return True
        path, colon, scope = name.partition(":")
        short = _parts(path.rpartition("/")[0]) + _parts(scope) if colon else whole
        return short[-len(parts) :] == parts

    def _nothing(self, target: str, parts: list[str]) -> Found:
        near = self.near(parts[-1])
        known = f" Nearest: {', '.join(near)}." if near else ""
        return Found(
            candidates=tuple(near),
            suggestion=f"There is no {target!r} in the graph.{known} Names are those of definitions in indexed files; "
            "cortex_exact finds any other word.",
        )

    def near(self, name: str) -> list[str]:
        """Ids whose last name is nearest to `name` by edits, at most SUGGESTED."""
        folded: dict[str, list[str]] = {}
        for last in self._last:
            if abs(len(last) - len(name)) <= 3 and _alike(last.lower(), name.lower()):
                folded.setdefault(last.lower(), []).append(last)
        chosen = difflib.get_close_matches(name.lower(), folded, n=SUGGESTED, cutoff=0.6)
        numbers = [n for low in chosen for last in folded[low] for n in self._last[last]]
        return [self._graph.names[n] for n in numbers[:SUGGESTED]]

    def members(self, numbers: Iterable[int]) -> list[int]:
        """`numbers` with every node below them: a type's methods, a module's definitions, a package's modules."""
        found = list(dict.fromkeys(numbers))
        seen = set(found)
        for number in found:  # grows
            for child in self._children.get(self._graph.names[number], ()):
                if child not in seen:
                    seen.add(child)
                    found.append(child)
        return found


def _above(name: str) -> str:
    """The id of what encloses a node: a type, a module, a folder."""
    path, colon, scope = name.partition(":")
    if not colon:
        return path.rpartition("/")[0]
    outer = scope.rpartition(".")[0]
    return f"{path}:{outer}" if outer else path


def _parts(name: str) -> list[str]:
    return [part for part in _SEPARATOR.split(_COPY.sub("", name)) if part]


def _alike(one: str, other: str) -> bool:
    """A cheap look before edits are counted: the same beginning or end, or most letters in common."""
    return (
        one[:1] == other[:1] or one[-2:] == other[-2:] or len(set(one) & set(other)) >= 0.7 * len(set(other))
    )
