"""The manual page, made from the help, and suggestions for misspelled commands and options."""

import re
import shutil
import subprocess

import pytest

from cortex.front.cli.commands import all_commands, run
from cortex.system.errors import EXIT_OK, EXIT_USAGE


@pytest.fixture
def page(capsys):
    assert run(["manual"]) == EXIT_OK
    return capsys.readouterr().out


def test_the_manual_has_each_command_with_each_of_its_options(page):
    sections = dict(
        re.findall(r"^\.SS cortex (.+)\n((?:(?!\.SS|\.SH).*\n)*)", page.replace("\\-", "-"), re.MULTILINE)
    )
    commands = {command.name: command for command in all_commands()}
    assert list(sections) == list(commands)
    for name, text in sections.items():
        for option in re.findall(r"^  (--[\w-]+)", commands[name].parser().format_help(), re.MULTILINE):
            assert option in text or option in ("--yes-really", "--no-pager")


def test_no_line_of_a_text_is_a_request_of_troffs(page):
    requests = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".nf", ".fi"}


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_troff_reads_it_without_a_complaint(page):
    done = subprocess.run(
        ["groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-z"],
        input=page.encode(),
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["exact", "x", "--projct", "."], "'--project'"),
        (["completion", "bsh"], "'bash'"),
    ],
)
def test_a_misspelled_word_gets_a_suggestion(words, meant, capsys):
    with pytest.raises(SystemExit) as end:
        run(words)
    assert end.value.code == EXIT_USAGE
    assert capsys.readouterr().err.rstrip().endswith(f"(did you mean {meant}?)")


def test_a_word_like_no_command_gets_no_suggestion(capsys):
    with pytest.raises(SystemExit):
        run(["exact", "x", "--qqqqqq"])
    assert "did you mean" not in capsys.readouterr().err
