"""The ONNX embedder: its vectors, the settings of its folder, and its error messages."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

from cortex.embedders import check_embedder, copies_max, model_folder, onnx, open_embedder
from cortex.indexer.run import index
from cortex.indexer.store.limits import Limits
from cortex.settings.config import Config
from cortex.settings.table import Embedding
from cortex.system.errors import Misconfigured
from tests.indexer.indexed_tree import shard_files


@pytest.fixture
def configured(tmp_path, models):
    """Return a configuration of a model that is written with these settings."""

    def make(embedding=None, **files):
        folder = models.write(tmp_path / "model", **files)
        fields = {"provider": "onnx", "model_path": str(folder), "dimensions": models.dimensions}
        return Config(root=tmp_path, embedding=Embedding(**fields | (embedding or {})))

    return make


def rows(models, *words):
    """Return the model's row of each of its words, and of the two tokens that it adds."""
    word_rows = {word: at for at, word in enumerate(("[PAD]", "[UNK]", "[CLS]", "[SEP]", *models.words))}
    return np.tanh(models.table()[[word_rows[word] for word in ("[CLS]", *words, "[SEP]")]])


def unit(vector):
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize(
    ("pooling", "pooled"),
    [
        ("mean_tokens", lambda vectors: vectors.mean(axis=0)),
        ("cls_token", lambda vectors: vectors[0]),
        ("max_tokens", lambda vectors: vectors.max(axis=0)),
    ],
)
def test_each_pooling_sees_a_texts_own_tokens_and_not_what_fills_the_batch(
    configured, models, pooling, pooled
):
    embedder = open_embedder(configured(pooling=pooling))
    short, _long = embedder.embed(["json socket", " ".join(models.words)])
    np.testing.assert_allclose(short, unit(pooled(rows(models, "json", "socket"))), atol=1e-6)


def test_a_text_ends_where_the_model_does(configured, models):
    embedder = open_embedder(configured(tokens_max=8))
    (vector,) = embedder.embed([" ".join(models.words)])
    np.testing.assert_allclose(vector, unit(rows(models, *models.words[:6]).mean(axis=0)), atol=1e-6)


def test_a_text_is_worth_the_models_own_tokens_however_many_it_sees(configured, models):
    embedder = open_embedder(configured(tokens_max=8))
    assert embedder.count_tokens(" ".join(models.words) + "\n  json, tcp\n") == len(models.words) + 3


def test_prompts_come_from_the_model_folder(configured, models):
    prompts = {"prompts": {"query": "parse ", "document": "salt "}}
    embedder = open_embedder(configured(config_sentence_transformers=prompts))
    for mode, word in (("query", "parse"), ("passage", "salt")):
        (vector,) = embedder.embed(["json"], mode)
        np.testing.assert_allclose(vector, unit(rows(models, word, "json").mean(axis=0)), atol=1e-6)


def test_a_model_that_pools_by_itself_is_believed(configured, models, monkeypatch):
    helper = pytest.importorskip("onnx")
    model = helper.load_from_string(models.network())
    axes = helper.numpy_helper.from_array(np.array([1]), "axes")
    model.graph.initializer.append(axes)
    node = helper.helper.make_node("ReduceMax", ["found"], ["sentence_embedding"], axes=[1], keepdims=0)
    model.graph.node.append(node)
    shape = ["texts", models.dimensions]
    model.graph.output.append(helper.helper.make_tensor_value_info("sentence_embedding", 1, shape))
    embedder = open_embedder(configured(model=model.SerializeToString()))
    expected = np.arctanh(rows(models, "json")).max(axis=0)
    np.testing.assert_allclose(embedder.embed(["json"])[0], unit(expected), atol=1e-6)


def test_long_and_short_texts_do_not_go_through_the_model_together(configured, models):
    embedder = open_embedder(configured(tokens_max=8192))
    sizes = []
    run = embedder._run
    embedder._run = lambda batch: sizes.append([len(encoding.ids) for encoding in batch]) or run(batch)
    long = " ".join(["json"] * 5000)
    texts = ["json"] * 3000
    texts[5] = texts[2000] = long
    vectors = embedder.embed(texts)
    assert all(len(batch) * max(batch) <= max(onnx.BATCH_TOKENS["cpu"], *batch) for batch in sizes)
    assert sum(len(batch) * max(batch) for batch in sizes) < 2.5 * sum(map(sum, sizes))
    np.testing.assert_allclose(vectors[2000], unit(vectors[2000]), atol=1e-6)
    np.testing.assert_allclose(vectors[[0, 4, 6, 2999]], np.repeat(vectors[:1], 4, axis=0), atol=1e-6)
    assert not np.allclose(vectors[5], vectors[0], atol=1e-3)


