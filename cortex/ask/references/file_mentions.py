"""Uses of a file that no import resolves: the lines that write its path, as links of documents,
`source` of shells, workflows and settings do.
"""

import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Any

from cortex.ask.query_context import Turn
from cortex.ask.reading.meanings import Meaning, find_meanings
from cortex.ask.references.use_sites import Site, Uses, cut, render
from cortex.ask.references.word_lines import LINES_BYTES, LINES_MAX, NO_LINES, search_lines
from cortex.terms.code.components import component_name, is_component
from cortex.terms.kinds import WHOLE_KINDS
from cortex.terms.text.spelling import means_file
from ipc.messages import Filters

#: files that one name may mean
MEANT_MAX = 3
#: a path as it is written, up to the name of the file
_FOLDERS = r"[\w.@~${}+-]*/"


def files_meant(turn: Turn, written: str) -> list[str]:
    """Return the indexed files whose path or its end is `written`; none where they are many."""
    name = written.strip().rpartition("/")[2]
    paths = [path for path in turn.context.freshness.listed() if path.rpartition("/")[2] == name]
    meant = [path for path in paths if means_file(written.strip(), path)] if name else []
    meant = [path for path in meant if path == written.strip()] or meant
    return sorted(meant) if len(meant) <= MEANT_MAX else []


async def list_file_uses(turn: Turn, paths: Sequence[str], offset: int, max_bytes: int) -> dict[str, Any]:
    """Return the lines that write the path of each of the files as `sites`. Raises NotReady."""
    room = max_bytes // max(1, len(paths))
    blocks = [await _list_uses(turn, path, offset, room) for path in paths]
    return {"sites": blocks, "notes": [], "suggestion": ""}


async def _list_uses(turn: Turn, path: str, offset: int, max_bytes: int) -> dict[str, Any]:
    name = path.rpartition("/")[2]
    written = rf"((?:{_FOLDERS})*){re.escape(name)}"
    filters = Filters(chunk_types=("code", "documentation"))
    lines = await search_lines(turn, re.escape(name), LINES_MAX, filters, max_bytes=LINES_BYTES)
    holding = lines or NO_LINES
    pattern = re.compile(rf"(?<![\w.@+/-]){written}(?![\w-])(?!\.\w)")
    namesakes = [other for other in turn.context.freshness.listed() if other.rpartition("/")[2] == name]
    sites = [
        Site(*place, "", cut(line.text))
        for place, line in holding.lines.items()
        if place[0] != path
        and any(_means(match[1], place[0], path, len(namesakes) > 1) for match in pattern.finditer(line.text))
    ]
    usage = Uses(sorted(sites, key=lambda site: site.order), textual=True, truncated=holding.truncated)
    return render(usage, offset, max_bytes, {"of": path, "at": f"{path}:1", "direction": "callers"})


def _means(folder: str, file: str, path: str, has_namesakes: bool) -> bool:
    """Whether a name behind `folder`, written in `file`, is the file at `path`: relative to the
    file or to the project, or as the end of the path. A bare name is that of a file of the same
    folder where there are several.
    """
    home, _, name = path.rpartition("/")
    around = posixpath.normpath(posixpath.join(posixpath.dirname(file), folder, name))
    if around == path:
        return True
    plain = re.sub(r"^(?:\.{0,2}/)+", "", folder).rstrip("/")
    if not plain:
        return not has_namesakes and not folder.startswith("..")
    # folders of a variable or of a machine stand before those of the project
    return f"/{home}".endswith(f"/{plain}") or f"/{plain}".endswith(f"/{home}" if home else "}")


async def as_components(turn: Turn, meanings: Iterable[Meaning]) -> list[Meaning]:
    """Return the component in place of each file that is one."""
    return [await _as_component(turn, meaning) for meaning in meanings]


async def _as_component(turn: Turn, meaning: Meaning) -> Meaning:
    name = component_name(meaning.file) if is_component(meaning.file) else ""
    if meaning.kind not in WHOLE_KINDS or not name:
        return meaning
    components, _ = await find_meanings(turn, f"{meaning.file}:{name}")
    named = [component for component in components if component.file == meaning.file]
    return named[0] if len(components) == len(named) == 1 and not named[0].is_guess else meaning
