"""The publisher computes the vectors that chunk files omit."""

from __future__ import annotations

import dataclasses
import shutil

import pytest

from cortex.embedders.static import StaticEmbedder
from cortex.generation.contract import FROM_TEXT, pack
from cortex.generation.read import open_rows
from cortex.indexer.run import index
from cortex.publish.builder import Builder
from cortex.settings.config import Config, Server
from tests.indexer.indexed_tree import read, shard_files, written


@pytest.fixture
def project(tmp_path):
    root = (tmp_path / "project").resolve()
    (root / "pkg").mkdir(parents=True)
    for name in ("one", "two", "three", "four"):
        (root / "pkg" / f"{name}.py").write_text(f"def {name}_is_read(path):\n    return open(path)\n")
    return Config(root=root)


def vectors(config):
    """Return the vector of each served chunk, by its id."""
    builder = Builder(config)
    try:
        builder.refresh()
        return vectors_of(builder, config)
    finally:
        builder.close()


def vectors_of(builder, config):
    vectors_by_id = {}
    rows = open_rows(builder.current, config.index_dir)
    for start, segment in zip(rows.starts, rows.segments, strict=False):
        ends = segment.arrays["id_offsets"].tolist()
        for row, key in enumerate(segment.arrays["keys"].tolist()):
            if rows.live[start + row]:
                assert key >= 0
                name = bytes(segment.bytes_of("id_bytes")[ends[row] : ends[row + 1]]).decode()
                vector = segment.arrays["vectors"][row].tobytes()
                vectors_by_id[name] = (bool(segment.arrays["has_vector"][row]), vector)
    return vectors_by_id


def test_vectors_that_are_left_out_are_those_that_a_readable_file_holds(project):
    index(project)
    assert {file["_metadata"]["embeddings"] for file in shard_files(project).values()} == {FROM_TEXT}
    left_out = vectors(project)
    plain_config = dataclasses.replace(project, server=Server(chunks_dir="chunks"))
    index(plain_config)
    assert left_out == vectors(plain_config)
    assert all(has for has, _ in left_out.values())


def test_after_a_save_only_what_has_changed_is_embedded(project, monkeypatch):
    index(project)
    builder = Builder(project)
    try:
        builder.refresh()
        builder.release()
        embedded, plain = [], StaticEmbedder.embed
        monkeypatch.setattr(
            StaticEmbedder,
            "embed",
            lambda self, texts, *how: embedded.extend(texts) or plain(self, texts, *how),
        )
        (project.root / "pkg/one.py").write_text("def one_is_written(path):\n    return open(path, 'w')\n")
        index(project)
        assert not embedded  # by the indexer
        builder.refresh()
        assert 0 < len(embedded) < 5
        assert all("pkg one py" in text for text in embedded)
        saved = vectors_of(builder, project)
    finally:
        builder.close()
    fresh = dataclasses.replace(project, server=Server(chunks_dir="chunks"))
    index(fresh)
    assert saved == vectors(fresh)


def test_files_of_an_earlier_version_are_served_and_lose_their_vectors_when_they_are_written_again(project):
    plain_config = dataclasses.replace(project, server=Server(chunks_dir="chunks"))
    index(plain_config)
    contents = {path.name: path.read_bytes() for path in written(plain_config.chunks_dir)}
    shutil.rmtree(plain_config.chunks_dir)
    index(project)
    for path in written(project.chunks_dir):
        path.write_bytes(pack(path.name, contents[path.name.removesuffix(".zst")]))
    before = vectors(project)
    (project.root / "pkg/five.py").write_text("def five_is_read(path):\n    return open(path)\n")
    index(project)
    assert not any(b'"embedding":' in read(path) for path in written(project.chunks_dir))
    after = vectors(project)
    assert {name: after[name] for name in before if "symbols" not in name} == {
        name: vector for name, vector in before.items() if "symbols" not in name
    }
    assert len(after) > len(before)


def test_vectors_of_another_model_are_not_made(project):
    index(project)
    for path in written(project.chunks_dir):
        path.write_bytes(pack(path.name, read(path).replace(b"cortex-static-384@", b"another@")))
    assert {has for has, _ in vectors(project).values()} == {False}
