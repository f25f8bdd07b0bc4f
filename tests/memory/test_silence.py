"""Memory is silent on subjects of no note, and says so of unknown names."""

from __future__ import annotations

import pytest

from cortex.embedders.static import open_static
from cortex.memory.find.recall import Memory
from cortex.memory.operations import carry_out
from tests.memory.small_memory import open_small

BREAD = "How do I bake sourdough bread?"
NO_BREAD = (
    "Nothing is noted about this. No note has “bake”, “sourdough”, “bread”. Try other words, or the code."
)


@pytest.fixture
def library(data):
    with open_small(data) as opened:
        yield opened


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "Which Terraform module creates the network?",
        "How do I bake sourdough bread?",
    ],
)
def test_nothing_is_answered_on_a_subject_that_nobody_noted(library, question):
    assert library.recall(question) == []
    assert library.search(question) == []


def test_a_title_with_a_colon_is_no_speech_of_somebody(library):
    library.store("orders of lamps: Ida approves each one")
    assert library.recall("Which pilot landed the plane?") == []


@pytest.mark.parametrize(
    "question", ["staging host", "where are pictures made smaller", "when does the backup run"]
)
def test_what_was_noted_is_found_in_other_words(library, question):
    assert library.recall(question)


def test_the_floor_follows_the_embedder(tmp_path):
    class Shifted:
        """An embedder whose unrelated texts have high cosines."""

        def __init__(self):
            self.inner, self.identity = open_static(), "shifted"
            self.dimensions = self.inner.dimensions

        def embed(self, texts, mode):
            vectors = self.inner.embed(texts, mode).astype("float32")
            vectors[:, 0] += 1.0
            return vectors / (vectors**2).sum(axis=1, keepdims=True) ** 0.5

    plain = Memory(tmp_path / "plain", open_static())
    shifted = Memory(tmp_path / "shifted", Shifted())
    assert shifted.vectors.related(200, 0.5) > plain.vectors.related(200, 0.5) + 0.2
    plain.close()
    shifted.close()


@pytest.mark.parametrize(
    ("operation", "arguments", "sentence"),
    [
        ("recall", {"query": "staging host", "kind": "descision"}, "No note has the kind 'descision' (did you mean 'decision'?)."),
        ("timeline", {"kind": "gaol"}, "No note has the kind 'gaol' (did you mean 'goal'?)."),
        ("observation.search", {"obs_type": "bugfx"}, "No note has the type 'bugfx' (did you mean 'bugfix'?)."),
        ("recall", {"query": "staging host", "project": "heer"}, "Memory has no project 'heer' (did you mean 'here'?)."),
    ],
)  # fmt: skip
def test_an_unknown_name_in_a_filter_is_a_sentence_with_the_nearest(library, operation, arguments, sentence):
    assert carry_out(library, operation, arguments, project="here")["message"] == sentence


@pytest.mark.parametrize(
    ("operation", "arguments", "sentence"),
    [
        ("recall", {"query": "staging", "kind": "goal"}, "Nothing is noted about this with kind: ask without."),
        ("recall", {"query": BREAD}, NO_BREAD),
        ("search", {"query": BREAD}, NO_BREAD),
        ("timeline", {"query": BREAD}, NO_BREAD),
        ("timeline", {"until": "2001-01-01"}, "Nothing is noted with until: ask without."),
        ("observation.search", {"query": BREAD}, NO_BREAD),
        ("observation.find_by_file", {"files": "src/none.py"}, "Nothing is noted with files: ask without."),
        ("observation.timeline", {"query": BREAD}, NO_BREAD),
        ("candidates", {}, "No sentence of a person waits. What a person says is noted by cortex_store."),
    ],
)  # fmt: skip
def test_an_empty_answer_says_what_to_try_next(library, operation, arguments, sentence):
    assert carry_out(library, operation, arguments, project="here")["message"] == sentence
