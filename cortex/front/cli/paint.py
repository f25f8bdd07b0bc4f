"""Lines of answers: in colours on a terminal, as plain text for programs, who need no library for
that and wait for none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from cortex.system.terminal import escape_controls

#: (text, its style in the words of rich)
Part = tuple[str, str]


class Line:
    """One line, made of parts; a part without a style is a text alone."""

    def __init__(self, *parts: str | Part) -> None:
        self.parts: list[Part] = [(part, "") if isinstance(part, str) else part for part in parts]

    def append(self, text: str, style: str = "") -> None:
        self.parts.append((text, style))


class Screen:
    """Standard output."""

    def __init__(self) -> None:
        self._colours = _colours() if sys.stdout.isatty() or os.environ.get("FORCE_COLOR") else None

    def print(self, line: Line) -> None:
        if self._colours is None:
            print(escape_controls("".join(text for text, _ in line.parts)))
        else:
            self._colours(line)


def _colours() -> Callable[[Line], None]:
    from rich.text import Text

    from cortex.front.cli.render import console

    screen = console()
    return lambda line: screen.print(Text.assemble(*line.parts))
