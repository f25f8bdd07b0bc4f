"""The files of Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl`. docs/MEMORY.md
describes their lines.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from cortex.memory.transcripts.formats.exchanges import Gathering
from cortex.memory.transcripts.formats.line_values import (
    commits_in,
    folders_in,
    jsonl_in,
    may_commit,
    moment_of,
    text_of,
)
from cortex.memory.transcripts.formats.plans import PLAN_TOOL, plan_changes

NAME = "codex"
#: the variable for another folder than ~/.codex
VARIABLE = "CODEX_HOME"
#: known lines and payloads without conversation
_SILENT = frozenset(("turn_context", "compacted", "session_meta", "world_state"))
_SILENT_ITEMS = frozenset(
    "reasoning function_call_output custom_tool_call_output web_search_call ghost_snapshot compaction "
    "tool_search_call tool_search_output image_generation_call".split()
)
_CALLS = frozenset(("function_call", "custom_tool_call", "local_shell_call"))
_RESULTS = frozenset(("function_call_output", "custom_tool_call_output"))
#: a file name in a patch
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,1024})$", re.MULTILINE)
#: beginnings of the program's texts that it records as a person's
_PROGRAM_TEXTS = (
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skills_instructions>",
)
#: characters of a call that are searched for files
_CALL_CHARS = 200_000


def folder(home: Path, environ: Mapping[str, str]) -> Path:
    """The folder of its sessions."""
    configured = environ.get(VARIABLE, "")
    return (Path(configured) if os.path.isabs(configured) else home / ".codex") / "sessions"


def paths(folder: Path) -> Iterator[Path]:
    """The files of all sessions in the folder."""
    for year in folders_in(folder):
        for month in folders_in(year):
            for day in folders_in(month):
                yield from (path for path in jsonl_in(day) if path.name.startswith("rollout-"))


def is_sidechain(_path: Path) -> bool:
    return False


def name_of(path: Path, gathering: Gathering) -> str:
    return gathering.session or path.stem


def parse(line: Mapping[str, Any], gathering: Gathering) -> None:
    """Read a line. Raises arbitrary errors for one of an unknown shape."""
    kind = line.get("type")
    payload = line.get("payload")
    if not isinstance(payload, dict):
        # in the first rollouts a line was the payload alone
        kind, payload = ("session_meta" if "instructions" in line else "response_item"), line
    at = moment_of(line.get("timestamp"))
    gathering.note(at=at)
    if kind == "session_meta":
        git = payload.get("git")
        branch = text_of(git.get("branch")) if isinstance(git, dict) else ""
        gathering.note(session=text_of(payload.get("id")), cwd=text_of(payload.get("cwd")), branch=branch)
    elif kind == "turn_context":
        gathering.note(cwd=text_of(payload.get("cwd")))
    is_recognised = kind in _SILENT
    if kind == "response_item":
        is_recognised = _item(payload, gathering, at)
    elif kind == "event_msg":
        is_recognised = _event(payload, gathering, at)
    gathering.counts["known" if is_recognised else "unknown"] += 1


def _event(payload: Mapping[str, Any], gathering: Gathering, at: int) -> bool:
    """Read an event; most repeat the text of an item."""
    if payload.get("type") == "user_message":
        _begin(text_of(payload.get("message")), gathering, at)
    elif payload.get("type") == "agent_message":
        gathering.say(text_of(payload.get("message")), twice=True)
    return True


def _item(payload: Mapping[str, Any], gathering: Gathering, at: int) -> bool:
    kind = payload.get("type")
    if kind == "message":
        content = payload.get("content")
        blocks = content if isinstance(content, list) else [{"text": content}]
        text = "\n".join(text_of(block.get("text")) for block in blocks)
        if payload.get("role") == "assistant":
            gathering.say(text, twice=True)
        elif payload.get("role") == "user":
            _begin(text, gathering, at)
        return True
    if kind in _CALLS:
        gathering.use(text_of(payload.get("name")) or "shell")
        call = text_of(payload.get("arguments")) or text_of(payload.get("input"))
        if text_of(payload.get("name")) == PLAN_TOOL:
            gathering.plan(plan_changes(PLAN_TOOL, orjson.loads(call or "{}")))
        action = payload.get("action")
        ran = action.get("command") if isinstance(action, dict) else None
        if may_commit(call or " ".join(map(text_of, ran or ()))):
            gathering.committing.add(text_of(payload.get("call_id")))
        for patched in _PATCHED.finditer(call[:_CALL_CHARS].replace("\\n", "\n")):
            gathering.handle(patched[1].strip(), modified=True)
        return True
    if kind in _RESULTS:
        _result(payload, gathering)
    return kind in _SILENT_ITEMS


def _result(payload: Mapping[str, Any], gathering: Gathering) -> None:
    """Read the commits from the output of git; other output is ignored."""
    call = text_of(payload.get("call_id"))
    if not call or call not in gathering.committing:
        return
    gathering.committing.discard(call)
    printed = text_of(payload.get("output"))
    if printed.startswith("{"):  # format of older versions
        printed = text_of(orjson.loads(printed).get("output"))
    for name in commits_in(printed):
        gathering.commit(name)


def _begin(text: str, gathering: Gathering, at: int) -> None:
    if not text.lstrip().startswith(_PROGRAM_TEXTS):
        gathering.begin(text, at)
