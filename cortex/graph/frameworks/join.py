"""Full paths of routes, over the whole graph's fragments: routers with prefixes, and mounts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cortex.graph.frameworks.tables.framework import ANY, METHODS
from cortex.terms.kinds import OPEN_END

#: paths of one router, mounts between it and its root, and patterns of a folder
PATHS_MAX, MOUNTS_MAX = 64, 16
#: ASP.NET's parts of a path that name the class or the method
_TOKEN = re.compile(r"\[(\w+)\]")
#: the router of methods that a convention serves, and the usual pattern
CONVENTIONS = "(conventions)"
DEFAULT_CONVENTION = "{controller=Home}/{action=Index}/{id?}"
_SEGMENT = re.compile(r"\{(\w+)(?::(\w+))?(?:=(\w+))?(\?)?\}")
#: a method with a path in a question, and a parameter in a segment
_QUESTION = re.compile(rf"(?:({'|'.join((*METHODS, ANY, 'WEBSOCKET'))})\s+)?{OPEN_END}?(/\S*)", re.IGNORECASE)
PARAMETER = re.compile(r"[:*{<$(\[]")
#: a segment that a path may lack: `{id?}`, `:id?`, Rails' `(:id)` and the end of `:kind(/:id)`
_OPTIONAL = re.compile(r"\{[^{}*]*\?\}|:\w+\?|\(?:\w+\)")
#: ends the router of a class's routes, which heirs mount
ROUTES = "(routes)"
#: ends the router of a class's further routes, mounted where a router registers the class
ACTIONS = "(actions)"
#: a version that is in no path
NEUTRAL = "-"
#: between the paths that a global prefix leaves out; parts of these that stand for any text
EXCLUDED = " ; "
_WILD = re.compile(r"\(\.\*\)|\{?/?\*\w*\}?|:\w+|\{[^/}]*\}")


@dataclass(frozen=True, slots=True)
class Prefix:
    """A router's path from a root. `computed`: the place of a part that has no literal text; the
    path begins behind it, and `base` its name. `served`: the root is an application. `owner`: the
    class that serves a router of routes that it may inherit. `versions`: the mark of versions that
    the root reads from paths, and the default version; None if it reads none. `names`: begin of the
    names of its routes. `any_case`: the root compares letters without their case. `exclude`: paths
    that lack the root's prefix, this prefix, and the place of its computed part.
    """

    text: str = ""
    computed: str = ""
    served: bool = True
    owner: str = ""
    versions: tuple[str, str] | None = None
    base: str = ""
    root: str = ""
    names: str = ""
    any_case: bool = False
    exclude: tuple[str, str, str] = ("", "", "")


@dataclass(frozen=True, slots=True)
class FullRoute:
    """`id` is the id of the route's node, `root` that of its application. `names` are those that
    helpers and tests of the framework have for it.
    """

    method: str
    path: str
    id: str
    file: str
    line: int
    computed: str = ""
    served: bool = True
    owner: str = ""
    base: str = ""
    root: str = ""
    names: tuple[str, ...] = ()
    any_case: bool = False

    @property
    def is_open(self) -> bool:
        """True if its path is unknown, or only its beginning: that of a mount without routes."""
        return self.path == "?" or self.path.endswith(OPEN_END)

    @property
    def is_whole(self) -> bool:
        """True if its path begins at an application's root, behind no computed prefix."""
        return self.served and not self.computed

    @property
    def name(self) -> str:
        begin = "" if self.is_whole or self.is_open else OPEN_END
        return f"{self.method} {begin}{self.path}"

    def override_of(self, handler: str) -> str:
        """Return the id that a method has if the route's class overrides it; "" without a class."""
        return f"{self.owner}.{handler.rpartition('.')[2]}" if self.owner else ""


def join_path(prefix: str, path: str) -> str:
    if not path:
        return prefix
    return f"{prefix.rstrip('/')}/{path.lstrip('/')}"


