"""The files of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and those of a session's
subagents. docs/MEMORY.md describes their lines.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cortex.memory.transcripts.formats.exchanges import Gathering
from cortex.memory.transcripts.formats.line_values import (
    commits_in,
    folders_in,
    jsonl_in,
    may_commit,
    moment_of,
    text_of,
)
from cortex.memory.transcripts.formats.plans import plan_changes

NAME = "claude"
#: the variable for another folder than ~/.claude
VARIABLE = "CLAUDE_CONFIG_DIR"
#: known line types without conversation; others are counted as unknown
_SILENT = frozenset(
    "summary system file-history-snapshot queue-operation progress attachment custom-title ai-title agent-name "
    "agent-color last-prompt permission-mode mode tag pr-link worktree-state saved_hook_context".split()
)
#: tools that change or read a file
_MODIFIES = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit"))
_READS = frozenset(("Read", "NotebookRead"))
_PATHS = ("file_path", "notebook_path", "path")


def folder(home: Path, environ: Mapping[str, str]) -> Path:
    """The folder of its sessions."""
    configured = environ.get(VARIABLE, "")
    return (Path(configured) if os.path.isabs(configured) else home / ".claude") / "projects"


def paths(folder: Path) -> Iterator[Path]:
    """The files of all sessions in the folder."""
    for project in folders_in(folder):
        yield from jsonl_in(project)
        for session in folders_in(project):
            yield from jsonl_in(session / "subagents")


def is_sidechain(path: Path) -> bool:
    """Whether the prompts in a file are an agent's."""
    return path.name.startswith("agent-")


def name_of(path: Path, gathering: Gathering) -> str:
    """The session's name; a subagent's is below its session's."""
    session = gathering.session or path.stem
    return f"{session}/{path.stem}" if is_sidechain(path) else session


def parse(line: Mapping[str, Any], gathering: Gathering) -> None:
    """Read a line. Raises arbitrary errors for one of an unknown shape."""
    kind = line.get("type")
    if kind not in ("user", "assistant"):
        gathering.counts["known" if kind in _SILENT else "unknown"] += 1
        return
    at = moment_of(line.get("timestamp"))
    gathering.note(
        session=text_of(line.get("sessionId")),
        cwd=text_of(line.get("cwd")),
        branch=text_of(line.get("gitBranch")),
        at=at,
    )
    content = line["message"]["content"]
    if kind == "assistant":
        _assistant(content, gathering)
    else:
        _user(content, line, gathering, at)
    gathering.counts["known"] += 1


def _user(content: Any, line: Mapping[str, Any], gathering: Gathering, at: int) -> None:
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            _result(block, gathering)
    if line.get("isMeta") or line.get("isCompactSummary"):
        return
    text = "\n".join(
        block["text"] for block in blocks if isinstance(block, dict) and block.get("type") == "text"
    )
    if not line.get("isSidechain"):
        gathering.begin(text, at)
    elif gathering.sidechain:  # an agent's prompt for another
        gathering.say(text)


def _assistant(content: Any, gathering: Gathering) -> None:
    for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        kind = block.get("type")
        if kind == "text":
            gathering.say(block["text"])
        elif kind == "tool_use":
            _tool(block, gathering)


def _tool(block: Mapping[str, Any], gathering: Gathering) -> None:
    name, parameters = text_of(block.get("name")), block.get("input") or {}
    gathering.use(name)
    gathering.plan(plan_changes(name, parameters))
    if name in _MODIFIES or name in _READS:
        path = next((parameters[key] for key in _PATHS if isinstance(parameters.get(key), str)), "")
        gathering.handle(path, modified=name in _MODIFIES)
    elif name == "Bash" and may_commit(text_of(parameters.get("command"))):
        gathering.committing.add(text_of(block.get("id")))


def _result(block: Mapping[str, Any], gathering: Gathering) -> None:
    """Read the commits from the result of git; other results are ignored."""
    if block.get("tool_use_id") not in gathering.committing:
        return
    gathering.committing.discard(block["tool_use_id"])
    content = block.get("content")
    if isinstance(content, list):
        content = "\n".join(text_of(entry.get("text")) for entry in content if isinstance(entry, dict))
    for name in commits_in(text_of(content)):
        gathering.commit(name)
