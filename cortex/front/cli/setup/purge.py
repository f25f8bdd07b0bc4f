"""`cortex purge`: the removal of everything that Cortex wrote on this machine, except notes that
are not named.
"""

import contextlib
import os
import stat
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from cortex.front.agents import plan as agents
from cortex.front.agents import record
from cortex.front.cli.rendering.activity import slow_notice
from cortex.front.cli.running import sets
from cortex.front.cli.setup import hooks
from cortex.front.cli.setup.hooks import ask_consent
from cortex.processes import stored_projects
from cortex.processes.leftovers import remove_unlocked
from cortex.processes.stored_projects import StoredProject
from cortex.sealing import places
from cortex.settings import config as configuration
from cortex.settings.data import STORE, DataFolder
from cortex.settings.folders.home import (
    PROJECT_FOLDER,
    cache_base,
    keep_notes_of_keys,
    keys_folder,
    runtime_base,
    too_high,
    user_config,
    user_home,
)
from cortex.system import files
from cortex.system.errors import (
    EXIT_NOTHING,
    EXIT_OK,
    EXIT_UNAVAILABLE,
    CortexError,
    Misconfigured,
    Unavailable,
)
from cortex.system.installation import how_to_remove
from cortex.system.terminal import print_text

#: name in the cache folder → description. Others are a person's: CORTEX_HOME may be any folder
CACHED = {
    "projects": "indexes, logs and usage",
    "sealed": "encrypted indexes",
    places.ON_DISK: "encrypted indexes while they are served",
    "embeddings": "embeddings",
    "clones": "fetched repositories",
    "dependencies": "indexed packages",
    "trust": "consents",
    "embed": "tokens of embedding servers",
    "origin.key": "the key that marks your indexes",
}


@dataclass(frozen=True, slots=True)
class Written:
    """A file or folder that Cortex wrote."""

    path: Path
    description: str
    bytes: int


