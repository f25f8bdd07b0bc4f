"""Only cortex.system.files opens, makes, replaces and removes files; checked on the source."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [p for folder in ("ipc", "cortex", "workers") for p in sorted((ROOT / folder).rglob("*.py"))]
FILES_MODULE = "cortex.system.files"
#: its own basis, which no other module may use
OPERATIONS_MODULE = "cortex.system.folders.folder_operations"

#: modules with only harmless calls, which query or use open descriptors
TELLS = {
    "os": set(
        "fspath fsencode fsdecode getpid getppid getuid environ_get access stat lstat fstat cpu_count kill killpg close read "
        "write pipe set_blocking get_blocking dup sysconf fdopen isatty getenv waitpid pread pwrite ftruncate get_terminal_size "
        "getloadavg _exit dup2 urandom nice setsid strerror times pidfd_open sched_getaffinity getcwd fsync "
        "fork waitid waitstatus_to_exitcode".split()
    ),
    "shutil": {"which", "disk_usage", "copyfileobj", "get_terminal_size"},
    "tempfile": {"gettempdir"},
    "io": {"BytesIO", "StringIO", "TextIOWrapper", "BufferedReader", "BufferedWriter"},
    "mmap": {"mmap"},
    "logging.handlers": set(),
}
#: methods of a path, and functions with a path argument, whatever the object
TOUCHES = frozenset(
    "open read_bytes read_text write_bytes write_text touch unlink mkdir rmdir iterdir glob rglob hardlink_to symlink_to "
    "chmod rmtree scandir listdir FileHandler memmap fromfile tofile loadtxt genfromtxt savetxt bind".split()
)
#: functions of other packages that open a path themselves
TAKES_A_PATH = frozenset(
    (
        "sqlite3.connect",
        "self.module.connect",
        "sqlcipher().connect",
        "tantivy.Index",
        "np.load",
        "np.save",
        "np.savez",
        "index.save",
        "index.view",
    )
)

PACKAGE = "reads what is in the package itself"
SYSTEM = "reads what the system says of itself"
RUNTIME = "in the runtime folder, which open_runtime has made and checked: private, and no link"
LIBRARY = "the library takes a path: the folder is made and checked by files before, and is private"
FILES = "a function of ours, which reads by cortex.system.files"
OTHER = "opens no file"
ALLOWED = {
    ("cortex.embedders.bert", "(folder / 'vocab.json').read_bytes"): PACKAGE,
    ("cortex.embedders.bert", "np.load"): PACKAGE,
    ("cortex.embedders.shipped", "(folder / 'model.json').read_bytes"): PACKAGE,
    ("cortex.embedders.static", "(folder / 'vocab.json').read_bytes"): PACKAGE,
    ("cortex.embedders.static", "np.load"): PACKAGE,
    ("cortex.memory.find.newer.replacement_model", "(folder / 'model.json').read_bytes"): PACKAGE,
    (
        "cortex.generation.segments.packing",
        "resources.files('cortex.generation').joinpath('json.dict').read_bytes",
    ): PACKAGE,
    ("cortex.graph.facts.captures", "folder.joinpath(f'{name}.scm').read_text"): PACKAGE,
    (
        "cortex.graph.languages.defaults",
        "resources.files(package).joinpath(f'{list_name}.txt').read_text",
    ): PACKAGE,
    (
        "cortex.indexer.syntax.parse",
        "resources.files('cortex.indexer.syntax').joinpath('queries', f'{language.query}.scm').read_text",
    ): PACKAGE,
    ("cortex.front.prompt_map", "base.glob"): "lists sockets, in a hook that loads little",
    ("cortex.ask.lines.saved_files", "read_text"): OTHER,
    ("cortex.indexer.syntax.source", "read_text"): "decodes bytes",
    ("cortex.settings.encodings", "read_text"): "decodes bytes",
    ("cortex.settings.folders.branches", "read_text"): "settings.identity.read_text",
    ("cortex.memory.files.formats", "archive.open"): "a member of an archive that is open",
    ("cortex.memory.library.transfer", "folder.mkdir"): "a folder that the person names",
    ("cortex.processes.attach", "folder.glob"): "lists sockets",
    ("cortex.processes.attach", "owner.runtime_dir.parent.glob"): "lists sockets",
    ("cortex.publish.others_graph", "os.listdir"): "lists a folder of the project",
    ("cortex.system.hosts", "open"): "files of /proc",
    ("cortex.system.terminal", "os.open"): "/dev/null in place of a closed stream",
    ("cortex.engines.text.index.writer", "tantivy.Index"): LIBRARY,
    ("cortex.engines.vector.usearch", "index.save"): LIBRARY,
    ("cortex.engines.vector.usearch", "index.view"): LIBRARY,
    ("cortex.indexer.store.embeddings", "sqlite3.connect"): LIBRARY,
    ("cortex.memory.store.driver", "self.module.connect"): LIBRARY,
    ("cortex.memory.store.folder_sealing", "sqlcipher().connect"): LIBRARY,
    ("cortex.memory.find.word_index", "tantivy.Index"): LIBRARY,
    ("cortex.processes.forkserver", "_STAT.read_text"): SYSTEM,
    ("cortex.processes.leftovers", "folder.rmdir"): RUNTIME,
    ("cortex.front.cli.main", "os.open"): SYSTEM,
    (
        "cortex.system.installation",
        "importlib.metadata.distribution(DISTRIBUTION).read_text",
    ): "reads how this package was installed",
    ("cortex.system.process.allocator", "MAPS.read_text"): SYSTEM,
    ("cortex.system.folders.mounts", "table.read_text"): SYSTEM,
    ("cortex.system.process.ports", "table.read_text"): SYSTEM,
    ("cortex.system.process.ports", "place.read_bytes"): SYSTEM,
    ("cortex.system.process.ports", "os.listdir"): SYSTEM,
    ("cortex.system.process.ports", "os.readlink"): SYSTEM,
    ("cortex.front.http.embedding", "bind"): "a socket of the network, with a token",
    ("cortex.front.http.serving", "bind"): "a socket of the network, with a token",
    ("cortex.front.http.tcp_port", "bind"): "a socket of the network, with a token",
    ("cortex.front.http.tcp_port", "bound.bind"): "a socket of the network, with a token",
    ("cortex.front.project_selection", "self.link.open"): OTHER,
    ("cortex.front.programs.code_library", "self._link.open"): OTHER,
    ("cortex.front.open_projects", "self._own_link.open"): OTHER,
    ("cortex.front.http.serving", "projects.open"): OTHER,
    ("cortex.front.mcp.stdio", "io.FileIO"): "wraps standard input and output, which are open already",
    ("cortex.front.mcp.transport.bridge", "io.FileIO"): "wraps standard input, which is open already",
    (
        "cortex.indexer.scan",
        "os.scandir",
    ): "walks the user's sources; each entry is looked at without following links",
    ("cortex.processes.attach", "ours.parent.glob"): RUNTIME,
    ("cortex.system.process.sockets", "listener.bind"): RUNTIME,
    ("cortex.system.process.sockets", "os.chmod"): RUNTIME,
    ("cortex.system.process.sockets", "os.open"): RUNTIME,
    ("cortex.system.process.re_exec", "_STATUS.read_text"): "what the system says of this process",
    ("cortex.system.process.re_exec", "os.execv"): "the program that runs already, once more",
    ("cortex.system.hosts", "os.replace"): RUNTIME,
    ("cortex.system.process.sockets", "os.unlink"): RUNTIME,
    ("cortex.processes.supervisor", "os.unlink"): RUNTIME,
    ("ipc.client", "self._folder.glob"): RUNTIME,
    ("ipc.locks", "os.open"): "the rooms' order: ipc is below cortex; never a link, a pipe or another's file",
    ("ipc.events", "bind"): RUNTIME,
    ("ipc.locks", "os.lseek"): "the file that it has opened",
    ("ipc.locks", "os.rename"): RUNTIME,
    ("ipc.locks", "os.unlink"): RUNTIME,
    ("ipc.places", "path.chmod"): RUNTIME,
    ("ipc.places", "socket.bind"): RUNTIME,
    ("ipc.service", "places.bind"): RUNTIME,
    ("ipc.service", "path.unlink"): RUNTIME,
    ("ipc.service", "self._path.unlink"): RUNTIME,
    ("ipc.service", "socket.bind"): RUNTIME,
    ("cortex.embedders.http", "endpoint.opener.open"): OTHER,
    ("cortex.front.cli.running.cloning", "opener.open"): OTHER,
    ("cortex.engines.graph.engine", "self._opener.open"): OTHER,
    ("cortex.engines.serving", "self._engine.open"): OTHER,
    ("cortex.front.cli.parsing.generated", "link.open"): OTHER,
    ("cortex.front.cli.parsing.shell_completion", "link.open"): OTHER,
    ("cortex.front.cli.running.open_page", "webbrowser.open"): OTHER,
    ("cortex.front.mcp.project", "link.open"): OTHER,
    ("cortex.front.mcp.stdio", "link.open"): OTHER,
    ("cortex.indexer.folder_watch", "self._changes.touch"): OTHER,
    ("cortex.indexer.run", "writer.open"): OTHER,
    ("cortex.memory.serving", "Library.open"): OTHER,
    ("cortex.processes.attach", "attachment.open"): OTHER,
    ("cortex.publish.graph_files", "folder_of(self._folders, name).open"): OTHER,
}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def touching(tree: ast.AST) -> Iterator[str]:
    """Return the expressions of a module that may open or change a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in TELLS:
            yield from (f"from {node.module} import {alias.name}" for alias in node.names)
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        module, _, last = called.rpartition(".")
        if module in TELLS:
            if last not in TELLS[module]:
                yield called
        elif module.startswith("os.path") or module == FILES_MODULE.rpartition(".")[2]:
            continue
        elif last in TOUCHES or called in TAKES_A_PATH or is_path_method(node, last):
            yield called


