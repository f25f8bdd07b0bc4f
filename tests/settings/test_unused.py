"""Settings without effect are named."""

import dataclasses

import pytest

from cortex.settings import config, layers
from cortex.settings.config import Config
from cortex.settings.table import SECTIONS, Embedding
from cortex.settings.unused import say_unused
from cortex.system.errors import Misconfigured


def write(root, name, text):
    (root / ".cortex").mkdir(exist_ok=True)
    (root / ".cortex" / name).write_text(text)


@pytest.mark.parametrize("name", ["config.yaml", "config.json", "config.toml"])
@pytest.mark.parametrize("has_usual", [True, False])
def test_a_file_of_settings_that_is_not_read_is_named(tmp_path, name, has_usual):
    write(tmp_path, name, "server:\n  debounce_ms: 100\n")
    if has_usual:
        write(tmp_path, "config.yml", "server:\n  debounce_ms: 200\n")
    loaded = config.load(tmp_path)
    assert f"{tmp_path / '.cortex' / name} is ignored" in say_unused(loaded)
    assert loaded.server.debounce_ms != 100
    assert ("name it config.yml" in say_unused(loaded)) is not has_usual


def test_the_users_own_file_under_another_name_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    (tmp_path / "own" / "cortex").mkdir(parents=True)
    (tmp_path / "own" / "cortex" / "config.yaml").write_text("server: {}\n")
    assert f"{tmp_path / 'own' / 'cortex' / 'config.yaml'} is ignored" in say_unused(Config(tmp_path))


@pytest.mark.parametrize(
    ("embedding", "named"),
    [
        (Embedding(model="microsoft/codebert-base"), "embedding.model ('microsoft/codebert-base') has"),
        (
            Embedding(device="cuda:0", endpoint="http://localhost:1"),
            "('http://localhost:1'), embedding.device",
        ),
        (Embedding("http", endpoint="http://localhost:1", model_path="m"), "embedding.model_path ('m') has"),
        (Embedding("onnx", endpoint="http://localhost:1", model_path="m"), "('http://localhost:1') has"),
    ],
)
def test_a_setting_of_another_embedder_is_named(tmp_path, embedding, named):
    sentence = say_unused(Config(tmp_path, embedding=embedding))
    assert named in sentence
    assert f"embedding.provider is {embedding.provider}" in sentence


@pytest.mark.parametrize(
    "embedding",
    [
        Embedding(),
        Embedding("http", endpoint="http://localhost:1", model="m"),
        Embedding("onnx", model_path="m", model="name", device="cuda:0"),
    ],
)
def test_settings_with_an_effect_are_not_named(tmp_path, embedding):
    assert say_unused(Config(tmp_path, embedding=embedding)) == ""


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("watcher:\n  debounce_ms: 250\n", "indexing.debounce_ms"),
        ("languages: [js, ts]\n", "indexing.languages"),
        ("repo_globs: ['~/code/**']\n", "projects.yml"),
        ("index_root: ~/.cache/mcpce\n", "CORTEX_HOME"),
        ("chunks_dir: .cortex/chunks\n", "server.chunks_dir"),
        ("embedding:\n  base_url: http://localhost:8121\n", "embedding.endpoint"),
        ("server:\n  index_root: x\n", "CORTEX_HOME"),
    ],
)
def test_a_setting_of_another_context_engine_is_refused_with_its_place_here(tmp_path, text, place):
    write(tmp_path, "config.yml", text)
    with pytest.raises(Misconfigured, match=place):
        config.load(tmp_path)


def test_a_variable_of_a_setting_that_moved_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CORTEX_WATCHER_DEBOUNCE_MS", "250")
    sentence = say_unused(config.load(tmp_path))
    assert "CORTEX_WATCHER_DEBOUNCE_MS has no effect" in sentence
    assert "indexing.debounce_ms" in sentence


def test_every_setting_that_moved_is_none_of_ours():
    for name in layers.MOVED:
        section, _, key = name.partition(".")
        assert section not in SECTIONS or key not in {
            field.name for field in dataclasses.fields(SECTIONS[section])
        }
