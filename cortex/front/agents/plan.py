"""Plans for connecting and disconnecting agents: files with their texts before and after.

Only `write` changes files.
"""

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from cortex.front.agents import record, rules
from cortex.front.agents.edits import json_files, pieces, toml_files, yaml_files
from cortex.front.agents.table import AGENTS, BY_NAME, NAME, Agent, Scope, TextFile, relocate
from cortex.settings.folders.home import user_home, variable_folder
from cortex.system import files

#: maximum of bytes of a file of settings or rules; Claude Code's grows with its history
BYTES_MAX = 16 << 20
#: keys of the tools that need no consent, and format of a tool's name there
_ALLOWED, _TOOL = ("permissions", "allow"), "mcp__cortex__{}"
#: a tool's name in an inserted text
_NAMED_TOOL = re.compile(r'mcp__cortex__(\w+)"|[`".](cortex_\w+|code_context|find_related)[`"\]]')
#: form of a file of settings → the function for the piece of an entry in it
_ENTRIES: dict[str, Callable[..., pieces.Piece | None]] = {
    "json": json_files.json_entry,
    "toml": toml_files.toml_table,
    "yaml": yaml_files.yaml_entry,
}
#: mode of a new file: others read a project's files too, and none has secrets
_NEW = 0o644


@dataclass(slots=True)
class File:
    """One file with its text before and after the change; None: no file."""

    path: Path
    before: str | None
    after: str | None
    #: the inserted pieces
    added: list[record.Entry] = field(default_factory=list)


@dataclass(slots=True)
class Plan:
    """All changes; `entries`: recorded ones that stay; `refused`: sentences on impossible ones."""

    files: dict[Path, File]
    entries: list[record.Entry]
    refused: list[str]
    #: folders created for files that are removed
    left: list[str] = field(default_factory=list)
    #: titles of the agents that have no entry, because their file was refused
    unconnected: list[str] = field(default_factory=list)

    @property
    def changes(self) -> list[File]:
        return [file for file in self.files.values() if file.after != file.before]


def reading_tools() -> list[str]:
    """Return the names of the tools that agents are offered and that change nothing."""
    from cortex.front.tools import TOOLSETS

    return [line.name for line in TOOLSETS["agent"] if line.reads]


def is_outdated(piece: str) -> bool:
    """Whether an inserted text names tools that agents are not offered, as older versions wrote."""
    from cortex.front.tools import TOOLSETS

    offered = {line.name for line in TOOLSETS["agent"]}
    return not offered.issuperset(first or second for first, second in _NAMED_TOOL.findall(piece))


def settings_base() -> Path:
    """Return the folder for programs' settings on this system. Raises Misconfigured."""
    if sys.platform == "darwin":
        return Path(user_home(), "Library", "Application Support")
    if sys.platform == "win32":
        return Path(variable_folder("APPDATA") or os.path.join(user_home(), "AppData", "Roaming"))
    return Path(variable_folder("XDG_CONFIG_HOME") or os.path.join(user_home(), ".config"))


def locate(path: str, root: Path) -> Path:
    """Return the file of a path in the table of agents. Symbolic links are a person's own up to the
    project's folder, and are resolved; below it they may come with a clone, and stay.
    """
    path = relocate(path)
    if path.startswith("~/.config/"):
        target = Path(variable_folder("XDG_CONFIG_HOME") or os.path.join(user_home(), ".config"), path[10:])
    elif path.startswith("~/"):
        target = Path(user_home(), path[2:])
    elif path.startswith("%/"):
        target = settings_base() / path[2:]
    else:
        return Path(os.path.realpath(root), path)
    return Path(os.path.realpath(target))


# --- in ---


