"""The promises of `cortex.embedders.protocol`, checked for each embedder of Cortex.

An embedder of any installed package goes through the same tests by

    pytest tests/embedders/test_contract.py --embedder package.module:Maker

where Maker(config) creates the embedder.
"""

from __future__ import annotations

import contextlib
import importlib
import socket

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cortex.embedders import local as local_embedder
from cortex.embedders import open_embedder
from cortex.embedders.static import open_static
from cortex.front.http.embedding import serving
from cortex.settings.config import Config
from cortex.settings.table import Embedding
from tests.drawn_examples import scaled

#: questions, each with its answer in PASSAGES
QUESTIONS = ("parse json", "open a network socket", "hash a password")
PASSAGES = (
    "def decode(document): '''Decode a JSON document.'''",
    "def connect(host, port): '''Connect a TCP socket to a host.'''",
    "def digest(password, salt): '''The salted hash of a password.'''",
)
TEXTS = st.lists(st.text(max_size=60), max_size=6)


@contextlib.contextmanager
def static(root, _fixture, **fields):
    yield open_embedder(Config(root=root, embedding=Embedding(**fields)))


@contextlib.contextmanager
def onnx(root, fixture):
    """Return an ONNX model in this process, written by the tests."""
    models = fixture("models")
    folder = models.write(root / "model")
    fields = {"provider": "onnx", "model_path": str(folder), "dimensions": models.dimensions}
    yield open_embedder(Config(root=root, embedding=Embedding(**fields)))


@contextlib.contextmanager
def served(root, _fixture):
    """Return the HTTP embedder over a Cortex server in this process."""
    with serving(open_static(), "127.0.0.1", 0) as port:
        endpoint = f"http://127.0.0.1:{port}/embed"
        yield open_embedder(Config(root=root, embedding=Embedding(provider="http", endpoint=endpoint)))


@contextlib.contextmanager
def local(root, _fixture):
    """Return the HTTP embedder over a server that it starts itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}/embed"
    opened = open_embedder(Config(root=root, embedding=Embedding(provider="local", endpoint=endpoint)))
    try:
        yield opened
    finally:
        server = local_embedder._CHILDREN.pop()
        server.stdin.close()
        server.wait(30)


def other(maker):
    module, _, name = maker.partition(":")
    return lambda root, _fixture: contextlib.nullcontext(
        getattr(importlib.import_module(module), name)(Config(root=root))
    )


OURS = {
    "static": static,
    "sentences": lambda root, fixture: static(root, fixture, provider="sentences"),
    "static:256": lambda root, fixture: static(root, fixture, dimensions=256),
    "onnx": onnx,
    "http": served,
    "local": local,
}


def pytest_generate_tests(metafunc):
    if "embedder" in metafunc.fixturenames:
        option = metafunc.config.getoption("--embedder")
        makers = {option: other(option)} if option else OURS
        marked = [
            pytest.param(maker, id=name, marks=[pytest.mark.e2e] if name == "local" else [])
            for name, maker in makers.items()
        ]
        metafunc.parametrize("embedder", marked, indirect=True, scope="module")


@pytest.fixture(scope="module")
def embedder(request, tmp_path_factory):
    with request.param(tmp_path_factory.mktemp("embedder"), request.getfixturevalue) as opened:
        yield opened


#: the embedder has module scope, so it is the same for every example
ONCE = settings(
    max_examples=scaled(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def test_its_identity_is_a_name_and_a_hash(embedder):
    name, at, digest = embedder.identity.partition("@")
    assert name
    assert (at, bool(digest)) == ("@", True)
    assert "@" not in digest


@ONCE
@given(texts=TEXTS)
def test_each_text_has_a_row_of_unit_length_or_zero(embedder, texts):
    vectors = embedder.embed(texts, "passage")
    assert (vectors.shape, vectors.dtype) == ((len(texts), embedder.dimensions), np.float32)
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.all((abs(lengths - 1) < 1e-3) | (lengths == 0))


def test_no_text_has_no_row(embedder):
    assert embedder.embed([]).shape == (0, embedder.dimensions)


@ONCE
@given(texts=TEXTS)
def test_a_text_has_the_same_vector_in_every_batch_and_at_every_time(embedder, texts):
    together = embedder.embed([*texts, *QUESTIONS])
    for at, text in enumerate((*texts, *QUESTIONS)):
        np.testing.assert_allclose(embedder.embed([text])[0], together[at], atol=1e-5)


def test_more_texts_than_a_server_takes_at_once_come_back_in_their_order(embedder):
    texts = [f"{PASSAGES[at % 3]} number {at}" for at in range(200)]
    vectors = embedder.embed(texts)
    for at in (0, 63, 64, 65, 127, 128, 199):
        np.testing.assert_allclose(vectors[at], embedder.embed([texts[at]])[0], atol=1e-5)


def test_a_question_is_nearest_to_the_passage_that_answers_it(embedder):
    cosines = embedder.embed(QUESTIONS, "query") @ embedder.embed(PASSAGES, "passage").T
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_blank_text_is_worth_no_token(embedder, text):
    assert embedder.count_tokens(text) == 0


@ONCE
@given(lines=st.lists(st.text(max_size=40), max_size=6))
def test_a_text_is_worth_no_more_tokens_than_its_lines(embedder, lines):
    assert embedder.count_tokens("\n".join(lines)) <= sum(embedder.count_tokens(line) for line in lines)


def test_longer_text_is_worth_more_tokens(embedder):
    assert 0 < embedder.count_tokens(PASSAGES[0]) < embedder.count_tokens("\n".join(PASSAGES))
