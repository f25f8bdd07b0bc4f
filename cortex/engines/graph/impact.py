"""The definitions that a change of a target may reach, each with its type and severity. A walk may
reach 25 000: they stay arrays, and only the page becomes steps.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.engines.graph.results import Step, Walk, WalkLimits
from cortex.engines.graph.steps import DIRECT, NO_STEPS, StepFinder, Steps, join_steps
from cortex.generation.graph import CONFIDENCES, EDGE_TYPES
from cortex.system.arrays import Array
from cortex.terms.paths import is_test, is_unshipped

#: folders that a summary names, those with the most results
FOLDERS_MAX = 8
SEVERITIES = ("high", "medium", "low")
IMPACT_TYPES = ("override", "caller", "implementation", "subtype", "reference", "type_usage", "importer")
#: edge type → (impact type, severity at depth 1)
_IMPACT = {
    "calls": ("caller", "high"),
    "implements": ("implementation", "high"),
    "extends": ("subtype", "high"),
    "embeds": ("subtype", "high"),
    "uses_type": ("type_usage", "medium"),
    "imports": ("importer", "low"),
    "other": ("reference", "low"),
    "references": ("reference", "medium"),
    "routes_to": ("caller", "high"),
    "requests": ("caller", "high"),
}
_TYPES = np.array([IMPACT_TYPES.index(_IMPACT[kind][0]) for kind in EDGE_TYPES])
_RATES = np.array([SEVERITIES.index(_IMPACT[kind][1]) for kind in EDGE_TYPES])
_OVERRIDE, _CALLER, _IMPORTER = (IMPACT_TYPES.index(name) for name in ("override", "caller", "importer"))
#: rank of a file of tests
_TESTS = 2
_BY_NAME = CONFIDENCES.index("name")


class Files:
    """Tests and folders of a graph's files, read for the files of each question."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        #: number of a path → rank of the file, -1 for unknown; number of its folder
        self._ranks = np.full(len(graph.names), -1, "<i1")
        self._folders = np.zeros(len(graph.names), "<i4")
        self._folder_numbers: dict[str, int] = {}

    def of(self, numbers: Array) -> Array:
        """The number of each definition's file; -1 without one."""
        nodes = self._graph.node_of[numbers]
        files = np.where(nodes >= 0, self._graph.nodes[nodes, 2], -1)
        unknown = np.unique(files[(files >= 0) & (self._ranks[files] < 0)])
        for file, path in zip(unknown.tolist(), self._graph.names.texts(unknown), strict=True):
            folder = path.rpartition("/")[0] or "."
            self._folders[file] = self._folder_numbers.setdefault(folder, len(self._folder_numbers))
            self._ranks[file] = _TESTS if is_test(path) else is_unshipped(path)
        return files

    def ranks(self, files: Array) -> Array:
        """0 for shipped code, 1 for examples and scripts, 2 for tests."""
        return np.where(files >= 0, self._ranks[files], 0)

    def folders(self, files: Array) -> list[tuple[str, int]]:
        """(folder, number of definitions in it), the largest number first."""
        names = list(self._folder_numbers)
        counts = [(names[at], count) for at, count in _count(self._folders[files[files >= 0]])]
        return sorted(counts, key=lambda pair: (-pair[1], pair[0]))


