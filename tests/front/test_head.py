"""Output with a reader that stops early: `cortex … | head -1`."""

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


@pytest.mark.parametrize(
    "arguments", [["version"], ["--help"], *([command.name, "--help"] for command in COMMANDS)]
)
def test_a_command_whose_reader_has_gone_ends_quietly_with_0(arguments):
    done = run_unread(*arguments)
    assert (done.returncode, done.stderr) == (0, b"")


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
