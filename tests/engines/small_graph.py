"""A project with a small graph, its worker and its answers."""

import orjson

from cortex.engines.serving import EngineWorker
from cortex.generation.manifest import Entry
from cortex.indexer.store.graph_store import GraphStore
from cortex.indexer.syntax.source import digest
from cortex.publish.builder import Builder
from cortex.settings.config import Config
from ipc.messages import GraphSearch

FILES = {
    "app/store.py": (
        "class Store:\n    def save(self, item):\n        return check(item)\n\n\n"
        "class Disk(Store):\n    def save(self, item):\n        return super().save(item)\n\n\n"
        "def check(item):\n    return item\n"
    ),
    "app/main.py": (
        "from app.store import Disk, check\n\n\ndef main(disk: Disk):\n    disk.save(1)\n    check(2)\n    helper()\n\n\n"
        "def helper():\n    main(Disk())\n"
    ),
    "tests/test_main.py": "from app.main import main\n\n\ndef test_main():\n    main(None)\n",
    "lonely.py": "def nobody():\n    pass\n",
}


def make_config(folder):
    """A project in `folder`, with the files of the small graph and one chunk."""
    config = Config(root=folder / "project")
    for name, text in FILES.items():
        path = config.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    config.chunks_dir.mkdir(parents=True)
    body = {"id": "x", "chunk_type": "code", "text": "x", "metadata": {"file_path": "app/main.py"}}
    (config.chunks_dir / "a.json").write_bytes(orjson.dumps({"_metadata": {}, "chunks": [body]}))
    return config


def write_graph(config, files=tuple(FILES)):
    entries = {
        name: Entry(digest((config.root / name).read_bytes()), 1, 1)
        for name in files
        if (config.root / name).exists()
    }
    GraphStore(config).update(entries, {})


def publish(config):
    builder = Builder(config)
    try:
        while builder.refresh() is not None:
            pass
        return builder.current, builder.warnings
    finally:
        builder.close()


def ask(worker, operation, target, **more):
    hits = worker.handlers[GraphSearch](GraphSearch(operation, target, **more))
    return hits, [orjson.loads(raw) for raw in hits.results]


def ids(worker, operation, target, **more):
    return [result["node"]["id"] for result in ask(worker, operation, target, **more)[1]]


def serve_graph(config, nodes, edges=()):
    """A worker over a graph of a foreign program: nodes are (id, kind, file), edges (from, to,
    type) or with the file of their place, too.
    """
    (config.graph_dir).mkdir(parents=True, exist_ok=True)
    graph = {
        "nodes": [{"id": name, "kind": kind, "file": file, "start_line": 1} for name, kind, file in nodes],
        "edges": [
            {"from": source, "to": to, "type": kind, "location": {"file": "".join(file) or "x"}}
            for source, to, kind, *file in edges
        ],
    }
    (config.graph_dir / "code-graph.json").write_bytes(orjson.dumps(graph))
    publish(config)
    return open_graph(config)


def serve_files(config, files):
    """A worker over the graph of `files`: path → text."""
    for name, text in files.items():
        (config.root / name).parent.mkdir(parents=True, exist_ok=True)
        (config.root / name).write_text(text)
    write_graph(config, tuple(files))
    publish(config)
    return open_graph(config)


def open_graph(config):
    """The worker of what is published."""
    engine_worker = EngineWorker("graph", config)
    engine_worker.reload()
    return engine_worker
