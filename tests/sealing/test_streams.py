"""A sealed file is refused as a whole after any change."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.sealing import streams
from cortex.sealing.streams import HEAD_BYTES, KEY_BYTES, TAG_BYTES, seal, seal_short, unseal, unseal_short
from cortex.system.errors import Damaged

KEY, OTHER = bytes(KEY_BYTES), b"\1" * KEY_BYTES
#: bytes of a piece in these tests
PIECE = 64


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(streams, "PIECE_BYTES", PIECE)


def sealed(raw, what=b"a", key=KEY):
    into = io.BytesIO()
    assert seal(key, what, io.BytesIO(raw), into) == len(raw)
    return into.getvalue()


def opened(raw, what=b"a", key=KEY):
    into = io.BytesIO()
    unseal(key, what, io.BytesIO(raw), into)
    return into.getvalue()


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 5])
def test_sealed_bytes_are_restored(size):
    raw = bytes(range(256)) * 2
    assert opened(sealed(raw[:size])) == raw[:size]


@given(st.binary(max_size=4 * PIECE))
def test_any_bytes_are_restored_and_no_eight_in_a_row_are_visible(raw):
    sealed_bytes = sealed(raw)
    assert opened(sealed_bytes) == raw
    assert not any(raw[at : at + 8] in sealed_bytes[len(streams.MAGIC) :] for at in range(len(raw) - 7))


def test_every_flipped_byte_is_refused():
    sealed_bytes = sealed(b"x" * (2 * PIECE + 3))
    for at in range(len(sealed_bytes)):
        with pytest.raises(Damaged):
            opened(sealed_bytes[:at] + bytes([sealed_bytes[at] ^ 1]) + sealed_bytes[at + 1 :])


def test_every_truncation_and_every_byte_more_is_refused():
    sealed_bytes = sealed(b"x" * (3 * PIECE))
    for end in range(len(sealed_bytes)):
        with pytest.raises(Damaged):
            opened(sealed_bytes[:end])
    with pytest.raises(Damaged):
        opened(sealed_bytes + b"\0")


def test_pieces_that_were_exchanged_left_out_or_repeated_are_refused():
    sealed_bytes = sealed(bytes(range(PIECE)) * 3)
    size = PIECE + TAG_BYTES
    head, pieces = (
        sealed_bytes[:HEAD_BYTES],
        [sealed_bytes[at : at + size] for at in range(HEAD_BYTES, len(sealed_bytes), size)],
    )
    first, second, last = pieces
    for others in (
        [second, first, last],
        [first, last],
        [first, second],
        [first, second, second, last],
        [last],
    ):
        with pytest.raises(Damaged):
            opened(head + b"".join(others))


def test_a_file_in_anothers_place_and_under_another_key_is_refused():
    sealed_bytes = sealed(b"text", what=b"a")
    with pytest.raises(Damaged):
        opened(sealed_bytes, what=b"b")
    with pytest.raises(Damaged):
        opened(sealed_bytes, key=OTHER)


def test_two_files_of_one_content_have_nothing_in_common():
    first, other = sealed(b"x" * PIECE), sealed(b"x" * PIECE)
    assert first[HEAD_BYTES:] != other[HEAD_BYTES:]


def test_a_short_text_comes_back_and_every_flipped_byte_of_it_is_refused():
    sealed_bytes = seal_short(KEY, b"a", b"secret")
    assert unseal_short(KEY, b"a", sealed_bytes) == b"secret"
    for at in range(len(sealed_bytes)):
        with pytest.raises(Damaged):
            unseal_short(
                KEY, b"a", sealed_bytes[:at] + bytes([sealed_bytes[at] ^ 1]) + sealed_bytes[at + 1 :]
            )
    with pytest.raises(Damaged):
        unseal_short(KEY, b"b", sealed_bytes)
