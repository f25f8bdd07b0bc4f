"""Tables and labelled lines as wide as the terminal. Programs get each row and text in one line,
however long.
"""

import shutil
import sys
import textwrap
from collections.abc import Sequence

#: smallest width of a folded text: the terminal may break a narrower one itself
TEXT_MIN = 20
#: spaces between two columns; indentation of lines that continue a row
GAP, INDENT = 2, 2


def width() -> int:
    """Return the columns of the terminal on standard output; 0 where there is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def folded(text: str, label: int) -> str:
    """Wrap a text behind a label of `label` columns: further lines begin below the first."""
    columns = width() - label
    if columns < TEXT_MIN:
        return text
    lines = textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * label).join(lines)


def table(rows: Sequence[Sequence[str]], numbers: Sequence[int] = (), *, headed: bool = False) -> list[str]:
    """Align rows in columns, those of `numbers` to the right. On a terminal that is too narrow,
    each row becomes its first cell and an indented list of the others, with their heads if
    `headed`.
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = [
        (" " * GAP)
        .join(
            cell.rjust(wide) if at in numbers else cell.ljust(wide)
            for at, (cell, wide) in enumerate(zip(row, widths, strict=True))
        )
        .rstrip()
        for row in rows
    ]
    columns = width()
    if not columns or max(map(len, lines), default=0) <= columns:
        return lines
    heads, body_rows = (rows[0], rows[1:]) if headed else ([""] * len(widths), rows)
    return [line for first, *others in body_rows for line in _block(first, others, heads[1:], columns)]


def _block(first: str, others: Sequence[str], heads: Sequence[str], columns: int) -> list[str]:
    cells = [f"{head} {cell}".lstrip() for head, cell in zip(heads, others, strict=True) if cell]
    margin = " " * INDENT
    wrapped = textwrap.wrap(
        ", ".join(cells),
        max(columns, TEXT_MIN),
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [first, *wrapped]
