"""Graph files served by an index: foreign, damaged and changed ones."""

import numpy as np
import orjson
import pytest

from cortex.generation.current import read_current
from cortex.generation.read import open_rows
from cortex.generation.references import COUNTS
from tests.engines.small_graph import ids, open_graph, publish, write_graph
from workers.watcher import WatcherWorker


def test_the_watcher_sees_both_folders_by_events_as_soon_as_they_are_there(config):
    watcher = WatcherWorker(config)
    try:
        watcher.follow()
        assert {config.chunks_dir, config.graph_dir} & set(watcher.folder_events._watched) == {
            config.chunks_dir
        }
        config.graph_dir.mkdir(parents=True)
        watcher.follow()
        assert {config.chunks_dir, config.graph_dir} <= set(watcher.folder_events._watched)
    finally:
        watcher.folder_events.close()
        watcher.builder.close()


def test_a_graph_file_of_a_foreign_program_is_served(config):
    config.graph_dir.mkdir(parents=True)
    location = {"file": "internal/embed/local.go", "line": 16, "column": 0}
    graph = {
        "_metadata": {"version": "1.0", "node_count": 2, "edge_count": 1, "more": 1},
        "nodes": [
            {
                "id": "embed.Provider",
                "kind": "interface",
                "file": "internal/embed/provider.go",
                "start_line": 20,
                "end_line": 39,
            },
            {
                "id": "embed.localProvider",
                "kind": "struct",
                "file": "internal/embed/local.go",
                "start_line": 16,
                "end_line": 22,
            },
        ],
        "edges": [
            {
                "from": "embed.localProvider",
                "to": "embed.Provider",
                "type": "implements",
                "location": location,
            }
        ],
    }
    (config.graph_dir / "code-graph.json").write_bytes(orjson.dumps(graph))
    publish(config)
    worker = open_graph(config)
    assert ids(worker, "implementations", "embed.Provider") == ["embed.localProvider"]


@pytest.mark.parametrize(
    "damage", [b"", b"[]", b'{"nodes": 1}', b'{"nodes": [{}], "edges": []}', b"\xff\xfe"]
)
def test_a_damaged_graph_file_leaves_the_served_one_and_is_named(config, own_worker, damage):
    path = next(config.graph_dir.glob("*.json*"))
    path.write_bytes(damage)
    generation, warnings = publish(config)
    own_worker.reload()
    assert ids(own_worker, "callers", "Disk.save") == ["app/main:main"]
    assert any(path.name in text for text in warnings), generation


def test_a_changed_graph_file_is_a_new_generation_and_an_unchanged_one_is_not(config, own_worker):
    before, _ = publish(config)
    assert publish(config)[0].number == before.number
    (config.root / "lonely.py").write_text("def nobody():\n    somebody()\n\n\ndef somebody(): ...\n")
    write_graph(config)
    assert publish(config)[0].number > before.number
    own_worker.reload()
    assert ids(own_worker, "callers", "somebody") == ["lonely:nobody"]


def chunk(path, first, last):
    place = {"file_path": path, "start_line": first, "end_line": last}
    return {"id": f"{path}-{first}", "chunk_type": "code", "text": "x", "metadata": place}


def test_rows_have_the_number_of_other_files_that_refer_to_them(config):
    chunks = [chunk("app/store.py", 1, 8), chunk("app/store.py", 9, 12), chunk("app/main.py", 1, 12)]
    chunks += [chunk("tests/test_main.py", 1, 5), chunk("README.md", 1, 3)]
    (config.chunks_dir / "a.json").write_bytes(orjson.dumps({"_metadata": {}, "chunks": chunks}))

    def counted():
        publish(config)
        rows = open_rows(read_current(config.index_dir), config.index_dir)
        live = np.flatnonzero(rows.live)
        counts = zip(*(rows.columns[name][live].tolist() for name in COUNTS), strict=True)
        return dict(zip(rows.ids(live), counts, strict=True))

    assert set(counted().values()) == {(0, 0)}
    write_graph(config)
    before = {
        "app/store.py-1": (1, 1),  # Disk, in app/main.py; Store, in this file only, does not count
        "app/store.py-9": (1, 1),
        "app/main.py-1": (1, 1),
        "tests/test_main.py-1": (0, 0),
        "README.md-1": (0, 0),
    }
    assert counted() == before
    (config.root / "lonely.py").write_text("from app.store import check\n\n\ndef nobody():\n    check(1)\n")
    write_graph(config)
    assert counted() == before | {"app/store.py-1": (1, 2), "app/store.py-9": (2, 2)}


def test_a_damaged_graph_segment_is_made_again_with_the_counts(config, own_worker):
    other = config.graph_dir / "other.json"
    other.write_bytes(orjson.dumps({"nodes": [], "edges": []}))
    before, _ = publish(config)
    (config.index_dir / "segments" / before.graph["other.json"]).write_bytes(b"no segment")
    (config.root / "lonely.py").write_text("\n\n\ndef nobody():\n    pass\n")
    write_graph(config)
    after, _ = publish(config)
    assert after.number > before.number
    assert before.references
    assert after.references
    rebuilt = (config.index_dir / "segments" / after.graph["other.json"]).read_bytes()
    assert rebuilt != b"no segment"
