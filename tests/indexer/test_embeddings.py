"""The cache of embeddings: its content, its bound, and its harmless faults."""

from __future__ import annotations

import base64
import os

import orjson
import pytest

from cortex.indexer.run import index
from cortex.indexer.store.embeddings import EmbeddingCache, cache_folder
from cortex.settings.config import Config
from cortex.settings.table import Server


def test_a_vector_is_found_again_by_its_text_and_model(tmp_path):
    cache = EmbeddingCache(str(tmp_path / "c"), "model@1")
    assert cache.get(["a"]) == {}
    assert not (tmp_path / "c").exists()
    cache.put({"a": b"12", "b": b"34"})
    assert cache.get(["a", "c"]) == {"a": b"12"}
    assert EmbeddingCache(str(tmp_path / "c"), "model@1").get(["a", "b"]) == {"a": b"12", "b": b"34"}
    assert EmbeddingCache(str(tmp_path / "c"), "model@2").get(["a"]) == {}
    assert os.stat(tmp_path / "c").st_mode & 0o777 == 0o700


def test_more_keys_than_one_question_takes(tmp_path):
    cache = EmbeddingCache(str(tmp_path), "m")
    cache.put({str(n): b"%d" % n for n in range(1300)})
    assert cache.get(map(str, range(1300))) == {str(n): b"%d" % n for n in range(1300)}


def test_the_bound_drops_what_was_used_longest_ago(tmp_path):
    cache = EmbeddingCache(str(tmp_path), "m", bytes_max=100 * (64 + 16))
    for start in range(0, 300, 50):
        cache.put({str(n): bytes(16) for n in range(start, start + 50)})
    remaining = {int(text) for text in cache.get(map(str, range(300)))}
    assert len(remaining) <= 100
    assert set(range(250, 300)) <= remaining


def test_what_is_used_again_stays(tmp_path):
    cache = EmbeddingCache(str(tmp_path), "m", bytes_max=100 * (64 + 16))
    for start in range(0, 300, 50):
        cache.put({"often": bytes(16)} | {str(n): bytes(16) for n in range(start, start + 49)})
    assert cache.get(["often"]) == {"often": bytes(16)}


@pytest.mark.parametrize("raw", [b"no database", b"SQLite format 3\0" + bytes(200)])
def test_a_damaged_file_is_as_good_as_none_and_is_made_anew(tmp_path, raw):
    (tmp_path / "m.sqlite").write_bytes(raw)
    cache = EmbeddingCache(str(tmp_path), "m")
    assert cache.get(["a"]) == {}
    cache.put({"a": b"1"})
    reopened = EmbeddingCache(str(tmp_path), "m")
    reopened.put({"a": b"1"})
    assert reopened.get(["a"]) == {"a": b"1"}


def test_a_folder_that_cannot_be_made_is_as_good_as_none(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (str(tmp_path / "file"), ""):
        cache = EmbeddingCache(folder, "m")
        cache.put({"a": b"1"})
        assert cache.get(["a"]) == {}


def test_the_cache_folder_is_in_the_users_cache(monkeypatch):
    monkeypatch.setenv("CORTEX_HOME", "/somewhere")
    assert cache_folder() == "/somewhere/embeddings"


def test_vectors_from_a_projects_own_folder_do_not_enter_the_shared_cache(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text("def parse(text):\n    return text\n")
    config = Config(root=tmp_path, server=Server(chunks_dir=".cortex/chunks"))
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "theirs"))
    index(config)
    for path in (tmp_path / ".cortex" / "chunks").glob("*.json"):
        data = orjson.loads(path.read_bytes())
        for chunk in data["chunks"]:
            chunk["embedding"] = base64.b64encode(bytes(2 * 384)).decode()
        path.write_bytes(orjson.dumps(data))
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "mine"))
    (tmp_path / "a.py").write_text("def other(text):\n    return text\n")
    index(config)
    assert not (tmp_path / "mine" / "embeddings").exists()
