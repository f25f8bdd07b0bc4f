"""The one list of coding agents: where each keeps its servers, in which form, and where it reads
rules. A new agent is an entry here.

Paths begin with `~/` (the home folder), `%/` (where programs keep settings: ~/.config, Application
Support, AppData) or nothing (the project). `docs` names where its maker documents the format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

#: what an agent calls the server
NAME = "cortex"
#: what editors put the folder for that is open in them
_WORKSPACE = "${workspaceFolder}"
#: seconds that Goose gives a call
_GOOSE_S = 300

Form = Literal["json", "toml", "yaml"]
#: (command and its arguments, tools that only read) → the entry
Shape = Callable[[Sequence[str], Sequence[str]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the entry stands: the file's path, its form, the keys that lead to the entry, its
    shape.
    """

    path: str
    form: Form
    keys: tuple[str, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Written:
    """A text in a file: `head` before it makes the file our own, without it is a section of one."""

    path: str
    head: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """What connects an agent for one person, or in one project."""

    server: Place
    rules: Written | None = None
    #: the file whose permissions.allow lists what needs no consent, and whose hooks are told events
    allows: str = ""
    subagent: Written | None = None


@dataclass(frozen=True, slots=True)
class Agent:
    name: str
    title: str
    docs: str
    #: folders that only those have who have it, and its program
    signs: tuple[str, ...]
    program: str = ""
    user: Scope | None = None
    project: Scope | None = None
    #: what is to be said beside it
    note: str = ""
    #: whether it starts servers in no project's folder, so that its one entry names the project
    placeless: bool = False


def _plain(command: Sequence[str], _reading: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": list(command[1:])}


def _stdio(command: Sequence[str], reading: Sequence[str]) -> dict[str, Any]:
    return {"type": "stdio"} | _plain(command, reading)


def _in_editor(command: Sequence[str], reading: Sequence[str]) -> dict[str, Any]:
    """An editor starts servers in a folder of its own, and knows which one is open."""
    return _stdio([*command, "--project", _WORKSPACE], reading)


def _approving(command: Sequence[str], reading: Sequence[str]) -> dict[str, Any]:
    return _plain(command, reading) | {"disabled": False, "autoApprove": list(reading)}


def _allowing(command: Sequence[str], reading: Sequence[str]) -> dict[str, Any]:
    return _plain(command, reading) | {"disabled": False, "alwaysAllow": list(reading)}


def _approved(command: Sequence[str], reading: Sequence[str]) -> dict[str, Any]:
    return _plain(command, reading) | {"tools": {name: {"approval_mode": "approve"} for name in reading}}


def _local(command: Sequence[str], _reading: Sequence[str]) -> dict[str, Any]:
    return {"type": "local", "command": list(command), "enabled": True}


def _extension(command: Sequence[str], _reading: Sequence[str]) -> dict[str, Any]:
    told = {"name": NAME, "type": "stdio", "cmd": command[0], "args": list(command[1:])}
    return told | {"enabled": True, "timeout": _GOOSE_S}


def _listed(command: Sequence[str], reading: Sequence[str]) -> dict[str, Any]:
    return {"name": NAME} | _plain(command, reading)


def _servers(path: str, shape: Shape = _plain) -> Place:
    return Place(path, "json", ("mcpServers", NAME), shape)


#: a sub-agent's head, and that of agents which tell sub-agents from others by a mode
_WHAT = "Finds code, callers and the impact of changes with Cortex. Use it for questions about the code base."
_SUBAGENT = f"---\nname: {NAME}\ndescription: {_WHAT}\n---\n\n"
_MODAL = f"---\ndescription: {_WHAT}\nmode: subagent\n---\n\n"
#: heads of files of rules that are always read
_CURSOR_RULE = "---\ndescription: Finding code with Cortex\nalwaysApply: true\n---\n\n"
_KIRO_RULE = "---\ninclusion: always\n---\n\n"
_PLAIN_RULE = "# Finding code\n\n"

AGENTS = (
    Agent(
        "claude-code",
        "Claude Code",
        "https://code.claude.com/docs/en/mcp",
        ("~/.claude",),
        "claude",
        Scope(
            _servers("~/.claude.json", _stdio),
            Written("~/.claude/CLAUDE.md"),
            "~/.claude/settings.json",
            Written("~/.claude/agents/cortex.md", _SUBAGENT),
        ),
        Scope(
            _servers(".mcp.json", _stdio),
            Written("CLAUDE.md"),
            ".claude/settings.json",
            Written(".claude/agents/cortex.md", _SUBAGENT),
        ),
    ),
    Agent(
        "claude-desktop",
        "Claude Desktop",
        "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        ("%/Claude",),
        user=Scope(_servers("%/Claude/claude_desktop_config.json")),
        note="it works in no folder: its entry is for the project in which `cortex install` ran last",
        placeless=True,
    ),
    Agent(
        "cursor",
        "Cursor",
        "https://cursor.com/docs/context/mcp",
        ("~/.cursor",),
        "cursor",
        Scope(
            _servers("~/.cursor/mcp.json", _in_editor),
            subagent=Written("~/.cursor/agents/cortex.md", _SUBAGENT),
        ),
        Scope(
            _servers(".cursor/mcp.json", _in_editor),
            Written(".cursor/rules/cortex.mdc", _CURSOR_RULE),
            subagent=Written(".cursor/agents/cortex.md", _SUBAGENT),
        ),
    ),
    Agent(
        "vscode",
        "VS Code (Copilot)",
        "https://code.visualstudio.com/docs/copilot/customization/mcp-servers",
        ("%/Code/User/workspaceStorage", "~/.vscode/extensions"),
        "code",
        Scope(Place("%/Code/User/mcp.json", "json", ("servers", NAME), _in_editor)),
        Scope(
            Place(".vscode/mcp.json", "json", ("servers", NAME), _in_editor),
            Written(".github/copilot-instructions.md"),
        ),
    ),
    Agent(
        "codex",
        "Codex",
        "https://developers.openai.com/codex/mcp",
        ("~/.codex",),
        "codex",
        Scope(
            Place("~/.codex/config.toml", "toml", ("mcp_servers", NAME), _approved),
            Written("~/.codex/AGENTS.md"),
        ),
        Scope(Place(".codex/config.toml", "toml", ("mcp_servers", NAME), _approved), Written("AGENTS.md")),
    ),
    Agent(
        "gemini",
        "Gemini CLI",
        "https://geminicli.com/docs/tools/mcp-server/",
        ("~/.gemini",),
        "gemini",
        Scope(
            _servers("~/.gemini/settings.json"),
            Written("~/.gemini/GEMINI.md"),
            subagent=Written("~/.gemini/agents/cortex.md", _SUBAGENT),
        ),
        Scope(
            _servers(".gemini/settings.json"),
            Written("GEMINI.md"),
            subagent=Written(".gemini/agents/cortex.md", _SUBAGENT),
        ),
    ),
    Agent(
        "opencode",
        "opencode",
        "https://opencode.ai/docs/mcp-servers/",
        ("~/.config/opencode",),
        "opencode",
        Scope(
            Place("~/.config/opencode/opencode.json", "json", ("mcp", NAME), _local),
            Written("~/.config/opencode/AGENTS.md"),
            subagent=Written("~/.config/opencode/agents/cortex.md", _MODAL),
        ),
        Scope(
            Place("opencode.json", "json", ("mcp", NAME), _local),
            Written("AGENTS.md"),
            subagent=Written(".opencode/agents/cortex.md", _MODAL),
        ),
    ),
    Agent(
        "windsurf",
        "Windsurf",
        "https://docs.windsurf.com/windsurf/cascade/mcp",
        ("~/.codeium/windsurf",),
        "windsurf",
        Scope(
            _servers("~/.codeium/windsurf/mcp_config.json"),
            Written("~/.codeium/windsurf/memories/global_rules.md"),
        ),
        note="it has one entry for all projects: add --project and a path to args where it starts elsewhere",
    ),
    Agent(
        "zed",
        "Zed",
        "https://zed.dev/docs/ai/mcp",
        ("~/.config/zed",),
        "zed",
        Scope(Place("~/.config/zed/settings.json", "json", ("context_servers", NAME), _plain)),
        Scope(Place(".zed/settings.json", "json", ("context_servers", NAME), _plain), Written("AGENTS.md")),
    ),
    Agent(
        "cline",
        "Cline",
        "https://docs.cline.bot/mcp/adding-and-configuring-servers",
        ("~/.cline", "%/Code/User/globalStorage/saoudrizwan.claude-dev"),
        "cline",
        Scope(
            _servers("~/.cline/data/settings/cline_mcp_settings.json", _approving),
            Written("~/.cline/rules/cortex.md", _PLAIN_RULE),
        ),
    ),
    Agent(
        "kilo",
        "Kilo Code",
        "https://kilo.ai/docs/automate/mcp/using-in-kilo-code",
        ("~/.config/kilo", "%/Code/User/globalStorage/kilocode.kilo-code"),
        "kilo",
        Scope(
            Place("~/.config/kilo/kilo.jsonc", "json", ("mcp", NAME), _local),
            Written("~/.config/kilo/AGENTS.md"),
            subagent=Written("~/.config/kilo/agents/cortex.md", _MODAL),
        ),
        Scope(Place(".kilo/kilo.jsonc", "json", ("mcp", NAME), _local), Written("AGENTS.md")),
    ),
    Agent(
        "roo",
        "Roo Code",
        "https://docs.roocode.com/features/mcp/using-mcp-in-roo",
        ("%/Code/User/globalStorage/rooveterinaryinc.roo-cline",),
        "",
        Scope(
            _servers(
                "%/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json", _allowing
            ),
            Written("~/.roo/rules/cortex.md", _PLAIN_RULE),
        ),
        Scope(_servers(".roo/mcp.json", _allowing), Written(".roo/rules/cortex.md", _PLAIN_RULE)),
    ),
    Agent(
        "continue",
        "Continue",
        "https://docs.continue.dev/customize/deep-dives/mcp",
        ("~/.continue",),
        "cn",
        Scope(
            Place("~/.continue/config.yaml", "yaml", ("mcpServers",), _listed),
            Written("~/.continue/rules/cortex.md", _PLAIN_RULE),
        ),
    ),
    Agent(
        "amp",
        "Amp",
        "https://ampcode.com/manual#mcp",
        ("~/.config/amp",),
        "amp",
        Scope(
            Place("~/.config/amp/settings.json", "json", ("amp.mcpServers", NAME), _plain),
            Written("~/.config/amp/AGENTS.md"),
        ),
        Scope(Place(".amp/settings.json", "json", ("amp.mcpServers", NAME), _plain), Written("AGENTS.md")),
    ),
    Agent(
        "goose",
        "Goose",
        "https://block.github.io/goose/docs/getting-started/using-extensions",
        ("~/.config/goose",),
        "goose",
        Scope(
            Place("~/.config/goose/config.yaml", "yaml", ("extensions", NAME), _extension),
            Written("~/.config/goose/.goosehints"),
        ),
    ),
    Agent(
        "junie",
        "Junie (JetBrains)",
        "https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html",
        ("~/.junie",),
        "junie",
        Scope(_servers("~/.junie/mcp/mcp.json")),
        Scope(_servers(".junie/mcp/mcp.json"), Written(".junie/guidelines.md")),
    ),
    Agent(
        "kiro",
        "Kiro",
        "https://kiro.dev/docs/mcp/configuration/",
        ("~/.kiro",),
        "kiro",
        project=Scope(
            _servers(".kiro/settings/mcp.json", _approving), Written(".kiro/steering/cortex.md", _KIRO_RULE)
        ),
        note="it says nothing of the open folder to a server of the person's own settings",
    ),
    Agent(
        "qwen",
        "Qwen Code",
        "https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/",
        ("~/.qwen",),
        "qwen",
        Scope(
            _servers("~/.qwen/settings.json"),
            Written("~/.qwen/QWEN.md"),
            subagent=Written("~/.qwen/agents/cortex.md", _SUBAGENT),
        ),
        Scope(
            _servers(".qwen/settings.json"),
            Written("QWEN.md"),
            subagent=Written(".qwen/agents/cortex.md", _SUBAGENT),
        ),
    ),
    Agent(
        "trae",
        "Trae",
        "https://docs.trae.ai/ide/add-mcp-servers",
        ("%/Trae", "~/.trae"),
        "trae",
        Scope(_servers("%/Trae/User/mcp.json")),
        Scope(_servers(".trae/mcp.json"), Written(".trae/rules/cortex.md", _PLAIN_RULE)),
        note="a project's servers have to be enabled in its settings",
    ),
    Agent(
        "warp",
        "Warp",
        "https://docs.warp.dev/agents/capabilities/mcp",
        ("~/.warp", "%/warp-terminal"),
        "warp-terminal",
        Scope(_servers("~/.warp/.mcp.json")),
        Scope(_servers(".warp/.mcp.json"), Written("AGENTS.md")),
    ),
)
BY_NAME = {agent.name: agent for agent in AGENTS}
