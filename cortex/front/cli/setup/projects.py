"""`cortex projects` and `cortex clean`: the stored data of each project, and its removal."""

import sys
import time
from argparse import Namespace
from collections.abc import Iterable
from typing import Any

import orjson

from cortex.front.cli.parsing.parser import Parser, seconds_of
from cortex.front.cli.rendering import columns
from cortex.front.cli.rendering.activity import slow_notice
from cortex.front.cli.setup.hooks import ask_consent
from cortex.processes import stored_projects
from cortex.processes.stored_projects import StoredProject
from cortex.settings.folders.home import root_id
from cortex.settings.folders.projects import known_projects
from cortex.settings.folders.subfolder import enclosing_project
from cortex.system.errors import EXIT_NOTHING, EXIT_OK, EXIT_UNAVAILABLE, Unavailable
from cortex.system.terminal import escape_in_line, print_text

#: seconds without use after which a folder without a project is removable: the note with the
#: project is written right after the folder
_NOBODYS_S = 86_400


def list_all(options: Namespace) -> int:
    rows = _rows(stored_projects.list_stored_projects())
    if options.as_json:
        print(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
    else:
        print_text("\n".join(_lines(rows)) or "No project was indexed yet.")
    return EXIT_OK


def _rows(stored: Iterable[StoredProject]) -> list[dict[str, Any]]:
    """Return rows of stored projects, then of registered projects without stored data."""
    names = {project.root: project for project in known_projects().values()}
    rows = []
    for project in stored:
        root = project.root or next(
            (root for root in names if project.sealed and root_id(root) == project.home.name), None
        )
        registered = names.pop(root, None) if root is not None else None
        rows.append(
            {
                "name": registered.name if registered else root.name if root else project.home.name,
                "root": str(root or ""),
                "bytes": project.bytes,
                "used": int(project.used),
                "state": _state(project, read_only=registered is not None and registered.read_only),
                "home": str(project.home),
            }
        )
    for root, registered in names.items():
        row = {"name": registered.name, "root": str(root), "bytes": 0, "used": 0}
        state = "a part" if enclosing_project(root)[1] else "not indexed"
        rows.append(row | {"state": state, "home": ""})
    return rows


def _state(project: StoredProject, *, read_only: bool) -> str:
    if project.served:
        return "served"
    if project.sealed:
        return "sealed"
    if project.orphan:
        return "gone"
    return "read only" if read_only else "at rest"


def _lines(rows: Iterable[dict[str, Any]]) -> list[str]:
    return columns.table([_cells(row) for row in rows], (1, 2))


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    used = _ago(time.time() - row["used"]) if row["used"] else "never"
    root = escape_in_line(row["root"] or f"unknown ({row['home']})")
    return escape_in_line(row["name"]), f"{row['bytes'] / 1e6:.1f} MB", used, row["state"], root


def _ago(seconds: float) -> str:
    """Format in the largest unit that is at least 1."""
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"


def declare_clean(parser: Parser) -> None:
    parser.add_argument(
        "--older-than",
        default="",
        metavar="TIME",
        help="also remove projects unused for this long, such as 30d or 8w",
    )
    parser.add_flag("-y", "--yes", help="do not ask before removing, for scripts")
    parser.add_flag("--json", help="list them as JSON, and end", dest="as_json")


def clean(options: Namespace) -> int:
    """Ask, then remove stored projects; return EXIT_NOTHING after a refusal. Raises BadRequest."""
    old_s = seconds_of(options.older_than, "--older-than") if options.older_than else None
    with slow_notice("`cortex clean`"):
        removable = [
            project for project in stored_projects.list_stored_projects() if is_removable(project, old_s)
        ]
    rows = _rows_of(removable)
    if options.as_json:
        print(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        return EXIT_OK
    if not removable:
        print("There is nothing to remove.")
        return EXIT_OK
    print_text("\n".join(_lines(rows)))
    print(
        f"{sum(project.bytes for project in removable) / 1e6:.1f} MB. The projects' own files stay as they are."
    )
    if not (options.yes or ask_consent("Remove this?")):
        print("Nothing is removed.")
        return EXIT_NOTHING
    return max(map(_remove, removable))


def is_removable(project: StoredProject, old_s: float | None) -> bool:
    """Whether it is an orphan, or unused for `old_s` seconds; never while it is served."""
    if project.served or project.sealed:  # `cortex index --decrypt` removes a sealed one
        return False
    if project.root is None:
        return project.idle_s > _NOBODYS_S
    return project.orphan or (old_s is not None and project.idle_s >= old_s)


def _rows_of(removable: list[StoredProject]) -> list[dict[str, Any]]:
    homes = {str(project.home) for project in removable}
    return [row for row in _rows(removable) if row["home"] in homes]


def _remove(project: StoredProject) -> int:
    """Remove one project; report one that is in use, so that the others go on."""
    try:
        stored_projects.remove(project)
    except Unavailable as error:
        print_text(f"cortex: {error}", file=sys.stderr)
        return EXIT_UNAVAILABLE
    print_text(f"Removed {escape_in_line(str(project.home))}")
    return EXIT_OK
