"""The view of files: a tree, a file with linkable lines, the definitions and uses of a name on a
line, and the last change of a line.

Only files on the indexer's list are read, so none that may hold secrets, is ignored, or is outside
of the project; no link is followed. Texts are in answers alone, not in addresses.
"""

import asyncio
import functools
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cortex.ask.code_notes.blame import Commits
from cortex.ask.lines.current_lines import read_file
from cortex.front.http.page.frame import Action, View, Visit, number_in, text_of
from cortex.front.http.page.parts import code, sources
from cortex.generation.manifest import Entry
from cortex.settings.config import Config
from cortex.settings.encodings import Encodings
from cortex.system.errors import BadRequest, NotFound
from cortex.terms.ids import strip_overload

#: lines of one page of a file, and characters of a line; more are cut
LINES_MAX, LINE_CHARS_MAX = 4_000, 2_000
#: entries of one folder in the tree, and of a folder's own page
TREE_MAX, FOLDER_MAX = 100, 2_000
#: seconds that a page waits for git's blame
BLAME_S = 1.5
#: lines whose last change is looked up together
BLAMED_MAX = 200
#: definitions and calls that are looked through, and definitions that are shown
CALLS_MAX, DEFINITIONS_MAX = 500, 8
#: tokens of the uses of one name, and of the outline of one file
USES_TOKENS, OUTLINE_TOKENS = 6_000, 8_000
#: characters of a name, and the highest number of a line
NAME_CHARS_MAX, NUMBER_MAX = 200, 10_000_000


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A folder (path ends with /) or file of the tree; `hidden`: siblings that are not shown."""

    path: str
    depth: int
    hidden: int = 0

    @property
    def name(self) -> str:
        return self.path.rstrip("/").rpartition("/")[2]


async def show(visit: Visit) -> dict[str, Any]:
    """Return the values for a folder or a file. Raises NotFound for a path that is on no list."""
    path, config = visit.query.get("path", "").strip("/"), visit.hosted.config
    entries = (await asyncio.to_thread(sources.listing, config)).files
    is_file = path in entries
    shown_folder = path.rpartition("/")[0] if is_file else path
    children = await asyncio.to_thread(_children, entries, shown_folder)
    if not is_file and shown_folder and not children[shown_folder]:
        raise NotFound(f"There is no file or folder {path!r} among the indexed ones.")
    values: dict[str, Any] = {
        "path": path,
        "parents": _parents(shown_folder),
        "tree": list(_tree(children, "", 0)),
        "entries": [] if is_file else children[shown_folder][:FOLDER_MAX],
        "hidden": max(0, len(children[shown_folder]) - FOLDER_MAX),
        "root": str(config.root) if visit.is_local else "",
        "lines": None,
    }
    if not is_file:
        return values
    first = max(1, number_in(visit.query.get("from", ""), 1))
    lines = await asyncio.to_thread(_read, config, path, entries[path])
    shown = await asyncio.to_thread(_coloured, lines, sources.language(path), first)
    following = first + LINES_MAX
    return values | {
        "lines": shown,
        "count": len(lines),
        "language": sources.language(path),
        "size": entries[path].size,
        "earlier": max(1, first - LINES_MAX) if first > 1 else 0,
        "later": following if following <= len(lines) else 0,
        "page_lines": LINES_MAX,
    }


async def outline(visit: Visit, body: dict[str, Any]) -> dict[str, Any]:
    """Return {"symbols"} of the file, in its order."""
    path = (await _listed(visit, body))[0]
    answer = await visit.call("cortex_outline", {"path": path, "max_tokens": OUTLINE_TOKENS})
    symbols = [symbol for row in answer["results"] if row["file"] == path for symbol in row["symbols"]]
    return {"symbols": sorted(symbols, key=lambda symbol: symbol["lines"])}


async def line(visit: Visit, body: dict[str, Any]) -> dict[str, Any]:
    """Return {"changed"}: the last commit of lines `first` to `last`, "" if git is too slow."""
    path, entry = await _listed(visit, body)
    config = visit.hosted.config
    first = _line_of(body, "first")
    last = min(max(first, _line_of(body, "last")), first + BLAMED_MAX)
    lines = await asyncio.to_thread(_read, config, path, entry)
    wanted = dict(enumerate(lines[first - 1 : last], first))
    return {"changed": (await _blamed(config.root, path)).tell(path, wanted)}


async def blame(visit: Visit, body: dict[str, Any]) -> dict[str, Any]:
    """Return {"runs"} of the page that begins with line `first`: [first line, last line, commit],
    none where git does not tell in time.
    """
    path, entry = await _listed(visit, body)
    lines = await asyncio.to_thread(_read, visit.hosted.config, path, entry)
    commits = await _blamed(visit.hosted.config.root, path)
    first, runs = _line_of(body, "first"), list[list[Any]]()
    each = await asyncio.to_thread(commits.tell_each, path, lines)
    for number, commit in enumerate(each[first - 1 : first - 1 + LINES_MAX], first):
        if runs and runs[-1][2] == commit:
            runs[-1][1] = number
        else:
            runs.append([number, number, commit])
    return {"runs": runs}


async def _blamed(root: Path, path: str) -> Commits:
    """Return the blame results, after at most BLAME_S with that of the file."""
    commits = _commits(root)
    commits.begin([path])
    until = time.monotonic() + BLAME_S
    while not commits.knows(path) and time.monotonic() < until:  # noqa: ASYNC110 - a thread reads it
        await asyncio.sleep(0.03)
    return commits


async def symbol(visit: Visit, body: dict[str, Any]) -> dict[str, Any]:
    """Return {"name", "definitions", "uses", "total"} of a name on a line of a file. Without one
    definition the uses are all places that name it.
    """
    path = (await _listed(visit, body))[0]
    number, name = _line_of(body, "line"), text_of(body, "name").strip()
    if not name or len(name) > NAME_CHARS_MAX:
        raise BadRequest(f"`name` must have 1 to {NAME_CHARS_MAX} characters.")
    definitions = await _definitions(visit, path, number, name)
    wanted = definitions[0]["id"] if len(definitions) == 1 else name
    answer = await visit.call("cortex_uses", {"symbol": wanted, "max_tokens": USES_TOKENS})
    blocks = answer.get("sites", ())
    return {
        "name": name,
        "definitions": definitions,
        "uses": sorted(
            (use for block in blocks for use in block["files"]), key=lambda use: use["file"] != path
        ),
        "total": sum(block["total"] for block in blocks),
    }


async def _definitions(visit: Visit, path: str, number: int, name: str) -> list[dict[str, Any]]:
    """Return the meanings of a name on a line: by its call, the definition around, or by name."""

    async def ask(operation: str, target: str, **more: Any) -> dict[str, Any]:
        arguments = {"operation": operation, "target": target, "include_context": False, "detail": "full"}
        try:
            return await visit.call("cortex_graph", arguments | more)
        except BadRequest:
            return {"results": []}

    place = f"{path}:{number}"
    calls, around, named = await asyncio.gather(
        ask("callees", path, max_results=CALLS_MAX, max_per_level=100),
        ask("path", place, to=place),
        ask("path", name, to=name),
    )
    called = [row["node"] for row in calls["results"] if number in _lines_of_call(row, path)]
    meant = [node for node in (*called, *(row["node"] for row in around["results"])) if _means(node, name)]
    if meant:
        return meant[:1]
    more = named.get("candidates", ())[:DEFINITIONS_MAX]
    answers = [named, *await asyncio.gather(*(ask("path", other, to=other) for other in more))]
    nodes = [row["node"] for answer in answers for row in answer["results"][:1]]
    language = sources.language(path)
    return [
        node
        for node in {node["id"]: node for node in nodes}.values()
        if _means(node, name) and sources.language(node["file"]) == language
    ]


def _lines_of_call(row: Mapping[str, Any], path: str) -> set[int]:
    places = [row.get("location", {}), *row.get("sites", ())]
    return {place["line"] for place in places if place.get("file") == path}


def _means(node: Mapping[str, Any], name: str) -> bool:
    """Whether a definition of the project has this name."""
    short = strip_overload(str(node["id"])).rpartition(":")[2]
    return bool(node.get("file")) and short.rpartition(".")[2] == name


async def _listed(visit: Visit, body: Mapping[str, Any]) -> tuple[str, Entry]:
    """Return the file of an action. Raises NotFound for one that is not on the indexer's list."""
    path = text_of(body, "path")
    entries = (await asyncio.to_thread(sources.listing, visit.hosted.config)).files
    if path not in entries:
        raise NotFound(f"There is no file {path!r} among the indexed ones.")
    return path, entries[path]