def join_routes(nodes: Iterable[Mapping[str, Any]]) -> list[FullRoute]:
    """Return the routes of nodes of the kinds route, router and mount, by path and method."""
    every = list(nodes)
    prefixes = _Prefixes(every)
    routes = [route for node in every if node.get("open") for route in _behind(node, prefixes)]
    for node in every:
        for prefix, path in _paths(node, prefixes) if node.get("kind") == "route" else ():
            place = f"{node['file']}:{node['start_line']}"
            computed = place if node.get("computed") else prefix.computed
            routes.append(
                FullRoute(
                    str(node["method"]),
                    path if path.startswith(("/", "?")) else f"/{path}",
                    str(node["id"]),
                    str(node["file"]),
                    int(node["start_line"]),
                    computed,
                    prefix.served or bool(node.get("app")),
                    prefix.owner,
                    prefix.base,
                    prefix.root,
                    tuple(_names(node, prefix.names)),
                    prefix.any_case or bool(node.get("any_case")),
                )
            )
    return sorted(set(routes), key=lambda route: (route.path, route.method, route.file, route.line))


def _paths(node: Mapping[str, Any], prefixes: _Prefixes) -> Iterator[tuple[Prefix, str]]:
    """Yield the full paths of a route, each with its prefix."""
    for prefix in prefixes.of(str(node.get("router", ""))):
        template = next(_names(node, prefix.names)) if node.get("by_name") else str(node["path"])
        path = template if node.get("computed") else join_path(prefix.text, template) or "/"
        if "action" in node:
            controller = prefix.owner.rpartition(":")[2].rpartition(".")[2].removesuffix("Controller")
            tokens = {name: str(node.get(name, "")) for name in ("action", "area")}
            tokens["controller"] = controller
            if path == "/" and not prefix.computed:  # a class without routes of its own
                yield from prefixes.by_convention(node, prefix.owner, tokens)
                continue
            path = _fill(path, tokens)
        yield _without_excluded(prefix, path, str(node["method"])) if prefix.exclude[0] else (prefix, path)


def _without_excluded(prefix: Prefix, path: str, method: str) -> tuple[Prefix, str]:
    """Return the path of a route without the root's prefix if that leaves it out."""
    rows, begin, place = prefix.exclude
    bare = path.removeprefix(begin) or "/"
    plain = f"/{bare.strip('/')}"
    if prefix.versions is not None:  # the paths that are left out have no version
        plain = re.sub(rf"^/{re.escape(prefix.versions[0])}\d[^/]*(?=/|$)", "", plain) or "/"
    for row in rows.split(EXCLUDED):
        verb, _, pattern = row.partition(" ")
        if verb in (method, ANY) and _fits(_WILD.split(f"/{pattern.strip('/')}"), plain):
            return replace(prefix, computed="", base="") if prefix.computed == place else prefix, bare
    return prefix, path


def _fits(parts: list[str], path: str) -> bool:
    """Return True for a path of these parts in their order, with any text between them."""
    at = len(parts[0])
    for part in parts[1:-1]:  # a regular expression may take years
        at = path.find(part, at) + len(part) if path.find(part, at) >= 0 else len(path) + 1
    is_end = path.endswith(parts[-1]) and len(path) - len(parts[-1]) >= at
    return path.startswith(parts[0]) and (is_end if len(parts) > 1 else path == parts[0])


def _names(node: Mapping[str, Any], before: str) -> Iterator[str]:
    if "named" in node:
        yield f"{before}{node['named']}".rstrip(".")
    if action := node.get("to"):
        yield str(action)


def _behind(mount: Mapping[str, Any], prefixes: _Prefixes) -> Iterator[FullRoute]:
    """Yield a boundary for each path of a mount whose routes are unknown."""
    if prefixes.is_known(str(mount["mounted"])):
        return
    for outer in prefixes.of(str(mount["router"])):
        prefix, line = _with_own(outer, mount), int(mount["start_line"])
        path = join_path((outer if mount.get("computed") else prefix).text or "/", OPEN_END)
        yield FullRoute(
            ANY,
            path if path.startswith("/") else f"/{path}",
            str(mount["id"]),
            str(mount["file"]),
            line,
            f"{mount['file']}:{line}",
            prefix.served,
            root=prefix.root,
        )


def _fill(path: str, tokens: Mapping[str, str]) -> str:
    return _TOKEN.sub(lambda match: tokens.get(match[1].lower()) or match[0], path)


