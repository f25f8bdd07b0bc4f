"""Long answers on a terminal go through a pager; everything else is printed as it is."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

ROWS, COLUMNS = 10, 40
#: prints some lines as an answer is printed
PRINT = "from cortex.front.cli.rendering.paging import paged\nwith paged():\n    print('\\n'.join(['line'] * {count}))"
PAGER = "sed s/^/paged:/"


def on_a_terminal(code: str, *arguments: str, **variables: str) -> str:
    """Return a program's output on a terminal of ROWS rows."""
    master, terminal = pty.openpty()
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        plain = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PAGER", "CORTEX_PAGER", "LINES", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "LESS")
        }
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, *arguments],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=plain | {"TERM": "xterm"} | variables,
        )
    finally:
        os.close(terminal)
    output = bytearray()
    with open(master, "rb", buffering=0) as screen:
        while True:
            try:
                if not (data := screen.read(65_536)):
                    break
            except OSError:  # the terminal's other end is closed
                break
            output += data
    assert process.wait(60) == 0, output
    return output.decode()


@pytest.mark.parametrize(
    ("count", "variables", "paged"),
    [
        (ROWS + 1, {"PAGER": PAGER}, True),
        (ROWS - 2, {"PAGER": PAGER}, False),
        (ROWS + 1, {"PAGER": PAGER, "CORTEX_PAGER": "cat"}, False),
        (ROWS + 1, {"PAGER": "cat", "CORTEX_PAGER": PAGER}, True),
        (ROWS + 1, {"PAGER": ""}, False),
        (ROWS + 1, {"PAGER": PAGER, "TERM": "dumb"}, False),
        (ROWS + 1, {"PAGER": "no-such-pager"}, False),
        (ROWS + 1, {"PAGER": "$(touch made)"}, False),
        (ROWS + 1, {"PAGER": "sed 's/^/paged:/"}, False),
    ],
    ids=["long", "short", "ours-none", "ours-first", "empty", "dumb", "not-there", "no-shell", "open-quote"],
)
def test_text_longer_than_the_terminal_goes_through_the_pager(count, variables, paged):
    screen_text = on_a_terminal(PRINT.format(count=count), **variables)
    lines = [line for line in screen_text.splitlines() if line.endswith("line")]
    assert lines == ["paged:line" if paged else "line"] * count


def test_a_line_that_is_wider_than_the_terminal_counts_as_the_rows_it_takes():
    wide = "from cortex.front.cli.rendering.paging import paged\nwith paged():\n    print('x' * {width})"
    assert "paged:" in on_a_terminal(wide.format(width=ROWS * COLUMNS), PAGER=PAGER)
    assert "paged:" not in on_a_terminal(wide.format(width=COLUMNS), PAGER=PAGER)


def test_output_before_an_error_is_printed_without_a_pager():
    code = (
        "from cortex.front.cli.rendering.paging import paged\ntry:\n    with paged():\n        print('before')\n"
        "        raise ValueError\nexcept ValueError:\n    print('after')"
    )
    assert on_a_terminal(code, PAGER=PAGER).splitlines() == ["before", "after"]


def test_a_program_reads_the_answer_as_it_is():
    done = subprocess.run(
        [sys.executable, "-P", "-c", PRINT.format(count=100)],
        capture_output=True,
        text=True,
        env=os.environ | {"PAGER": PAGER, "TERM": "xterm"},
        check=True,
    )
    assert done.stdout == "line\n" * 100


#: an answer of a search with 30 results, without any worker
ANSWER = """
import sys, orjson
from cortex.front.cli.parsing import generated
from cortex.front.cli.parsing.parser import Command
from cortex.front.tools import TOOLS
metadata = {"file_path": "src/a.py", "start_line": 1, "end_line": 2}
hit = {"chunk": {"id": "code-1", "chunk_type": "code", "text": "def one(): pass", "metadata": metadata}, "score": 1.0}
answer = {"results": [hit] * 30, "total": 30, "index": {}}
command = generated.make_command(TOOLS["cortex_exact"], lambda *_: orjson.dumps(answer))
sys.exit(command.run(command.parser().read(sys.argv[1:])))
"""


def test_an_answer_is_paged_in_colours_unless_they_or_the_pager_are_unwanted():
    coloured = on_a_terminal(ANSWER, "one", PAGER=PAGER)
    assert "paged:" in coloured
    assert "\x1b[" in coloured
    plain = on_a_terminal(ANSWER, "one", PAGER=PAGER, NO_COLOR="1")
    assert "paged:" in plain
    assert "\x1b[3" not in plain
    assert "paged:" not in on_a_terminal(ANSWER, "one", "--no-pager", PAGER=PAGER)
