"""A segment is read as it was written; every flipped byte and every truncation is refused."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cortex.generation.segments import segment as segments
from cortex.generation.segments.packing import Frames, pack_frames
from cortex.generation.segments.segment import Blocks, Packed, open_segment, write_segment
from cortex.system import zstd
from cortex.system.errors import Damaged, NotFound
from tests.drawn_examples import scaled
from tests.resident_memory import needs_smaps, resident

ARRAYS = {
    "keys": np.arange(5, dtype="<u8"),
    "vectors": np.ones((5, 4), "<f2"),
    "none": np.zeros((0, 4), "<f4"),
}
WITH_PACKED = {**ARRAYS, "edges": Packed(np.arange(12, dtype="<i4").reshape(3, 4))}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=scaled(50))
@given(
    arrays=st.dictionaries(
        st.text(min_size=1, max_size=8),
        hnp.arrays(st.sampled_from(["<u8", "<f2", "<u4", "|u1"]), hnp.array_shapes(max_dims=2, min_side=0)),
        max_size=4,
    ),
    packed=st.sets(st.text(min_size=1, max_size=8)) | st.just(None),
    meta=st.dictionaries(st.text(max_size=5), st.integers(0, 2**60) | st.text(max_size=5), max_size=4),
)
def test_what_is_written_is_read(tmp_path, arrays, packed, meta):
    packed = set(arrays) if packed is None else packed & set(arrays)
    lying = {name: Packed(array) if name in packed else array for name, array in arrays.items()}
    write_segment(tmp_path / "s", lying, meta)
    segment = open_segment(tmp_path / "s")
    assert segment.meta == meta
    assert set(segment.arrays) == set(arrays) - packed
    for name, array in arrays.items():
        read = segment.unpacked(name) if name in packed else segment.arrays[name]
        assert read.dtype == array.dtype
        assert read.shape == array.shape
        assert read.tobytes() == array.tobytes()


@pytest.mark.parametrize("payload", [b"", b"1234", b"123456789"])
def test_a_packed_section_of_another_size_is_damage(tmp_path, monkeypatch, payload):
    monkeypatch.setattr(segments.zstd, "pack", lambda _raw, pack=zstd.pack: pack(payload))
    write_segment(tmp_path / "s", {"edges": Packed(np.zeros(2, "<i4"))}, {})
    segment = open_segment(tmp_path / "s")
    with pytest.raises(Damaged, match="'edges' cannot be unpacked"):
        segment.unpacked("edges")


@given(st.lists(st.binary(max_size=20), max_size=40), st.integers(1, 9), st.randoms())
def test_strings_in_common_frames_are_read_in_any_order(parts, size, chance):
    data, frames, ends = pack_frames(parts, size)
    rows = Frames("a segment", data.data if len(data) else memoryview(b""), frames, ends, size)
    wanted = [chance.randrange(len(parts)) for _ in range(10)] if parts else []
    assert rows.read_rows(np.array(wanted, np.int64)) == [parts[at] for at in wanted]
    assert [rows.read_row(at) for at in range(len(parts))] == parts


def test_every_flipped_byte_is_refused(tmp_path):
    path = tmp_path / "s"
    write_segment(path, WITH_PACKED, {"a": 1})
    good = path.read_bytes()
    for at in range(len(good)):
        bad = bytearray(good)
        bad[at] ^= 0x41
        path.unlink()
        path.write_bytes(bad)
        with pytest.raises(Damaged, match=str(path)):
            open_segment(path)


def test_every_truncation_is_refused(tmp_path):
    path = tmp_path / "s"
    write_segment(path, WITH_PACKED, {"a": 1})
    good = path.read_bytes()
    for length in range(len(good)):
        path.unlink()
        path.write_bytes(good[:length])
        with pytest.raises(Damaged):
            open_segment(path)
    path.write_bytes(good + b"\0")
    with pytest.raises(Damaged):
        open_segment(path)


def test_a_section_in_parts_is_the_same_section(tmp_path):
    write_segment(tmp_path / "s", ARRAYS, {"a": 1})
    content = (tmp_path / "s").read_bytes()
    in_parts = {
        name: Blocks(array.dtype.str, array.shape, tuple(array[at : at + 1] for at in range(len(array))))
        for name, array in ARRAYS.items()
    }
    write_segment(tmp_path / "s", in_parts, {"a": 1})
    assert (tmp_path / "s").read_bytes() == content
    with pytest.raises(ValueError, match="shape"):
        write_segment(tmp_path / "s", {"x": Blocks("<u4", (3,), (np.zeros(2, "<u4"),))}, {})
    assert (tmp_path / "s").read_bytes() == content


def test_a_missing_segment_is_not_found(tmp_path):
    with pytest.raises(NotFound):
        open_segment(tmp_path / "none")


def test_a_failed_write_leaves_nothing_behind(tmp_path):
    with pytest.raises(TypeError):
        write_segment(tmp_path / "s", {"x": np.array(["text"])}, {})
    with pytest.raises(TypeError):
        write_segment(tmp_path / "s", ARRAYS, {"not json": object()})
    assert list(tmp_path.iterdir()) == []


def test_sections_begin_at_cache_lines_and_are_read_only(tmp_path):
    write_segment(tmp_path / "s", ARRAYS, {})
    segment = open_segment(tmp_path / "s")
    assert all(a.__array_interface__["data"][0] % 64 == 0 for a in segment.arrays.values() if a.size)
    with pytest.raises(ValueError, match="read-only"):
        segment.arrays["keys"][0] = 1


@needs_smaps
def test_what_was_read_to_be_checked_is_not_kept_as_memory_of_the_process(tmp_path):
    write_segment(tmp_path / "s", {"vectors": np.ones((1000, 1000), "<f4")}, {})
    segment = open_segment(tmp_path / "s")
    assert resident(segment.path) < 100_000
    assert float(segment.arrays["vectors"].sum()) == 1e6
    assert resident(segment.path) > 3_900_000
