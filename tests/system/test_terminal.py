"""Text from outside stays text in a log and on a terminal."""

import io
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from cortex.front.cli.rendering import render
from cortex.front.cli.setup.doctor import Check
from cortex.system.terminal import LogFormat, escape_controls, escape_in_line

HOSTILE = [
    "\x1b[2J\x1b]0;owned\x07",
    "a\nrm -rf ~\n",
    "a\rb",
    "\x9b31m",
    "right \u202eto left\u2066",
    "line\u2028separator\u0085",
    "half \udcff of one",
    "\x00\x7f",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_character_in_a_line_acts_as_a_command(text):
    assert escape_in_line(text).isprintable()
    escape_in_line(text).encode("utf-8")


@pytest.mark.parametrize("text", HOSTILE)
def test_escaped_text_keeps_line_breaks_and_no_other_control(text):
    assert all(line.expandtabs().isprintable() for line in escape_controls(text).split("\n"))
    assert escape_controls(text).count("\n") == text.count("\n")


def test_plain_text_stays_as_it_is():
    text = "def f():\n\treturn 'äöü 漢字 \\x1b 😀'\n"
    assert escape_controls(text) == text
    assert escape_controls("a\r\nb") == "a\nb"
    assert escape_in_line("a\tb\nc") == "a\\tb\\nc"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_record_of_a_log_is_one_line(text):
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(LogFormat("%(levelname)s %(message)s"))
    handler.handle(logging.LogRecord("one", logging.WARNING, "", 1, "skipped %s and %r", (text, text), None))
    (line,) = out.getvalue().splitlines()
    assert line.startswith("WARNING skipped ")
    assert line.isprintable()


def test_each_line_of_a_trace_is_indented():
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(LogFormat("%(message)s"))
    error = ValueError("bad\nrm -rf ~\n\x1b[2J")
    what = (ValueError, error, None)
    handler.handle(logging.LogRecord("one", logging.ERROR, "", 1, "failed", None, what))
    first, *trace = out.getvalue().splitlines()
    assert first == "failed"
    assert all(line.startswith("  ") and line.isprintable() for line in trace)


def test_an_error_that_ends_a_process_is_one_log_record():
    code = (
        "import logging\nfrom cortex.system.terminal import log_to_stderr\nlog_to_stderr('%(message)s', logging.INFO)\n"
        "raise ValueError('a\\nrm -rf ~')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    first, *trace = done.stderr.splitlines()
    assert first == "ended by an error"
    assert trace
    assert all(line.startswith("  ") for line in trace)


def status(**index: object) -> dict[str, object]:
    defaults = {
        "generation": 1, "chunks": 1, "files": 1, "without_vector": 0, "segments": 1, "chunk_files": 1, "model": "m",
        "pending": [], "pending_count": 0, "left_out": {}, "remarks": {}, "foreign_files": [],
    }  # fmt: skip
    return {
        "project": "/p", "part": "", "version": "1", "config": "c", "cache": "/c", "warnings": [], "http": "",
        "set": {"running": False, "problem": "", "processes": []}, "index": defaults | index,
        "memory": {"folder": "/m", "set": {"running": False, "processes": []}, "warnings": []},
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", [*HOSTILE, "[/bold].json", "[red]x[/red]", "[link=http://x]y", "[/]", "\\[/bold]"]
)
def test_names_in_a_clone_are_displayed_and_never_act_as_commands(capsys, name):
    hostile = status(
        foreign_files=[name], left_out={name: 1}, remarks={name: 1}, pending=[name], pending_count=1
    )
    hostile |= {"project": f"/{name}", "part": name, "cache": f"/{name}", "warnings": [name], "http": name}
    process = {"name": "text", "state": "waiting", "pid": 1, "uptime_s": 0, "restarts": 0, "last_error": name}
    hostile["memory"] = {"folder": f"/{name}", "set": {"running": False, "processes": []}, "warnings": [name]}
    hostile["set"] = {"running": True, "problem": name, "processes": [process]}
    render.print_status(hostile)
    render.print_checks([Check("old index", "odd", name)])
    out, err = capsys.readouterr()
    assert all(line.isprintable() for line in out.splitlines())
    assert escape_in_line(name) in out
    assert all(line.isprintable() for line in err.split("\n"))


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_a_project_sends_no_command_to_a_terminal(capsys, text):
    from rich.text import Text

    render.console().print(Text(f"  {text}", "dim"))
    render.console().print(text, markup=False)
    out, _ = capsys.readouterr()
    assert all(line.isprintable() for line in out.split("\n"))


def test_styles_of_our_own_reach_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    render.console().print("[bold]a[/bold]")
    assert "\x1b[1ma" in capsys.readouterr().out


def test_every_log_is_written_in_this_form():
    root = Path(__file__).parents[2]
    for folder in ("cortex", "workers", "ipc"):
        for path in (root / folder).rglob("*.py"):
            if path.name != "terminal.py":
                assert "basicConfig" not in path.read_text("utf-8"), path
