"""The routes that requests of a graph's clients mean. An edge to a wrong route is worse than none:
one application must have the route, and a segment of text must be equal.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from cortex.graph.frameworks.join import (
    PARAMETER,
    FullRoute,
    canonical_routers,
    equal,
    join_path,
    join_routes,
    root_of,
    without_optional,
)
from cortex.graph.frameworks.tables.framework import ANY
from cortex.terms.code.components import family_of
from cortex.terms.paths import is_example, is_test

#: routes that one request may mean
CANDIDATES_MAX = 12
#: pairs of a request and a route that are compared: a hostile graph has billions
_STEPS_MAX = 1_000_000
#: requests with one beginning that give the text of an unknown prefix, and how many more they must
#: be than those with another
_LEARNED_MIN, _LEARNED_SHARE = 2, 5
#: segments of text that a path behind an unknown base must share with its route
_SEGMENTS_MIN = 2
_URL = re.compile(r"(?:https?:)?//([^/]*)(.*)")
_LOCAL_HOST = re.compile(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::(?:\d+|\{.*\}))?", re.IGNORECASE)
#: hosts in tests that call an application without a network
_TEST_HOST = re.compile(r"(?:testserver|test|testserver\.local)(?::\d+)?")
_BASE = re.compile(r"\{([^}]*)\}(?:$|/|(?=\w))(.*)")
_HOLE = re.compile(r"\{[^}]*\}")
#: a hole at the end of a segment that is a query: `/orders${search}`
_QUERY = re.compile(r"(?i)\{[^}]*(?:quer|param|search|qs)[^}]*\}$")
#: ends a path in Rails, whose routes take it without a word in their paths
_FORMAT = re.compile(r"\.(?:json|html|xml|js|csv|rss|atom|ics)$")
#: the name of a project in the folder of its tests: `Shop.Api.IntegrationTests`
_PROJECT = re.compile(r"(?:^|/)([\w.-]+?)[._-](?:\w*[Tt]ests?)(?=/)")
#: parameters of Rails; a path may lack those behind a bracket
_PARAMETERS = re.compile(r"[:*](\w+)")
#: parameters that take numbers or UUIDs only, and such words
_NUMBER_ONLY = re.compile(r"<int:|:int\}|\(\\d|\[0-9\]|<uuid:|:uuid\}")
_NUMBER = re.compile(r"\d+|[0-9a-fA-F-]{32,36}")


@dataclass(frozen=True, slots=True)
class Match:
    """`routes`: ids; `is_sure`: the application is known, the path is complete, and no other route
    has it.
    """

    routes: tuple[str, ...]
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Request:
    """`base` is the name of an unknown beginning of the path, None without one; `text`: the
    number of segments that the call itself names. `name`: the name of the route, in place of a
    path; `keys`: the parameters that the call passes to it, None for unknown ones; `slash`: the
    path ends with one; `projects`: names of the projects that its file tests.
    """

    method: str
    segments: tuple[str, ...]
    base: str | None
    text: int
    file: str
    app: str
    local: bool
    family: str
    name: str = ""
    keys: frozenset[str] | None = None
    slash: bool = False
    projects: frozenset[str] = frozenset()


def match_requests(nodes: Sequence[Mapping[str, Any]]) -> dict[str, Match]:
    """Return id of a request → its routes; `nodes` are those of ROUTE_KINDS."""
    files = {str(node["router"]): str(node["file"]) for node in nodes if node.get("kind") == "router"}
    routes = _Routes(join_routes(nodes), files)
    if not routes.every:
        return {}
    same = canonical_routers(nodes)
    clients = {str(node["router"]): node for node in nodes if node.get("kind") == "client"}
    read = ((str(node["id"]), _read(node, clients, same)) for node in nodes if node.get("kind") == "request")
    requests = {name: request for name, request in read if request is not None}
    routes.learn(requests.values())
    matches = {name: routes.match(request) for name, request in requests.items()}
    return {name: match for name, match in matches.items() if match is not None}


def _read(
    node: Mapping[str, Any], clients: Mapping[str, Mapping[str, Any]], same: Mapping[str, str]
) -> Request | None:
    """Return a request with the base of its client; None for one that is on no known client, or
    leads to another host.
    """
    router = str(node.get("router", ""))
    client = clients.get(router)
    if client is None and node.get("client"):
        return None
    method = str((client or {}).get("method") or node["method"])
    path = str(node["path"])
    if path.startswith("@"):
        app = root_of(str(node.get("app", "")) or str((client or {}).get("app", "")), same)
        text = _SEGMENTS_MIN if node.get("client") else 1
        place = method, (), None, text, str(node["file"]), app
        keys = frozenset(str(node["keys"]).split(",")) if "keys" in node else None
        return Request(*place, bool(node.get("test")), str(node.get("family", "")), path[1:], keys)
    prefix = str(client.get("prefix", "")) if client is not None else ""
    is_local = bool(node.get("test") or (client or {}).get("test"))
    called = path
    if prefix and not _URL.match(path):
        path = join_path(prefix, path)
    if match := _URL.fullmatch(path):
        host, path = match[1], match[2]
        if _HOLE.fullmatch(host.partition(":")[0]):
            path = f"{{}}{path}"
        elif not _LOCAL_HOST.fullmatch(host) and not (is_local and _TEST_HOST.fullmatch(host)):
            return None
        called = called if not _URL.match(called) else path
    base = None
    if (match := _BASE.fullmatch(path)) is not None:
        base, path = match[1], f"/{match[2]}"
        called = path if called.startswith("{") else called
    elif not path.startswith("/"):
        base, path = None if is_local else "", f"/{path}"
    segments = _segments(path)
    app = str(node.get("app", "")) or str((client or {}).get("app", ""))
    app = root_of(app, same)
    return Request(
        method,
        tuple(segments),
        base,
        sum(1 for segment in _segments(called) if not _HOLE.search(segment)),
        str(node["file"]),
        app,
        is_local,
        str(node.get("family", "")),
        slash=path.endswith("/"),
        projects=frozenset(_PROJECT.findall(str(node["file"])) if is_local else ()),
    )


def _segments(path: str) -> list[str]:
    segments = [segment for segment in path.split("/") if segment]
    if segments and _QUERY.search(segments[-1]) and not _HOLE.fullmatch(segments[-1]):
        segments[-1] = _QUERY.sub("", segments[-1])
    return segments


class _Routes:
    """Routes by their last segment of text, and by the rarest for complete paths."""

    def __init__(self, routes: Iterable[FullRoute], files: Mapping[str, str]) -> None:
        self._files = files
        #: place of an unknown prefix → its segments
        self._learned: dict[str, tuple[str, ...]] = {}
        self.every = [route for route in routes if not route.is_open]
        self._by_text: dict[str, list[tuple[FullRoute, list[str]]]] = {}
        self._by_rarest: dict[str, list[tuple[FullRoute, list[str]]]] = {}
        self._steps = 0
        self._by_name: dict[str, dict[tuple[str, str], None]] = {}
        self._by_path: dict[tuple[str, str], list[FullRoute]] = {}
        for route in self.every:
            self._by_path.setdefault((route.root, route.path), []).append(route)
            for name in filter(None, route.names):  # an unmounted procedure has none
                self._by_name.setdefault(name, {})[route.root, route.path] = None
        split = [[part for part in route.path.split("/") if part] for route in self.every]
        texts = [[part.lower() for part in reversed(parts) if not PARAMETER.search(part)] for parts in split]
        counts = Counter(text for row in texts for text in row)
        for route, parts, row in zip(self.every, split, texts, strict=True):
            if row:
                self._by_text.setdefault(row[0], []).append((route, parts))
                self._by_rarest.setdefault(min(row, key=counts.__getitem__), []).append((route, parts))

    @cached_property
    def _roots(self) -> list[tuple[str, str, str]]:
        """(root, file, family) of applications, without those of tests and examples."""
        roots = {
            (route.root, self._files.get(route.root, route.file), family_of(route.file))
            for route in self.every
        }
        return sorted(root for root in roots if not _is_minor(root[1]))

    def learn(self, requests: Iterable[Request]) -> None:
        """Learn the text of unknown prefixes: the requests with two segments of the path behind one
        have the same beginning.
        """
        if not any(map(_unknown_prefix, self.every)):
            return
        beginnings: dict[str, Counter[tuple[str, ...]]] = {}
        for request in requests:
            for _, route in self._ranked(request) if request.base is None and not request.name else ():
                place = _unknown_prefix(route)
                if place and not any(map(_HOLE.search, begin := _beginning(request, route))):
                    beginnings.setdefault(place, Counter())[begin] += 1
        self._learned = {
            place: first
            for place, counts in beginnings.items()
            for (first, most), *others in [counts.most_common(2)]
            if most >= _LEARNED_MIN and (not others or most >= _LEARNED_SHARE * others[0][1])
        }

    def match(self, request: Request) -> Match | None:
        if not request.text:
            return None
        rows = self._ranked(request)
        if request.local and (match := _FORMAT.search("/".join(request.segments))):
            segments = match.string[: match.start()].split("/")
            rows += self._ranked(replace(request, segments=tuple(segments)))
        if request.app and (in_app := [row for row in rows if row[1].root == request.app]):
            return _best(in_app, sure=True)
        if request.app and any(route.root == request.app for route in self.every):
            return None
        rows = [row for row in rows if row[1].file == request.file or not _is_minor(row[1].file)]
        if request.local or request.name:
            rows = [row for row in rows if family_of(row[1].file) == request.family]
        near = self._nearest(request, {row[1].root for row in rows} if request.name else None)
        nearest = [row for row in rows if row[1].root in near]
        if request.local or any(not weak for (weak, *_), _ in nearest):
            return _best(nearest, sure=request.local or len(near) == 1)
        return _best(rows, sure=False) if request.text >= _SEGMENTS_MIN else None

    def _nearest(self, request: Request, among: set[str] | None) -> set[str]:
        """The applications, or those `among` them, in the innermost folder around a request's file
        that has any.
        """
        folders = request.file.split("/")[:-1]
        best, depth = set[str](), -1
        for root, file, family in self._roots:
            if (request.local and family != request.family) or (among is not None and root not in among):
                continue
            others = file.split("/")[:-1]
            common = 0
            while common < min(len(folders), len(others)) and folders[common] == others[common]:
                common += 1
            if common > depth:
                best, depth = set(), common
            if common == depth:
                best.add(root)
        return best

    def _ranked(self, request: Request) -> list[tuple[tuple[int, ...], FullRoute]]:
        rows: list[tuple[tuple[int, ...], FullRoute]] = [
            ((0, 0, int(not route.served), -passed), route)
            for place in self._by_name.get(request.name, ())
            for route in self._by_path[place]
            if route.method in (request.method, ANY)
            and ("#" not in request.name or request.name in route.names)
            and (passed := _passed(route, request.keys)) >= 0
        ]
        index = self._by_rarest if request.base is None else self._by_text
        for text in dict.fromkeys(word.lower() for word in request.segments if not _HOLE.search(word)):
            pairs = index.get(text, [])
            self._steps += len(pairs)
            for route, parts in pairs if self._steps < _STEPS_MAX else ():
                if route.method in (request.method, ANY) and (
                    rank := _rank(request, route, parts, self._learned.get(_unknown_prefix(route)))
                ):
                    rows.append(((*rank, *_unlike(request, route)), route))
        return rows


def _is_minor(path: str) -> bool:
    return is_test(path) or is_example(path)


def _best(rows: list[tuple[tuple[int, ...], FullRoute]], *, sure: bool) -> Match | None:
    if not rows:
        return None
    least = min(rank for rank, _ in rows)
    ids = tuple(dict.fromkeys(route.id for rank, route in rows if rank == least))
    return Match(ids, sure and not least[0] and len(ids) == 1) if len(ids) <= CANDIDATES_MAX else None


def _unlike(request: Request, route: FullRoute) -> tuple[int, int]:
    """Return what chooses one of equal routes: (another project, no slash at the end, or one)."""
    is_other = request.projects.isdisjoint(route.file.split("/"))
    return int(is_other), int(request.slash != route.path.endswith("/"))


def _passed(route: FullRoute, keys: frozenset[str] | None) -> int:
    """Return the number of a route's parameters that a test passes; -1 if one is missing."""
    names = _PARAMETERS.findall(route.path.partition("(")[0]) if keys is not None else []
    return len(names) if keys is None or keys.issuperset(names) else -1


