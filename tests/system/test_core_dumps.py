"""A process that forbids dumps leaves no core file, and cannot be traced."""

import os
import subprocess
import sys

import pytest

#: forbids dumps, ends as after a fault, and prints the system's flag
CHILD = """
import ctypes, os, resource, sys
from cortex.system.process.core_dumps import forbid_dumps
forbid_dumps()
print(resource.getrlimit(resource.RLIMIT_CORE)[0], ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), flush=True)
print(os.readlink("/proc/self/fd/1") != "", flush=True)
os.abort()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the switch is Linux's")
def test_a_process_that_forbids_dumps_leaves_none_and_still_works(tmp_path):
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["0", "0", "True"], done.stderr
    assert done.returncode < 0
    assert os.listdir(tmp_path) == []
