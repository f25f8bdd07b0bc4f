"""Writes docs/TOOLS.md from the tools' schemas and the template scripts/tools_page.md.

python scripts/tools_page.py            writes the page
python scripts/tools_page.py --print    prints it

The template is the page's prose. A table replaces each comment `<!-- NAME … -->` in it:

<!-- commands -->       the tools of code and memory with their commands
<!-- offers -->         the tools that agents are offered, with their texts and arguments
<!-- tool NAME          title, description and arguments of a tool; lines `argument: note` add
argument: note -->      to the description of an argument
<!-- others -->         the same for tools of code without such a comment, each with the paragraphs
                        after the first in its module's docstring
<!-- observations       the tools of observations; each line is `tool | answer | example call`
tool | … | … -->
<!-- arguments -->      the arguments of the tools of observations
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cortex.front.cli.parsing.generated import make_command
from cortex.front.tool import Tool
from cortex.front.tools import TOOLS, TOOLSETS
from cortex.terms.observations import ROWS, Between

TEMPLATE = Path(__file__).with_suffix(".md")
PLACE = Path(__file__).parent.parent / "docs" / "TOOLS.md"
EXAMPLE = "Example: "


def render(template: str = "") -> str:
    """Return the page, of TEMPLATE by default."""
    text = template or TEMPLATE.read_text(encoding="utf-8")
    described = re.findall(r"<!-- tool (\w+)", text)
    text = text.replace("<!-- others -->", "".join(_others(described)))
    return re.sub(r"<!-- (\w+)(.*?)-->", lambda match: _table(match[1], match[2]), text, flags=re.DOTALL)


def _table(name: str, body: str) -> str:
    match name:
        case "commands":
            return _commands(tool for name, tool in TOOLS.items() if name not in ROWS)
        case "offers":
            return _offers()
        case "tool":
            first, _, notes = body.partition("\n")
            return _tool(TOOLS[first.strip()], dict(_pairs(notes)))
        case "observations":
            return _observations(body)
        case "arguments":
            return _arguments()
    raise ValueError(f"{TEMPLATE.name}: there is no table {name!r}")


def _pairs(notes: str) -> Iterable[tuple[str, str]]:
    for line in filter(None, map(str.strip, notes.splitlines())):
        argument, _, note = line.partition(": ")
        yield argument, note


def _markdown(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    names = list(heads)
    lines = [names, ["---"] * len(names), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines)


def _command(tool: Tool) -> str:
    command = make_command(tool)
    return f"`cortex {command.name} {(command.usage or '').removesuffix(' [options]')}`"


def _commands(tools: Iterable[Tool]) -> str:
    rows = ([f"`{tool.name}`", _command(tool), tool.title] for tool in tools)
    return _markdown(["tool", "command", "purpose"], rows)


def _offers() -> str:
    rows = (
        [
            f"`{entry.name}`",
            offer.description.replace("|", "\\|"),
            ", ".join(f"`{argument}`" for argument in offer.arguments),
        ]
        for entry in TOOLSETS["agent"]
        if (offer := TOOLS[entry.name].form.offer)
    )
    return _markdown(["tool", "text", "listed arguments"], rows)


def _tool(tool: Tool, notes: Mapping[str, str]) -> str:
    fields = tool.schema["properties"]
    if unknown := notes.keys() - fields.keys():
        raise ValueError(f"{TEMPLATE.name}: {tool.name}: unknown argument {', '.join(sorted(unknown))}")
    rows = (
        [f"`{name}`", _kind(field), _default(tool, name), f"{_meaning(field)} {notes.get(name, '')}".strip()]
        for name, field in fields.items()
    )
    table = _markdown(["argument", "type", "default", "meaning"], rows)
    return f"### `{tool.name}`: {tool.title[0].lower()}{tool.title[1:]}\n\n{_description(tool)}\n\n{table}"


def _others(described: Collection[str]) -> Iterator[str]:
    """Yield the sections of the tools of code that are not `described`."""
    for name in dict.fromkeys(entry.name for entry in (*TOOLSETS["code"], *TOOLSETS["agent"])):
        tool = TOOLS[name]
        if name not in described and tool.asks({}) == "code":
            _, _, answer = (inspect.getdoc(inspect.getmodule(tool.function)) or "").partition("\n\n")
            yield "".join(f"{part}\n\n" for part in (_tool(tool, {}), answer) if part)


def _description(tool: Tool) -> str:
    """Return the text that agents read, as Markdown."""
    lines = tool.description.splitlines()
    marked = (
        f"{EXAMPLE}`{line.removeprefix(EXAMPLE)}`" if line.startswith(EXAMPLE) else line for line in lines
    )
    return "\n".join(marked)


def _kind(field: Mapping[str, Any]) -> str:
    kind: str = field.get("type", "any")
    return f"list of {field['items']['type']}s" if kind == "array" else kind


def _default(tool: Tool, name: str) -> str:
    if name in tool.schema.get("required", ()):
        return "required"
    default = tool.schema["properties"][name].get("default")
    return "" if default is None else f"`{_as_text(default)}`"


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _meaning(field: Mapping[str, Any]) -> str:
    values = field.get("enum", field.get("items", {}).get("enum", ()))
    listed = f"One of {', '.join(f'`{value}`' for value in values)}." if values else ""
    return f"{field.get('description', '')} {listed}".strip().replace("|", "\\|")


def _observations(body: str) -> str:
    cells = {
        row[0]: row[1:]
        for row in ([cell.strip() for cell in x.split(" | ")] for x in body.splitlines())
        if row[0]
    }
    if missing := ROWS.keys() ^ cells.keys():
        raise ValueError(
            f"{TEMPLATE.name}: {', '.join(sorted(missing))}: in the code or in the template alone"
        )
    rows = (
        [f"`{name}`", _command(TOOLS[name]), _purpose(name), _argument_list(name), answer, f"`{call}`"]
        for name, (answer, call) in ((name, cells[name]) for name in ROWS)
    )
    return _markdown(["tool", "command", "purpose", "arguments", "answer", "example"], rows)


def _purpose(name: str) -> str:
    return ROWS[name].text.partition("\n")[0]


def _argument_list(name: str) -> str:
    return (
        ", ".join(_argument_with_bounds(name, argument) for argument in TOOLS[name].schema["properties"])
        or "none"
    )


def _argument_with_bounds(name: str, argument: str) -> str:
    """Return an argument with its default and bounds."""
    tool, default = TOOLS[name], ROWS[name].arguments.get(argument)
    parts = [_default(tool, argument)]
    if isinstance(default, Between):
        parts = [f"{default.default:g}"] if isinstance(default.default, int | float) else parts
        parts.append(f"{default.least:g} to {int(default.most) if default.most >= 1 else default.most}")
    inside = ", ".join(filter(None, parts))
    return f"`{argument}` ({inside})" if inside else f"`{argument}`"


def _arguments() -> str:
    """Return each argument of the observation tools, with the notes that single tools add."""
    meanings: dict[str, dict[str, list[str]]] = {}
    for name in ROWS:
        for argument, field in TOOLS[name].schema["properties"].items():
            meanings.setdefault(argument, {}).setdefault(_meaning(field), []).append(name)
    return _markdown(
        ["argument", "meaning"], ([f"`{name}`", _merge_meanings(texts)] for name, texts in meanings.items())
    )


def _merge_meanings(texts: Mapping[str, list[str]]) -> str:
    common = max(texts, key=lambda text: len(texts[text]))
    others = (
        f"Of {', '.join(f'`{name}`' for name in names)}: {text}"
        for text, names in texts.items()
        if text != common
    )
    return " ".join([common, *others])


def main() -> None:
    if "--print" in sys.argv[1:]:
        sys.stdout.write(render())
    else:
        PLACE.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