def is_path_method(node: ast.Call, last: str) -> bool:
    """Whether it is `Path.replace` or `Path.rename`, with one argument; those of
    strings have two.
    """
    return (
        "." in ast.unparse(node.func)
        and last in ("replace", "rename")
        and len(node.args) == 1
        and not node.keywords
    )


@pytest.fixture(scope="module")
def uses() -> set[tuple[str, str]]:
    return {
        (name_of(path), called)
        for path in SOURCES
        if name_of(path) not in (FILES_MODULE, OPERATIONS_MODULE)
        for called in touching(ast.parse(path.read_text(encoding="utf-8")))
    }


def test_only_one_module_opens_and_changes_files(uses):
    assert uses - ALLOWED.keys() == set()


def test_only_files_uses_folder_operations():
    users = {
        name_of(path)
        for path in SOURCES
        if "cortex.system.folders.folder_operations" in path.read_text(encoding="utf-8")
    }
    assert users == {FILES_MODULE}


def test_every_exception_in_the_list_is_needed(uses):
    assert ALLOWED.keys() - uses == set()


@pytest.mark.parametrize(
    "line",
    [
        "open(path)",
        "os.open(path, 0)",
        "os.replace(a, b)",
        "Path(a).open('wb')",
        "(folder / name).write_text('')",
        "path.replace(other)",
        "path.rename(other)",
        "shutil.rmtree(path)",
        "os.truncate(path, 0)",
        "logging.FileHandler(path)",
        "np.memmap(path)",
        "from os import open",
        "tempfile.mkstemp()",
        "path.unlink(missing_ok=True)",
        "os.makedirs(path)",
    ],
)
def test_each_way_to_open_a_file_is_seen(line):
    assert list(touching(ast.parse(line)))


@pytest.mark.parametrize(
    "line", ["text.replace('a', 'b')", "dataclasses.replace(one, a=1)", "os.fspath(path)"]
)
def test_code_that_opens_no_file_is_not_reported(line):
    assert not list(touching(ast.parse(line)))


def test_the_scanned_modules_exist():
    assert importlib.import_module(FILES_MODULE).open_plain
    assert len(SOURCES) > 200
