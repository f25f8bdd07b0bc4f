"""Output with a reader that stops early: `cortex … | head -1`."""

import json
import os
import subprocess
import sys

import pytest

from cortex.front.cli.commands import COMMANDS
from cortex.front.cli.rendering.render import console

CORTEX = [sys.executable, "-P", "-m", "cortex"]


def run_unread(*arguments: str, code: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run one command whose reader has gone before it writes."""
    read, write = os.pipe()
    os.close(read)
    try:
        command = [sys.executable, "-P", "-c", code] if code else [*CORTEX, *arguments]
        buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        return subprocess.run(
            command, stdout=write, stderr=subprocess.PIPE, env=buffered, timeout=60, check=False
        )
    finally:
        os.close(write)


@pytest.mark.parametrize("arguments", [["version"], ["--help"], ["search", "--help"]])
def test_a_command_whose_reader_has_gone_ends_quietly_with_0(arguments):
    done = run_unread(*arguments)
    assert (done.returncode, done.stderr) == (0, b"")


#: runs each command of its arguments in a fork, because an interpreter for each takes a third of a
#: second; prints {command: [exit status, errors]}
FORKS = """
import contextlib, io, json, os, sys, tempfile
from cortex.front.cli.main import main
with contextlib.redirect_stdout(io.StringIO()):  # imports what the forks need
    main([sys.argv[1], "--help"])
ends = {}
for command in sys.argv[1:]:
    read, write = os.pipe()
    os.close(read)
    with tempfile.TemporaryFile() as errors:
        if not (child := os.fork()):
            os.dup2(write, 1)
            os.dup2(errors.fileno(), 2)
            sys.exit(main([command, "--help"]))
        os.close(write)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        ends[command] = [status, os.pread(errors.fileno(), 1 << 16, 0).decode()]
print(json.dumps(ends))
"""


def test_the_help_of_each_command_whose_reader_has_gone_ends_quietly_with_0():
    names = [command.name for command in COMMANDS]
    done = subprocess.run(
        [sys.executable, "-P", "-c", FORKS, *names],
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout) == {name: [0, ""] for name in names}


@pytest.mark.parametrize("write", ["print('x' * size)", "console().print('x' * size)"])
@pytest.mark.parametrize("size", [10, 1_000_000])
def test_output_for_people_ends_quietly_with_0(write, size):
    code = f"""
import sys
from cortex.front.cli import commands, main
from cortex.front.cli.rendering.render import console
size = {size}
def run(_arguments):
    {write}
    return 1
commands.run = run
sys.exit(main.main([]))
"""
    done = run_unread(code=code)
    assert (done.returncode, done.stderr) == (0, b"")


def test_people_get_the_output(capsys):
    console().print("some [bold]words[/bold]")
    assert capsys.readouterr().out == "some words\n"
