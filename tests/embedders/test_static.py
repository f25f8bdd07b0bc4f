"""The static embedder: its vectors, and the match of its files with model.json."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.embedders import open_embedder
from cortex.embedders.shipped import MODEL_DIR
from cortex.embedders.static import open_static
from cortex.settings.config import Config
from cortex.settings.table import Embedding
from cortex.system.errors import Damaged, Misconfigured

WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def test_the_identity_is_the_hash_of_the_model_files():
    digest = hashlib.sha256()
    for name in ("E8.npy", "scale.npy", "vocab.json"):
        digest.update(hashlib.sha256((MODEL_DIR / name).read_bytes()).digest())
    assert open_static().identity == f"cortex-static-384@{digest.hexdigest()[:12]}"


def test_the_table_stays_mapped():
    assert isinstance(open_static()._table.base, np.memmap)


def test_the_vector_is_the_formula_of_the_model_card():
    embedder = open_static()
    vocabulary = orjson.loads((MODEL_DIR / "vocab.json").read_bytes())
    rows = {word: row for row, word in enumerate(vocabulary)}
    table = np.load(MODEL_DIR / "E8.npy")
    scale = np.load(MODEL_DIR / "scale.npy").astype(np.float64)
    text = "def getHTTPResponse(url): return url.parse(url)  # 42"
    counts: dict[int, int] = {}
    for word in WORDS.findall(text):
        counts[rows[word.lower()]] = counts.get(rows[word.lower()], 0) + 1
    expected = sum(np.log1p(tf) * scale[row] * table[row].astype(np.float64) for row, tf in counts.items())
    expected /= np.linalg.norm(expected)
    np.testing.assert_allclose(embedder.embed([text])[0], expected, atol=1e-5)


def test_the_prefix_that_the_model_was_trained_for_is_a_model_of_its_own():
    texts = ["parse the header of a request", "class LedgerStore: def transfer(self): ..."]
    full, short = (
        open_static(),
        open_embedder(Config(root=Path("/nowhere"), embedding=Embedding(dimensions=256))),
    )
    assert short.identity != full.identity
    cut = full.embed(texts)[:, :256]
    np.testing.assert_allclose(
        short.embed(texts), cut / np.linalg.norm(cut, axis=1, keepdims=True), atol=1e-5
    )


def test_unknown_words_are_cut_into_known_ones():
    embedder = open_static()
    assert "zzqparsezzq" not in embedder._rows
    assert embedder._rows["parse"] in embedder.tokens("zzqparsezzq")


@given(st.lists(st.text(max_size=80), max_size=12))
def test_rows_have_unit_length_or_are_zero_whatever_the_batch(texts):
    embedder = open_static()
    vectors = embedder.embed(texts)
    assert vectors.shape == (len(texts), 384)
    assert vectors.dtype == np.float32
    for text, vector in zip(texts, vectors, strict=True):
        length = float(np.linalg.norm(vector))
        assert abs(length - 1) < 1e-4 if embedder.tokens(text) else length == 0
        assert np.array_equal(embedder.embed([text])[0], vector)


@given(st.text(max_size=80))
def test_tokens_are_those_of_the_sub_words_in_order_known_or_not(text):
    embedder = open_static()
    words = re.findall(r"[A-Za-z]+", text)
    expected = [
        row for word in words for subword in WORDS.findall(word) for row in embedder._pieces(subword.lower())
    ]
    embedder._cache.clear()
    assert embedder.tokens(text) == expected  # fills the cache
    assert embedder.tokens(text) == expected  # reads from the cache


def test_near_words_are_nearer_than_far_ones():
    query, near, far = open_static().embed(["parse json", "decode a JSON document", "open a network socket"])
    assert query @ near > query @ far


def test_other_dimensions_are_refused_naming_both(tmp_path):
    with pytest.raises(Misconfigured, match=r"384.*300"):
        open_embedder(Config(root=tmp_path, embedding=Embedding(dimensions=300)))


def test_a_damaged_model_is_told(tmp_path):
    with pytest.raises(Damaged, match="install Cortex again"):
        open_static(tmp_path)
    shutil.copytree(MODEL_DIR, tmp_path / "model")
    (tmp_path / "model" / "E8.npy").write_bytes(b"")
    with pytest.raises(Damaged, match="install Cortex again"):
        open_static(tmp_path / "model")
