"""Answers on standard output: pages for people, coloured on a terminal; places as JSON lines for
programs, which need not wait for the import of rich.
"""

import os
import sys
from typing import Any

import orjson

from cortex.front.text.code import metadata_of
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


def print_jsonl(answer: dict[str, Any]) -> None:
    """Print the places of results as JSON lines; notes have no place."""
    for result in (result for result in answer["results"] if "chunk" in result):
        metadata = metadata_of(result)
        start = metadata.get("start_line") or 1
        place = {
            "file": metadata.get("file_path", ""),
            "start": start,
            "end": metadata.get("end_line") or start,
            "score": result.get("combined_score", result.get("score", 0.0)),
        }
        project = {"project": result["project"]} if "project" in result else {}
        print(orjson.dumps(project | place).decode())
