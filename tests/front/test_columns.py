"""Tables and texts on terminals of any width, and for programs."""

from __future__ import annotations

import pytest

from cortex.front.cli.rendering import columns

ROWS = [
    ("tool", "calls", "tokens"),
    ("cortex_search", "12", "26,884"),
    ("all", "1200", "1,026,884"),
]
TEXT = "off: the index of the project is unencrypted in /a/folder/with-a-name/that-is/long"


@pytest.fixture
def terminal(monkeypatch):
    def of(wide: int) -> None:
        monkeypatch.setattr("sys.stdout.isatty", lambda: wide > 0)
        monkeypatch.setenv("COLUMNS", str(wide or 80))

    return of


def test_a_table_that_fits_is_one_and_its_numbers_stand_to_the_right(terminal):
    terminal(40)
    assert columns.table(ROWS, (1, 2), headed=True) == [
        "tool           calls     tokens",
        "cortex_search     12     26,884",
        "all             1200  1,026,884",
    ]


def test_a_table_that_does_not_fit_is_a_block_for_each_row(terminal):
    terminal(30)
    assert columns.table(ROWS, (1, 2), headed=True) == [
        "cortex_search",
        "  calls 12, tokens 26,884",
        "all",
        "  calls 1200, tokens 1,026,884",
    ]
    assert columns.table(ROWS[1:2]) == ["cortex_search  12  26,884"]
    terminal(20)
    assert columns.table([("shop", "", "1.2 MB", "/a/b")]) == ["shop    1.2 MB  /a/b"]
    assert columns.table([("shop", "", "at rest", "/a/place")]) == ["shop", "  at rest, /a/place"]


def test_a_text_folds_below_its_beginning_and_no_path_is_broken(terminal):
    terminal(40)
    first, *others = columns.folded(TEXT, 17).split("\n")
    assert first == "off: the index of the"
    assert {line[:17] for line in others} == {" " * 17}
    assert " ".join([first, *(line.strip() for line in others)]) == TEXT
    terminal(30)
    assert columns.folded(TEXT, 17) == TEXT


def test_programs_get_every_row_and_text_in_one_line(terminal):
    terminal(0)
    assert columns.folded(TEXT, 17) == TEXT
    assert len(columns.table([("shop", "x" * 500), ("b", "c")])) == 2


def test_a_table_of_nothing_has_no_lines(terminal):
    terminal(40)
    assert columns.table([]) == []
