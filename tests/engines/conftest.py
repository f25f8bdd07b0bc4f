"""A project with a small graph, and the worker that serves it."""

import orjson
import pytest

from cortex.engines.serving import EngineWorker
from cortex.settings.config import Config
from tests.engines.small_graph import FILES, publish, write_graph
from tests.milvus_lite import milvus

__all__ = ["milvus"]


@pytest.fixture
def config(tmp_path):
    config = Config(root=tmp_path / "project")
    for name, text in FILES.items():
        path = config.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    config.chunks_dir.mkdir(parents=True)
    body = {"id": "x", "chunk_type": "code", "text": "x", "metadata": {"file_path": "app/main.py"}}
    (config.chunks_dir / "a.json").write_bytes(orjson.dumps({"_metadata": {}, "chunks": [body]}))
    return config


@pytest.fixture
def worker(config):
    write_graph(config)
    publish(config)
    engine_worker = EngineWorker("graph", config)
    engine_worker.reload()
    return engine_worker
