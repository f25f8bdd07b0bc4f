"""The invariants of docs/INVARIANTS.md that the source itself shows: the order of imports, no
pickle.
"""

import ast
import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import pytest

from tests.written_tests import written_tests

ROOT = Path(__file__).parent.parent
SOURCES = [p for folder in ("ipc", "cortex", "workers") for p in sorted((ROOT / folder).rglob("*.py"))]

#: the rooms from the bottom up: each imports only rooms of the lines above its own, and its own
#: modules
ORDER = (
    ("cortex.system",),
    ("ipc",),
    ("cortex.terms",),
    ("cortex.sealing",),
    ("cortex.settings",),
    ("cortex.query",),
    ("cortex.generation",),
    ("cortex.embedders", "cortex.graph", "cortex.ranking"),
    ("cortex.engines", "cortex.indexer"),
    ("cortex.memory",),
    ("cortex.publish",),
    ("cortex.ask",),
    ("cortex.processes",),
    ("cortex.engines.milvus",),
    ("cortex.front",),
    ("workers",),
)
#: the rooms inside a folder of several rooms: the same rule, one level down
INSIDE = (
    (
        ("cortex.graph.facts",),
        ("cortex.graph.sweep", "cortex.graph.resolution"),
        ("cortex.graph.languages",),
        ("cortex.graph.frameworks",),
    ),
    (
        ("cortex.indexer.syntax",),
        ("cortex.indexer.chunkers",),
        ("cortex.indexer.store",),
        ("cortex.indexer",),
    ),
    (("cortex.engines.chunks",), ("cortex.engines.text", "cortex.engines.vector", "cortex.engines.graph")),
)
#: modules that read and write rows: for rooms that build or serve a generation
ROWS = tuple(f"cortex.generation.{name}" for name in ("read", "write", "merge", "filters", "snapshots"))
#: room → modules that it must not reach, at the top of a module or late, directly or through its
#: imports
DENIED = {
    "cortex.ask": ("cortex.engines", "cortex.publish", *ROWS, "tantivy", "usearch"),
    "cortex.front": ("cortex.engines", "cortex.publish", *ROWS, "tantivy", "usearch"),
    "cortex.publish": ("cortex.engines.text", "cortex.engines.vector", "cortex.engines.graph"),
    "workers": ("ipc.client", "cortex.ask"),
    "cortex.processes.supervisor": ("numpy", "zmq"),
    "cortex.front.cli.running.follow": ("sqlalchemy",),
}
#: modules that name modules above their own in text → these, with the reason of each
NAMED_ABOVE = {
    # A program that embeds memory imports `cortex.memory.Cortex`.
    "cortex.memory": {"cortex.front.programs.library"},
    # The parent of all workers imports what they need before it forks.
    "cortex.processes.forkserver": {
        "cortex.front.cli.commands",
        "cortex.front.cli.main",
        "workers.__main__",
        "workers.graph",
        "workers.text",
        "workers.vector",
        "workers.watcher",
    },
    # Its worker is a file among the others.
    "cortex.engines.milvus.plug": {"workers.milvus"},
    # No module: a group of entry points.
    "cortex.settings.plug": {"cortex.engines"},
}
#: the engine behind an entry point
PLUG = "cortex.engines.milvus"
#: packages that only these modules may import
ALONE = {
    "mcp": ("cortex.front.mcp", "cortex.front.http"),
    "mcp_types": ("cortex.front.mcp", "cortex.front.http"),
    "starlette": ("cortex.front.http",),
    "uvicorn": ("cortex.front.http",),
    "prometheus_client": ("cortex.front.http",),
    "jinja2": ("cortex.front.http",),
    "pygments": ("cortex.front.http",),
    "tantivy": ("cortex.engines.text", "cortex.memory"),
    "pymilvus": ("cortex.engines.milvus.storage", "workers.milvus"),
    "milvus_lite": ("workers.milvus",),
    "grpc": ("cortex.engines.milvus.storage", "workers.milvus"),
    "sqlalchemy": ("cortex.memory",),
    "usearch": ("cortex.engines.vector",),
    "simsimd": ("cortex.system.dot_products",),
    "zstandard": ("cortex.system.zstd",),
    "cryptography": ("cortex.sealing",),
    "keyring": ("cortex.sealing.master_key",),
    "sqlcipher3": ("cortex.memory.store.driver",),
    "onnxruntime": ("cortex.embedders",),
    "tokenizers": ("cortex.embedders",),
    "argparse": ("cortex.front.cli", "workers"),
    "shtab": ("cortex.front.cli",),
}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path): path for path in SOURCES}


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Return the modules that `module` imports, late imports too; third-party packages by their
    first part.
    """
    modules: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            assert node.module is not None
            for alias in node.names:
                qualified = f"{node.module}.{alias.name}"
                modules.add(qualified if qualified in MODULES else node.module)
    return frozenset(name if name in MODULES else name.split(".")[0] for name in modules)


def _nodes(text: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield (module, node) of the modules whose source holds `text`."""
    for name, path in MODULES.items():
        if text in (source := path.read_text(encoding="utf-8")):
            yield from ((name, node) for node in ast.walk(ast.parse(source)))


