"""The answer of find_related for people: each kind under a heading, one line for each result."""

from __future__ import annotations

from typing import Any

from cortex.front.cli.render import console, place_of, print_notes


def print_related(answer: dict[str, Any]) -> None:
    from rich.text import Text

    out = console()
    for kind in ("similar", "callers", "tests", "documents"):
        if answer[kind]:
            out.print(Text(kind, "bold"))
        for result in answer[kind]:
            file, line, told = _line_of(kind, result)
            text = Text.assemble("  ", (file, "bold cyan"), (f":{line}", "green"))
            text.append(f"  {told}", "dim")
            if result.get("stale"):
                text.append("  changed since it was indexed", "yellow")
            out.print(text)
    print_notes(answer | {"truncated": False})


def _line_of(kind: str, result: dict[str, Any]) -> tuple[str, int, str]:
    """(file, line, what is said of it)."""
    match kind:
        case "similar":
            file, line, _, score = place_of(result)
            return file, line, f"{score:.2f}"
        case "callers":
            return result["file"], result["line"], f"{result['id']} calls {result['calls']}"
        case "tests":
            return result["file"], result["line"], ", ".join((*result["why"], *result["tests"][:3]))
        case _:
            file, line, _, _ = place_of(result)
            return file, line, ", ".join(result["mentions"])
