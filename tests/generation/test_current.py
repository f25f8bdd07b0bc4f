"""CURRENT: published by one rename, refused when damaged or foreign, and pruned of files that no
reader needs.
"""

import shutil

import pytest

from cortex.generation import current as generations
from cortex.generation.current import EMPTY, FileRef, Generation, SegmentRef, prune, publish, read_current
from cortex.system.errors import Damaged

GENERATION = Generation(
    number=3,
    segments=(SegmentRef("rows-3.seg", 2, 1),),
    deleted="deleted-3.seg",
    deleted_count=1,
    references="references-3.seg",
    tokens={"text": "3", "vector": "hnsw-3-9.usearch", "graph": ""},
    sequence=12,
    model="m@1",
    dimensions=384,
    next_key=9,
    published_at=1.5,
    files={"a.json": FileRef(1, 2, "x")},
    graph_files={"g.json": FileRef(3, 4, "0123456789abcdef" * 4)},
    warnings=("careful",),
)


def test_what_is_published_is_read(tmp_path):
    assert read_current(tmp_path) == EMPTY
    publish(tmp_path, GENERATION)
    assert read_current(tmp_path) == GENERATION
    assert GENERATION.rows == 1


def test_every_flipped_byte_of_the_body_is_refused(tmp_path):
    publish(tmp_path, GENERATION)
    path = tmp_path / generations.CURRENT
    good = path.read_bytes()
    for at in range(good.index(b"\n") + 1, len(good)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        with pytest.raises(Damaged):
            read_current(tmp_path)


def test_a_copied_or_cloned_index_is_not_used(tmp_path):
    (tmp_path / "one").mkdir()
    publish(tmp_path / "one", GENERATION)
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    assert read_current(tmp_path / "two") == EMPTY


def test_an_index_of_another_format_counts_as_none(tmp_path, monkeypatch):
    publish(tmp_path, GENERATION)
    monkeypatch.setattr(generations, "INDEX_FORMAT", 999)
    assert read_current(tmp_path) == EMPTY


def test_pruning_keeps_what_is_named_and_what_is_young(tmp_path):
    expected = {"rows-3.seg", "deleted-3.seg", "references-3.seg", "graph-0123456789abcdef01234567.seg"}
    assert set(GENERATION.graph.values()) <= expected
    (tmp_path / "segments").mkdir()
    for name in (*expected, "old.seg"):
        (tmp_path / "segments" / name).touch()
    (tmp_path / "segments" / "folder").mkdir()
    assert prune(tmp_path, [GENERATION]) == []
    assert sorted(prune(tmp_path, [GENERATION, EMPTY], older_than_s=-1)) == ["folder", "old.seg"]
    assert {path.name for path in (tmp_path / "segments").iterdir()} == expected
