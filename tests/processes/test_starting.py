"""Faults that are reported before a set starts, and the start order of its processes."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os

import pytest

from cortex.engines.milvus.place import Milvus
from cortex.generation.current import CURRENT
from cortex.processes import attach, starting
from cortex.processes.fork_client import may_fork
from cortex.settings.config import Config, Embedding, Server
from cortex.system import hosts
from cortex.system.errors import Misconfigured, Unavailable
from tests.left_processes import processes_of
from tests.milvus_lite import in_milvus


def test_a_missing_configured_chunks_folder_is_reported_before_the_start(config: Config) -> None:
    configured = dataclasses.replace(config, server=Server(chunks_dir="nowhere"), explicit_chunks=True)
    with pytest.raises(Misconfigured, match="nowhere"):
        asyncio.run(attach.attach(configured))
    assert not processes_of(config.root)


def test_vectors_of_another_size_are_reported_with_both_sizes(config: Config) -> None:
    config.chunks_dir.mkdir(parents=True)
    metadata = {"version": "2.0.0", "model": "x", "dimensions": 768}
    (config.chunks_dir / "theirs.json").write_text(json.dumps({"_metadata": metadata, "chunks": []}))
    with pytest.raises(Misconfigured, match=r"768.*384"):
        starting.check_start(config)
    ours = metadata | {"generator": "cortex"}
    (config.chunks_dir / "theirs.json").write_text(json.dumps({"_metadata": ours, "chunks": []}))
    starting.check_start(config)


def test_an_embedding_endpoint_that_nobody_serves_is_unavailable(config: Config) -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}/embed"
        configured = dataclasses.replace(config, embedding=Embedding(provider="http", endpoint=endpoint))
        with pytest.raises(Unavailable, match="refused"):
            starting.check_start(configured)
        free.listen()  # and never answers
        with pytest.raises(Unavailable, match="timed out"):
            starting.check_start(configured)


def test_all_processes_start_at_once_until_there_is_an_index(config: Config) -> None:
    assert starting.spec_of(config, idle_exit=True).at_once is None
    config.index_dir.mkdir(parents=True, exist_ok=True)
    (config.index_dir / CURRENT).touch()
    at_once = starting.spec_of(config, idle_exit=True).at_once
    assert at_once is not None
    assert 1 <= at_once <= max(1, (os.cpu_count() or 1) - 1)


@pytest.mark.skipif(not may_fork(), reason="nothing is forked here")
def test_processes_are_forked_only_where_that_is_safe(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Milvus's client runs threads, and other systems cannot adopt orphans or cannot fork."""
    forked = starting.spec_of(config, idle_exit=True).forked
    assert set(forked) == {"text", "vector", "graph", "watcher", "indexer"}
    assert not starting.spec_of(config.data, idle_exit=True).forked
    far = dataclasses.replace(config, **in_milvus(Milvus("http://127.0.0.1:19530")))
    assert not starting.spec_of(far, idle_exit=True).forked
    monkeypatch.setattr(hosts, "LINUX", False)
    assert not starting.spec_of(config, idle_exit=True).forked
