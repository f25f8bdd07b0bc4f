"""The map of a prompt, for `cortex-hook`: places of the functions that match it best, from the text
worker, without a front. Nothing for a prompt without code, and from a worker that is silent.
"""

import json
import os
import re
import struct
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cortex.memory.transcripts.formats.tags import MAP, plain

#: characters of a prompt that are read, and of one that is too short to speak of code
PROMPT_CHARS_MAX, PROMPT_CHARS_MIN = 8_000, 8
#: bytes of a map with its marks: 200 tokens
MAP_BYTES_MAX = 800
#: the frame of ipc.codec, which takes longer to import than the worker to answer
_ENVELOPE = struct.Struct(">QdBI")
#: bytes of a reply
REPLY_BYTES_MAX = 64 << 10

_HEAD = "In this project's index of code these places match the words of the prompt best:\n"
#: beginnings of the messages that a client writes itself
_OF_CLIENTS = re.compile(
    r"\s*(?:<(?:task-notification|command-|local-command|bash-|user-prompt-submit-hook)"
    r"|This session is being continued|Caveat: |\[Request interrupted|Stop hook feedback)"
)
#: a command of the client, a command of the shell, a note for its memory
_COMMANDS = re.compile(r"\s*(?:/[\w:-]+(?:\s|$)|[!#])")
#: a name or a path as only code has it
_CODE = re.compile(
    r"`[^`\n]+`|\w+\(\)|[a-z]\w*_\w|[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\w::\w|\w->\w"
    r"|\b[\w/.-]+\.(?:c|cc|cpp|cs|ex|go|h|hs|java|js|jsx|kt|lua|php|py|rb|rs|scala|sh|sql|swift|ts|tsx|vue|zig)\b"
)
#: words of questions and orders about code
WORDS = frozenset(
    """api argument arguments async bug bugs build builds cache call called caller callers calls class classes code
    codebase compile compiles config constructor crash crashes database debug decorator dependency deprecated
    endpoint error errors exception exceptions fails fix function functions handler handlers hook implement
    implementation implemented import imports index interface leak library loop method methods middleware module
    modules mutex object package parameter parse parser performance query queue race refactor regression rename
    request response return returns route routes schema script server signature socket stack struct subclass test
    tests thread timeout trace traceback type types undefined validate validation variable""".split()
)
_WORD = re.compile(r"[A-Za-z]+")


def make_map(payload: dict[str, Any], until: float) -> str:
    """Return the text for a prompt event by `until` (monotonic); "" for a prompt without code."""
    text = typed_text(payload)
    if not text or not speaks_of_code(text):
        return ""
    sockets, within = _find_sockets(payload)
    entries = _ask(sockets, text, within, until) if sockets else []
    text = _draw(entries)
    return f"<{MAP}>\n{_HEAD}{text}</{MAP}>\n" if text and time.monotonic() < until else ""


def typed_text(payload: dict[str, Any]) -> str:
    """Return the words that a person typed; "" for a command and for a message of the client."""
    prompt = payload.get("prompt")
    if not isinstance(prompt, str) or _OF_CLIENTS.match(prompt):
        return ""
    text = plain(prompt[:PROMPT_CHARS_MAX]).encode("utf-8", "replace").decode()
    return "" if len(text) < PROMPT_CHARS_MIN or _COMMANDS.match(text) else text


def speaks_of_code(text: str) -> bool:
    """Whether a text has a name of code, a source file, or a word for parts of programs."""
    return bool(_CODE.search(text)) or any(word.lower() in WORDS for word in _WORD.findall(text))


def _find_sockets(payload: dict[str, Any]) -> tuple[Path | None, str]:
    """Return (the folder of sockets of the project around the session's folder, that folder's path
    below the project); None without a running text worker.
    """
    from cortex.settings.folders.home import PROJECT_FOLDER, runtime_base, runtime_id, too_high

    start = os.environ.get("CORTEX_PROJECT") or os.environ.get("CLAUDE_PROJECT_DIR") or payload.get("cwd")
    if not isinstance(start, str) or not os.path.isabs(start):
        return None, ""
    folder, base = Path(os.path.realpath(start)), runtime_base()
    for root in (folder, *folder.parents):
        if too_high(root):
            break
        paths = sorted(base.glob(f"{runtime_id(root)}-p*/text.*.sock"), key=lambda path: path.stat().st_mtime)
        if paths:
            within = folder.relative_to(root).as_posix()
            return paths[-1], "" if within == "." else within
        if (root / ".git").exists() or (root / PROJECT_FOLDER).is_dir():
            break
    return None, ""


def _ask(path: Path, query: str, within: str, until: float) -> list[Any]:
    """Return the entries of the map; [] if the worker does not answer before `until`."""
    import zmq

    from ipc.places import connect

    context: zmq.Context[Any] = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.MAXMSGSIZE, REPLY_BYTES_MAX)
    try:
        if not connect(socket, path):
            return []
        socket.send(encode_request(query, within, until))
        left_ms = int(1000 * (until - time.monotonic()))
        if left_ms <= 0 or not socket.poll(left_ms):
            return []
        return decode_entries(socket.recv())
    finally:
        context.destroy(linger=0)


def encode_request(query: str, within: str, until: float) -> bytes:
    """Return the frame of a MapSearch."""
    kind, max_bytes = b"MapSearch", MAP_BYTES_MAX - len(f"<{MAP}>\n{_HEAD}</{MAP}>\n")
    fields = {"query": query, "filters": {"within": within}, "max_bytes": max_bytes}
    body = json.dumps({"fields": fields}).encode()
    return _ENVELOPE.pack(1, until, len(kind), len(body)) + kind + body


def decode_entries(frame: bytes) -> list[Any]:
    """Return the entries of a UnitMap; [] for another reply."""
    _, _, kind_size, body_size = _ENVELOPE.unpack_from(frame)
    body = _ENVELOPE.size + kind_size
    if frame[_ENVELOPE.size : body] != b"UnitMap":
        return []
    entries = json.loads(frame[body : body + body_size])["fields"]["entries"]
    return entries if isinstance(entries, list) else []


def _draw(entries: Iterable[dict[str, Any]]) -> str:
    """Return files' lines below their paths, none with characters that could end fence or line."""
    by_file: dict[str, list[str]] = {}
    for entry in entries:
        line = f"{entry['start']}-{entry['end']}  {entry['name']}".rstrip().replace("</", "< /")
        if line.isprintable() and entry["file"].isprintable():
            by_file.setdefault(entry["file"].replace("</", "< /"), []).append(line)
    return "".join(
        f"{file}:{lines[0]}\n" if len(lines) == 1 else "\n  ".join((file, *lines)) + "\n"
        for file, lines in by_file.items()
    )
