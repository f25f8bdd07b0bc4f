"""Lines of answers: coloured on a terminal, plain for programs, which need not wait for the import
of rich.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from cortex.front.text.lines import Page, StyledLine
from cortex.system.terminal import print_text


class Screen:
    """Standard output."""

    def __init__(self) -> None:
        self._colours = _colours() if sys.stdout.isatty() or os.environ.get("FORCE_COLOR") else None

    def print(self, line: StyledLine) -> None:
        if self._colours is None:
            print_text("".join(text for text, _ in line.spans))
        else:
            self._colours(line)


def print_page(page: Page) -> None:
    """Print a rendered answer; its notes go to standard error."""
    out = Screen()
    for line in page.body:
        out.print(line)
    for note in page.notes:
        print_text(note, file=sys.stderr)


def _colours() -> Callable[[StyledLine], None]:
    from rich.text import Text

    from cortex.front.cli.rendering.render import console

    screen = console()
    return lambda line: screen.print(Text.assemble(*line.spans))
