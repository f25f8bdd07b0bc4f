"""Suggestions for misspelled commands and options."""

import pytest

from cortex.front.cli.commands import run
from cortex.system.errors import EXIT_USAGE


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