class Impact:
    """Collects the levels of a walk."""

    def __init__(self, graph: Graph, finder: StepFinder, files: Files) -> None:
        self._graph, self._finder, self._files = graph, finder, files
        #: steps, with depth, impact type and severity of each
        self._parts: list[tuple[Steps, Array]] = []
        self._seen = np.zeros(len(graph.names), dtype=bool)
        self._is_cut = False

    def add(self, depth: int, steps: Steps, *, cut: bool) -> None:
        if not len(steps):
            self._is_cut = self._is_cut or cut
            return
        edges = self._graph.edges[steps.rows]
        types = np.where(steps.kinds == DIRECT, _TYPES[edges[:, 2]], _CALLER)
        rates = np.where(steps.kinds == DIRECT, _RATES[edges[:, 2]], 0)
        unsure = self._finder.are_unsure[steps.rows] | (edges[:, 3] == _BY_NAME)
        rates = np.minimum(rates + (depth > 1) + (depth > 2) + unsure, len(SEVERITIES) - 1)
        self._append(steps, np.column_stack((np.full(len(steps), depth), types, rates)), cut=cut)

    def add_overrides(self, rows: Mapping[int, int]) -> None:
        """Add methods above and below the target: a change of its signature changes all of them.
        `rows`: method → the edge between the types.
        """
        numbers, edges = (np.array(list(ends), dtype="<i8") for ends in (rows.keys(), rows.values()))
        steps = Steps(edges, numbers, np.full(len(numbers), -1), np.full(len(numbers), DIRECT, "<i1"))
        for at, (walked, notes) in enumerate(self._parts):  # those further away go by their new type
            remain = ~np.isin(walked.sources, numbers) | (notes[:, 0] == 1)
            self._parts[at] = walked.take(remain), notes[remain]
        present = [walked.sources for walked, _ in self._parts]
        steps = steps.take(~np.isin(numbers, np.concatenate(present) if present else numbers[:0]))
        rated = np.tile(np.array([1, _OVERRIDE, 0]), (len(steps), 1))
        self._append(steps, rated, cut=False)

    def add_importers(self, depth: int, steps: Steps, *, cut: bool) -> None:
        """Add what only imports the target."""
        if not len(steps):
            self._is_cut = self._is_cut or cut
            return
        steps = steps.take(~self._seen[steps.sources])
        notes = np.tile(np.array([depth, _IMPORTER, len(SEVERITIES) - 1]), (len(steps), 1))
        self._append(steps, notes, cut=cut)

    def _append(self, steps: Steps, notes: Array, *, cut: bool) -> None:
        self._parts.append((steps, notes))
        self._seen[steps.sources] = True
        self._is_cut = self._is_cut or cut

    def walk(self, limits: WalkLimits, most: int) -> Walk:
        """The worst first, importers last. At most `most` count."""
        steps = join_steps((NO_STEPS, *(steps for steps, _ in self._parts)))
        notes = np.concatenate([np.zeros((0, 3), "<i8"), *(notes for _, notes in self._parts)])
        files = self._files.of(steps.sources)
        ranks = self._files.ranks(files)
        keys = (
            notes[:, 1] != _OVERRIDE,
            notes[:, 0],
            notes[:, 2],
            ranks * limits.tests_last,
            notes[:, 1] == _IMPORTER,
        )
        order = np.lexsort(keys)
        ended = self._is_cut or len(order) > most
        order = order[:most]
        steps, notes, ranks = steps.take(order), notes[order], ranks[order]
        levels = notes[:, 0]
        within = np.zeros(len(order), dtype=bool)
        for depth in np.unique(levels).tolist():
            within[np.flatnonzero(levels == depth)[: limits.level]] = True
        selected = np.flatnonzero(within)[: limits.most]
        shown = tuple(self._make_step(steps, notes, at) for at in selected.tolist())
        summary = self._summarise(files[order], notes, ranks == _TESTS)
        return Walk(shown, len(order), ended or len(shown) < len(order), (), summary, ended)

    def _make_step(self, steps: Steps, notes: Array, at: int) -> Step:
        depth, kind, severity = notes[at].tolist()
        return Step(
            int(steps.sources[at]),
            depth,
            int(steps.rows[at]),
            IMPACT_TYPES[kind],
            SEVERITIES[severity],
            int(steps.kinds[at]),
            int(steps.ends[at]),
        )

    def _summarise(self, files: Array, notes: Array, are_tests: Array) -> dict[str, Any]:
        folders = self._files.folders(files)
        return {
            "affected": len(files),
            "files": len(np.unique(files[files >= 0])),
            "by_severity": {SEVERITIES[at]: count for at, count in _count(notes[:, 2])},
            "by_type": {IMPACT_TYPES[at]: count for at, count in _count(notes[:, 1])},
            "by_level": {str(depth): count for depth, count in _count(notes[:, 0])},
            "by_folder": dict(folders[:FOLDERS_MAX]),
            "folders": len(folders),
            "tests": int(are_tests.sum()),
            "max_depth": int(notes[:, 0].max(initial=0)),
        }


def _count(values: Array) -> list[tuple[int, int]]:
    distinct, counts = np.unique(values, return_counts=True)
    return list(zip(distinct.tolist(), counts.tolist(), strict=True))