def _read(config: Config, path: str, entry: Entry) -> list[str]:
    """Return the lines of a listed file as it is now. Raises NotFound."""
    if entry.skipped:
        raise NotFound(f"{path} is not shown, because it is not indexed: {entry.skipped}.")
    lines = read_file(str(config.root), path, Encodings(str(config.root)))
    if lines is None:
        raise NotFound(f"{path} was removed after it was indexed.")
    if not lines:
        raise NotFound(f"{path} is no text that can be shown: binary, too large, or reached by a link.")
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def _coloured(lines: list[str], language: str, first: int) -> list[code.CodeLine]:
    """Return the lines of one page; they are coloured from the beginning of the file on."""
    cut = [
        line if len(line) <= LINE_CHARS_MAX else f"{line[:LINE_CHARS_MAX]}…"
        for line in lines[: first + LINES_MAX - 1]
    ]
    shown = code.lines_of("\n".join(cut), language, 1, is_file=True)
    return shown[first - 1 :]


def _children(entries: Iterable[str], folder: str) -> dict[str, list[str]]:
    """Return the folder and those above it → their folders, which end with /, and files."""
    parents = ["", *(parent for parent, _ in _parents(folder))]
    children: dict[str, set[str]] = {parent: set() for parent in parents}
    for path in entries:
        for parent, names in children.items():
            prefix = f"{parent}/" if parent else ""
            if path.startswith(prefix):
                name, slash, _ = path[len(prefix) :].partition("/")
                names.add(f"{prefix}{name}{slash}")
    return {
        parent: sorted(names, key=lambda name: (not name.endswith("/"), name.casefold()))
        for parent, names in children.items()
    }


