"""The served chunks: the same answers as a plain dictionary, in a fraction of the memory."""

import sys

from hypothesis import given
from hypothesis import strategies as st

from cortex.generation.read import assemble
from cortex.generation.segments.segment import open_segment
from cortex.generation.write import Row, write_rows
from cortex.publish.served_chunks import Chunk, ServedChunks

FILES = st.sampled_from(["a.json", "b.json", "c.json"])
IDS = st.text("xyé", min_size=1, max_size=3)
SOURCES = st.sampled_from(["", "one.py", "two.py"])


def digest(number):
    return number.to_bytes(16, "little")


@given(st.lists(st.dictionaries(FILES, st.dictionaries(IDS, SOURCES, max_size=5), max_size=3), max_size=6))
def test_served_chunks_are_returned_as_they_were_stored(steps):
    served, plain, key = ServedChunks(), {}, 0
    for step in steps:
        taken = {id_ for file, chunks in plain.items() if file not in step for id_ in chunks}
        change = {}
        for file, ids in step.items():
            change[file] = {}
            for id_, source in ids.items():
                if id_ not in taken:  # an id is in one file at most
                    taken.add(id_)
                    key += 1
                    change[file][id_] = Chunk(key, digest(key), source)
        served.take(change)
        plain |= change
    assert {file: served.of(file) for file in served.files} == {
        f: file_chunks for f, file_chunks in plain.items() if file_chunks
    }
    assert all(served.ids(file) == list(file_chunks) for file, file_chunks in plain.items())
    wanted = ["x", "y", "xy", "é", *(id_ for file_chunks in plain.values() for id_ in file_chunks)]
    owner = {id_: file for file, file_chunks in plain.items() for id_ in file_chunks}
    assert served.owners(wanted) == {id_: owner[id_] for id_ in wanted if id_ in owner}
    sources = {chunk.source for file_chunks in plain.values() for chunk in file_chunks.values()} - {""}
    assert set(served.sources) == sources
    assert len(served) == len(owner)


def body(id_, path):
    metadata = {"file_path": path, "start_line": 1, "end_line": 2}
    return {"id": id_, "chunk_type": "code", "title": id_, "text": "x = 1", "tags": [], "metadata": metadata}


def test_rows_say_what_is_served(tmp_path):
    segments = []
    for number, keys in enumerate([range(1, 6), range(6, 9)]):
        path = tmp_path / f"rows-{number}.seg"
        rows = [
            Row(key, body(f"id{key}", f"f{key % 3}.py"), f"{key % 2}.json", digest(key), None, "")
            for key in keys
        ]
        write_rows(path, rows, 0)
        segments.append(open_segment(path))
    live = assemble(1, "", 0, tuple(segments), segments[0].arrays["keys"][1:3])
    served = ServedChunks()
    served.add_rows(live)
    wanted = {
        file: {f"id{key}": Chunk(key, digest(key), f"f{key % 3}.py") for key in keys}
        for file, keys in {"0.json": (4, 6, 8), "1.json": (1, 5, 7)}.items()
    }
    assert {file: served.of(file) for file in served.files} == wanted
    assert served.owners(["id2", "id4", "id7"]) == {"id4": "0.json", "id7": "1.json"}
    assert served.sources == {"f0.py": 1, "f1.py": 2, "f2.py": 2}


def test_a_chunk_costs_tens_of_bytes():
    served = ServedChunks()
    for at in range(20):
        chunks = {
            f"code-cortex/publish/folder_{at}/file_{n // 9}.py#Builder.method_{n}~1": Chunk(
                1000 * at + n,
                digest(7919 * (1000 * at + n) ** 3),
                f"cortex/publish/folder_{at}/file_{n // 9}.py",
            )
            for n in range(150)
        }
        served.take({f"{at}.json": chunks})
    buffers = [
        buffer
        for packed in served._packed.values()
        for buffer in (packed.names, packed.keys, packed.digests, packed.of)
    ]
    size = sum(map(sys.getsizeof, buffers)) + served._hashes.nbytes + served._files.nbytes
    assert size / len(served) < 64
