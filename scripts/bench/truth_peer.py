"""codegraph's answers at the sites of a reference, from the database that it makes of a copy of the
project.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from truth_sites import File, Place, Site

#: seconds for its index of a project; a project that takes longer is judged without it
INDEXED_S = 600.0
_EDGES = (
    "select s.file_path, e.line, e.col, t.name, t.file_path, t.start_line, t.end_line from edges e "
    "join nodes s on s.id = e.source join nodes t on t.id = e.target "
    "where e.line is not null and e.kind in ('calls', 'instantiates', 'references')"
)
#: a column, the target's name, its place
_Edge = tuple[int, str, Place]


def ask_codegraph(
    root: Path, sampled: Iterable[tuple[File, Sequence[Site]]]
) -> Iterator[tuple[Site, set[Place]]]:
    """Yield (site, its possible targets).

    An edge belongs to a site if it is on the same line and ends at the name that is written there,
    or begins where the name does. Raises subprocess.TimeoutExpired.
    """
    edges = _read_edges(root)
    for file, sites in sampled:
        for site in sites:
            word = re.match(rb"[\w$]+", file.lines[site[1] - 1][site[2] :])
            name = word[0].decode() if word else ""
            line_edges = edges.get(site[:2], ())
            places = {place for _, target, place in line_edges if target == name}
            places = places or {place for column, _, place in line_edges if column == site[2]}
            if places:
                yield site, places


def _read_edges(root: Path) -> dict[Place, list[_Edge]]:
    edges: dict[Place, list[_Edge]] = {}
    texts: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / root.name
        shutil.copytree(
            root, copy, symlinks=True, ignore=shutil.ignore_patterns("node_modules", ".codegraph")
        )
        subprocess.run(
            ["codegraph", "init", str(copy)],
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=INDEXED_S,
        )
        database = sqlite3.connect(copy / ".codegraph" / "codegraph.db")
        for path, line, column, name, target_path, first, last in database.execute(_EDGES):
            if target_path not in texts:
                place = root / target_path
                texts[target_path] = (
                    place.read_text("utf-8", "replace").split("\n") if place.is_file() else []
                )
            its_line = _line(texts[target_path], name, first, last)
            edges.setdefault((path, line), []).append((column or 0, name, (target_path, its_line)))
        database.close()
    return edges


def _line(text: list[str], name: str, first: int, last: int) -> int:
    """Return the line of a definition's name; the definition begins with its decorators in line
    `first`.
    """
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    decorators = (line for line in range(first, min(last, len(text)) + 1) if word.search(text[line - 1]))
    return next((line for line in decorators if not text[line - 1].lstrip().startswith("@")), first)
