"""The embedder of notes: a small BERT in numpy."""

from __future__ import annotations

import hashlib
import shutil

import numpy as np
import pytest

from cortex.embedders import sentences
from cortex.embedders.bert import WordPieces
from cortex.embedders.sentences import MODEL_DIR, TOKENS, Sentences
from cortex.embedders.static import open_static
from cortex.system.errors import Damaged

#: questions, each with its answer and a note that shares a word with it
IN_OTHER_WORDS = (
    (
        "which database holds the accounts?",
        "Users are stored in Postgres",
        "Which accounts of Twitter are ours is in the wiki",
    ),
    (
        "who do I call at night?",
        "Dr. Silva is on duty from 22:00 to 6:00",
        "The call of the API is idempotent",
    ),
)


@pytest.fixture(scope="module")
def model():
    return Sentences()


def test_the_identity_is_the_hash_of_the_model_files(model):
    digest = hashlib.sha256()
    for name in ("words8.npy", "weights.npz", "vocab.json"):
        digest.update((MODEL_DIR / name).read_bytes())
    assert model.identity == f"cortex-sentences@{digest.hexdigest()[:12]}"


@pytest.mark.parametrize(("question", "answer", "other"), IN_OTHER_WORDS)
def test_a_sentence_is_near_to_a_question_in_other_words(model, question, answer, other):
    query, *notes = model.embed([question, answer, other])
    assert query @ notes[0] > query @ notes[1]
    query, *notes = open_static().embed([question, answer, other])
    assert query @ notes[0] < query @ notes[1]  # why notes have another model than code


def test_a_vector_does_not_depend_on_its_batch(model):
    texts = [f"note {'of the build ' * at}number {at}" for at in range(19)]
    together, alone = model.embed(texts), np.concatenate([model.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


def test_a_long_text_is_read_to_its_limit(model):
    start = "word " * TOKENS
    first, second = model.embed([start + "postgres", start + "redis"])
    np.testing.assert_allclose(first, second, atol=1e-5)
    assert not model.embed(["  \n"]).any()


def test_an_unused_model_drops_its_weights_and_opens_them_again(model, monkeypatch):
    before = model.embed(["a note"])
    model.rest()
    assert model.is_open
    monkeypatch.setattr(sentences, "REST_S", -1.0)
    model.rest()
    assert not model.is_open
    np.testing.assert_array_equal(model.embed(["a note"]), before)


def test_a_damaged_model_is_a_clear_error(tmp_path):
    with pytest.raises(Damaged, match="install Cortex again"):
        Sentences(tmp_path)
    shutil.copy(MODEL_DIR / "model.json", tmp_path)
    with pytest.raises(Damaged, match="install Cortex again"):
        Sentences(tmp_path).embed(["text"])


def test_words_are_cut_into_the_longest_pieces():
    pieces = WordPieces(["[UNK]", "un", "##like", "##ly", "##l", "na", "##ive", "-", "$"])
    assert pieces.read("Unlikely naïve-UNLIKELY $") == [1, 2, 3, 5, 6, 7, 1, 2, 3, 8]
    assert pieces.read("xyz " + "un" * 60) == [0, 0]
    assert pieces.read("") == []


@pytest.mark.parametrize(
    "text", ["fact: 会议在星期一", "Решение: храним в памяти", "데이터베이스", "🎉🚀", "decision: 用蓝色"]
)
def test_a_text_in_letters_that_the_model_does_not_know_has_no_meaning(model, text):
    assert not model.embed([text]).any()  # else it were equal to every other one


def test_an_emoji_changes_no_word(model):
    plain, with_emoji = model.embed(["we deployed it", "we deployed🎉 it 🚀"])
    np.testing.assert_allclose(plain, with_emoji, atol=1e-5)


@pytest.mark.parametrize("name", ["weights.npz", "words8.npy", "vocab.json"])
@pytest.mark.parametrize("share", [0, 0.5, 0.999])
def test_a_cut_file_of_the_model_is_a_clear_error(tmp_path, name, share):
    shutil.copytree(MODEL_DIR, tmp_path / "model")
    path = tmp_path / "model" / name
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(Damaged, match="install Cortex again"):
        Sentences(tmp_path / "model").embed(["text"])


def test_a_vocabulary_without_the_marks_of_a_text_is_a_clear_error(tmp_path):
    shutil.copytree(MODEL_DIR, tmp_path / "model")
    (tmp_path / "model" / "vocab.json").write_text("[]")
    with pytest.raises(Damaged, match="install Cortex again"):
        Sentences(tmp_path / "model").embed(["text"])


def test_a_text_is_cut_into_no_more_pieces_than_are_read():
    pieces = WordPieces(["[UNK]", "a"])
    assert pieces.read(" ".join("a" * length for length in range(1, 90)), 5) == [1, 0, 0, 0, 0]
    assert pieces._cached.cache_info().misses == 5