def packages_of(module: str) -> Iterable[str]:
    """Return the packages around `module`, which Python runs first."""
    parts = module.split(".")
    return (name for n in range(1, len(parts)) if (name := ".".join(parts[:n])) in MODULES)


@functools.cache
def reached(module: str, *, packages: bool = True, excluded: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return all modules that are imported with `module` and each of its late imports.

    `packages`: the packages around them, too. `excluded`: leave out these, and their imports.
    """
    visited: set[str] = set(excluded)
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in visited:
            continue
        visited.add(name)
        if name in MODULES:
            waiting += [*imports(name), *(packages_of(name) if packages else ())]
    return frozenset(visited - excluded)


def is_within(module: str, room: str) -> bool:
    return module == room or module.startswith(f"{room}.")


def place_in(order: tuple[tuple[str, ...], ...], module: str) -> tuple[int, str] | None:
    """Return (line, room) of the innermost room that holds `module`."""
    rooms = [(room, line) for line, names in enumerate(order) for room in names if is_within(module, room)]
    return max((len(room), line, room) for room, line in rooms)[1:] if rooms else None


def upward(order: tuple[tuple[str, ...], ...], module: str, others: Iterable[str] = ()) -> list[str]:
    """Return the `others` (default: the imports) of `module` that are not below its room."""
    source_place = place_in(order, module)
    if source_place is None:
        return []
    violations = []
    for other in others or imports(module):
        target_place = place_in(order, other)
        if (
            target_place is not None
            and target_place[1] != source_place[1]
            and target_place[0] >= source_place[0]
        ):
            violations.append(other)
    return violations


#: modules of a folder that a reader can overlook
MODULES_MAX = 15


def test_no_folder_but_that_of_languages_holds_many_modules():
    counts = Counter(path.parent for path in SOURCES if path.is_relative_to(ROOT / "cortex"))
    many = {str(folder.relative_to(ROOT)): count for folder, count in counts.items() if count > MODULES_MAX}
    assert not many.keys() - {"cortex/graph/languages"}, f"more than {MODULES_MAX} modules: {many}"


def test_every_module_has_a_room():
    roots = {"cortex", "cortex.__main__"}
    assert not [name for name in MODULES if name not in roots and place_in(ORDER, name) is None]


@pytest.mark.parametrize("order", [ORDER, *INSIDE], ids=lambda order: order[0][0])
def test_imports_point_down(order):
    assert not [(name, other) for name in MODULES for other in upward(order, name)]


def modules_in_text() -> dict[str, set[str]]:
    """Return module → the modules that its texts name, as import strings do."""
    written: dict[str, set[str]] = {}
    for name, node in chain(_nodes('"cortex.'), _nodes('"workers.'), _nodes('"ipc.')):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            module = node.value.partition(":")[0]
            if module in MODULES and "." in module:
                written.setdefault(name, set()).add(module)
    return written


@pytest.mark.parametrize(("order", "above"), [(ORDER, NAMED_ABOVE), *((order, {}) for order in INSIDE)])
def test_modules_that_text_names_are_below_too_but_for_listed_ones(order, above):
    violations = {name: set(upward(order, name, others)) for name, others in modules_in_text().items()}
    assert {name: modules for name, modules in violations.items() if modules} == above


def test_an_engine_behind_an_entry_point_is_named_by_its_worker_alone():
    named = modules_in_text()
    users = {
        name
        for name in MODULES
        if not is_within(name, PLUG)
        and any(is_within(other, PLUG) for other in imports(name) | named.get(name, set()))
    }
    assert users == {"workers.milvus"}


def test_few_files_know_of_milvus():
    texts = {name: path.read_text(encoding="utf-8").lower() for name, path in MODULES.items()}
    knowing = {name for name, text in texts.items() if "milvus" in text and not is_within(name, PLUG)}
    # The table of engines mentions it, `--to` explains it, and its extra is one of several.
    assert knowing == {
        "cortex.engines",
        "cortex.front.cli.parsing.options",
        "cortex.system.installation",
        "workers.milvus",
    }


def test_no_import_is_circular():
    circles = {
        name
        for name in MODULES
        for other in imports(name)
        if other in MODULES and name in reached(other, packages=False)
    }
    assert not circles


@pytest.mark.parametrize("room", DENIED)
def test_no_room_reaches_a_denied_module(room):
    #: late imports: the command line indexes in its own process and publishes to Milvus, an
    #: embedded program serves memory in its own
    late = {
        "cortex.indexer.run",
        "cortex.indexer.watch",
        "cortex.memory.serving",
    }
    late = frozenset(late if room == "cortex.front" else ())
    violations = set()
    for module in (name for name in MODULES if is_within(name, room)):
        over = set().union(
            *(reached(name, excluded=late) for name in imports(module) if name in MODULES),
            imports(module) - late,
        )
        violations |= {
            f"{module} reaches {name}" for name in over for denied in DENIED[room] if is_within(name, denied)
        }
    assert not violations


@pytest.mark.parametrize("package", ALONE)
def test_only_its_room_imports_a_package(package):
    importers = {name for name in MODULES if package in imports(name)}
    assert importers
    assert not [name for name in importers if not any(is_within(name, room) for room in ALONE[package])]


def test_only_publish_publishes():
    publishers = {
        name
        for name, node in _nodes("publish")
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).endswith(("generations.publish", "current.publish"))
        )
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "cortex.generation.current"
            and any(alias.name == "publish" for alias in node.names)
        )
    }
    assert publishers == {"cortex.publish.builder", "cortex.engines.milvus.publishing.publisher"}


def test_nothing_crosses_a_process_as_a_pickle_and_no_text_is_run_as_code():
    pickles = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}
    assert [name for name in MODULES if imports(name) & pickles] == []
    runs = [
        name
        for function in ("eval", "exec")
        for name, node in _nodes(f"{function}(")
        if isinstance(node, ast.Call) and ast.unparse(node.func) == function
    ]
    assert runs == []


def _called(node: ast.AST, name: str) -> list[ast.Call]:
    calls = (child for child in ast.walk(node) if isinstance(child, ast.Call))
    return [call for call in calls if ast.unparse(call.func) == name]


def test_every_polling_loop_has_a_deadline_and_a_comment_with_its_reason():
    looks = 0
    for path in SOURCES:
        source = path.read_text()
        if "time.sleep(" not in source:
            continue
        lines, tree = source.split("\n"), ast.parse(source)
        for call in _called(tree, "time.sleep"):
            looks += 1
            assert "  # " in lines[call.lineno - 1], f"{path}:{call.lineno}"
        for loop in (node for node in ast.walk(tree) if isinstance(node, ast.While)):
            assert not _called(loop, "time.sleep") or _called(loop, "time.monotonic"), f"{path}:{loop.lineno}"
    assert looks


def test_the_page_lists_the_rooms_in_the_order_of_the_table():
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    listed = [name.replace("/", ".") for name in re.findall(r"^\| `([\w/]+)/` \|", text, re.MULTILINE)]
    assert listed == [room for line in ORDER for room in line]


@pytest.mark.parametrize(("page", "least"), [("INVARIANTS.md", 180), ("SECURITY.md", 20)])
def test_every_test_that_a_page_names_exists(page, least):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    names = set(re.findall(r"`(test_\w+)`", text))
    assert len(names) > least
    assert not names - written_tests()
