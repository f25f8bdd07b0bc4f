"""`cortex hook install` and `uninstall`: the entry in the settings of Claude Code by which it tells
what happens in its sessions.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cortex.front.cli.parser import DATA_DIR, Parser, absolute
from cortex.settings import config as configuration
from cortex.settings.home import user_home
from cortex.settings.table import Memory
from cortex.system import files
from cortex.system.errors import EXIT_NOTHING, EXIT_OK, Misconfigured
from cortex.system.terminal import escape_controls

#: the program, its module where it is not installed, and Claude Code's name of each event → ours
PROGRAM, MODULE = "cortex-hook", "cortex.front.hook"
EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "tool-use",
    "Stop": "stop",
    "SessionEnd": "session-end",
}
#: seconds after which Claude Code ends it; it ends by itself long before
TIMEOUT_S = 5
#: bytes of a file of settings
SETTINGS_BYTES_MAX = 4 << 20


def declare_install(parser: Parser) -> None:
    declare_uninstall(parser)
    parser.add_folder("--data-dir", metavar="DIR", type=absolute, help=DATA_DIR)


def declare_uninstall(parser: Parser) -> None:
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask before writing")
    parser.add_argument(
        "--print", dest="only_print", action="store_true", help="print the changes, and write nothing"
    )


def own_arguments(data_dir: str | None = None) -> list[str]:
    """What the program is to be told about this person's memory. Raises Misconfigured."""
    data = configuration.load_data({"memory": {"data_dir": data_dir}} if data_dir else None)
    if data.settings.sessions == "off":
        raise Misconfigured(
            "memory.sessions is off, so nothing would be kept of what hooks tell; set it to project or all."
        )
    return [] if data.settings.data_dir == Memory().data_dir else ["--data-dir", str(data.root)]


def install(options: Namespace) -> int:
    """Add the entry; what is there stays."""
    own = own_arguments(options.data_dir)
    path = settings_path()
    settings = read(path)
    return _write(path, settings, installed(settings, own), options)


def uninstall(options: Namespace) -> int:
    """Take our entries out; others stay."""
    path = settings_path()
    settings = read(path)
    return _write(path, settings, without(settings), options)


def settings_path() -> Path:
    """The person's own links lead there."""
    named = os.environ.get("CLAUDE_CONFIG_DIR", "")
    folder = Path(named) if os.path.isabs(named) else Path(user_home()) / ".claude"
    return Path(os.path.realpath(folder / "settings.json"))


def read(path: Path) -> dict[str, Any]:
    """The settings, {} where there is no file. Raises Misconfigured for what is none: it is not
    written over.
    """
    why = "it holds no settings, or hooks that are no lists by event"
    try:
        settings = json.loads(files.read_plain(path, SETTINGS_BYTES_MAX))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror or error}; make it readable.") from error
    except ValueError as error:
        settings, why = None, str(error)
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(each, list) for each in hooks.values()):
        raise Misconfigured(
            f"{path} is not what Claude Code reads ({why}); it stays as it is: mend it first."
        )
    return dict(settings)


def installed(settings: Mapping[str, Any], own: list[str]) -> dict[str, Any]:
    """The settings with our entry for each event; one of ours that is there already is replaced."""
    clean = without(settings)
    hooks = dict(clean.get("hooks", {}))
    for event, entry in entries(own).items():
        hooks[event] = [*hooks.get(event, []), entry]
    return clean | {"hooks": hooks}


def entries(own: list[str]) -> dict[str, dict[str, Any]]:
    """Event → our entry; `own`: arguments that the program is given beside the event."""
    beside = shutil.which(PROGRAM, path=os.path.dirname(sys.executable))
    program = [beside] if beside else [sys.executable, "-P", "-m", MODULE]
    made = {}
    for event, word in EVENTS.items():
        command = shlex.join([*program, word, *own])
        entry: dict[str, Any] = {"matcher": "*"} if event == "PostToolUse" else {}
        entry["hooks"] = [{"type": "command", "command": command, "timeout": TIMEOUT_S}]
        made[event] = entry
    return made


def without(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without our entries, and without what is empty for that."""
    kept: dict[str, Any] = {}
    for event, entries in settings.get("hooks", {}).items():
        left = [one for one in (_others(entry) for entry in entries) if one is not None]
        if left or not entries:
            kept[event] = left
    told = dict(settings)
    if kept or not settings.get("hooks", True):
        told["hooks"] = kept
    else:
        told.pop("hooks", None)
    return told


def _others(entry: Any) -> Any:
    """An entry without our commands; None when nothing else is in it."""
    commands = entry.get("hooks") if isinstance(entry, dict) else None
    if not isinstance(commands, list):
        return entry
    left = [one for one in commands if not _is_ours(one)]
    if len(left) == len(commands):
        return entry
    return entry | {"hooks": left} if left else None


def _is_ours(command: Any) -> bool:
    try:
        words = shlex.split(command["command"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return bool(words) and (os.path.basename(words[0]) == PROGRAM or MODULE in words)


def _write(path: Path, before: dict[str, Any], after: dict[str, Any], options: Namespace) -> int:
    if after == before:
        print(escape_controls(f"{path} is as it should be."))
        return EXIT_OK
    raw = json.dumps(after, indent=2, ensure_ascii=False) + "\n"
    print(escape_controls(f"{path} will be:\n{raw}" if not options.only_print else raw))
    if options.only_print:
        return EXIT_OK
    if not options.yes and not agreed("Write it?"):
        print("Nothing was written.", file=sys.stderr)
        return EXIT_NOTHING
    try:
        files.make_folder(path.parent)
        files.replace(path, raw.encode(), sync=True)
    except OSError as error:
        raise Misconfigured(f"Cannot write {path}: {error.strerror or error}; make it writable.") from error
    print("Written; the next session of Claude Code uses it.")
    return EXIT_OK


def agreed(question: str) -> bool:
    """What a person at the terminal says; nobody there says no."""
    if not sys.stdin.isatty():
        return False
    print(f"{question} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
