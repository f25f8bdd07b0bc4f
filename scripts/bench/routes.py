"""A benchmark of routes and requests at whole applications, beside codegraph.

    python scripts/bench/routes.py FRAMEWORK=FOLDER[=LISTED] … [--routes FILE …] [--peer FOLDER]
        [--draw N [--seed S]]

FRAMEWORK is rails, laravel, spring, aspnet or another; FOLDER is a checkout, and its name the
application's. LISTED holds the truth of another framework: the running application's own routes,
as peers/routes_of.py (Flask, FastAPI, Django), routes_of.cjs (Express) and routes_of_nest.cjs print
them.
The truth: Rails' own router draws `config/routes.rb` (peers/routes.rb, with Debian's actionpack),
PHP runs Laravel's files (`--routes`, with peers/routes.php in Laravel's place), and of Spring and
ASP.NET every annotation with literal text or a constant is read line by line, by `_annotated`.
`recall`: routes of the truth that we have, by method and path with parameters without names;
`literal`: recall without the routes of the truth that we announce as computed: those below a mount
whose routes we call unknown, under a literal path of its own, and those whose handler we know under
a path that we call computed; `--missing` prints each, to be read.
`handlers`: of these the ones that lead to the class and method of the truth. `--peer`: a folder
with a copy of each application that codegraph has indexed. `--draw`: prints N requests with their
code and the routes that they lead to, drawn evenly over the applications, to be read and judged.
"""

from __future__ import annotations

import random
import re
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
from report import begin, make_parser, print_table, write

from cortex.graph.facts.tables import Packed
from cortex.graph.frameworks.join import join_routes
from cortex.graph.frameworks.match import match_requests
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project
from cortex.indexer.store.graph_bodies import Bodies, Tools
from cortex.indexer.store.graph_facts import facts_of, may_have_facts
from cortex.indexer.store.graph_roots import read_roots
from cortex.indexer.syntax.source import decode, digest
from cortex.terms.kinds import OPEN_END, ROUTE_KINDS
from cortex.terms.paths import is_example, is_test

PEERS = Path(__file__).parent / "peers"
#: (method, path) → handler
Routes = dict[tuple[str, str], set[str]]
_METHODS = "Get|Post|Put|Delete|Patch"
_ANNOTATION = {
    "spring": re.compile(rf"^\s*@({_METHODS}|Request)Mapping\b(?:\((.*))?"),
    "aspnet": re.compile(rf"^\s*\[(?:.*, )?Http({_METHODS})\b(?:\((.*))?|^\s*\[(Route)\((.*)"),
}
_CLASS = re.compile(r"^\s*(?:[\w@]+ )*class (\w+)")
_TEXT = re.compile(r'"([^"]*)"')
_SIGNATURE = re.compile(r"^\s*(?:public|protected|private)?\s*(?:[\w<>\[\], ?.]+)\s(\w+)\s*\(")


def normal(method: str, path: str) -> tuple[str, str]:
    path = re.sub(r"\(\.:format\)$", "", path)
    path = re.sub(r"\(\?P(<\w+>)(?:[^()]|\([^()]*\))*\)", r"\1", path)  # Django's regular expressions
    path = re.sub(r"\{[^}]*\}|<[^>]*>|[:*]\w+", "{}", path).lower()
    return method, "/" + path.strip("/")


def plain(name: str) -> str:
    """Return the class and the member of a handler, in a form that all frameworks share."""
    owner, _, member = re.split(r"[@#]", name)[0], "", re.split(r"[@#]", name)[-1]
    if "#" in name:
        owner = "".join(word.title() for word in owner.rpartition("/")[2].split("_")) + "Controller"
    elif "@" not in name:
        owner, _, member = name.partition("~")[0].rpartition(":")[2].rpartition(".")
    owner = re.split(r"[.\\]", owner)[-1]
    return f"{owner}.{member}".lower()


def drawn(command: Sequence[str]) -> Routes:
    routes: Routes = {}
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        method, path, handler = line.split(" ", 2)
        routes.setdefault(normal(method, path), set()).add("" if handler in ("-", "#") else plain(handler))
    return routes


def listed(file: Path) -> Routes:
    """Return the routes that a running application listed, with handlers as in our graph."""
    routes: Routes = {}
    for route in map(orjson.loads, file.read_bytes().splitlines()):
        routes.setdefault(normal(route["method"], route["path"]), set()).add(route["handler"].strip("-"))
    return routes


def annotated(folder: Path, framework: str) -> Routes:
    """Return the routes of annotations, by lines."""
    routes: Routes = {}
    ending = ".java" if framework == "spring" else ".cs"
    files = [
        path
        for path in sorted(folder.rglob(f"*{ending}"))
        if not any(is_minor(path.relative_to(folder).as_posix()) for is_minor in (is_test, is_example))
    ]
    texts = {path: path.read_text(errors="replace") for path in files}
    constants = {
        name: value
        for text in texts.values()
        for name, value in re.findall(r'String (\w+) = ([^;"]*"[^"]*");', text)
    }
    for text in texts.values():
        if "Mapping" in text or "[Http" in text:
            for method, path, handler in _annotated(text.splitlines(), framework, constants):
                routes.setdefault(normal(method, path), set()).add(plain(handler))
    return routes


