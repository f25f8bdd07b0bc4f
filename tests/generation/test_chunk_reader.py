"""A front reads the chunks that it shows from the segments' files, as a worker would."""

import os

import numpy as np
import pytest

from cortex.generation import chunk_reader
from cortex.generation.chunk_cuts import fetch
from cortex.generation.chunk_reader import ChunkReader
from cortex.generation.current import Generation
from cortex.generation.read import open_rows
from cortex.system.errors import NotReady
from ipc.messages import Fetch
from tests.generation.test_rows import publish, row

KEYS = (8, 3, 99, 1, 6)


@pytest.fixture
def generation(tmp_path):
    texts = {key: "\n".join(f"line {at} of {key}" for at in range(3 * key)) for key in range(1, 9)}
    parts = [(5, 1, 3, 2, 4), (6, 7, 8)]
    return publish(tmp_path, *([row(key, text=texts[key]) for key in part] for part in parts))


@pytest.mark.parametrize("detail", ["full", "snippet", "location"])
@pytest.mark.parametrize("max_bytes", [200, 80_000])
def test_chunks_are_those_of_the_rows(tmp_path, generation, detail, max_bytes):
    request = Fetch(KEYS, detail, max_bytes, "line 7", generation.number)
    chunks = ChunkReader(tmp_path).fetch(generation, request)
    assert chunks == fetch(open_rows(generation, tmp_path), request)
    assert [bool(chunk) for chunk in chunks.chunks] == [True, True, False, True, True]


def test_a_removed_generation_stays_readable(tmp_path, generation):
    reader = ChunkReader(tmp_path)
    before = reader.fetch(generation, Fetch(KEYS))
    for path in (tmp_path / "segments").iterdir():
        path.unlink()
    assert reader.fetch(generation, Fetch(KEYS)) == before
    with pytest.raises(NotReady):
        ChunkReader(tmp_path).fetch(generation, Fetch(KEYS))


def test_a_new_generation_opens_its_new_segments_alone(tmp_path, generation, monkeypatch):
    reader, opened = ChunkReader(tmp_path), []
    open_file = chunk_reader.open_segment_file
    monkeypatch.setattr(
        chunk_reader, "open_segment_file", lambda path: opened.append(path.name) or open_file(path)
    )
    reader.fetch(generation, Fetch(KEYS))
    reader.fetch(Generation(2, generation.segments), Fetch(KEYS))
    chunks = reader.fetch(Generation(3, generation.segments[1:]), Fetch(KEYS)).chunks
    assert opened == ["s0", "s1"]
    assert [bool(chunk) for chunk in chunks] == [True, False, False, False, True]


@pytest.mark.parametrize("size", [10, 700, 1_500])
def test_a_file_that_is_shortened_under_a_front_is_an_error_and_ends_no_process(tmp_path, generation, size):
    reader = ChunkReader(tmp_path)
    reader.fetch(generation, Fetch(KEYS))
    os.truncate(tmp_path / "segments" / "s0", size)
    for _ in range(2):  # also when it opens the file again
        with pytest.raises(NotReady):
            reader.fetch(generation, Fetch(KEYS))


def test_a_file_that_is_written_to_under_a_front_is_an_error(tmp_path, generation):
    reader, path = ChunkReader(tmp_path), tmp_path / "segments" / "s1"
    reader.fetch(generation, Fetch(KEYS))
    sections = open_rows(generation, tmp_path).segments[1].bytes_of("text_bytes")
    raw = bytearray(path.read_bytes())
    at = raw.index(bytes(sections))
    raw[at : at + 8] = os.urandom(8)
    path.write_bytes(raw)
    os.utime(path, ns=(0, 0))
    with pytest.raises(NotReady):
        reader.fetch(generation, Fetch((6, 7, 8)))


def test_an_empty_segment_has_no_chunks(tmp_path):
    generation = publish(tmp_path, [])
    assert ChunkReader(tmp_path).fetch(generation, Fetch(KEYS)).chunks == (b"",) * len(KEYS)
    assert np.array_equal(open_rows(generation, tmp_path).keys, [])
