"""Tests of returning memory to the system."""

import mmap
import sys
from pathlib import Path

import pytest

from cortex.system.process import allocator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what is mapped")


def resident(path):
    """Return the bytes of the file that count as memory of this process."""
    lines = Path("/proc/self/smaps").read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.endswith(str(path)))
    return next(1024 * int(line.split()[1]) for line in lines[at:] if line.startswith("Rss:"))


def test_pages_of_mapped_files_are_released_and_read_again(tmp_path):
    inside, outside = tmp_path / "index" / "a", tmp_path / "b"
    inside.parent.mkdir()
    maps = []
    for path in (inside, outside):
        path.write_bytes(bytes(range(256)) * 4096)
        with path.open("rb") as file:
            maps.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    read = [bytes(mapped) for mapped in maps]
    assert resident(inside) == resident(outside) == len(read[0])
    allocator.release_mapped_files(inside.parent)
    assert resident(inside) == 0
    assert resident(outside) == len(read[1])
    assert [bytes(mapped) for mapped in maps] == read


def test_data_put_aside_takes_no_memory_after_a_release_and_leaves_no_file(tmp_path):
    raw = bytes(range(256)) * 4096
    aside = allocator.put_aside(tmp_path, memoryview(raw))
    assert list(tmp_path.iterdir()) == []
    assert aside[:] == raw
    maps = allocator.MAPS.read_text().splitlines()
    (path,) = {line.split(maxsplit=5)[5] for line in maps if f"{tmp_path}/" in line}
    assert resident(path) == len(raw)
    allocator.release_mapped_files(tmp_path)
    assert resident(path) == 0
    assert aside[:] == raw


def test_small_data_and_data_that_cannot_be_put_aside_stays_in_memory(tmp_path):
    little, much = memoryview(b"abc"), memoryview(bytes(allocator.ASIDE_BYTES))
    assert allocator.put_aside(tmp_path, little) is little
    assert allocator.put_aside(tmp_path / "missing", much) is much
