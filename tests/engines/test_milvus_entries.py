"""The words of a chunk as stored in Milvus."""

import orjson

from cortex.engines.milvus.entries import make_entry
from cortex.engines.milvus.place import milvus_place
from cortex.engines.milvus.storage.collection import FIELDS, VIEWS, Collection
from cortex.generation.write import Row
from cortex.settings.config import Config
from tests.milvus_lite import with_milvus

TEXT = "def tie(rope):\n    return knot(rope)\n"


def entry_of_kind(kind):
    metadata = {"file_path": "port/harbour.py", "start_line": 1, "end_line": 2}
    body = {"id": "a", "chunk_type": kind, "text": TEXT, "metadata": metadata}
    return make_entry("p", Row(1, body, "a.json", b"0" * 32, None, ""), 1, 4)


def test_the_lanes_hold_words_of_chunks_that_cover_lines_alone_so_that_their_mean_lengths_are_right():
    covering, view = entry_of_kind("code"), entry_of_kind("definitions")
    assert {"rope", "knot"} <= set(covering["body"].split())
    assert covering[VIEWS] == ""
    assert {name: view[name] for name in FIELDS.values()} == dict.fromkeys(FIELDS.values(), "")
    assert view[VIEWS]


def test_a_word_of_a_view_is_marked_with_its_field():
    words = entry_of_kind("definitions")[VIEWS].split()
    assert words.count("brope") == 2
    assert "pharbour" in words
    assert "prope" not in words


def test_a_row_comes_back_as_it_was_whatever_letters_are_in_it(milvus, tmp_path):
    metadata = {"file_path": "x\0y\u00e9.py", "symbols": ["s\0t"], "start_line": 1, "end_line": 1}
    body = {"id": "a\0b", "chunk_type": "code", "text": 't\0e \U0001f600 \\ "', "metadata": metadata}
    collection = Collection(milvus_place(with_milvus(Config(root=tmp_path), milvus)))
    collection.create_collections()
    collection.insert(
        [make_entry(collection.place.project, Row(1, body, "a.json", b"0" * 32, None, ""), 1, 384)]
    )
    (row,) = collection.find(collection.at(1), ["chunk", "path", "id", "symbols"])
    collection.delete(collection.project)
    collection.close()
    assert orjson.loads(row["chunk"]) == body
    assert (row["path"], row["id"], row["symbols"]) == ("x\0y\u00e9.py", "a\0b", ["s\0t"])
