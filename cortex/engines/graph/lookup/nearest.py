"""Names of a graph that are like an unknown one: nearest by edits, or with its words."""

import difflib
from functools import cached_property
from heapq import nsmallest
from itertools import islice

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.terms.ids import split_id
from cortex.terms.text.spelling import fold_path
from cortex.terms.tokens import lowered, parts_of

#: names suggested for an unknown one, and how like it they are (difflib's ratio): `GoString` is no
#: slip of `NoSuchThing` (0.63)
SUGGESTED, LIKE_MIN = 5, 0.7
#: fewest characters of a name that others may contain, and of a word in it
_CONTAINED_MIN, _WORD_MIN = 4, 3
#: ids that are read for the words of an unknown name
READ_MAX = 1000


class NearestNames:
    """The last names of one graph. Tables are made for the first unknown name."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def near(self, name: str) -> list[str]:
        """Ids whose last name is nearest to `name` by edits, then those that contain it, at most
        SUGGESTED.
        """
        graph = self._graph
        folded: dict[str, list[int]] = {}
        for last, key in self._last_names:
            if abs(len(last) - len(name)) <= 3 and _may_resemble(last, name.lower()):
                folded.setdefault(last, []).append(key)
        nearest = difflib.get_close_matches(name.lower(), folded, n=SUGGESTED, cutoff=LIKE_MIN)
        low = fold_part(name)
        if len(nearest) < SUGGESTED and len(low) >= _CONTAINED_MIN:
            holding = [(len(last), last, key) for last, key in self._last_names if low in fold_part(last)]
            for _, last, key in sorted(holding):
                folded.setdefault(last, []).append(key)
                nearest.append(last)
        nearest = list(dict.fromkeys(nearest))[:SUGGESTED]
        keys = dict.fromkeys(key for last in nearest for key in folded[last])
        rows = [row for key in keys for row in graph.by_last.of(key).tolist()]
        return [graph.names[number] for number in graph.nodes[rows[:SUGGESTED], 0].tolist()]

    def with_words(self, parts: list[str]) -> list[str]:
        """Ids that contain every word of an unknown name, in any order, one of them in their last
        part: `Menu.add_entry` for `menu_add`. At most SUGGESTED, the shortest first.
        """
        wanted = [part[begin:end].lower() for part in parts for begin, end in parts_of(part)]
        wanted = [word for word in wanted if len(word) >= _WORD_MIN]
        if len(wanted) < 2:
            return []
        counts = ((sum(word in last for word in wanted), last) for last in self.folded)
        # Those with most of the words first: the fewer are left for the names around them.
        lasts = nsmallest(READ_MAX, ((-count, len(last), last) for count, last in counts if count))
        graph = self._graph
        keys = (key for *_, last in lasts for key in self.folded[last])
        rows = list(islice((row for key in keys for row in graph.by_last.of(key).tolist()), READ_MAX))
        names = graph.names.texts(graph.nodes[rows, 0])
        matches = [name for name in names if all(word in fold_part(name) for word in wanted)]
        return sorted(matches, key=lambda name: (len(name), name))[:SUGGESTED]

    @cached_property
    def _last_names(self) -> tuple[tuple[str, int], ...]:
        """(last name in lower case, its key) of all nodes."""
        graph = self._graph
        keys, first = np.unique(graph.by_last.keys, return_index=True)
        numbers = graph.nodes[graph.by_last.rows[first], 0].tolist()
        lasts = (lowered("".join(split_id(graph.names[number])[-1:])) for number in numbers)
        return tuple(zip(lasts, keys.tolist(), strict=True))

    @cached_property
    def folded(self) -> dict[str, list[int]]:
        """Last name without case and convention → its keys."""
        folded: dict[str, list[int]] = {}
        for last, key in self._last_names:
            folded.setdefault(fold_part(last), []).append(key)
        return folded


def fold_part(component: str) -> str:
    """A part of a name without case and convention: `diskStore`, `disk_store`, `DiskStore`."""
    return fold_path(component.replace("_", "")) or component


def _may_resemble(name: str, other: str) -> bool:
    """A cheap check before edits are counted: equal beginning or end, or most letters in common."""
    return (
        name[:1] == other[:1]
        or name[-2:] == other[-2:]
        or len(set(name) & set(other)) >= 0.7 * len(set(other))
    )