def _tree(children: Mapping[str, list[str]], folder: str, depth: int) -> Iterable[TreeRow]:
    """Yield the rows of a folder, with those of the folders that are open below it."""
    opened = [name for name in children[folder] if name.rstrip("/") in children]
    shown = [
        *children[folder][:TREE_MAX],
        *(name for name in opened if name not in children[folder][:TREE_MAX]),
    ]
    for name in shown:
        yield TreeRow(name, depth)
        if name.endswith("/") and name[:-1] in children:
            yield from _tree(children, name[:-1], depth + 1)
    if hidden := len(children[folder]) - len(shown):
        yield TreeRow(f"{folder}/" if folder else "", depth, hidden)


def _parents(folder: str) -> list[tuple[str, str]]:
    """Return (path, name) of each folder on the way to `folder`, itself the last."""
    parts = folder.split("/") if folder else []
    return [("/".join(parts[: at + 1]), name) for at, name in enumerate(parts)]


@functools.lru_cache(maxsize=4)
def _commits(root: Path) -> Commits:
    return Commits(root, BLAME_S)


def _line_of(body: Mapping[str, Any], name: str) -> int:
    number = body.get(name)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < NUMBER_MAX:
        raise BadRequest(f"`{name}` must be the number of a line.")
    return number


VIEW = View(
    "files",
    "Files",
    show,
    {
        "outline": Action(outline, "files_outline.html"),
        "line": Action(line),
        "blame": Action(blame),
        "symbol": Action(symbol, "files_symbol.html"),
    },
    styles=("graph.css", "files.css"),
)