def test_the_identity_is_the_folders_name_and_its_content(configured, tmp_path, models):
    config = configured()
    first = open_embedder(config).identity
    assert first.startswith("model@")
    assert open_embedder(config).identity == first
    (tmp_path / "model" / "README.md").write_text("about")
    assert open_embedder(config).identity == first
    settings = tmp_path / "model" / "sentence_bert_config.json"
    settings.write_text('{"max_seq_length": 32}')
    other = open_embedder(config).identity
    assert other != first
    settings.unlink()
    assert open_embedder(config).identity not in (first, other)


def test_files_of_the_folder_may_be_links_of_the_user(configured, tmp_path):
    config = configured()
    model = tmp_path / "model" / "model.onnx"
    model.rename(tmp_path / "blob")
    model.symlink_to(tmp_path / "blob")
    assert open_embedder(config).dimensions == config.embedding.dimensions


def test_a_model_in_a_folder_of_its_own_is_found(configured, tmp_path):
    config = configured()
    (tmp_path / "model" / "onnx").mkdir()
    (tmp_path / "model" / "model.onnx").rename(tmp_path / "model" / "onnx" / "model.onnx")
    check_embedder(config)
    assert open_embedder(config).dimensions == config.embedding.dimensions


@pytest.mark.parametrize("pool_files", [200, 1], ids=["in one process", "in several"])
def test_a_project_is_indexed_with_its_vectors(configured, tmp_path, models, pool_files):
    config = configured()
    for number in range(4):
        (tmp_path / f"{number}.md").write_text(f"# Socket {number}\n\nHash the password.\n")
    index(config, limits=Limits(pool_files=pool_files, shard_files=1, children=2))
    written = list(shard_files(config).values())
    assert {chunk_file["_metadata"]["model"] for chunk_file in written} == {open_embedder(config).identity}
    assert {chunk_file["_metadata"]["dimensions"] for chunk_file in written} == {models.dimensions}
    assert all(chunk["embedding"] for chunk_file in written for chunk in chunk_file["chunks"])


def damage(folder, name, raw):
    path = folder / name
    path.unlink(missing_ok=True)
    if raw is not None:
        path.write_bytes(raw)


@pytest.mark.parametrize(
    ("name", "raw", "sentence"),
    [
        ("model.onnx", None, "has no model.onnx"),
        ("tokenizer.json", None, "has no tokenizer.json"),
        ("modules.json", b"[{", "modules.json is no JSON"),
        ("modules.json", b'["Dense"]', "modules.json is no list of modules"),
        (
            "modules.json",
            b'[{"type": "models.Dense", "path": "2"}]',
            "a module 'Dense', which is not carried out",
        ),
        ("sentence_bert_config.json", b"7", "must hold settings, not a int"),
        (
            "1_Pooling/config.json",
            b'{"pooling_mode_lasttoken": true}',
            "asks for the pooling pooling_mode_lasttoken",
        ),
        (
            "1_Pooling/config.json",
            b'{"pooling_mode_cls_token": true, "pooling_mode_max_tokens": true}',
            "asks for the pooling pooling_mode_cls_token and pooling_mode_max_tokens; one of mean, cls, max",
        ),
    ],
)
def test_what_is_wrong_with_the_folder_is_one_sentence_before_the_model_is_loaded(
    configured, tmp_path, name, raw, sentence
):
    config = configured()
    damage(tmp_path / "model", name, raw)
    for ask in (check_embedder, open_embedder):
        with pytest.raises(Misconfigured, match=sentence) as caught:
            ask(config)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "raw", "sentence"),
    [
        ("model.onnx", b"no model", "model cannot be loaded"),
        ("model.onnx", b"", "model cannot be loaded"),
        ("tokenizer.json", b"{}", "tokenizer.json cannot be read"),
        ("tokenizer.json", b"\xff", "tokenizer.json cannot be read"),
    ],
)
def test_a_damaged_model_is_one_sentence(configured, tmp_path, name, raw, sentence):
    config = configured()
    damage(tmp_path / "model", name, raw)
    with pytest.raises(Misconfigured, match=sentence) as caught:
        open_embedder(config)
    assert "\n" not in str(caught.value)