def connect(
    agent_scopes: Sequence[tuple[Agent, Scope]],
    command: Sequence[str],
    root: Path,
    hooks: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan to connect agents in project `root`. `hooks`: event → entry. Raises Misconfigured."""
    plan = Plan({}, record.read(), [])
    for agent, scope in agent_scopes:
        if not _add_server(plan, agent, scope, command, root):
            plan.unconnected.append(agent.title)  # rules would name tools that it does not have
            continue
        if scope.allows:
            allowed = [_TOOL.format(name) for name in reading_tools()]
            _add_items(plan, agent, locate(scope.allows, root), _ALLOWED, allowed)
            for event, entry in (hooks or {}).items():
                _add_items(plan, agent, locate(scope.allows, root), ("hooks", event), [entry])
        for written in (scope.rules, scope.subagent):
            if written is not None:
                _add_text(plan, agent, written, root)
    places = {path for agent, scope in agent_scopes if scope is agent.user for path in places_of(scope, root)}
    for file in plan.files.values():
        for entry in file.added:
            entry.scope = "user" if file.path in places else "project"
    return plan


def places_of(scope: Scope | None, root: Path) -> Iterator[Path]:
    """Yield the files that connect an agent."""
    if scope is None:
        return
    texts = [text.path for text in (scope.rules, scope.subagent) if text is not None]
    for path in (scope.server.path, scope.allows, *texts):
        if path:
            yield locate(path, root)


def _add_server(plan: Plan, agent: Agent, scope: Scope, command: Sequence[str], root: Path) -> bool:
    """Add the entry; return False if its file was refused."""
    server = scope.server
    placed = [*command, "--project", str(root)] if agent.placeless else command
    value = server.shape(placed, reading_tools())
    make = partial(_ENTRIES[server.form], keys=server.keys, value=value)
    return _add_piece(plan, agent, locate(server.path, root), make, server.keys)


def _add_items(plan: Plan, agent: Agent, path: Path, keys: Sequence[str], items: list[Any]) -> None:
    _add_piece(plan, agent, path, partial(json_files.json_items, keys=keys, items=items), keys, items=items)


def _add_text(plan: Plan, agent: Agent, written: TextFile, root: Path) -> None:
    path = locate(written.path, root)
    if not written.head:
        section = partial(pieces.section, body=rules.section(), begin=rules.BEGIN)
        _add_piece(plan, agent, path, section)
        return
    body = written.head + rules.RULES

    def fill_empty(text: str) -> pieces.Piece | None:
        if text == body:
            return None
        if text:
            raise pieces.NotUnderstoodError("it holds something else")
        return pieces.Piece(0, body)

    _add_piece(plan, agent, path, fill_empty)


def _add_piece(
    plan: Plan,
    agent: Agent,
    path: Path,
    make: Callable[[str], pieces.Piece | None],
    keys: Sequence[str] = (),
    *,
    items: Sequence[Any] = (),
) -> bool:
    """Insert the piece of `make` into the file, in place of recorded ones of the same kind that
    differ or are outdated; return False if the file was refused. `keys`: the entry, or the array
    of `items`.
    """
    older: list[record.Entry] = []
    entries = plan.entries.copy()
    try:
        file = _file(plan, path)
        before = file.after
        for entry in reversed(_pieces_of(plan, agent, path)):
            if is_outdated(entry.piece):
                _remove_piece(plan, file, entry)
                older.append(entry)
        try:
            piece = make(file.after or "")
        except pieces.NotUnderstoodError:
            differing = _pieces_of(plan, agent, path)
            if not differing:
                raise
            for entry in reversed(differing):
                _remove_piece(plan, file, entry)
            older += differing
            piece = make(file.after or "")
    except (pieces.NotUnderstoodError, OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        if older:
            plan.entries = entries
            plan.files[path].after = before
        plan.refused.append(
            f"{agent.title}: {path} stays unchanged, because {why}; repair it and install again, or see "
            f"{agent.docs}."
        )
        return False
    text = file.after or ""
    if piece is None:
        for entry in (*plan.entries, *file.added):
            if entry.path == str(path) and entry.piece in text and agent.name not in entry.agents:
                entry.agents.append(agent.name)
        return True
    present = json_files.json_value(text, keys) if items else None
    added = [item for item in items if item not in (present or ())]
    file.after = piece.apply_to(text)
    created = file.before is None or any(entry.created for entry in older)
    folders = _missing_folders(path) or [folder for entry in older for folder in entry.folders]
    names = list(dict.fromkeys((agent.name, *(name for entry in older for name in entry.agents))))
    file.added.append(record.Entry(str(path), piece.text, names, list(keys), created, folders, added))
    return True


def _pieces_of(plan: Plan, agent: Agent, path: Path) -> list[record.Entry]:
    return [entry for entry in plan.entries if entry.path == str(path) and agent.name in entry.agents]


def _file(plan: Plan, path: Path) -> File:
    """Return the planned state of a file. Raises OSError, UnicodeDecodeError for no UTF-8, and
    NotUnderstoodError for a file behind a link of a project.
    """
    if linked := next((place for place in (path, *path.parents) if place.is_symlink()), None):
        raise pieces.NotUnderstoodError(f"{linked} is a link of the project")
    if path not in plan.files:
        try:
            raw: bytes | None = files.read_plain(path, BYTES_MAX + 1)
        except FileNotFoundError:
            raw = None
        if raw is not None and len(raw) > BYTES_MAX:
            raise OSError(0, f"it has more than {BYTES_MAX >> 20} MB")
        text = None if raw is None else raw.decode()
        plan.files[path] = File(path, text, text)
    return plan.files[path]


def _missing_folders(path: Path) -> list[str]:
    missing = []
    for folder in path.parents:
        if folder.exists():
            break
        missing.append(str(folder))
    return missing


# --- out ---


def disconnect(names: Iterable[str], among: Callable[[record.Entry], bool] = lambda _: True) -> Plan:
    """Plan to remove recorded pieces `among` them; refused ones stay. Raises Misconfigured."""
    plan, gone = Plan({}, record.read(), []), set(names)
    for entry in reversed(plan.entries.copy()):
        if not gone & set(entry.agents) or not among(entry):
            continue
        if others := [name for name in entry.agents if name not in gone]:
            entry.agents = others
            continue
        try:
            _remove_piece(plan, _file(plan, Path(entry.path)), entry)
        except (pieces.NotUnderstoodError, OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            plan.refused.append(
                f"{entry.path} stays unchanged, because {why}; remove our part yourself, then run this again."
            )
    return plan


def is_of_user(entry: record.Entry) -> bool:
    """Whether a recorded piece is in a file of the user, not of a project."""
    if entry.scope:
        return entry.scope == "user"
    return any(Path(entry.path) in places_of(agent.user, Path()) for agent in AGENTS)


def _remove_piece(plan: Plan, file: File, entry: record.Entry) -> None:
    """Remove a recorded piece. Raises NotUnderstoodError if an edited one cannot be located."""
    if (text := file.after) is not None:
        text = text.replace(entry.piece, "") if text.count(entry.piece) == 1 else _remove_edited(text, entry)
        file.after = None if entry.created and json_files.is_hollow(text) else text
    plan.entries.remove(entry)
    if file.after is None:
        file.added = []
        plan.left += entry.folders


def _remove_edited(text: str, entry: record.Entry) -> str:
    """Return `text` without a piece that has another spelling by now."""
    if entry.items:
        text = json_files.remove_json_items(text, entry.keys, entry.items.__contains__)
        return json_files.remove_empty_json(text, entry.keys, entry.piece)
    if entry.piece.lstrip().startswith(rules.BEGIN):
        return _remove_section(text)
    if _TOOL.format("") in entry.piece:  # recorded without its items by an older version
        return json_files.remove_json_items(
            text, _ALLOWED, lambda item: str(item).startswith(_TOOL.format(""))
        )
    keys, suffix = entry.keys or _older_keys(entry), Path(entry.path).suffix
    if not keys:
        raise pieces.NotUnderstoodError("the inserted text has been edited")
    if suffix == ".toml":
        return toml_files.remove_toml_table(text, keys)
    if suffix == ".yaml":
        return yaml_files.remove_yaml_entry(text, keys, NAME)
    return json_files.remove_empty_json(json_files.remove_json_entry(text, keys), keys[:-1], entry.piece)


def _older_keys(entry: record.Entry) -> Sequence[str]:
    """Return the keys to an entry in TOML or YAML: older versions recorded those in JSON alone."""
    suffix = Path(entry.path).suffix
    scopes = [scope for name in entry.agents for scope in (BY_NAME[name].user, BY_NAME[name].project)]
    servers = [scope.server for scope in scopes if scope is not None and scope.server.form != "json"]
    return next((server.keys for server in servers if Path(server.path).suffix == suffix), ())


def _remove_section(text: str) -> str:
    before, begin, remainder = text.partition(rules.BEGIN)
    _, end, after = remainder.partition(rules.END)
    if not begin and rules.END not in text:
        return text
    if not (begin and end):
        raise pieces.NotUnderstoodError("the inserted section has lost its first or last line")
    return before + after.lstrip("\r\n")


# --- onto the disk ---


def write(plan: Plan) -> None:
    """Write the record, then the changed files. Raises OSError.

    The record is first: a recorded piece that was not written does no harm to a later removal.
    """
    record.write(plan.entries + [entry for file in plan.files.values() for entry in file.added])
    for file in plan.changes:
        if file.after is None:
            files.remove(file.path)
            continue
        old_mode = None if file.before is None else stat.S_IMODE(os.lstat(file.path).st_mode)
        files.make_folder(file.path.parent, anywhere=True)
        files.replace(file.path, file.after.encode(), sync=True, mode=old_mode or _NEW)
    for folder in plan.left:
        if os.path.isdir(folder):
            files.remove_empty(folder)