def _annotated(lines: list[str], framework: str, constants: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    owner, prefixes, pending, routed = "", [""], list[tuple[str, list[str]]](), list[str]()
    for number, line in enumerate(lines):
        if match := _CLASS.match(line):
            owner = match[1]
            prefixes = routed or [paths[0] for _, paths in pending if paths] or [""]
            pending, routed = [], []
        elif match := _ANNOTATION[framework].match(line):
            name, text = (group or "" for group in (match.groups() if match[1] else match.groups()[2:])[:2])
            if "(" in line and ")" not in line:
                text += " ".join(lines[number + 1 : number + 6]).partition(")")[0]
            paths = _paths(text, constants)
            if name in ("Route", "Request") and not re.search(r"RequestMethod\.(\w+)", text):
                routed = paths or [""]
            else:
                verb = re.search(r"RequestMethod\.(\w+)", text)
                pending.append((verb[1] if verb else name, paths))
        elif (
            pending
            and owner
            and (match := _SIGNATURE.match(line))
            and not line.strip().startswith(("@", "[", "new "))
        ):
            for verb, paths in pending:
                for prefix in prefixes:
                    for path in paths or routed or [""]:
                        full = (
                            path[1:]
                            if path.startswith("~")
                            else path
                            if framework == "aspnet" and path.startswith("/")
                            else f"{prefix.rstrip('/')}/{path.lstrip('/')}"
                        )
                        full = re.sub(r"(?i)\[controller\]", owner.removesuffix("Controller"), full)
                        full = re.sub(r"(?i)\[action\]", match[1].removesuffix("Async"), full)
                        yield verb.upper(), full, f"{owner}@{match[1]}"
            pending, routed = [], []


def _paths(text: str, constants: dict[str, str]) -> list[str]:
    text = re.split(r"\b(?:produces|consumes|params|headers|Name|Order) *=", text)[0]
    for _ in range(3):
        text = re.sub(r"\b[A-Z][A-Z_]+\b", lambda name: constants.get(name[0], name[0]), text)
    text = re.sub(r'"\s*\+\s*"', "", text)
    return _TEXT.findall(text)


def graph_of(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the nodes and edges of the files with routes or requests."""
    facts: dict[str, Packed] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if (
            path.is_file()
            and may_have_facts(name)
            and not re.search(r"(?:^|/)(?:\.|node_modules/|vendor/)", name)
        ):
            content = path.read_bytes()
            source = decode(name, content) if len(content) < 400_000 else None
            packed = (
                facts_of(source, digest(content))
                if source is not None and not isinstance(source, str)
                else None
            )
            if packed is not None:
                facts[name] = packed
    project = Project(LANGUAGES, read_roots(str(folder), set(facts)))
    project.update(facts)
    bodies = Bodies(Tools(project), None, {})
    parts = [orjson.loads(bodies._resolve(name)) for name in facts if project.index(name).facts.fragments]
    return [node for part in parts for node in part[0]], [edge for part in parts for edge in part[1]]


def without_overload(name: str) -> str:
    return name.partition("~")[0]


def ours(
    nodes: list[dict[str, Any]], edges: list[dict[str, Any]], form: Callable[[str], str] = plain
) -> tuple[Routes, Routes]:
    """Return our routes, and those whose path we call computed or unknown."""
    handlers: dict[str, list[str]] = {}
    for edge in edges:
        if edge["type"] == "routes_to":
            handlers.setdefault(edge["from"], []).append(edge["to"])
    routes: Routes = {}
    opened: Routes = {}
    for route in join_routes(nodes):
        names = [route.override_of(name) or name for name in handlers.get(route.id, [])] + handlers.get(
            route.id, []
        )
        if not (is_test(route.file) or is_example(route.file)):
            kind = opened if route.is_open else routes
            kind.setdefault(normal(route.method, route.path), set()).update(map(form, names))
    return routes, opened


def codegraph(folder: Path, *, by_file: bool) -> Routes:
    routes: Routes = {}
    with sqlite3.connect(folder / ".codegraph" / "codegraph.db") as database:
        rows = database.execute(
            "select n.name, n.file_path, t.qualified_name, t.file_path from nodes n left join edges e on e.source = n.id "
            "left join nodes t on t.id = e.target where n.kind = 'route'"
        )
        for name, file, handler, place in rows:
            method, _, path = name.partition(" ")
            if path and not is_test(file):
                end = (handler or "").replace("::", ".")
                end = f"{place.rpartition('.')[0]}:{end}" if by_file and end else end and plain(end)
                routes.setdefault(normal(method, path), set()).add(end)
    return routes


def announced(truth: Routes, routes: Routes, opened: Routes) -> set[tuple[str, str]]:
    """Return the routes of the truth that we lack and call computed."""
    mounts = {path.removesuffix(OPEN_END).rstrip("/") for _, path in opened if path.endswith(OPEN_END)}
    begins = tuple(f"{path}/" for path in mounts if path.strip("/{}"))
    handlers = {name for names in opened.values() for name in names} - {""}
    return {
        key
        for key, names in truth.items()
        if key not in routes and (f"{key[1]}/".startswith(begins) or names & handlers)
    }


def judge(truth: Routes, routes: Routes, opened: Routes | None = None) -> dict[str, float | None]:
    any_method = {path for method, path in routes if method == "ANY"}
    have = [key for key in truth if key in routes or key[1] in any_method]
    named = [key for key in have if truth[key] - {""} and key in routes]
    # a class without the action is the handler of its route
    right = [
        key
        for key in named
        if (
            truth[key]
            | {f".{name.partition('.')[0]}" for name in truth[key]}
            | {name.rpartition(".")[0] for name in truth[key]}
        )
        & routes[key]
    ]
    computed = announced(truth, routes, opened or {}) - set(have)
    return {
        "recall": round(len(have) / max(len(truth), 1), 3),
        "literal": round(len(have) / max(len(truth) - len(computed), 1), 3),
        "announced": len(computed),
        "handlers": round(len(right) / len(named), 3) if named else None,
        "further": len(routes.keys() - truth.keys()),
    }


def draw(led: dict[Path, list[tuple[str, int, str, str]]], count: int, seed: int) -> None:
    """Print the code of requests and their routes, an equal number of each application."""
    generator, drawn = random.Random(seed), 0
    piles = {folder: generator.sample(rows, len(rows)) for folder, rows in sorted(led.items())}
    while drawn < count and any(piles.values()):
        for folder, rows in piles.items():
            if rows and drawn < count:
                drawn += 1
                file, line, request, ends = rows.pop()
                code = (folder / file).read_text(errors="replace").splitlines()[line - 1].strip()
                print(f"{drawn}\t{folder.name}/{file}:{line}\t{code[:160]}\n\t{request}\n\t{ends}")


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("applications", nargs="+")
    parser.add_argument("--routes", nargs="*", default=[])
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--draw", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--missing", action="store_true", help="print the routes of the truth that we lack")
    arguments = parser.parse_args()
    figures = begin("routes") | {"applications": {}}
    led: dict[Path, list[tuple[str, int, str, str]]] = {}
    for application in arguments.applications:
        framework, name, *listing = application.split("=")
        folder = Path(name)
        if listing:
            truth = listed(Path(listing[0]))
        elif framework == "rails":
            truth = drawn(["ruby", str(PEERS / "routes.rb"), name])
        elif framework == "laravel":
            truth = drawn(
                ["php", str(PEERS / "routes.php"), name, *(str(folder / file) for file in arguments.routes)]
            )
        else:
            truth = annotated(folder, framework) if framework in _ANNOTATION else {}
        nodes, edges = graph_of(folder)
        routes, opened = ours(nodes, edges, without_overload if listing else plain)
        figure = judge(truth, routes, opened)
        row: dict[str, Any] = {"framework": framework, "truth": len(truth), "cortex": figure}
        if (
            arguments.peer is not None
            and (arguments.peer / folder.name / ".codegraph" / "codegraph.db").exists()
        ):
            row["codegraph"] = judge(truth, codegraph(arguments.peer / folder.name, by_file=bool(listing)))
        fragments = [node for node in nodes if node["kind"] in ROUTE_KINDS]
        matches, by_id = match_requests(fragments), {node["id"]: node for node in fragments}
        names = {route.id: f"{route.name} {route.file}:{route.line}" for route in join_routes(fragments)}
        requests = [edge for edge in edges if edge["type"] == "requests"]
        led[folder] = sorted(
            (
                edge["location"]["file"],
                edge["location"]["line"],
                f"{by_id[edge['to']]['method']} {by_id[edge['to']]['path']}",
                ("sure: " if match.is_sure else "candidates: ")
                + " | ".join(map(names.__getitem__, match.routes)),
            )
            for edge in requests
            if (match := matches.get(edge["to"])) is not None
        )
        row |= {"requests": len(requests), "led": len(led[folder])}
        figures["applications"][folder.name] = row
        computed = announced(truth, routes, opened)
        for key in sorted(truth.keys() - routes.keys()) if arguments.missing else ():
            print("announced" if key in computed else "missing", *key, *truth[key])
        for key in sorted(truth.keys() & routes.keys()) if arguments.missing else ():
            if not judge({key: truth[key]}, routes)["handlers"] and truth[key] - {""}:
                print("handler", *key, truth[key], routes[key])
    draw(led, arguments.draw, arguments.seed)
    print_table(
        "application framework routes recall literal handlers codegraph's handlers requests led".split(),
        [
            [
                *(name, row["framework"], row["truth"]),
                *(row["cortex"][key] for key in ("recall", "literal", "handlers")),
                *(row.get("codegraph", {}).get(key, "") for key in ("recall", "handlers")),
                *(row["requests"], row["led"]),
            ]
            for name, row in figures["applications"].items()
        ],
    )
    if arguments.json:
        write(figures)


if __name__ == "__main__":
    main()
