"""Ctrl-C at any moment ends the program without a traceback."""

import os
import subprocess
import sys

import pytest

from cortex.system.errors import EXIT_INTERRUPTED

#: raises the signal when a module is imported, or when the interpreter ends
SITE = """
import atexit, os, signal, sys

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPT_AT"]:
            interrupt()

sys.meta_path.insert(0, Finder())
if os.environ["INTERRUPT_AT"] == "exit":
    atexit.register(interrupt)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize(
    "moment", ["cortex.system.errors", "cortex.system.terminal", "cortex.front.cli.commands", "exit"]
)
def test_ctrl_c_prints_no_traceback(moment, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(SITE)
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "cortex", "version"],
        env=os.environ | {"PYTHONPATH": path, "INTERRUPT_AT": moment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode in ((0,) if moment == "exit" else (EXIT_INTERRUPTED, -2))
