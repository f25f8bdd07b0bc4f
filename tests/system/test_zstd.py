"""What is packed comes back as it was, and no frame is believed."""

import concurrent.futures

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from cortex.system.zstd import Dictionary

BODY = b'{"id":"code-src/auth/%d.go","chunk_type":"code","metadata":{"file_path":"src/auth/%d.go","language":"go"}}'
BODIES = [BODY % (number, number) for number in range(400)]


@pytest.fixture(scope="module")
def dictionary():
    return Dictionary(zstandard.train_dictionary(1024, BODIES).as_bytes())


@given(parts=st.lists(st.binary(max_size=200), max_size=5))
def test_short_strings_come_back_each_by_itself(parts, dictionary):
    frames = dictionary.pack(parts)
    assert dictionary.unpack(frames) == parts
    assert [dictionary.unpack([frame]) for frame in reversed(frames)] == [[one] for one in reversed(parts)]


def test_strings_that_resemble_one_another_are_small(dictionary):
    assert sum(map(len, dictionary.pack(BODIES))) < 0.3 * sum(map(len, BODIES))


def test_a_short_frame_that_is_none_or_says_it_is_huge_is_refused(dictionary):
    (frame,) = dictionary.pack([BODIES[0]])
    huge = (
        zstandard.ZstdCompressor()
        .compress(b"\0" * 100)
        .replace(b"\x20\x64", b"\xe0" + b"\xff" * 7 + b"\x0f", 1)
    )
    assert zstandard.frame_content_size(huge) > 1 << 50
    for wrong in (b"", b"no frame", frame[: len(frame) // 2], huge):
        with pytest.raises(ValueError, match="zstd frame"):
            dictionary.unpack([wrong])


def test_several_threads_pack_and_unpack_at_once(dictionary):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: dictionary.unpack(dictionary.pack(BODIES)), range(8))
        assert all(one == BODIES for one in found)
