"""Conditions for the restart of an idle process."""

import mmap

import pytest

from cortex.system.process import re_exec

pytestmark = pytest.mark.skipif(
    not re_exec.own_bytes(), reason="the system does not say what memory is a process's own"
)


def grow() -> mmap.mmap:
    """Allocate memory that returns to the system at once when it is closed, whatever
    the allocator.
    """
    memory = mmap.mmap(-1, 2 * re_exec.GROWN_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range(0, len(memory), mmap.PAGESIZE):
        memory[page] = 1
    return memory


def test_memory_of_a_process_that_did_no_work_is_no_growth():
    growth = re_exec.Growth()
    memory = grow()
    assert not growth.is_too_much()
    growth.work()
    assert not growth.is_too_much()
    memory.close()


def test_memory_left_by_work_is_growth_until_it_is_released():
    growth = re_exec.Growth()
    growth.work()
    assert not growth.is_too_much()
    memory = grow()
    assert growth.is_too_much()
    memory.close()
    assert not growth.is_too_much()
