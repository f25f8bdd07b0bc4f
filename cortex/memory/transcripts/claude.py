"""The files of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and those of the agents
that a session started. docs/MEMORY.md describes their lines.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cortex.memory.transcripts.exchanges import Gathering
from cortex.memory.transcripts.line_values import (
    commits_in,
    folders_in,
    jsonl_in,
    may_commit,
    moment_of,
    text_of,
)

NAME = "claude"
#: the variable that names another folder than ~/.claude
VARIABLE = "CLAUDE_CONFIG_DIR"
#: line types that say nothing of what was said; others beside these are counted as unknown
_SILENT = frozenset(
    "summary system file-history-snapshot queue-operation progress attachment custom-title ai-title agent-name "
    "agent-color last-prompt permission-mode mode tag pr-link worktree-state saved_hook_context".split()
)
#: tools → what they do with the file that they name
_MODIFIES = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit"))
_READS = frozenset(("Read", "NotebookRead"))
_PATHS = ("file_path", "notebook_path", "path")


def folder(home: Path, environ: Mapping[str, str]) -> Path:
    """Where its sessions are."""
    named = environ.get(VARIABLE, "")
    return (Path(named) if os.path.isabs(named) else home / ".claude") / "projects"


def paths(folder: Path) -> Iterator[Path]:
    """Every file of a session in it."""
    for project in folders_in(folder):
        yield from jsonl_in(project)
        for session in folders_in(project):
            yield from jsonl_in(session / "subagents")


def is_sidechain(path: Path) -> bool:
    """Whether what is asked in a file was asked by an agent."""
    return path.name.startswith("agent-")


def name_of(path: Path, told: Gathering) -> str:
    """What the session is called: those of agents that it started have names below it."""
    session = told.session or path.stem
    return f"{session}/{path.stem}" if is_sidechain(path) else session


def parse(line: Mapping[str, Any], told: Gathering) -> None:
    """Take what a line says. Raises what a shape raises that no line should have."""
    kind = line.get("type")
    if kind not in ("user", "assistant"):
        told.counts["known" if kind in _SILENT else "unknown"] += 1
        return
    at = moment_of(line.get("timestamp"))
    told.note(
        session=text_of(line.get("sessionId")),
        cwd=text_of(line.get("cwd")),
        branch=text_of(line.get("gitBranch")),
        at=at,
    )
    content = line["message"]["content"]
    if kind == "assistant":
        _assistant(content, told)
    else:
        _user(content, line, told, at)
    told.counts["known"] += 1


def _user(content: Any, line: Mapping[str, Any], told: Gathering, at: int) -> None:
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            _result(block, told)
    if line.get("isMeta") or line.get("isCompactSummary"):
        return
    text = "\n".join(
        block["text"] for block in blocks if isinstance(block, dict) and block.get("type") == "text"
    )
    if not line.get("isSidechain"):
        told.begin(text, at)
    elif told.sidechain:  # an agent asks another
        told.say(text)


def _assistant(content: Any, told: Gathering) -> None:
    for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        kind = block.get("type")
        if kind == "text":
            told.say(block["text"])
        elif kind == "tool_use":
            _tool(block, told)


def _tool(block: Mapping[str, Any], told: Gathering) -> None:
    name, given = text_of(block.get("name")), block.get("input") or {}
    told.use(name)
    if name in _MODIFIES or name in _READS:
        path = next((given[key] for key in _PATHS if isinstance(given.get(key), str)), "")
        told.handle(path, modified=name in _MODIFIES)
    elif name == "Bash" and may_commit(text_of(given.get("command"))):
        told.committing.add(text_of(block.get("id")))


def _result(block: Mapping[str, Any], told: Gathering) -> None:
    """The result of a tool is not kept; of git's, which commit it made."""
    if block.get("tool_use_id") not in told.committing:
        return
    told.committing.discard(block["tool_use_id"])
    content = block.get("content")
    if isinstance(content, list):
        content = "\n".join(text_of(each.get("text")) for each in content if isinstance(each, dict))
    for name in commits_in(text_of(content)):
        told.commit(name)
