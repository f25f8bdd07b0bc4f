"""Queries to Milvus over one generation, with a real milvus-lite: filters and counts."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import orjson
import pytest

from cortex.engines.milvus import searches
from cortex.engines.milvus.place import MilvusPlace
from cortex.engines.milvus.storage.collection import BATCH_BYTES, BATCH_ROWS, FOREVER, Collection, batches
from cortex.system import files
from ipc.messages import Filters, TextSignals, VectorSearch
from tests.engines.forest import DIMENSIONS, World
from tests.milvus_lite import LiteEngine
from workers import milvus as lite

pytest.importorskip(
    "milvus_lite", reason="milvus-lite is not here: pip install 'cortex-context-engine[milvus]'"
)

#: rows; the last three pass the filter and are the furthest from the query
ROWS, DEEP = 12, Filters(paths=("deep/",))


def direction(number):
    """A unit vector, the further from the first the greater the number."""
    values = np.zeros(DIMENSIONS, np.float32)
    values[:2] = np.cos(0.1 * number), np.sin(0.1 * number)
    return values


def body(number):
    path = f"{'deep' if number >= ROWS - 3 else 'flat'}/{number}.py"
    metadata = {"file_path": path, "language": "python", "start_line": 1, "end_line": 1}
    words = "meadow " + "grass " * number
    fields = {"id": f"code-{path}~1", "chunk_type": "code", "text": words, "metadata": metadata}
    return fields | {"embedding": direction(number).tolist()}


@pytest.fixture(scope="module")
def handlers(milvus, tmp_path_factory):
    with contextlib.closing(World(tmp_path_factory.mktemp("deep") / "project", LiteEngine)) as world:
        world.start()
        chunk_file = {"_metadata": {"model": "m@1"}, "chunks": [body(number) for number in range(ROWS)]}
        files.replace(world.config.chunks_dir / "chunks.json", orjson.dumps(chunk_file))
        while world.builder.refresh() is not None:
            pass
        yield world.open()


@pytest.mark.parametrize(
    ("limit", "most", "named_max"), [(3, 16_384, 2_000), (3, 4, 2), (3, 4, 1), (1, 5, 2)]
)
def test_a_filtered_search_is_complete_although_milvus_bounds_its_hits(
    handlers, monkeypatch, limit, most, named_max
):
    monkeypatch.setattr(searches, "HITS_MAX", most)
    monkeypatch.setattr(searches, "NAMED_MAX", named_max)
    near = handlers[VectorSearch](VectorSearch(direction(0), "m@1", limit, DEEP))
    assert [hit.path for hit in near.hits] == ["deep/9.py", "deep/10.py", "deep/11.py"][:limit]
    worded = handlers[TextSignals](TextSignals("meadow", limit, DEEP))
    best = worded.values[worded.names.index("body")]
    order = np.argsort(-best, kind="stable")
    # the same word in the shortest text first
    assert [worded.hits[at].path for at in order] == ["deep/9.py", "deep/10.py", "deep/11.py"][:limit]


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """(milvus-lite's database, our collection in it), in one process."""
    grpc = pytest.importorskip("grpc")
    from milvus_lite.db import MilvusLite
    from pymilvus.grpc_gen import milvus_pb2_grpc

    monkeypatch.chdir(tmp_path)  # a socket's name is short
    database, server = MilvusLite(str(tmp_path / "lite.db")), grpc.server(ThreadPoolExecutor(2))
    milvus_pb2_grpc.add_MilvusServiceServicer_to_server(lite._servicer(database), server)
    server.add_insecure_port("unix:s.sock")
    server.start()
    place = MilvusPlace("unix:s.sock", "", "cortex", "shop", 2, tmp_path / "lite.db")
    with contextlib.closing(Collection(place)) as collection:
        collection.create_collections()
        yield database, collection
    server.stop(0).wait()
    database.close()


def row(key, born, died=FOREVER):
    numbers = dict.fromkeys(("start_line", "end_line", "parts"), 1) | {"covers": True, "has_vector": True}
    texts = dict.fromkeys(("model", "path", "type", "language", "id", "hash", "chunk"), "x")
    lanes = dict.fromkeys(("body", "path_words", "defs", "comments", "views"), "meadow")
    many = {"tags": ["a"], "symbols": [], "defined": ["a"]}
    identity = {"pk": f"shop:{key}", "project": "shop", "key": key, "born": born, "died": died}
    return identity | numbers | texts | lanes | many | {"vector": [1.0, float(key)]}


def test_milvus_lite_counts_rows_without_building_them(opened):
    database, collection = opened
    filters = [collection.project, *map(collection.at, (1, 2, 3)), 'project == "cart"']

    def agree():
        inside = database.get_collection(collection.rows)
        counted = [lite.count_rows(inside, clause) for clause in filters]
        assert (
            counted
            == [len(collection.keys(clause)) for clause in filters]
            == [collection.count(clause) for clause in filters]
        )
        return counted

    assert agree() == [0, 0, 0, 0, 0]
    collection.insert(row(key, 1) for key in range(6))
    assert agree() == [6, 6, 6, 6, 0]
    collection._do("flush", lambda client: client.flush(collection.rows))
    collection.change(["shop:1", "shop:2"], 2)
    collection.insert(row(key, 3) for key in (7, 8, 9))
    assert agree() == [9, 6, 4, 7, 0]
    collection.delete(f"{collection.project} and died <= 2")
    assert agree() == [7, 4, 4, 7, 0]


def test_messages_hold_many_short_rows_or_few_long_ones():
    small = [{"pk": str(number), "born": 1} for number in range(2 * BATCH_ROWS + 1)]
    assert [len(some) for some in batches(small)] == [BATCH_ROWS, BATCH_ROWS, 1]
    long = [{"pk": "x", "chunk": "y" * (BATCH_BYTES // 3)}] * 7
    assert [len(some) for some in batches(long)] == [3, 3, 1]
    assert list(batches([])) == []
