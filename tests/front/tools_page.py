"""Parts of docs/TOOLS.md about one tool: its section, or its row in the table of observations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson

from cortex.terms.observations import ROWS

PAGE = Path(__file__).parents[2] / "docs" / "TOOLS.md"


def section_of(name: str) -> str:
    """The text about a tool; for a tool of observations its row, after the notes on all of them."""
    text = PAGE.read_text(encoding="utf-8")
    if name in ROWS:
        notes = text[text.index("## Tools of observations") :].partition("\n| tool |")[0]
        return f"{notes}\n{_row(text, name)}"
    return text[text.index(f"### `{name}`: ") :].split("\n### ")[0].split("\n## ")[0]


def example_of(name: str) -> Any:
    """The arguments of the call that the page shows."""
    text = PAGE.read_text(encoding="utf-8")
    if name in ROWS:
        return orjson.loads(_row(text, name).rpartition(" | ")[2].strip("| `"))
    call = re.search(r"```json\n(.*?)\n```", section_of(name), re.DOTALL)
    assert call is not None
    return orjson.loads(call[1])


def _row(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(f"| `{name}` | `cortex"))
