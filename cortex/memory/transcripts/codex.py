"""The files of Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl`. docs/MEMORY.md
describes their lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from cortex.memory.transcripts.exchanges import Gathering
from cortex.memory.transcripts.line_values import (
    commits_in,
    folders_in,
    jsonl_in,
    may_commit,
    moment_of,
    text_of,
)

NAME = "codex"
#: the variable that names another folder than ~/.codex
VARIABLE = "CODEX_HOME"
#: lines, and payloads of them, that say nothing of what was said
_SILENT = frozenset(("turn_context", "compacted", "session_meta", "world_state"))
_SILENT_ITEMS = frozenset(
    "reasoning function_call_output custom_tool_call_output web_search_call ghost_snapshot compaction "
    "tool_search_call tool_search_output image_generation_call".split()
)
_CALLS = frozenset(("function_call", "custom_tool_call", "local_shell_call"))
_RESULTS = frozenset(("function_call_output", "custom_tool_call_output"))
#: how a patch names the files that it changes
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,1024})$", re.MULTILINE)
#: how the program's own texts begin that it tells as if a person said them
_OWN = (
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skills_instructions>",
)
#: characters of a call that are looked at
_CALL_CHARS = 200_000


def folder(home: Path, environ: Mapping[str, str]) -> Path:
    """Where its sessions are."""
    named = environ.get(VARIABLE, "")
    return (Path(named) if os.path.isabs(named) else home / ".codex") / "sessions"


def paths(folder: Path) -> Iterator[Path]:
    """Every file of a session in it."""
    for year in folders_in(folder):
        for month in folders_in(year):
            for day in folders_in(month):
                yield from (path for path in jsonl_in(day) if path.name.startswith("rollout-"))


def is_sidechain(_path: Path) -> bool:
    return False


def name_of(path: Path, told: Gathering) -> str:
    return told.session or path.stem


def parse(line: Mapping[str, Any], told: Gathering) -> None:
    """Take what a line says. Raises what a shape raises that no line should have."""
    kind = line.get("type")
    payload = line.get("payload")
    if not isinstance(payload, dict):
        # the first rollouts had the payload alone in a line
        kind, payload = ("session_meta" if "instructions" in line else "response_item"), line
    at = moment_of(line.get("timestamp"))
    told.note(at=at)
    if kind == "session_meta":
        git = payload.get("git")
        branch = text_of(git.get("branch")) if isinstance(git, dict) else ""
        told.note(session=text_of(payload.get("id")), cwd=text_of(payload.get("cwd")), branch=branch)
    elif kind == "turn_context":
        told.note(cwd=text_of(payload.get("cwd")))
    known = kind in _SILENT
    if kind == "response_item":
        known = _item(payload, told, at)
    elif kind == "event_msg":
        known = _event(payload, told, at)
    told.counts["known" if known else "unknown"] += 1


def _event(payload: Mapping[str, Any], told: Gathering, at: int) -> bool:
    """An event: what it says is mostly said by an item as well."""
    if payload.get("type") == "user_message":
        _asked(text_of(payload.get("message")), told, at)
    elif payload.get("type") == "agent_message":
        told.say(text_of(payload.get("message")), twice=True)
    return True


def _item(payload: Mapping[str, Any], told: Gathering, at: int) -> bool:
    kind = payload.get("type")
    if kind == "message":
        content = payload.get("content")
        blocks = content if isinstance(content, list) else [{"text": content}]
        text = "\n".join(text_of(block.get("text")) for block in blocks)
        if payload.get("role") == "assistant":
            told.say(text, twice=True)
        elif payload.get("role") == "user":
            _asked(text, told, at)
        return True
    if kind in _CALLS:
        told.use(text_of(payload.get("name")) or "shell")
        call = text_of(payload.get("arguments")) or text_of(payload.get("input"))
        action = payload.get("action")
        ran = action.get("command") if isinstance(action, dict) else None
        if may_commit(call or " ".join(map(text_of, ran or ()))):
            told.committing.add(text_of(payload.get("call_id")))
        for found in _PATCHED.finditer(call[:_CALL_CHARS].replace("\\n", "\n")):
            told.handle(found[1].strip(), modified=True)
        return True
    if kind in _RESULTS:
        _result(payload, told)
    return kind in _SILENT_ITEMS


def _result(payload: Mapping[str, Any], told: Gathering) -> None:
    """What a call printed is not kept; of git's, which commit it made."""
    call = text_of(payload.get("call_id"))
    if not call or call not in told.committing:
        return
    told.committing.discard(call)
    printed = text_of(payload.get("output"))
    if printed.startswith("{"):  # as older programs wrote it
        printed = text_of(orjson.loads(printed).get("output"))
    for name in commits_in(printed):
        told.commit(name)


def _asked(text: str, told: Gathering, at: int) -> None:
    if not text.lstrip().startswith(_OWN):
        told.begin(text, at)
