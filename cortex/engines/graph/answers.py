"""Answers to structure queries: find the target, walk the graph, render each result with its
context lines.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import orjson
from msgspec import structs

from cortex.engines.graph.arrays import CANDIDATES_MAX, Graph
from cortex.engines.graph.lookup.overloads import choose_overload
from cortex.engines.graph.lookup.targets import LISTED, TargetMatch, Targets
from cortex.engines.graph.outline import complete, count_users, list_symbols, outline, signature
from cortex.engines.graph.pattern import search_pattern
from cortex.engines.graph.results import Step, Walk, WalkLimits, WalkScope
from cortex.engines.graph.sources import SourceReader
from cortex.engines.graph.steps import DIRECT, DISPATCH, STEP_NAMES
from cortex.engines.graph.value_calls import describe_value_calls
from cortex.engines.graph.walks import Walker
from cortex.generation.graph import CONFIDENCES, EDGE_TYPES
from cortex.ranking.traces import looks_like_path
from cortex.system.arrays import Array
from cortex.system.errors import BadRequest
from cortex.terms.bounds import clamp
from cortex.terms.code.components import family_of
from cortex.terms.ids import split_id, strip_overload
from cortex.terms.kinds import TYPE_KINDS, WHOLE_KINDS
from cortex.terms.languages import canonical, language_of
from cortex.terms.paths import is_built, is_test
from cortex.terms.selection.globs import matching_paths
from cortex.terms.text.spelling import read_file_lines, read_globs
from ipc.messages import GraphHits, GraphSearch, NameSearch, OutlineSearch, PatternSearch

#: ending of files that declare the functions of scripts: no further definitions
_DECLARATIONS = ".d.ts"
#: files in which types from outside are extended
_EXTENDING = (".rs", ".swift")
#: bounds of the arguments; values outside are clamped
DEPTH_MAX, RESULTS_MAX, LEVEL_MAX, CONTEXT_MAX, OFFSET_MAX = 10, 500, 100, 20, 1_000_000

#: further places that one caller lists
SITES_MAX = 200
#: places of unresolved uses that an answer holds
UNRESOLVED_MAX = 200
#: operations whose answers name unresolved uses of the target's last name
_NAMING = frozenset({"callers", "implementations", "type_usages"})
#: outlines in the cache of a snapshot, some 20 kB each
OUTLINES_KEPT = 64
#: resolved targets in the cache of a snapshot
TARGETS_KEPT = 64

#: fields of a node in an answer, next to its signature
NODE_FIELDS = ("id", "kind", "file", "start_line", "end_line")

_REQUESTS = EDGE_TYPES.index("requests")
#: sentence for an operation without results, if syntax alone would have shown some
_NOTHING = {
    "implementations": "No type in the project is declared to implement, extend or embed {0}, as far as syntax shows.",
    "type_usages": "No signature, field or base in the project names {0}, as far as syntax shows.",
    "dependencies": "No edge leads from {0} to anything else in the project.",
    "dependents": "The graph has no edge to {0} from anything else in the project.",
    "callees": "The graph has no calls in {0} of anything that the project defines.",
}
#: operation → kinds that are preferred among the meanings of a target
_PREFERRED_KINDS = {
    "implementations": TYPE_KINDS,
    "type_usages": TYPE_KINDS,
    "dependencies": WHOLE_KINDS,
    "dependents": WHOLE_KINDS,
}
#: share of unsure results on a page from which on the answer warns of them
_UNSURE_SHARE = 0.25


class GraphSnapshot:
    """The opened graph of one generation."""

    def __init__(self, graph: Graph, number: int, sources: SourceReader) -> None:
        self.graph, self._number, self._sources = graph, number, sources
        self._targets = Targets(graph)
        self._walker = Walker(graph, self._targets)
        self._scope_key: tuple[str, tuple[str, ...]] = ("", ())
        self._last_scope = WalkScope()
        self._outlines: dict[OutlineSearch, GraphHits] = {}
        self._matches: dict[tuple[str, frozenset[str], str, bool], TargetMatch] = {}

    def search(self, request: GraphSearch) -> GraphHits:
        """Answer a structure query. Raises BadRequest for invalid arguments."""
        self._sources.begin()
        if request.operation == "routes":
            return self._list_routes(request)
        kinds = _PREFERRED_KINDS.get(request.operation, frozenset())
        meaning = self._find_target(request.target, kinds, request)
        if not meaning.nodes:
            return self._explain_unresolved(meaning)
        limits = WalkLimits(
            depth=clamp(request.depth, 1, DEPTH_MAX),
            max_results=clamp(request.max_results, 1, RESULTS_MAX),
            max_per_level=OFFSET_MAX if request.tests_last else clamp(request.max_per_level, 1, LEVEL_MAX),
            offset=clamp(request.offset, 0, OFFSET_MAX),
            recursive=request.recursive,
            tests_last=request.tests_last,
        )
        scope = self._scope(request)
        if request.operation == "path":
            if not request.to:
                raise BadRequest("The operation path needs `to`: the name where the path ends.")
            ends = self._find_target(request.to, frozenset(), request)
            if not ends.nodes:
                return self._explain_unresolved(ends)
            calls_max = limits.depth if request.by_calls else 0
            walk = self._walker.path(meaning.nodes, ends.nodes, scope, calls_max)
        else:
            walk = self._walker.walk(request.operation, meaning.nodes, limits, scope)
        page = walk.page(limits)
        rows = [int(self.graph.node_of[step.number]) for step in page]
        present = [row for row in rows if row >= 0]
        nodes = dict(zip(present, self.graph.nodes_json(present), strict=True))
        results = [
            self._make_result(step, request, nodes.get(row)) for step, row in zip(page, rows, strict=True)
        ]
        remarks = [] if request.bare else self._make_remarks(request, meaning, walk, limits)
        return GraphHits(
            generation=self._number,
            target=meaning.folder or self.graph.names[meaning.nodes[0]],
            paths=tuple(path for path, _ in results),
            total_found=walk.total,
            truncated=walk.truncated or walk.following(limits) > 0,
            next_offset=walk.following(limits),
            suggestion=" ".join(filter(None, remarks)),
            candidates=meaning.candidates,
            unresolved={} if request.bare else self._describe_unresolved(request, meaning.nodes[0]),
            summary=walk.summary | ({"complete": False} if walk.ended else {}),
            results=tuple(raw for _, raw in results),
        )

    def _make_remarks(
        self, request: GraphSearch, meaning: TargetMatch, walk: Walk, limits: WalkLimits
    ) -> list[str]:
        """The sentences of an answer, some of them empty."""
        graph, operation, first = self.graph, request.operation, meaning.nodes[0]
        why = (
            "" if walk.steps else self._explain_nothing(request, first, meaning.folder or graph.names[first])
        )
        remarks = [
            meaning.suggestion,
            meaning.remark if operation != "path" else "",
            self._describe_unsure(walk.page(limits)),
            why,
            describe_omitted(walk, limits),
        ]
        if operation == "callees" or (operation == "path" and not walk.steps):
            remarks.append(describe_value_calls(graph, self._sources, first))
        if operation == "callers":
            remarks.append(self._describe_dispatch(walk))
        if operation in ("callers", "impact"):
            remarks.append(self._describe_holders(meaning.nodes))
        if walk.ended:
            remarks.append(f"The walk ended after {walk.total} definitions; a smaller depth is complete.")
        return remarks

    def _list_routes(self, request: GraphSearch) -> GraphHits:
        """The routes whose path contains the target, by path."""
        inside, outside = (scope := self._scope(request)).inside, scope.outside
        routes = [
            route
            for route in self._targets.routes.filtered(request.target)
            if route.file not in outside and (inside is None or route.file in inside)
        ]
        offset = clamp(request.offset, 0, OFFSET_MAX)
        last = offset + clamp(request.max_results, 1, RESULTS_MAX)
        results = []
        for route in routes[offset:last]:
            node = {
                "id": route.id,
                "kind": "route",
                "file": route.file,
                "start_line": route.line,
                "end_line": route.line,
            }
            row = {
                "node": node | {"route": route.name},
                "depth": 1,
                "method": route.method,
                "path": route.path,
            }
            handlers = [self.graph.names[number] for number in self._targets.routes.handlers(route)]
            row["handlers"] = [name for name in handlers if name != route.id]
            row |= {"computed": route.computed} if route.computed else {}
            row |= {} if route.served else {"mounted": False}
            if request.include_context:
                around = clamp(request.context_lines, 0, CONTEXT_MAX)
                row["context"] = self._sources.lines(route.file, route.line, around)
            results.append((route.file, orjson.dumps(row)))
        why = (
            f"No route has a path with {request.target!r}."
            if request.target.strip()
            else "The project has no routes of a framework that Cortex reads."
        )
        return GraphHits(
            generation=self._number,
            paths=tuple(path for path, _ in results),
            total_found=len(routes),
            truncated=last < len(routes),
            next_offset=last if last < len(routes) else 0,
            suggestion="" if routes else why,
            results=tuple(raw for _, raw in results),
        )

    def _explain_unresolved(self, match: TargetMatch) -> GraphHits:
        """The answer for a target without one meaning."""
        return GraphHits(
            self._number, suggestion=match.suggestion, candidates=match.candidates, ambiguous=match.ambiguous
        )

    def _find_target(self, target: str, kinds: frozenset[str], request: GraphSearch) -> TargetMatch:
        """Resolve a target, or reuse one of the last: an exploration asks for callees, callers and
        paths of the same functions.
        """
        key = (target, kinds, request.within, request.bare)
        if key not in self._matches:
            if len(self._matches) >= TARGETS_KEPT:
                self._matches.clear()
            match = self._targets.find(target, kinds, request.within, nearest=not request.bare)
            self._matches[key] = choose_overload(self.graph, target, match)
        return self._matches[key]

    def outline(self, request: OutlineSearch) -> GraphHits:
        """The outline of a file or folder; the last ones are cached, because requests repeat."""
        hits = self._outlines.pop(request, None)
        if hits is None:
            hits = self._outline(request)
            if entries := self._targets.routes.entry_points(hits.target, request.max_bytes):
                left = request.max_bytes - len(orjson.dumps(entries))
                hits = self._outline(structs.replace(request, max_bytes=left))
                hits = structs.replace(hits, summary=hits.summary | entries)
        self._outlines[request] = hits  # the most recently used one goes last
        if len(self._outlines) > OUTLINES_KEPT:
            del self._outlines[next(iter(self._outlines))]
        return hits

    def _outline(self, request: OutlineSearch) -> GraphHits:
        path = request.path.strip().strip("/")
        if self.graph.names.number(path) < 0:
            path = read_file_lines(request.path).path
        hits = outline(self.graph, self._users, structs.replace(request, path=path), self._number)
        if hits.results or not path:
            return hits
        roots = self._targets.path_index.roots(path)
        roots = [root for root in roots if root.lower() == path.strip("/").lower()] or roots
        if path in roots:
            return structs.replace(hits, suggestion=f"The graph has no definitions in {path}.")
        meaning = None if roots else self._targets.find(request.path)
        if meaning is not None and meaning.nodes:
            roots = [self.graph.file_of(meaning.nodes[0])]
        elif meaning is not None and looks_like_path(path):
            return structs.replace(hits, candidates=meaning.candidates, suggestion=meaning.suggestion)
        if len(roots) != 1:
            listed = tuple(roots[:LISTED])
            more = f" It may be any of: {', '.join(listed)}." if listed else ""
            return structs.replace(hits, candidates=listed, suggestion=hits.suggestion + more)
        hits = outline(self.graph, self._users, structs.replace(request, path=roots[0]), self._number)
        remark = f"{request.path!r} is not a path in the graph; this is {roots[0]}."
        return structs.replace(hits, suggestion=" ".join(filter(None, (remark, hits.suggestion))))

    @cached_property
    def _users(self) -> Array:
        return count_users(self.graph)

    def pattern(self, request: PatternSearch) -> GraphHits:
        """Answer a pattern query. Raises BadRequest for an invalid pattern."""
        self._sources.begin()
        request = structs.replace(request, language=canonical(request.language) or request.language)
        files = (path for path in self._targets.files if language_of(path).name == request.language)
        return search_pattern(request, files, self._sources, self._number)

    def complete(self, request: NameSearch) -> GraphHits:
        return complete(self._paths if request.kind == "path" else self._symbols, request, self._number)

    def _scope(self, request: GraphSearch) -> WalkScope:
        """The files that the globs match; the last scope is cached, because agents repeat it."""
        key = (request.scope, request.exclude_patterns)
        if key != self._scope_key:
            scope, exclude = key
            inside = matching_paths(self._targets.files, read_globs(scope, "")) if scope else None
            outside = matching_paths(self._targets.files, exclude) if exclude else frozenset()
            self._scope_key, self._last_scope = key, WalkScope(inside, outside)
        return self._last_scope

    @cached_property
    def _paths(self) -> list[str]:
        return sorted(self._targets.files)

    @cached_property
    def _symbols(self) -> list[str]:
        return list_symbols(self.graph, self._users)

    def _describe_unsure(self, steps: Sequence[Step]) -> str:
        count = sum(1 for step in steps if step.edge >= 0 and self.graph.is_unsure(step.edge))
        if not steps or count < _UNSURE_SHARE * len(steps):
            return ""
        return (
            f"In {count} of these {len(steps)} calls the receiver's type is unknown, and several definitions have the "
            "name, or one and a type of the platform: see `candidates`."
        )

    def _describe_dispatch(self, walk: Walk) -> str:
        """The sentence about calls of a method through methods that it implements or overrides."""
        uppers = (strip_overload(self.graph.names[number]) for number in walk.dispatched)
        phrases = [f"{count} through {upper}" for upper, count in Counter(uppers).items()]
        if not phrases:
            return ""
        return f"Calls that may reach it by dispatch come last: {', '.join(phrases[:LISTED])}."

    def _describe_holders(self, methods: Sequence[int]) -> str:
        """The sentence about unnamed functions that a call of the target may run."""
        count = len(self._walker.members.holders(methods))
        if not count:
            return ""
        places = "1 definition gives" if count == 1 else f"{count} definitions give"
        return f"{places} an unnamed function for it: `implementations` lists them."

    def _explain_nothing(self, request: GraphSearch, number: int, name: str) -> str:
        if request.scope or request.exclude_patterns:
            return f"Nothing for {name} within `scope` and `exclude_patterns`; loosen them."
        if request.operation == "path":
            return f"No chain of calls or other edges leads from {name} to {request.to}."
        if request.operation in _NOTHING:
            return _NOTHING[request.operation].format(name)
        if request.operation == "callers" and self.graph.kind(number) in TYPE_KINDS:
            return f"The graph has no calls of the type {name}; type_usages lists its uses."
        return (
            f"The graph has no {request.operation} of {name}. Calls through values that syntax cannot follow "
            "(callbacks, reflection, untyped receivers) are not in it; cortex_exact finds every mention of the name."
        )

    def _make_result(
        self, step: Step, request: GraphSearch, node_fields: dict[str, Any] | None
    ) -> tuple[str, bytes]:
        """(path whose age decides whether the result is stale, the result's JSON). `node_fields`:
        the fields of its node, None for an external name.
        """
        graph = self.graph
        node = (
            _select_fields(node_fields)
            if node_fields is not None
            else {"id": graph.names[step.number], "kind": "external"}
        )
        if node_fields is not None and node["kind"] == "route":
            node["route"] = self._targets.routes.names(node_fields)
        result: dict[str, Any] = {"node": node, "depth": step.depth}
        path, line = str(node.get("file", "")), int(node.get("start_line", 0))
        if step.edge >= 0:
            edge = graph.edges[step.edge].tolist()
            place = {"file": graph.names[edge[4]], "line": edge[5], "column": edge[6]}
            result |= {"edge": EDGE_TYPES[edge[2]], "confidence": CONFIDENCES[edge[3]], "location": place}
            if edge[2] == _REQUESTS:
                result |= self._targets.routes.describe_request(self._ends_of(step.edge), place["file"])
            if step.kind != DIRECT:
                result["step"] = STEP_NAMES[step.kind]
            if step.kind == DISPATCH:
                result["confidence"] = STEP_NAMES[DISPATCH]
            if step.depth > 1 and request.operation != "path":
                result["via"] = graph.names[step.before]
            elif step.kind == DISPATCH:
                result["via"] = strip_overload(graph.names[edge[1]])
            if edge[7]:
                result["candidates"] = graph.candidates(step.edge)
                if len(result["candidates"]) == CANDIDATES_MAX:
                    result["more_candidates"] = True
            elif request.operation == "callees" and (count := self._count_alternatives(step.edge)) > 1:
                result["alternatives"] = count
            if request.ends:
                result["ends"] = self._ends_of(step.edge)
            # Implementations and overrides are shown at their definitions, given functions there.
            if request.operation == "implementations" and node["kind"] not in TYPE_KINDS:
                result |= self._describe_given(step, node, place)
            by_definition = request.operation == "implementations" and "given" not in result
            if not by_definition and step.impact_type != "override":
                path, line = place["file"], place["line"]
        if places := (*step.further, *step.dispatched):
            result["sites"] = [self._make_site(row, step, request) for row in places[:SITES_MAX]]
            if len(places) > SITES_MAX:
                result["more_sites"] = len(places) - SITES_MAX
        if step.impact_type:
            result |= {"impact_type": step.impact_type, "severity": step.severity}
        if request.include_context and path and line:
            result["context"] = self._sources.lines(path, line, clamp(request.context_lines, 0, CONTEXT_MAX))
        return path, orjson.dumps(result)

    def _describe_given(self, step: Step, node: dict[str, Any], place: dict[str, Any]) -> dict[str, str]:
        """How a definition that is no type implements the target: as a `function` that is given, or
        by an unnamed `value` in it; {} for a method of a type that implements it, and for a name
        without a node. In Rust and Swift it is a method of an outside type's `impl` or extension.
        """
        if "file" not in node or int(self.graph.edges[step.edge, 0]) != step.number:
            return {}
        if node["file"].endswith(_EXTENDING):
            return {}
        inside = node["file"] == place["file"] and node["start_line"] <= place["line"] <= node["end_line"]
        return {"given": "value" if inside else "function"}

    def _count_alternatives(self, row: int) -> int:
        """The number of definitions with one name that a call leads to: for several systems, or in
        branches of a condition.
        """
        graph, edge = self.graph, self.graph.edges[row]
        mates = graph.edges[graph.outgoing.of(edge[:1].astype("<i8"))]
        mates = mates[(mates[:, 2:7] == edge[2:7]).all(axis=1) & (mates[:, 7] == 0)]
        if len(mates) < 2:
            return len(mates)
        ends = {int(end) for end in mates[:, 1] if not graph.file_of(int(end)).endswith(_DECLARATIONS)}
        names = [self._last_name(end) for end in (int(edge[1]), *ends)]
        return names.count(names[0]) - 1

    def _make_site(self, row: int, step: Step, request: GraphSearch) -> dict[str, Any]:
        """A further place of a caller; its confidence where it differs from the row's."""
        edges = self.graph.edges
        confidence, file, line, column = edges[row, 3:7].tolist()
        site = {"file": self.graph.names[file], "line": line, "column": column}
        if row in step.dispatched:
            site["confidence"] = STEP_NAMES[DISPATCH]
        elif step.kind != DISPATCH and confidence != edges[step.edge, 3]:
            site["confidence"] = CONFIDENCES[confidence]
        if self.graph.is_unsure(row):
            site["unsure"] = True
        if request.ends:
            site["ends"] = self._ends_of(row)
        if request.include_context:
            site["text"] = self._line(site["file"], line)
        return site

    def _ends_of(self, row: int) -> list[str]:
        """The ids of the definitions that the edge in `row` may lead to."""
        edge = self.graph.edges[row]
        return self.graph.candidates(row) if edge[7] else [self.graph.names[int(edge[1])]]

    def _describe_unresolved(self, request: GraphSearch, number: int) -> dict[str, Any]:
        """The unresolved uses of the target's last name; tests come last."""
        narrowed = request.scope or request.exclude_patterns
        if request.operation not in _NAMING or narrowed or self.graph.kind(number) in WHOLE_KINDS:
            return {}
        name = self._last_name(number)
        family = family_of(self.graph.file_of(number))
        rows = [row for row in self.graph.unresolved(name) if family_of(row[0]) == family]
        if not rows:
            return {}
        places = sorted((is_built(file), is_test(file), file, line) for file, line, _ in rows if line)
        listed = [place[2:] for place in places[:UNRESOLVED_MAX]]
        return {"name": name, "total": sum(count for *_, count in rows), "places": listed}

    def _last_name(self, number: int) -> str:
        return split_id(strip_overload(self.graph.names[number]))[-1]

    def _line(self, file: str, line: int) -> str:
        """The text of a line as it is now; "" if it cannot be read."""
        return "".join(text["text"].strip() for text in self._sources.lines(file, line, 0))


def describe_omitted(walk: Walk, limits: WalkLimits) -> str:
    """The sentence about results outside of the page; "" without any."""
    shown_count = len(walk.page(limits))
    if not shown_count:
        last = "is 1 result" if len(walk.steps) == 1 else f"are {len(walk.steps)} results"
        past = f"There {last}; offset {limits.offset} is past the last."
        return past if walk.steps else ""
    if following := walk.following(limits):
        return (
            f"Shown: {limits.offset + 1} to {limits.last} of {walk.total}; offset {following} shows the next."
        )
    if len(walk.steps) < walk.total and not walk.ended:
        return f"max_per_level left out {walk.total - len(walk.steps)} of {walk.total}; raise it."
    return ""


def _select_fields(node: dict[str, Any]) -> dict[str, Any]:
    """The fields of a node in an answer.

    Lists of methods and parameters stay in the graph files; the signature suffices.
    """
    selected: dict[str, Any] = {name: node[name] for name in NODE_FIELDS if name in node}
    return selected if selected.get("kind") in WHOLE_KINDS else selected | {"signature": signature(node)}
