"""`cortex-hook EVENT`: writes an event of an agent's session to the spool; at a session's start it
prints the last hand-over and briefing of the project, with `--map` the places of functions below a
prompt, and with `--ask` it asks the agent for a hand-over after long work.

It asks a worker for a map alone, imports little beyond the standard library, and never ends with an
error: an agent must not wait for it or stop because of it.
"""

import contextlib
import json
import os
import re
import sys
import time
from typing import Any

from cortex.memory.transcripts.formats import spool
from cortex.memory.transcripts.formats.tags import BRIEFING, TAGS, plain
from cortex.system import files, hosts
from cortex.terms.text.secret_formats import FORMATS

#: events: the word after `cortex-hook`
EVENTS = ("session-start", "prompt", "tool-use", "stop", "pre-compact", "session-end")
#: seconds after which the process ends
PATIENCE_S = 2.0
#: seconds in which a map must be printed: 300 ms with the start of the interpreter
MAP_S = 0.25
#: the option of a prompt that asks for a map
MAP_OPTION = "--map"
#: the option of a tool's use and of a stop that asks for a hand-over; edits and milliseconds
#: between two requests; the folder of their counts, in the folder of memory
ASK_OPTION, ASK_EDITS, ASK_MS, ASKS = "--ask", 5, 30 * 60_000, "asks"
#: the request for a hand-over
REQUEST = (
    "Before you stop: store a hand-over for the next session with cortex_store, kind `handover`, title `Hand-over`. "
    "Body: the last request, what is done, what is open, what is next, in at most 15 lines. Then stop."
)
#: milliseconds after which a hand-over is printed after the briefing
FIRST_MS = 14 * 86_400_000
#: maxima: bytes of an event as read, and as written; characters of one text
READ_BYTES_MAX, EVENT_BYTES_MAX = 4 << 20, 64 << 10
TEXT_CHARS_MAX = 16_000
#: maximum of bytes of a briefing, with its marks
BRIEFING_BYTES_MAX = 9_000
#: the folder of rendered briefings, in the folder of memory
BRIEFINGS = "briefings"
#: the file with the user's remotes, one a line, next to the briefings; maximum of its bytes
REMOTES, REMOTES_BYTES_MAX = "remotes", 64 << 10
#: the folder in that of memory if memory is sealed
SEALED = "sealed"
#: the variable with the folder of memory, and its default below the home folder; the variable with
#: the folder of all that Cortex makes, and its subfolder of memory
VARIABLE, DATA_DIR = "CORTEX_MEMORY_DATA_DIR", ".cortex/default"
HOME_VARIABLE, IN_HOME = "CORTEX_HOME", "memory"
#: tools that change the file in their input
_MODIFIES = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit"))
#: every line that may contain a secret matches: a long run of letters and digits, or a word for one
_HINT = re.compile(r"(?i)[A-Za-z0-9_+/=.-]{20}|key|pass|pwd|secret|token|://")
_LINES = re.compile(r"[^\n]+")
#: text that reads as a mark around what Cortex or an agent's program prints into a session
_MARKS = re.compile(rf"<(?=\s*[/!]?\s*(?:{'|'.join(map(re.escape, TAGS))})\b)", re.IGNORECASE)


def main() -> int:
    """Handle one event as a process; return 0 always."""
    with contextlib.suppress(BaseException):
        hosts.end_within(PATIENCE_S)
        tell(sys.argv[1:])
    return 0


def tell(arguments: list[str]) -> None:
    """Handle one event. `arguments`: its name, `--map`, `--data-dir DIR`. Suppresses all errors."""
    with contextlib.suppress(BaseException):
        _run(arguments)
        sys.stdout.flush()


def _run(arguments: list[str]) -> None:
    until = time.monotonic() + MAP_S
    event = arguments[0] if arguments else ""
    if event not in EVENTS:
        return
    folder = _data_dir([option for option in arguments[1:] if option not in (MAP_OPTION, ASK_OPTION)])
    payload = json.loads(sys.stdin.buffer.read(READ_BYTES_MAX))
    if not isinstance(payload, dict):
        return
    if event == "session-start":
        print(_briefing(folder, _text(payload, "cwd")), end="")
        return
    if event == "prompt" and MAP_OPTION in arguments:
        with contextlib.suppress(Exception):
            from cortex.front.prompt_map import make_map  # few people switch it on

            print(make_map(payload, until), end="", flush=True)
    record = _make_record(event, payload)
    if ASK_OPTION in arguments:
        with contextlib.suppress(OSError):
            print(_ask(folder, record, is_answer=payload.get("stop_hook_active") is True), end="")
    _spool(folder, record)


