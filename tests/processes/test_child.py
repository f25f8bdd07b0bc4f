"""What a process of a set gets from the one that starts it."""

import os
import platform
import subprocess
import sys

import pytest

from cortex.processes.child import child_environment

COUNT_HEAPS = """
import ctypes, sys, threading
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
together = threading.Barrier(8)
def allocate():
    together.wait()
    libc.malloc(ctypes.c_size_t(100_000))
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(8)]
for one in threads: one.start()
for one in threads: one.join()
file = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""


def count_heaps(folder, environment):
    told = folder / "heaps.xml"
    subprocess.run([sys.executable, "-c", COUNT_HEAPS, told], env=environment, check=True, timeout=60)
    return told.read_text().count("<heap nr=")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_threads_of_a_child_share_two_heaps_unless_the_user_says_otherwise(tmp_path, monkeypatch):
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    assert count_heaps(tmp_path, dict(os.environ)) > 2
    assert count_heaps(tmp_path, child_environment()) == 2
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")
    assert count_heaps(tmp_path, child_environment()) == 1