def _unknown_prefix(route: FullRoute) -> str:
    """Return the place of a prefix that is computed, or the router that nothing mounts; "" for a
    complete path.
    """
    return route.computed or ("" if route.served else route.root)


def _beginning(request: Request, route: FullRoute) -> tuple[str, ...]:
    return request.segments[: len(request.segments) - len(_segments(route.path))]


def _rank(
    request: Request, route: FullRoute, parts: list[str], learned: tuple[str, ...] | None
) -> tuple[int, ...]:
    """Return (a base is unknown, it is not empty, the router is not mounted, segments that match as
    parameters), () for no match.
    """
    segments = list(request.segments)
    is_complete, is_relative = route.is_whole, request.base == ""
    if is_complete and request.base is None:
        parts = without_optional(parts, len(segments))
    is_longer = len(parts) > len(segments)
    if request.base is None:
        is_weak = not is_complete and learned is None
        parts = [*(learned or ()), *parts]
        segments = segments[len(segments) - len(parts) :] if is_weak else segments
    else:
        named = request.base.rpartition(".")[2]
        is_weak = is_complete or not named or route.base.rpartition(".")[2] != named
        parts = parts[len(parts) - len(segments) :] if is_weak and is_complete else parts
    if len(parts) != len(segments) or not segments:
        return ()
    if PARAMETER.search(parts[0]) and (is_weak or not _HOLE.search(segments[0])):
        return ()  # a word of an unknown prefix is no parameter
    loose, text = 0, -len(learned or ()) if request.base is None else 0
    for part, wanted in zip(parts, segments, strict=True):
        is_open, is_asked = bool(PARAMETER.search(part)), bool(_HOLE.search(wanted))
        if "*" in part:
            return ()  # every other path
        if is_open:
            if not is_asked and _NUMBER_ONLY.search(part) and not _NUMBER.fullmatch(wanted):
                return ()
            loose += not is_asked
        elif not equal(part, wanted, any_case=route.any_case):
            return ()
        else:
            text += 1
    if text < (_SEGMENTS_MIN if is_weak else 1):
        return ()
    unknown = is_weak and request.base is None and len(segments) < len(request.segments)
    unknown |= is_relative and is_longer  # a page of the root is likelier
    return int(is_weak), int(unknown), int(not route.served), loose
