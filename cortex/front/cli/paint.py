"""Lines of answers: coloured on a terminal, plain for programs, which need not wait for the import
of rich.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from cortex.system.terminal import escape_controls

#: (text, its style in rich's words)
Span = tuple[str, str]


class StyledLine:
    """One line of styled parts; a part without a style is plain text."""

    def __init__(self, *spans: str | Span) -> None:
        self.spans: list[Span] = [(span, "") if isinstance(span, str) else span for span in spans]

    def append(self, text: str, style: str = "") -> None:
        self.spans.append((text, style))


class Screen:
    """Standard output."""

    def __init__(self) -> None:
        self._colours = _colours() if sys.stdout.isatty() or os.environ.get("FORCE_COLOR") else None

    def print(self, line: StyledLine) -> None:
        if self._colours is None:
            print(escape_controls("".join(text for text, _ in line.spans)))
        else:
            self._colours(line)


def _colours() -> Callable[[StyledLine], None]:
    from rich.text import Text

    from cortex.front.cli.render import console

    screen = console()
    return lambda line: screen.print(Text.assemble(*line.spans))
