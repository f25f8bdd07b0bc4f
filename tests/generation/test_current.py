"""CURRENT: published by one rename, refused when damaged or not ours, pruned only of what nobody needs."""

import dataclasses
import shutil

import pytest

from cortex.generation import current as generations
from cortex.generation.current import EMPTY, FileRef, Generation, SegmentRef, prune, publish, read_current
from ipc.errors import Damaged

GENERATION = Generation(
    number=3,
    segments=(SegmentRef("rows-3.seg", 2, 1),),
    deleted="deleted-3.seg",
    deleted_count=1,
    text="3",
    vectors="hnsw-3-9.usearch",
    sequence=12,
    model="m@1",
    dimensions=384,
    next_key=9,
    published_at=1.5,
    files={"a.json": FileRef(1, 2, "x")},
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


def test_an_index_that_was_copied_or_cloned_counts_as_none(tmp_path):
    (tmp_path / "one").mkdir()
    publish(tmp_path / "one", GENERATION)
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    assert read_current(tmp_path / "two") == EMPTY


def test_an_index_of_another_format_counts_as_none(tmp_path, monkeypatch):
    publish(tmp_path, GENERATION)
    monkeypatch.setattr(generations, "INDEX_FORMAT", 999)
    assert read_current(tmp_path) == EMPTY


def test_pruning_keeps_what_is_named_and_what_is_young(tmp_path):
    for name in (
        "segments/rows-3.seg",
        "segments/deleted-3.seg",
        "segments/old.seg",
        "vectors/hnsw-3-9.usearch",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for name in ("text/3", "text/2", "text/writer"):
        (tmp_path / name).mkdir(parents=True)
    assert prune(tmp_path, [GENERATION]) == []
    assert sorted(prune(tmp_path, [GENERATION, dataclasses.replace(EMPTY)], older_than_s=-1)) == [
        "segments/old.seg",
        "text/2",
    ]
    assert (tmp_path / "text" / "writer").is_dir()
