"""Lines that define a setting in a nested table: of `worker_prefetch_multiplier`, the line
`prefetch_multiplier=Option(4)` inside of `worker=Namespace(`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from cortex.ask.lines.current_lines import read_texts
from cortex.ask.lines.indented_blocks import indentation_of
from cortex.ask.query_context import Turn
from cortex.ask.references.use_sites import Site, Uses, cut, render
from cortex.ask.references.word_lines import NO_LINES, search_lines
from cortex.system.errors import Unavailable
from ipc.messages import Filters

#: names of a question that are searched, lines and files that are read for them, and parts of one
NAMES_MAX, LINES_MAX, FILES_MAX, PARTS_MAX = 2, 120, 12, 6
#: lines above a key in which its tables begin; bytes of the lines of one setting
AROUND_MAX, BLOCK_BYTES = 2_000, 400
#: a name in small letters that may join those of tables
_JOINED = re.compile(r"(?<![\w.@$/-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w(/-])")
#: the key of a line, and the table of a header
_KEY = re.compile(r"""\s*(?:- )?["']?([A-Za-z][\w-]*)["']?\s*(?:=(?![=>])|:(?!:)|=>)""")
_TABLE = re.compile(r"\s*\[+\s*([\w.-]+)\s*\]+\s*$")


def find_joined_names(query: str) -> list[str]:
    """Return the names of a question that may be those of settings in nested tables."""
    names = dict.fromkeys(match[0] for match in _JOINED.finditer(query))
    return [name for name in names if name.count("_") < PARTS_MAX][:NAMES_MAX]


async def find_nested(turn: Turn, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a block of lines for each name that a nested table defines. Raises NotReady."""
    blocks = []
    for name in names:
        sites = await _find_sites(turn, name)
        if sites:
            first = sites[0]
            head = {"of": f"{first.name} in {name.removesuffix(first.name).strip('_')}"}
            usage = Uses([Site(site.file, site.line, "", site.text) for site in sites], textual=True)
            blocks.append(render(usage, 0, BLOCK_BYTES, head))
    return blocks


async def _find_sites(turn: Turn, name: str) -> list[Site]:
    """Return the lines that define a setting, each with the key as its name; those with the longest
    key alone.
    """
    parts = name.split("_")
    keys = ["[_-]".join(parts[at:]) for at in range(1, len(parts))]
    pattern = rf"\b(?:{'|'.join(keys)})[\"']?\s*[:=]"
    holding = await search_lines(turn, pattern, LINES_MAX, Filters(chunk_types=("code", "data"))) or NO_LINES
    places = [place for place, line in holding.lines.items() if line.kind != "comment"]
    files = list(dict.fromkeys(path for path, _ in places))[:FILES_MAX]
    try:
        texts = await read_texts(turn, files) if files else {}
    except Unavailable:
        return []
    sites = []
    for path, number in places:
        lines = texts.get(path, "").split("\n")
        key = _key_of(lines[number - 1]) if number <= len(lines) else ""
        if key and name.endswith(f"_{key}") and _is_inside(lines, number, name.removesuffix(f"_{key}")):
            sites.append(Site(path, number, key, cut(lines[number - 1])))
    longest = max((len(site.name) for site in sites), default=0)
    return sorted((site for site in sites if len(site.name) == longest), key=lambda site: site.order)


def _key_of(line: str) -> str:
    match = _KEY.match(line)
    return match[1].replace("-", "_").lower() if match else ""


def _is_inside(lines: Sequence[str], number: int, outer: str) -> bool:
    """Whether the tables around a line have the name `outer`, the innermost last: `worker`."""
    joined = ""
    for key in _keys_around(lines, number):
        joined = f"{key}_{joined}" if joined else key
        if not f"_{outer}".endswith(f"_{joined}"):
            return False
        if joined == outer:
            return True
    return False


def _keys_around(lines: Sequence[str], number: int) -> Iterator[str]:
    """Yield the keys of the tables around a line, the innermost first."""
    indent = indentation_of(lines[number - 1])
    for line in reversed(lines[max(0, number - 1 - AROUND_MAX) : number - 1]):
        if not line.strip():
            continue
        if (table := _TABLE.match(line)) and indentation_of(line) <= indent:
            yield from reversed(table[1].replace("-", "_").lower().split("."))
            return
        if indentation_of(line) < indent:
            indent = indentation_of(line)
            yield _key_of(line)