def test_a_model_that_wants_something_else_is_one_sentence(configured, models):
    strange = models.network(inputs=("input_ids", "pixel_values"))
    with pytest.raises(Misconfigured, match="wants 'pixel_values', which is not one of input_ids"):
        open_embedder(configured(model=strange))


def test_a_tokenizer_of_another_model_is_one_sentence(configured, tmp_path, models):
    tokenizer = (configured(), tmp_path / "model" / "tokenizer.json")[1]
    tokenizer.write_text(tokenizer.read_text().replace('"json":4', '"json":4000'))
    embedder = open_embedder(Config(root=tmp_path, embedding=Embedding(
        provider="onnx", model_path="model", dimensions=models.dimensions)))  # fmt: skip
    with pytest.raises(Misconfigured, match=r"The model in .* fails"):
        embedder.embed(["json"])


def test_a_file_of_settings_that_is_too_large_is_not_read(configured, tmp_path, monkeypatch):
    config = configured()
    monkeypatch.setattr(model_folder, "CONFIG_BYTES_MAX", 16)
    with pytest.raises(Misconfigured, match="has more than"):
        check_embedder(config)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"model_path": ""}, "embedding.model_path is not set"),
        ({"model_path": "nowhere"}, "nowhere, which is no folder"),
        ({"device": "gpu"}, "embedding.device is 'gpu'; it must be cpu, or cuda:0"),
        ({"device": "cuda:"}, "embedding.device is 'cuda:'"),
        ({"dimensions": 384}, "vectors of 24 dimensions, but embedding.dimensions is 384; set it to 24"),
    ],
)
def test_a_wrong_setting_is_one_sentence_before_the_model_is_loaded(configured, fields, sentence):
    config = configured(fields)
    for ask in (check_embedder, open_embedder):
        with pytest.raises(Misconfigured, match=sentence) as caught:
            ask(config)
        assert "\n" not in str(caught.value)


@pytest.mark.skipif(
    importlib.util.find_spec("onnxruntime") is None
    or "CUDAExecutionProvider" in __import__("onnxruntime").get_available_providers(),
    reason="this onnxruntime can use a graphics card",
)
def test_a_device_that_is_not_there_names_what_there_is(configured):
    config = configured({"device": "cuda:0"})
    for ask in (check_embedder, open_embedder):
        with pytest.raises(Misconfigured, match="cuda:0, but onnxruntime here can use cpu only; install"):
            ask(config)


def test_without_the_libraries_a_sentence_says_what_to_install(configured, monkeypatch):
    config = configured()
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "tokenizers" else find_spec(name)
    )
    for ask in (check_embedder, open_embedder):
        with pytest.raises(Misconfigured, match=r"pip install .*\[onnx\]'"):
            ask(config)


def test_a_process_that_loaded_usearch_before_is_told_and_does_not_crash(configured):
    folder = configured().embedding.model_path
    code = f"""
import usearch.index
from pathlib import Path
from cortex.embedders import open_embedder
from cortex.settings.config import Config
from cortex.settings.table import Embedding
open_embedder(Config(root=Path("/"), embedding=Embedding(provider="onnx", model_path={folder!r}, dimensions=24)))
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "has loaded usearch, after which onnxruntime crashes" in done.stderr


def test_copies_of_a_model_are_few_enough_for_the_machines_memory(configured, tmp_path):
    config = configured()
    assert copies_max(config) > os.cpu_count()
    os.truncate(tmp_path / "model" / "model.onnx", onnx.COPIES_BYTES // 4)
    assert copies_max(config) == 1
    assert copies_max(Config(root=tmp_path)) == 0


def test_the_path_is_relative_to_the_project_or_the_home_folder(configured, tmp_path, monkeypatch, models):
    configured()
    monkeypatch.setenv("HOME", str(tmp_path))
    for model_path in ("model", "~/model", "./there/../model"):
        fields = {"provider": "onnx", "model_path": model_path, "dimensions": models.dimensions}
        check_embedder(Config(root=tmp_path, embedding=Embedding(**fields)))