def _conventional(
    pattern: str, tokens: Mapping[str, str], taken: Sequence[str], defaults: Mapping[str, str]
) -> Iterator[str]:
    """Yield the paths of an action by a pattern, the longest first: a path may lack defaults at its
    end. `taken`: the parameters of the action.
    """
    parts: list[tuple[str, str]] = []
    names = {name for name, text in defaults.items() if tokens.get(name, "").lower() == text.lower()}
    for segment in pattern.strip("/").split("/"):
        match = _SEGMENT.fullmatch(segment)
        if match is None:
            parts.append((segment, ""))
        elif match[1] in tokens:
            if match[2] not in (None, "exists") or not tokens[match[1]]:
                return
            names.add(match[1])
            parts.append((tokens[match[1]], match[3] or defaults.get(match[1], "")))
        elif match[1] in taken or not match[4]:
            parts.append((segment, ""))
    is_whole = names >= {"controller", "action"}
    while is_whole:
        yield "/" + "/".join(text for text, _ in parts)
        while parts and parts[-1][0].endswith("?}"):
            parts.pop()
        text, default = parts.pop() if parts else ("", "-")
        is_whole = text.lower() == default.lower()


def canonical_routers(nodes: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return router → the router that it is another name of."""
    same: dict[str, str] = {}
    for node in nodes:
        if node.get("kind") == "mount" and node.get("same"):
            first, second = root_of(str(node["router"]), same), root_of(str(node["mounted"]), same)
            if first != second:
                same[first] = second
    return same


def root_of(router: str, same: Mapping[str, str]) -> str:
    while router in same:
        router = same[router]
    return router


class _Prefixes:
    def __init__(self, every: Sequence[Mapping[str, Any]]) -> None:
        others = [node for node in every if node.get("kind") in ("router", "mount")]
        self._same = canonical_routers(others)
        self._definitions: dict[str, Mapping[str, Any]] = {}
        self._mounts: dict[str, list[Mapping[str, Any]]] = {}
        self._cache: dict[str, list[Prefix]] = {}
        self._moved: dict[str, Mapping[str, Any]] = {}
        #: folder → its mounts of methods by convention
        self._conventions: dict[str, list[Mapping[str, Any]]] = {}
        for node in others:
            if node["kind"] == "router":
                self._definitions.setdefault(root_of(str(node["router"]), self._same), node)
            elif node.get("moves"):  # a prefix of the module's own
                self._moved.setdefault(root_of(str(node["mounted"]), self._same), node)
            elif node["mounted"] == CONVENTIONS:
                self._conventions.setdefault(str(node["file"]).rpartition("/")[0], []).append(node)
            elif not node.get("same"):
                self._mounts.setdefault(root_of(str(node["mounted"]), self._same), []).append(node)

        named = (str(node["router"]) for node in every if node.get("kind") in ("route", "router", "mount"))
        self._declared = {root_of(router, self._same) for router in named}

    def is_known(self, router: str) -> bool:
        """Return True for a router that some file makes, or adds to."""
        return root_of(router, self._same) in self._declared

    def by_convention(
        self, node: Mapping[str, Any], owner: str, tokens: Mapping[str, str]
    ) -> Iterator[tuple[Prefix, str]]:
        """Yield the paths of an action by the patterns of the innermost folder around it that has
        any: by those of this action alone, and the first of all actions.
        """
        folder, taken = str(node["file"]), str(node.get("takes", "")).split(",")
        while folder and folder not in self._conventions:
            folder = folder.rpartition("/")[0]
        for mount in self._conventions.get(folder, ())[:MOUNTS_MAX]:
            pattern, area = str(mount["prefix"]), str(mount.get("area", ""))
            is_meant = area == tokens["area"] if area else "{area" in pattern or not tokens["area"]
            if not is_meant or mount.get("computed"):
                continue
            pairs = (pair.partition(":") for pair in str(mount.get("defaults", "")).split(","))
            defaults = {name: text for name, _, text in pairs if name}
            paths = list(_conventional(pattern, tokens, taken, defaults))
            for outer in self.of(str(mount["router"])) if paths else ():
                served = replace(outer, owner=owner, any_case=True)
                yield from ((served, join_path(outer.text, path)) for path in paths)
            if paths and "{controller" in pattern:
                return

    def of(self, router: str, depth: int = 0) -> list[Prefix]:
        router = root_of(router, self._same)
        if (cached := self._cache.get(router)) is not None:
            return cached
        if depth > MOUNTS_MAX:
            return []
        self._cache[router] = []  # a circle of mounts ends here
        definition, mounts = self._definitions.get(router, {}), self._mounts.get(router, [])
        if (moved := self._moved.get(router)) is not None:
            names = ("prefix", "computed", "file", "start_line")
            definition = {**definition, **{name: moved[name] for name in names if name in moved}}
        if not mounts:
            any_case = bool(definition.get("any_case"))
            root = Prefix(served=bool(definition.get("app")), root=router, any_case=any_case)
            prefixes = [_with_own(root, definition)]
        else:
            prefixes = [
                _with_own(_with_own(outer, mount), _without_replaced(definition, mount))
                for mount in mounts
                for outer in self.of(str(mount["router"]), depth + 1)
            ]
        if any(prefix.served for prefix in prefixes):  # another root is a part of a test or script
            prefixes = [prefix for prefix in prefixes if prefix.served]
        self._cache[router] = list(dict.fromkeys(prefixes))[:PATHS_MAX]
        return self._cache[router]


def _without_replaced(definition: Mapping[str, Any], mount: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a router without the names and the prefix in whose place a mount has its own."""
    router = {"names": definition.get("names", "")} if mount.get("replaces") else dict(definition)
    if mount.get("names"):
        router.pop("names", None)
    return router


def _with_own(prefix: Prefix, node: Mapping[str, Any]) -> Prefix:
    served, owner = prefix.served, prefix.owner
    if node.get("kind") == "mount":
        served = served or bool(node.get("app"))
        owner = owner or str(node.get("owner", ""))
        if not owner and str(node["mounted"]).endswith(ROUTES):
            owner = str(node["router"])
    text, versions = prefix.text, prefix.versions
    prefix = replace(prefix, names=prefix.names + str(node.get("names", "")))
    if "versions" in node:
        versions = (str(node["versions"]), str(node.get("default", "")))
    if versions is not None and (version := node.get("version") or ("version" in node and versions[1])):
        text = text if version == NEUTRAL else join_path(text, f"{versions[0]}{version}")
    if node.get("computed"):
        place = f"{node['file']}:{node['start_line']}"
        base, _, text = str(node.get("prefix", "")).partition(OPEN_END)
        prefix = replace(prefix, computed=place, base=base)
    else:
        text = join_path(text, str(node.get("prefix", "")))
    if "exclude" in node:
        prefix = replace(prefix, exclude=(str(node["exclude"]), text, prefix.computed))
    return replace(prefix, text=text, served=served, owner=owner, versions=versions)


def read_asked(text: str) -> tuple[str, str] | None:
    """Return (method in capitals or "", path) of a question such as `POST /orders`, else None."""
    match = _QUESTION.fullmatch(text.strip().strip("`\"'"))
    return ((match[1] or "").upper(), match[2]) if match else None


def find_routes(routes: Iterable[FullRoute], method: str, path: str) -> list[FullRoute]:
    """Return the routes that answer a method ("" for any) and a path. Exact ones win over those
    with parameters, all of these over those in another case, served ones over others, and all over
    those behind a computed prefix.
    """
    segments = [segment for segment in path.split("?", maxsplit=1)[0].split("/") if segment]
    best: list[FullRoute] = []
    best_rank: tuple[int, ...] = (9,)
    for route in routes:
        if method and route.method not in (method, ANY):
            continue
        parts = list(filter(None, route.path.split("/")))  # `?` is a mark of an optional segment
        tail = segments[-len(parts) :] if route.computed and parts else segments
        if route.is_open or (route.computed and not parts):
            continue
        fitting = without_optional(parts, len(tail))
        loose = _compare(fitting, tail)
        if loose < 0:
            continue
        in_case = route.any_case or _compare(fitting, tail, any_case=False) >= 0
        rank = (bool(route.computed), not route.served, not in_case, loose + len(parts) - len(fitting))
        if rank < best_rank:
            best, best_rank = [], rank
        if rank == best_rank:
            best.append(route)
    return best


def without_optional(parts: list[str], count: int) -> list[str]:
    """Return the segments of a route without the last ones that a path of `count` may lack."""
    end = len(parts)
    while end > count and _OPTIONAL.fullmatch(parts[end - 1]):
        end -= 1
    return parts[:end]


def equal(part: str, wanted: str, *, any_case: bool) -> bool:
    return part.lower() == wanted.lower() if any_case else part == wanted


def _compare(parts: list[str], segments: list[str], *, any_case: bool = True) -> int:
    """Return the number of segments that match as parameters only; -1 for no match."""
    if len(parts) != len(segments):
        return -1
    loose = 0
    for part, wanted in zip(parts, segments, strict=True):
        if equal(part, wanted, any_case=any_case) or (PARAMETER.search(part) and PARAMETER.search(wanted)):
            continue
        if not PARAMETER.search(part):
            return -1
        loose += 1
    return loose