def _ask(folder: str, record: dict[str, Any], *, is_answer: bool) -> str:
    """Count an edit; at a stop return the request for a hand-over after enough edits and time,
    else "". `is_answer`: the agent stops after such a request.
    """
    import hashlib  # few people switch it on

    digest = hashlib.sha256(record["session"].encode()).hexdigest()[:32]
    path = os.path.join(folder, ASKS, digest)
    if record["event"] == "session-end":
        files.remove(path)
        return ""
    begun = b"%013d" % record["at"]
    try:
        counted = files.read_ours(path, 1 << 16)
    except FileNotFoundError:
        files.make_private(folder)
        files.make_private(os.path.dirname(path))
        for name, info in files.entries(os.path.dirname(path)).items():  # of sessions that were killed
            if info.st_mtime * 1_000 < record["at"] - FIRST_MS:
                files.remove(os.path.join(os.path.dirname(path), name))
        counted = begun
    if record["event"] == "tool-use" and record["modified"]:
        files.replace(path, (counted + b".")[: 1 << 15])
    is_due = len(counted) - len(begun) >= ASK_EDITS and record["at"] - int(counted[: len(begun)]) >= ASK_MS
    if record["event"] != "stop" or is_answer or not is_due:
        return ""
    files.replace(path, begun)
    return json.dumps({"decision": "block", "reason": REQUEST})


def _data_dir(options: list[str]) -> str:
    folder = options[1] if len(options) > 1 and options[0] == "--data-dir" else os.environ.get(VARIABLE, "")
    base = os.environ.get(HOME_VARIABLE, "")
    folder = os.path.expanduser(folder or (os.path.join(base, IN_HOME) if base else f"~/{DATA_DIR}"))
    if not os.path.isabs(folder):  # Cortex refuses it: it would be in the project
        raise ValueError
    return os.path.realpath(folder)


def _text(payload: dict[str, Any], *names: str) -> str:
    """Return the first of these fields that is a text, lone surrogates replaced; "" for none."""
    text = next((payload[name] for name in names if isinstance(payload.get(name), str)), "")
    return text.encode("utf-8", "replace").decode()


def _make_record(event: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Return the record of an event in Claude Code's format or the general one."""
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
    """Return a text without private parts, text inserted by programs, and secrets."""
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
    """Write a record to the spool for the process that reads sessions, unless the spool is full."""
    raw = json.dumps(record).encode()
    if len(raw) > EVENT_BYTES_MAX:
        raw = json.dumps(record | {"text": record["text"][: TEXT_CHARS_MAX // 8], "files": []}).encode()
    spool.add(os.path.join(folder, spool.FOLDER), raw)


def _briefing(folder: str, cwd: str) -> str:
    """Return the last hand-over of the work tree and branch in `cwd`, and the last rendered
    briefing of its project; "" for none. An old hand-over comes last.
    """
    if not os.path.isabs(cwd):
        return ""
    from pathlib import Path

    from cortex.settings.folders.branches import briefing_file, handover_file, head_of
    from cortex.settings.folders.identity import identity_of

    folder = _rendered_folder(folder)
    project = identity_of(Path(cwd), _remotes(folder))
    head = head_of(Path(cwd))
    of_branch = _read(os.path.join(folder, BRIEFINGS, briefing_file(project, head.branch)))
    briefing = of_branch or _read(os.path.join(folder, BRIEFINGS, f"{project}.md"))
    name = handover_file(project, head.key)
    moment, _, handed_over = _read(os.path.join(folder, BRIEFINGS, name)).partition(b"\n")
    is_old = not moment.isdigit() or time.time_ns() // 1_000_000 - int(moment) > FIRST_MS
    both = (briefing, handed_over) if is_old else (handed_over, briefing)
    begin, end = f"<{BRIEFING}>\n", f"\n</{BRIEFING}>\n"
    room = BRIEFING_BYTES_MAX - len(begin) - len(end)
    raw = b"\n\n".join(filter(None, both))
    if len(raw) > room:
        raw = raw[: max(0, raw.rfind(b"\n", 0, room))]
    # a note must not end the marks, nor begin others
    text = _MARKS.sub("&lt;", raw.decode(errors="ignore").strip())
    return f"{begin}{text}{end}" if text else ""


def _read(path: str) -> bytes:
    """Return the bytes of a rendered file; none if there is no file."""
    try:
        return files.read_plain(path, BRIEFING_BYTES_MAX).strip()
    except OSError:
        return b""


def _rendered_folder(folder: str) -> str:
    """Return the folder of the briefings: for a sealed memory the plain copy of a served one."""
    sealed = os.path.join(folder, SEALED)
    if not os.path.lexists(sealed):
        return folder
    from cortex.sealing.places import permit_disk, plain_of
    from cortex.settings.folders.home import cache_base

    permit_disk(cache_base())  # their writer had permission; here they are only read
    return os.fspath(plain_of(sealed) / "home")


def _remotes(folder: str) -> list[str]:
    """Return the remotes whose clones are one project, as used when the briefings were rendered."""
    try:
        return files.read_plain(os.path.join(folder, BRIEFINGS, REMOTES), REMOTES_BYTES_MAX).decode().split()
    except OSError:
        return []


if __name__ == "__main__":
    sys.exit(main())
