"""Chunk files and graph files are zstd frames in the user's cache, and readable JSON in a folder
that the configuration names.
"""

from __future__ import annotations

import dataclasses

import orjson
import pytest

from cortex.generation.contract import PACKED, PLAIN
from cortex.indexer.run import index
from cortex.indexer.store import manifest as manifests
from cortex.publish.builder import Builder
from cortex.settings.config import Config, Server
from tests.indexer.indexed_tree import chunks, contents, read, shard_files, written


@pytest.fixture
def project(tmp_path):
    root = (tmp_path / "project").resolve()
    (root / "pkg").mkdir(parents=True)
    for name in ("one", "two", "three"):
        (root / "pkg" / f"{name}.py").write_text(
            f'def {name}():\n    """What {name} does."""\n    return 1\n'
        )
    return Config(root=root)


def files_of(config):
    return [*written(config.chunks_dir), *written(config.graph_dir)]


def unpacked(config):
    """Make the index that of a version before packing: plain files, and a manifest with them."""
    manifest = manifests.load(config.manifest)
    for path in files_of(config):
        plain = path.with_name(path.name.removesuffix(".zst"))
        plain.write_bytes(read(path))
        path.unlink()
        if path.name in manifest.chunk_files:
            del manifest.chunk_files[path.name]
            info = plain.stat()
            manifest.chunk_files[plain.name] = info.st_size, info.st_mtime_ns
    manifests.save(config.manifest, manifest)


def test_files_are_packed_in_the_cache_and_readable_in_a_folder_that_is_named(project):
    index(project)
    packed = files_of(project)
    assert len(packed) == 4
    assert all(path.name.endswith(PACKED) for path in packed)
    assert sum(path.stat().st_size for path in packed) < 0.6 * sum(len(read(path)) for path in packed)
    configured = dataclasses.replace(project, server=Server(chunks_dir="chunks"))
    index(configured)
    plain = written(configured.chunks_dir)
    assert all(path.name.endswith(PLAIN) for path in plain)
    assert {path.name: orjson.loads(path.read_bytes())["chunks"] for path in plain}.keys() == shard_files(
        project
    ).keys()
    readable = chunks(configured)
    assert all(chunk.pop("embedding") for chunk in readable.values())
    assert readable == chunks(project)  # the publisher computes an omitted vector


def test_what_an_earlier_version_left_plain_is_served_and_packed_by_the_next_run(project):
    index(project)
    expected, before = contents(project), shard_files(project)
    unpacked(project)
    assert all(path.name.endswith(PLAIN) for path in files_of(project))
    builder = Builder(project)
    try:
        generation = builder.refresh()
        assert {name[name.index(".") :] for name in generation.files} == {PLAIN}
        rows = generation.rows
        index(project)
        assert contents(project) == expected
        times = [
            {
                chunk["id"]: (chunk["created_at"], chunk["updated_at"])
                for data in files.values()
                for chunk in data["chunks"]
            }
            for files in (before, shard_files(project))
        ]
        assert times[0] == times[1]  # nothing was built again
        generation = builder.refresh()
        assert {name[name.index(".") :] for name in generation.files} == {PACKED}
        assert (generation.rows, generation.warnings) == (rows, ())
    finally:
        builder.close()


def test_a_packed_file_in_the_projects_own_folder_is_ignored(project):
    index(project)
    folder = project.root / ".cortex" / "chunks"
    folder.mkdir(parents=True)
    source = next(project.chunks_dir.glob("code-source*"))
    (folder / source.name).write_bytes(source.read_bytes())
    builder = Builder(project)
    try:
        generation = builder.refresh()
        assert not [name for name in generation.files if "/" in name]
        assert generation.warnings == ()
    finally:
        builder.close()
