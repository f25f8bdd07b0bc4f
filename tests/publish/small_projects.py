"""Chunk files of small projects, and their served chunks."""

import base64
import json

import numpy as np

from cortex.engines.serving import EngineWorker
from ipc.messages import ExactSearch, VectorSearch


def vector(seed):
    values = np.random.default_rng(seed).standard_normal(384).astype(np.float32)
    return values / np.linalg.norm(values)


def chunk(at, text="", **fields):
    return {
        "id": f"code-f{at}.py#f{at}~1",
        "chunk_type": "code",
        "title": f"f{at}.py",
        "text": text or f"def function_{at}(): return handler_{at}",
        "embedding": base64.b64encode(vector(at).astype("<f2").tobytes()).decode(),
        "tags": ["code", "python"],
        "metadata": {"file_path": f"f{at}.py", "language": "python", "start_line": 1, "end_line": 1},
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    } | fields


def write(config, name, chunks):
    temporary = config.chunks_dir / ".part"
    temporary.write_text(json.dumps({"_metadata": {"model": "m@1", "dimensions": 384}, "chunks": chunks}))
    temporary.replace(config.chunks_dir / name)


def drain(builder):
    while builder.refresh() is not None:
        pass
    return builder.current


class Reader:
    """The workers' view of an index, in process."""

    def __init__(self, config):
        self.texts = EngineWorker("text", config)
        self.vectors = EngineWorker("vector", config)

    def reload(self):
        return self.vectors.reload(), self.texts.reload()

    def exact(self, query, generation=0):
        self.texts.reload()
        answer = self.texts.handlers[ExactSearch](ExactSearch(query, generation=generation))
        return sorted(hit.id for hit in answer.hits)

    def nearest(self, at):
        self.vectors.reload()
        return self.vectors.handlers[VectorSearch](VectorSearch(vector(at), "m@1", 1)).hits[0].id

    @property
    def fault(self):
        return self.texts.status().info["fault"]