def purge(options: Namespace) -> int:
    """Show a list, ask, and remove it. Returns EXIT_NOTHING when a person refuses.

    Raises Misconfigured, and Unavailable for workers that do not end.
    """
    data = configuration.load_data()
    with slow_notice("`cortex purge`"):
        written, stored = (
            list(_written(data, with_notes=options.notes)),
            stored_projects.list_stored_projects(),
        )
    plan = agents.disconnect({name for entry in record.read() for name in entry.agents})
    hook_settings = _hooks_to_remove()
    agent_files = sorted({file.path for file in plan.changes} | {*filter(None, [hook_settings])})
    if options.as_json:
        rows = [{"path": str(item.path), "what": item.description, "bytes": item.bytes} for item in written]
        rows += [{"path": str(path), "what": "our part", "bytes": 0} for path in agent_files]
        print(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        return EXIT_OK
    for line in _lines(written, agent_files, stored, data, with_notes=options.notes):
        print_text(line)
    if not written and not agent_files:
        print("There is nothing to remove.")
        return EXIT_OK
    if not (options.yes or ask_consent("Remove this?")):
        print("Nothing is removed.")
        return EXIT_NOTHING
    _stop(stored, data)
    problems = _disconnect(plan, hook_settings)
    spared = [record.path_of()] if plan.refused else []
    keep_notes_of_keys()
    sealed = keys_folder()
    if sealed.is_dir():
        why_not = _forget_keys(sealed, data, with_notes=options.notes)
        problems += why_not
        spared += [sealed] if why_not or _spared_stores(sealed, data, with_notes=options.notes) else []
    problems += _remove(written, spared)
    for problem in problems:
        print_text(f"cortex: {problem}", file=sys.stderr)
    if not problems:
        print_text(f"Removed. The program itself: {how_to_remove()}")
    return EXIT_UNAVAILABLE if problems else EXIT_OK


def _written(data: DataFolder, *, with_notes: bool) -> Iterator[Written]:
    for name, description in CACHED.items():
        yield from _existing(cache_base() / name, description)
    yield from _existing(user_config().parent, "settings, registered projects and tokens")
    with contextlib.suppress(Misconfigured):
        yield from _existing(runtime_base(), "sockets and locks")
    if with_notes:
        if too_high(data.root) or (data.root / ".git").exists():
            raise Misconfigured(
                f"{data.root} (memory.data_dir) holds more than notes; remove its files yourself."
            )
        yield from _existing(data.root, "notes and recorded sessions")


def _existing(path: Path, description: str) -> Iterator[Written]:
    with contextlib.suppress(OSError):
        info = os.lstat(path)
        size = stored_projects.measure(path)[0] if stat.S_ISDIR(info.st_mode) else info.st_size
        yield Written(path, description, size)


def _lines(
    written: list[Written],
    agent_files: list[Path],
    stored: list[StoredProject],
    data: DataFolder,
    *,
    with_notes: bool,
) -> Iterator[str]:
    for item in written:
        yield f"{item.bytes / 1e6:9.1f} MB  {item.path}  {item.description}"
    for path in agent_files:
        yield f"       part  {path}  an agent's file"
    for path in sorted({cache_base() / name for name in _foreign(cache_base())} - {data.root}):
        what = "notes of another memory.data_dir" if (path / STORE).exists() else "not written by Cortex"
        yield f"      stays  {path}  {what}"
    if not with_notes and data.root.is_dir():
        yield f"      stays  {data.root}  notes and recorded sessions; --notes removes them, too"
    if data.settings.database:
        yield "      stays  the notes in the database server (memory.database)"
    for project in stored:
        if project.root is not None and (project.root / PROJECT_FOLDER).is_dir():
            yield f"      stays  {project.root / PROJECT_FOLDER}  part of the project"


def _foreign(base: Path) -> set[str]:
    try:
        return set(files.names(base)) - CACHED.keys()
    except OSError:
        return set()


def _stop(stored: list[StoredProject], data: DataFolder) -> None:
    """Stop all workers. Raises Unavailable if some go on: they would write again."""
    sets.stop(data)
    for project in stored:
        if not project.served:
            continue
        if project.root is None or not project.root.is_dir():
            raise Unavailable(f"A process serves {project.home}, and its project is unknown; end it by hand.")
        sets.stop(configuration.load(project.root))
    for project in stored_projects.list_stored_projects():
        if project.served:
            raise Unavailable(
                f"A process serves {project.root or project.home}; close your agents and end it, then run this again."
            )


def _hooks_to_remove() -> Path | None:
    """Return Claude Code's settings if they hold hooks of `cortex hook install`, else None."""
    with contextlib.suppress(CortexError):
        path = hooks.settings_path()
        settings = hooks.read(path)
        if hooks.remove_entries(settings) != settings:
            return path
    return None


def _disconnect(plan: agents.Plan, hook_settings: Path | None) -> list[str]:
    """Take our part out of agents' files; return sentences about files that stay."""
    problems = list(plan.refused)
    try:
        agents.write(plan)
        if hook_settings is not None:
            settings = hooks.read(hook_settings)
            remaining = hooks.remove_entries(settings)
            if not remaining:
                files.remove(hook_settings)
            elif remaining != settings:
                raw = orjson.dumps(remaining, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
                files.replace(hook_settings, raw, sync=True)
    except OSError as error:
        problems.append(f"Cannot write {error.filename or 'an agent file'}: {error.strerror or error}.")
    return problems


def _spared_stores(sealed: Path, data: DataFolder, *, with_notes: bool) -> list[Path]:
    """Return the encrypted folders of notes that stay: they need the key."""
    from cortex.sealing import keys

    return [store for store in keys.stores_elsewhere(sealed) if not with_notes or store.parent != data.root]


def _forget_keys(sealed: Path, data: DataFolder, *, with_notes: bool) -> list[str]:
    """Remove sealed indexes, and the master key unless sealed notes stay; return what stays."""
    from cortex.sealing import keys, plain_folder

    spared = _spared_stores(sealed, data, with_notes=with_notes)
    try:
        if spared:
            for store in {*keys.stores(sealed), *keys.stores_elsewhere(sealed)}.difference(spared):
                files.remove_tree(store)
            left = ""
        else:
            key_path = configuration.load_security().key_path
            left = keys.forget_master(sealed, key_path, everything=with_notes)
        plain_folder.clear_forgotten()
    except (CortexError, OSError) as error:
        return [str(error)]
    return [left] if left else []


def _remove(written: list[Written], spared: list[Path]) -> list[str]:
    """Remove files and folders, except those `spared`; return sentences about those that stay."""
    problems: list[str] = []
    for item in written:
        try:
            if item.path == runtime_base():
                _remove_sockets(item.path)
            elif any(path.parent == item.path for path in spared):
                for name in {*files.names(item.path)} - {path.name for path in spared}:
                    files.remove_tree(item.path / name)
            elif item.path not in spared:
                files.remove_tree(item.path)
                if item.path.parent in (cache_base(), Path(user_home(), PROJECT_FOLDER)):
                    files.remove_empty(item.path.parent)
        except OSError as error:
            problems.append(f"Cannot remove {item.path}: {error.strerror or error}.")
    return problems


def _remove_sockets(base: Path) -> None:
    """Remove the runtime folders in which nothing runs: another cache folder's workers may."""
    for name in files.names(base):
        remove_unlocked(base / name)
    files.remove_empty(base)
