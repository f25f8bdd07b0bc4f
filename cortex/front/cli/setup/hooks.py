"""`cortex hook install` and `uninstall`: entries in the settings of Claude Code that report the
events of its sessions.
"""

import json
import os
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cortex.front.cli.parsing.parser import DATA_DIR, Parser, absolute
from cortex.front.hook import ASK_OPTION, MAP_OPTION
from cortex.settings import config as configuration
from cortex.settings.data import usual_store
from cortex.settings.folders.home import user_home
from cortex.system import files
from cortex.system.errors import EXIT_NOTHING, EXIT_OK, Misconfigured
from cortex.system.terminal import print_text

#: the hook program, its module where that is not installed, and Claude Code's events → our words
PROGRAM, MODULE = "cortex-hook", "cortex.front.hook"
EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "tool-use",
    "Stop": "stop",
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
}
#: the words of events that count edits and ask for a hand-over
COUNTED = ("tool-use", "stop", "session-end")
#: seconds after which Claude Code kills the program, which ends long before
TIMEOUT_S = 5
#: bytes of a settings file
SETTINGS_BYTES_MAX = 4 << 20


def declare_install(parser: Parser) -> None:
    declare_uninstall(parser)
    parser.add_folder("--data-dir", metavar="DIR", type=absolute, help=DATA_DIR)
    parser.add_flag("--prompts", help="experimental: add places of functions to a prompt about code")
    parser.add_flag(
        "--ask", help="ask the agent for a hand-over when it stops after five edits and half an hour"
    )


def declare_uninstall(parser: Parser) -> None:
    parser.add_flag("-y", "--yes", help="do not ask before writing")
    parser.add_flag("--print", help="print the changes, and write nothing", dest="only_print")


def program_arguments(data_dir: str | None = None) -> list[str]:
    """Return the hook program's arguments for this person's memory. Raises Misconfigured."""
    data = configuration.load_data({"memory": {"data_dir": data_dir}} if data_dir else None)
    if data.settings.sessions == "off":
        raise Misconfigured(
            "memory.sessions is off, so hooks would record nothing; set it to project or all."
        )
    return ["--data-dir", str(data.root)] if data.settings.data_dir or data.root != usual_store() else []


def install(options: Namespace) -> int:
    """Add our entries; other settings stay."""
    arguments = program_arguments(options.data_dir)
    path = settings_path()
    settings = read(path)
    return _write(
        path, settings, add_entries(settings, arguments, with_maps=options.prompts, asks=options.ask), options
    )


def uninstall(options: Namespace) -> int:
    """Remove our entries; others stay."""
    path = settings_path()
    settings = read(path)
    return _write(path, settings, remove_entries(settings), options)


def settings_path() -> Path:
    """Return the path of the settings file, behind symbolic links, which are the person's own."""
    config_dir = os.environ.get("CLAUDE_CONFIG_DIR", "")
    folder = Path(config_dir) if os.path.isabs(config_dir) else Path(user_home()) / ".claude"
    return Path(os.path.realpath(folder / "settings.json"))


def read(path: Path) -> dict[str, Any]:
    """Return the settings, {} where there is no file. Raises Misconfigured for an invalid file,
    which must not be overwritten.
    """
    why = "it has no settings, or its hooks are no lists by event"
    try:
        settings = json.loads(files.read_plain(path, SETTINGS_BYTES_MAX))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror or error}; make it readable.") from error
    except ValueError as error:
        settings, why = None, str(error)
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(
        isinstance(event_entries, list) for event_entries in hooks.values()
    ):
        raise Misconfigured(f"{path} is no valid settings file ({why}). It stays as it is; repair it first.")
    return dict(settings)


def add_entries(
    settings: Mapping[str, Any], arguments: list[str], *, with_maps: bool = False, asks: bool = False
) -> dict[str, Any]:
    """Return the settings with our entry for each event, in place of an earlier entry of ours."""
    clean = remove_entries(settings)
    hooks = dict(clean.get("hooks", {}))
    for event, entry in entries(arguments, with_maps=with_maps, asks=asks).items():
        hooks[event] = [*hooks.get(event, []), entry]
    return clean | {"hooks": hooks}


def entries(
    arguments: list[str], *, with_maps: bool = False, asks: bool = False
) -> dict[str, dict[str, Any]]:
    """Return event → our entry; `arguments` follow the event on the program's command line.
    `with_maps`: a prompt gets the map of its functions; `asks`: a stop may ask for a hand-over.
    """
    program_path = shutil.which(PROGRAM, path=os.path.dirname(sys.executable))
    program = [program_path] if program_path else [sys.executable, "-P", "-m", MODULE]
    entry_by_event = {}
    for event, word in EVENTS.items():
        more = [MAP_OPTION] if with_maps and word == "prompt" else []
        more += [ASK_OPTION] if asks and word in COUNTED else []
        command = shlex.join([*program, word, *more, *arguments])
        entry: dict[str, Any] = {"matcher": "*"} if event == "PostToolUse" else {}
        entry["hooks"] = [{"type": "command", "command": command, "timeout": TIMEOUT_S}]
        entry_by_event[event] = entry
    return entry_by_event


def remove_entries(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings without our entries, and without lists that this empties."""
    hooks: dict[str, Any] = {}
    for event, entries in settings.get("hooks", {}).items():
        left = [other for other in (_remove_ours(entry) for entry in entries) if other is not None]
        if left or not entries:
            hooks[event] = left
    cleaned = dict(settings)
    if hooks or not settings.get("hooks", True):
        cleaned["hooks"] = hooks
    else:
        cleaned.pop("hooks", None)
    return cleaned


def _remove_ours(entry: Any) -> Any:
    """Return an entry without our commands; None when no other command is left."""
    commands = entry.get("hooks") if isinstance(entry, dict) else None
    if not isinstance(commands, list):
        return entry
    left = [command for command in commands if not _is_ours(command)]
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
        print_text(f"{path} is as it should be.")
        return EXIT_OK
    raw = json.dumps(after, indent=2, ensure_ascii=False) + "\n"
    print_text(f"{path} will be:\n{raw}" if not options.only_print else raw)
    if options.only_print:
        return EXIT_OK
    if not options.yes and not ask_consent("Write it?"):
        print("Nothing was written.", file=sys.stderr)
        return EXIT_NOTHING
    try:
        files.make_folder(path.parent)
        files.replace(path, raw.encode(), sync=True)
    except OSError as error:
        raise Misconfigured(f"Cannot write {path}: {error.strerror or error}; make it writable.") from error
    print("Written; the next session of Claude Code uses it.")
    return EXIT_OK


def ask_consent(question: str) -> bool:
    """Ask a person at the terminal; without a terminal the answer is no."""
    if not sys.stdin.isatty():
        return False
    print(f"{question} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
