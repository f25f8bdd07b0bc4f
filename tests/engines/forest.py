"""A project of trees with an index of one engine, and two engines for tests."""

from __future__ import annotations

import json
import re
from typing import get_args

import numpy as np
import orjson

from cortex.engines import open_engine
from cortex.engines.chunks.handlers import chunk_handlers
from cortex.engines.protocol import Feature
from cortex.engines.serving import EngineWorker
from cortex.engines.vector.engine import VectorEngine
from cortex.engines.vector.usearch import Limits as VectorLimits
from cortex.generation.current import PRUNE_AFTER_S, prune_folder
from cortex.generation.read import Published
from cortex.publish.builder import Builder
from cortex.settings.config import Config
from cortex.system import files
from cortex.system.errors import BadRequest, Damaged, NotFound
from ipc.messages import (
    ExactHits,
    ExactSearch,
    Fetch,
    Locate,
    Show,
    SourceLines,
)

TREES = ("birch", "cedar", "maple", "oak")
DIMENSIONS = 16


class PlainEngine:
    """A fourth engine, as small as possible: the words of each row, in one file for each
    generation.
    """

    answers = (ExactSearch, Fetch, Locate, Show, SourceLines)
    lacks: frozenset[Feature] = frozenset(get_args(Feature))

    def __init__(self, config):
        self._folder = config.index_dir / "plain"
        self._token = ""
        self._words = {}
        self._graph = ()

    def resume(self, token):
        self._words = self._read(token)
        self._token = token

    def files(self, token):
        return (self._folder / token,) if token else ()

    def build(self, change):
        self._graph = tuple(change.graph)
        if not (change.added or change.deleted):
            return self._token
        remaining = {key: words for key, words in self._words.items() if int(key) not in set(change.deleted)}
        self._words = remaining | {
            str(row.key): re.findall(r"\w+", row.chunk["text"]) for row in change.added
        }
        self._folder.mkdir(exist_ok=True)
        self._token = f"{change.number}.json"
        files.replace(self._folder / self._token, orjson.dumps(self._words))
        return self._token

    def upkeep(self, published):  # noqa: ARG002
        return self._token

    def open(self, token, published):
        rows, table = published.rows, self._read(token)

        def search(request):
            for feature, sign in {"phrase": '"', "wildcard": "*", "fuzzy": "~", "expression": "/"}.items():
                if sign in request.query:
                    raise BadRequest(f"This engine has no {feature}.")
            keys = np.array([int(key) for key, words in table.items() if request.query in words], "<u8")
            ordinals = rows.locate(keys)
            hits = rows.hits(ordinals[rows.mask(request.filters)[ordinals]])
            return ExactHits(published.generation.number, hits=hits, total_found=len(hits))

        return {ExactSearch: search, **chunk_handlers(rows)}

    def prune(self, tokens, older_than_s=PRUNE_AFTER_S):
        return prune_folder(self._folder, tokens, older_than_s)

    def status(self, token, generation):  # noqa: ARG002
        return {"rows": generation.rows, "graph_files": list(self._graph)}

    def release(self):
        """Do nothing: a change is built upon all words."""

    def close(self):
        self._words = {}

    def _read(self, token):
        try:
            return orjson.loads((self._folder / token).read_bytes()) if token else {}
        except FileNotFoundError:
            raise NotFound(f"{token} is not there.") from None
        except (OSError, ValueError) as error:
            raise Damaged(f"{token} cannot be read: {error}.") from error


class HnswEngine(VectorEngine):
    """The vector engine with an HNSW index from the first row on; its upkeep waits for the
    build.
    """

    def __init__(self, config):
        super().__init__(config, VectorLimits(scan_rows_max=0, uncovered_share_max=0))

    def upkeep(self, published):
        token = super().upkeep(published)
        while self.building:
            token = super().upkeep(published)
        return token


def vector(tree):
    values = np.random.default_rng(TREES.index(tree)).standard_normal(DIMENSIONS)
    return (values / np.linalg.norm(values)).astype(np.float32)


def text(tree):
    return f"def plant_{tree}():\n    return grow('young {tree} tree')\n"


def chunk(tree):
    return {
        "id": f"code-{tree}.py~1",
        "chunk_type": "code",
        "text": text(tree),
        "embedding": vector(tree).tolist(),
        "tags": ["python"],
        "metadata": {"file_path": f"{tree}.py", "language": "python", "start_line": 1, "end_line": 2},
    }


def graph_of(trees):
    """The graph: for each tree a function and a caller of it."""
    nodes = [
        {
            "id": f"{tree}:{name}_{tree}",
            "kind": "function",
            "file": f"{tree}.py",
            "start_line": 1,
            "end_line": 2,
        }
        for tree in trees
        for name in ("plant", "walk")
    ]
    nodes += [{"id": tree, "kind": "module", "file": f"{tree}.py"} for tree in trees]
    edges = [
        {
            "from": f"{tree}:walk_{tree}",
            "to": f"{tree}:plant_{tree}",
            "type": "calls",
            "location": {"file": f"{tree}.py", "line": 2},
        }
        for tree in trees
    ]
    return {"nodes": nodes, "edges": edges}


class World:
    """A project with an index of one engine: one instance builds, as in the watcher, others open,
    as in workers.
    """

    def __init__(self, root, maker):
        self.config = Config(root=root)
        self.config = Config(root=root, embedding=type(self.config.embedding)(dimensions=DIMENSIONS))
        self.maker = maker
        self.config.root.mkdir(parents=True, exist_ok=True)
        self.config.chunks_dir.mkdir(parents=True)
        self.config.graph_dir.mkdir(parents=True)
        self.builder = None

    def make(self):
        maker = self.maker
        return open_engine(maker, self.config) if isinstance(maker, str) else maker(self.config)

    def start(self, **options):
        self.builder = Builder(self.config, engines={"tested": self.make()}, **options)

    def publish(self, *trees):
        """Publish and return a generation that holds `trees`."""
        if self.builder is None:
            self.start()
        for path in self.config.root.glob("*.py"):
            path.unlink()
        for tree in trees:
            (self.config.root / f"{tree}.py").write_text(text(tree))
        body = {"_metadata": {"model": "m@1"}, "chunks": [chunk(tree) for tree in trees]}
        files.replace(self.config.graph_dir / "graph.json", json.dumps(graph_of(trees)).encode())
        files.replace(self.config.chunks_dir / "chunks.json", json.dumps(body).encode())
        while self.builder.refresh() is not None:
            pass
        return self.builder.current

    def published(self):
        return Published(self.builder.current, self.config.index_dir)

    def open(self, engine=None):
        generation = self.builder.current
        return (engine or self.make()).open(generation.tokens["tested"], self.published())

    def worker(self):
        return EngineWorker("tested", self.config, self.make())

    def key(self, tree):
        rows = self.published().rows
        return dict(zip(rows.ids(np.arange(len(rows))), rows.keys.tolist(), strict=True))[chunk(tree)["id"]]

    def close(self):
        if self.builder is not None:
            self.builder.close()
