"""A configuration that sends text elsewhere is reported in the first answer and by
`cortex doctor`.
"""

import pytest

from cortex.engines.milvus.place import Milvus
from cortex.front.cli.setup import doctor
from cortex.front.link import Link
from cortex.settings.config import Config
from cortex.settings.egress import describe_egress
from cortex.settings.table import Embedding
from tests.milvus_lite import in_milvus

FAR = Embedding(provider="http", endpoint="https://vectors.example.org/embed")


@pytest.mark.parametrize(
    "embedding",
    [
        Embedding(),
        Embedding(provider="http"),
        Embedding(provider="http", endpoint="http://127.0.0.1:8121"),
        Embedding(provider="local"),
    ],
)
def test_without_egress_there_is_no_message(tmp_path, embedding):
    assert describe_egress(Config(root=tmp_path, embedding=embedding)) == ""


def test_the_first_answer_says_where_text_is_sent_and_the_second_does_not(tmp_path):
    link = Link(Config(root=tmp_path, embedding=FAR))
    first, second = (link._add_news({"index": {"message": "Whole."}})["index"]["message"] for _ in "12")
    assert (
        f"is sent to {FAR.endpoint} (embedding.endpoint); of secrets in it, those of known formats are masked"
        in first
    )
    assert first.endswith(" Whole.")
    assert second == "Whole."


def test_doctor_names_the_data_that_leaves_the_machine(tmp_path):
    assert doctor.network(Config(root=tmp_path)) == ("fine", "nothing leaves this machine")
    state, message = doctor.network(Config(root=tmp_path, embedding=FAR))
    assert (state, FAR.endpoint in message) == ("odd", True)


def test_an_index_in_milvus_elsewhere_is_reported_without_its_token(tmp_path):
    def milvus_config(uri):
        return Config(root=tmp_path, **in_milvus(Milvus(uri, token="secret-of-ours")))

    sentence = describe_egress(milvus_config("https://milvus.example:19530"))
    assert "https://milvus.example:19530 (milvus.uri)" in sentence
    assert "secret-of-ours" not in sentence + repr(milvus_config("https://milvus.example"))
    assert (
        describe_egress(milvus_config("http://127.0.0.1:19530"))
        == describe_egress(milvus_config("/a/file.db"))
        == ""
    )


def test_notes_that_an_embedding_server_elsewhere_gets_are_named(tmp_path):
    embedding = Embedding(provider="http", endpoint="https://elsewhere.example/embed")
    sentence = describe_egress(Config(root=tmp_path, memory_embedding=embedding))
    assert "The text of notes" in sentence
    assert "https://elsewhere.example/embed (memory.embedding.endpoint)" in sentence
