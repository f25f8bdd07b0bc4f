"""Rendered answers: coloured on a terminal, plain for programs, which need not wait for the import
of rich.
"""

from __future__ import annotations

import os
import sys

from cortex.front.text.lines import Page
from cortex.system.terminal import print_text


def print_page(page: Page) -> None:
    """Print a rendered answer; its notes go to standard error."""
    if sys.stdout.isatty() or os.environ.get("FORCE_COLOR"):
        from rich.text import Text

        from cortex.front.cli.rendering.render import console

        screen = console()
        for line in page.body:
            screen.print(Text.assemble(*line.spans))
    else:
        for line in page.body:
            print_text(line.text())
    for note in page.notes:
        print_text(note, file=sys.stderr)
