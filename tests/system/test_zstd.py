"""Packed data is restored exactly, and invalid frames are refused."""

import concurrent.futures
import contextlib
import io

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from cortex.system import zstd
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
    assert [dictionary.unpack([frame]) for frame in reversed(frames)] == [
        [string] for string in reversed(parts)
    ]


def test_strings_that_resemble_one_another_are_small(dictionary):
    assert sum(map(len, dictionary.pack(BODIES))) < 0.3 * sum(map(len, BODIES))


def test_an_invalid_short_frame_and_one_that_declares_a_huge_size_are_refused(dictionary):
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
        answers = pool.map(lambda _: dictionary.unpack(dictionary.pack(BODIES)), range(8))
        assert all(answer == BODIES for answer in answers)


@given(raw=st.binary(max_size=300))
def test_a_file_comes_back_as_it_was_and_so_does_its_head(raw):
    packed = zstd.pack(raw)
    assert zstd.unpack(packed, len(raw)) == raw
    assert zstd.head(io.BytesIO(packed), 7) == raw[:7]


def test_a_file_that_is_cut_changed_or_longer_than_its_frame_is_refused_or_reads_the_same():
    raw = b"".join(BODIES[:20])
    packed = zstd.pack(raw)
    wrong = [packed[:end] for end in range(len(packed))]
    wrong += [packed + b"\0", packed + packed]
    for frame in wrong:
        with pytest.raises(ValueError, match="zstd frame"):
            zstd.unpack(frame, len(raw))
    for at in range(len(packed)):
        flipped = packed[:at] + bytes([packed[at] ^ 0x55]) + packed[at + 1 :]
        with contextlib.suppress(ValueError):
            assert zstd.unpack(flipped, len(raw)) == raw


def test_a_frame_that_is_too_large_or_declares_no_size_is_refused_unread():
    packed = zstd.pack(b"\0" * 10_000)
    with pytest.raises(ValueError, match="a zstd frame of 10000 bytes, where 9999 are allowed"):
        zstd.unpack(packed, 9_999)
    silent = zstandard.ZstdCompressor(write_content_size=False).compress(b"\0" * 10_000)
    with pytest.raises(ValueError, match="where 20000 are allowed"):
        zstd.unpack(silent, 20_000)


def test_reading_the_head_of_no_frame_is_refused():
    with pytest.raises(ValueError, match="no zstd frame"):
        zstd.head(io.BytesIO(b"no frame at all"), 10)
