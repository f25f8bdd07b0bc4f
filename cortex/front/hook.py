"""`cortex-hook EVENT`: an agent's program tells what happens in a session; at its start it gets the
last briefing of its project. It asks nobody, imports the standard library and what needs no more,
and never ends with an error: an agent must not wait for it, or stop because of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import time
from typing import Any

from cortex.memory.transcripts import spool
from cortex.memory.transcripts.tags import BRIEFING, plain
from cortex.system import files, hosts
from cortex.terms.secret_formats import FORMATS

#: what may be told: the words after `cortex-hook`
EVENTS = ("session-start", "prompt", "tool-use", "stop", "session-end")
#: seconds after which it gives up, whatever it waits for
PATIENCE_S = 2.0
#: bytes of an event as it comes, and as it is kept; characters of one text
READ_BYTES_MAX, EVENT_BYTES_MAX = 4 << 20, 64 << 10
TEXT_CHARS_MAX = 16_000
#: bytes of a briefing, with its marks
BRIEFING_BYTES_MAX = 9_000
#: the folder of rendered briefings, in the folder of memory
BRIEFINGS = "briefings"
#: the file beside the briefings that names the person's remotes, one a line, and bytes of it
REMOTES, REMOTES_BYTES_MAX = "remotes", 64 << 10
#: the folder below it that there is of a sealed memory
SEALED = "sealed"
#: the variable that names another folder, and where it is otherwise
VARIABLE, DATA_DIR = "CORTEX_MEMORY_DATA_DIR", ".cortex/default"
#: tools that change the file that they name
_MODIFIES = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit"))
#: what every line has that may hold a secret: a long run of letters and digits, or a name for one
_HINT = re.compile(r"(?i)[A-Za-z0-9_+/=.-]{20}|key|pass|pwd|secret|token|://")
_LINES = re.compile(r"[^\n]+")


def main() -> int:
    """One event, as a process of its own; always 0."""
    with contextlib.suppress(BaseException):
        hosts.end_within(PATIENCE_S)
        tell(sys.argv[1:])
    return 0


def tell(arguments: list[str]) -> None:
    """One event: its name, then `--data-dir DIR`. Whatever goes wrong is nobody's business."""
    with contextlib.suppress(BaseException):
        _run(arguments)
        sys.stdout.flush()


def _run(arguments: list[str]) -> None:
    event = arguments[0] if arguments else ""
    if event not in EVENTS:
        return
    folder = _data_dir(arguments[1:])
    payload = json.loads(sys.stdin.buffer.read(READ_BYTES_MAX))
    if not isinstance(payload, dict):
        return
    if event == "session-start":
        print(_briefing(folder, _text(payload, "cwd")), end="")
    elif record := _make_record(event, payload):
        _spool(folder, record)


def _data_dir(options: list[str]) -> str:
    folder = options[1] if len(options) > 1 and options[0] == "--data-dir" else os.environ.get(VARIABLE, "")
    if folder and not folder.startswith("~"):
        return os.path.realpath(folder)
    return os.path.realpath(os.path.expanduser(folder or f"~/{DATA_DIR}"))


def _text(payload: dict[str, Any], *names: str) -> str:
    """The first of these fields that is a text, without halves of characters."""
    text = next((payload[name] for name in names if isinstance(payload.get(name), str)), "")
    return text.encode("utf-8", "replace").decode()


def _make_record(event: str, payload: dict[str, Any]) -> dict[str, Any]:
    """What is kept of an event, of Claude Code's form or of the general one; {} for nothing."""
    tool_input = payload.get("tool_input")
    paths = payload.get("files")
    if isinstance(tool_input, dict):
        paths = [_text(tool_input, "file_path", "notebook_path")]
    tool = _text(payload, "tool_name", "tool")
    return {
        "event": event,
        "at": time.time_ns() // 1_000_000,
        "session": _clean(_text(payload, "session_id", "session"))[:128],
        "cwd": _clean(_text(payload, "cwd"))[:1024],
        "transcript": _text(payload, "transcript_path")[:1024],
        "agent": _clean(_text(payload, "agent"))[:64],
        "text": _clean(_text(payload, "prompt", "text", "last_assistant_message")),
        "tool": _clean(tool)[:128],
        "files": [_clean(path)[:1024] for path in paths or () if isinstance(path, str) and path][:64],
        "modified": tool in _MODIFIES or payload.get("modified") is True,
    }


def _clean(text: str) -> str:
    """Without what is private, what programs put in, and secrets."""
    cleaned = plain(text)[:TEXT_CHARS_MAX] if text else ""
    if not _HINT.search(cleaned):
        return cleaned
    formats = re.compile("|".join(FORMATS.values()).replace(r"\z", r"\Z"))
    if "PRIVATE KEY" in cleaned or "PuTTY" in cleaned:
        return formats.sub("[removed]", cleaned)
    return _LINES.sub(
        lambda line: formats.sub("[removed]", line[0]) if _HINT.search(line[0]) else line[0], cleaned
    )


def _spool(folder: str, record: dict[str, Any]) -> None:
    """Write it down for the process that reads sessions, unless too much waits already."""
    raw = json.dumps(record).encode()
    if len(raw) > EVENT_BYTES_MAX:
        raw = json.dumps(record | {"text": record["text"][: TEXT_CHARS_MAX // 8], "files": []}).encode()
    spool.add(os.path.join(folder, spool.FOLDER), raw)


def _briefing(folder: str, cwd: str) -> str:
    """The last briefing that was rendered for exactly this project; "" for none."""
    if not os.path.isabs(cwd):
        return ""
    from pathlib import Path

    from cortex.settings.identity import identity_of

    folder = _rendered_folder(folder)
    project = identity_of(Path(cwd), _remotes(folder))
    path = os.path.join(folder, BRIEFINGS, f"{project}.md")
    begin, end = f"<{BRIEFING}>\n", f"\n</{BRIEFING}>\n"
    room = BRIEFING_BYTES_MAX - len(begin) - len(end)
    raw = files.read_plain(path, room + 1)
    if len(raw) > room:
        raw = raw[: max(0, raw.rfind(b"\n", 0, room))]
    text = raw.decode(errors="ignore").strip()
    return f"{begin}{text}{end}" if text else ""


def _rendered_folder(folder: str) -> str:
    """Where briefings lie: of a sealed memory where its plain bytes do, while it is served."""
    sealed = os.path.join(folder, SEALED)
    if not os.path.lexists(sealed):
        return folder
    from cortex.sealing.places import permit_disk, plain_of
    from cortex.settings.home import cache_base

    permit_disk(cache_base())  # who rendered them was permitted to; here they are only read
    return os.fspath(plain_of(sealed) / "home")


def _remotes(folder: str) -> list[str]:
    """The remotes whose clones are one project, as who rendered the briefings was told."""
    try:
        return files.read_plain(os.path.join(folder, BRIEFINGS, REMOTES), REMOTES_BYTES_MAX).decode().split()
    except OSError:
        return []


if __name__ == "__main__":
    sys.exit(main())
