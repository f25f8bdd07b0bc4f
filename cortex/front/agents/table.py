"""The table of coding agents: files and formats of their MCP servers and rules.

A new agent is an entry here. Paths begin with `~/` (the home folder), `%/` (the folder for
settings: ~/.config, Application Support, AppData) or nothing (the project); VARIABLES move some of
them. `docs` is the maker's documentation of the format.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cortex.settings.folders.home import variable_folder

#: the server's name in all files
NAME = "cortex"
#: placeholder for the open folder, which editors replace
_WORKSPACE = "${workspaceFolder}"
#: timeout of a call in Goose, in seconds
_GOOSE_S = 300

#: file or folder of an agent → the variable by which its users move it, and the path from there
VARIABLES = {
    "~/.claude.json": ("CLAUDE_CONFIG_DIR", ".claude.json"),
    "~/.claude": ("CLAUDE_CONFIG_DIR", ""),
    "~/.codex": ("CODEX_HOME", ""),
    "~/.config/amp/settings.json": ("AMP_SETTINGS_FILE", ""),
    "~/.config/crush": ("CRUSH_GLOBAL_CONFIG", ""),
    "~/.config/goose": ("GOOSE_PATH_ROOT", "config"),
    "~/.continue": ("CONTINUE_GLOBAL_DIR", ""),
    "~/.copilot": ("COPILOT_HOME", ""),
    "~/.gemini": ("GEMINI_CLI_HOME", ".gemini"),
    "~/.qwen": ("QWEN_HOME", ""),
}
#: folders inside of those that stay
_FIXED = ("~/.gemini/antigravity",)

Form = Literal["json", "toml", "yaml"]
#: (command and its arguments, tools that only read) → the entry
Shape = Callable[[Sequence[str], Sequence[str]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """An agent's entry for a server: path and form of the file, keys to the entry, its shape."""

    path: str
    form: Form
    keys: tuple[str, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text for an agent: with `head` a file of our own, else a section of the user's file."""

    path: str
    head: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """The files that connect an agent, for the user or in a project."""

    server: ServerEntry
    rules: TextFile | None = None
    #: the file with permissions.allow (tools that need no consent) and hooks; "" for none
    allows: str = ""
    subagent: TextFile | None = None


@dataclass(frozen=True, slots=True)
class Agent:
    name: str
    title: str
    docs: str
    user: Scope | None = None
    project: Scope | None = None
    #: folders that exist only where the agent is installed; (): that of its own file
    folders: tuple[str, ...] = ()
    #: beginnings of the names that it gives itself as a client of MCP, in lower case, words joined
    #: by "-"; (): its name. Those of UNVERIFIED_CLIENTS come from other programs' lists of clients
    client_names: tuple[str, ...] = ()
    #: remark for the user
    note: str = ""
    #: whether it starts servers outside of any project, so that its entry must name the project
    placeless: bool = False
    #: its command where that is not its name; "" for none
    program: str | None = None

    @property
    def signs(self) -> tuple[str, ...]:
        return self.folders or ((os.path.dirname(self.user.server.path),) if self.user else ())

    @property
    def clients(self) -> tuple[str, ...]:
        return self.client_names or (self.name,)


def relocate(path: str) -> str:
    """Return a path of the table, or the absolute one to which a variable of its agent moves it.

    Raises Misconfigured for a variable with a relative path.
    """
    for moved, (variable, inside) in VARIABLES.items():
        rest = path.removeprefix(moved)
        if path.startswith(moved) and rest[:1] in ("", "/") and not path.startswith(_FIXED):
            folder = variable_folder(variable)
            return os.path.join(folder, inside + rest if inside else rest[1:]).rstrip("/") if folder else path
    return path


def _plain_entry(command: Sequence[str], _reading: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": list(command[1:])}


def _stdio_entry(command: Sequence[str], reading: Sequence[str]) -> dict[str, Any]:
    return {"type": "stdio"} | _plain_entry(command, reading)


def _editor_entry(command: Sequence[str], reading: Sequence[str]) -> dict[str, Any]:
    """Make an entry with the open folder: editors start servers in another one."""
    return _stdio_entry([*command, "--project", _WORKSPACE], reading)


def _auto_approve_entry(command: Sequence[str], reading: Sequence[str]) -> dict[str, Any]:
    return _plain_entry(command, reading) | {"disabled": False, "autoApprove": list(reading)}


def _always_allow_entry(command: Sequence[str], reading: Sequence[str]) -> dict[str, Any]:
    return _plain_entry(command, reading) | {"disabled": False, "alwaysAllow": list(reading)}


def _codex_entry(command: Sequence[str], reading: Sequence[str]) -> dict[str, Any]:
    return _plain_entry(command, reading) | {
        "tools": {name: {"approval_mode": "approve"} for name in reading}
    }


def _local_entry(command: Sequence[str], _reading: Sequence[str]) -> dict[str, Any]:
    return {"type": "local", "command": list(command), "enabled": True}


def _copilot_entry(command: Sequence[str], reading: Sequence[str]) -> dict[str, Any]:
    return {"type": "local"} | _plain_entry(command, reading) | {"tools": ["*"]}


def _goose_entry(command: Sequence[str], _reading: Sequence[str]) -> dict[str, Any]:
    entry = {"name": NAME, "type": "stdio", "cmd": command[0], "args": list(command[1:])}
    return entry | {"enabled": True, "timeout": _GOOSE_S}


def _continue_entry(command: Sequence[str], reading: Sequence[str]) -> dict[str, Any]:
    return {"name": NAME} | _plain_entry(command, reading)


def _mcp_servers_entry(path: str, shape: Shape = _plain_entry) -> ServerEntry:
    return ServerEntry(path, "json", ("mcpServers", NAME), shape)


#: heads of sub-agents' files: usual, and for agents that need a mode
_DESCRIPTION = (
    "Finds code, callers and the impact of changes with Cortex. Use it for questions about the code base."
)
_SUBAGENT = f"---\nname: {NAME}\ndescription: {_DESCRIPTION}\n---\n\n"
_MODAL = f"---\ndescription: {_DESCRIPTION}\nmode: subagent\n---\n\n"
#: heads of files of rules that are always read
_CURSOR_RULE = "---\ndescription: Finding code with Cortex\nalwaysApply: true\n---\n\n"
_KIRO_RULE = "---\ninclusion: always\n---\n\n"
_PLAIN_RULE = "# Finding code\n\n"


def _gemini_scopes(folder: str, rules: str) -> tuple[Scope, Scope]:
    """Return the scopes of Gemini CLI or a fork of it: for the user, in a project."""
    user, project = (
        Scope(
            _mcp_servers_entry(f"{home}{folder}/settings.json"),
            TextFile(f"~/{folder}/{rules}" if home else rules),
            subagent=TextFile(f"{home}{folder}/agents/cortex.md", _SUBAGENT),
        )
        for home in ("~/", "")
    )
    return user, project


AGENTS = (
    Agent(
        "claude-code",
        "Claude Code",
        "https://code.claude.com/docs/en/mcp",
        Scope(
            _mcp_servers_entry("~/.claude.json", _stdio_entry),
            TextFile("~/.claude/CLAUDE.md"),
            "~/.claude/settings.json",
            TextFile("~/.claude/agents/cortex.md", _SUBAGENT),
        ),
        Scope(
            _mcp_servers_entry(".mcp.json", _stdio_entry),
            TextFile("CLAUDE.md"),
            ".claude/settings.json",
            TextFile(".claude/agents/cortex.md", _SUBAGENT),
        ),
        folders=("~/.claude",),
        program="claude",
    ),
    Agent(
        "claude-desktop",
        "Claude Desktop",
        "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        user=Scope(_mcp_servers_entry("%/Claude/claude_desktop_config.json")),
        client_names=("claude-ai", "claude-desktop"),
        note="it works in no folder: its entry is for the project in which `cortex install` ran last",
        placeless=True,
        program="",
    ),
    Agent(
        "cursor",
        "Cursor",
        "https://cursor.com/docs/context/mcp",
        Scope(
            _mcp_servers_entry("~/.cursor/mcp.json", _editor_entry),
            subagent=TextFile("~/.cursor/agents/cortex.md", _SUBAGENT),
        ),
        Scope(
            _mcp_servers_entry(".cursor/mcp.json", _editor_entry),
            TextFile(".cursor/rules/cortex.mdc", _CURSOR_RULE),
            subagent=TextFile(".cursor/agents/cortex.md", _SUBAGENT),
        ),
    ),
    Agent(
        "vscode",
        "VS Code (Copilot)",
        "https://code.visualstudio.com/docs/copilot/customization/mcp-servers",
        Scope(ServerEntry("%/Code/User/mcp.json", "json", ("servers", NAME), _editor_entry)),
        Scope(
            ServerEntry(".vscode/mcp.json", "json", ("servers", NAME), _editor_entry),
            TextFile(".github/copilot-instructions.md"),
        ),
        folders=("%/Code/User/workspaceStorage", "~/.vscode/extensions"),
        client_names=("visual-studio-code", "github-copilot", "copilot"),
        program="code",
    ),
    Agent(
        "copilot",
        "Copilot CLI",
        "https://docs.github.com/en/copilot/how-tos/copilot-cli",
        Scope(
            _mcp_servers_entry("~/.copilot/mcp-config.json", _copilot_entry),
            TextFile("~/.copilot/copilot-instructions.md"),
        ),
        client_names=("github-copilot-developer",),
    ),
    Agent(
        "codex",
        "Codex",
        "https://developers.openai.com/codex/mcp",
        Scope(
            ServerEntry("~/.codex/config.toml", "toml", ("mcp_servers", NAME), _codex_entry),
            TextFile("~/.codex/AGENTS.md"),
        ),
        Scope(
            ServerEntry(".codex/config.toml", "toml", ("mcp_servers", NAME), _codex_entry),
            TextFile("AGENTS.md"),
        ),
    ),
    Agent(
        "gemini",
        "Gemini CLI",
        "https://geminicli.com/docs/tools/mcp-server/",
        *_gemini_scopes(".gemini", "GEMINI.md"),
        client_names=("gemini-cli-mcp-client", "gemini-cli"),
    ),
    Agent(
        "antigravity",
        "Antigravity",
        "https://antigravity.google/docs/mcp",
        Scope(_mcp_servers_entry("~/.gemini/antigravity/mcp_config.json")),
        note="it has one entry for all projects: add --project and a path to args where it starts elsewhere",
    ),
    Agent(
        "crush",
        "Crush",
        "https://github.com/charmbracelet/crush",
        Scope(ServerEntry("~/.config/crush/crush.json", "json", ("mcp", NAME), _stdio_entry)),
        Scope(ServerEntry(".crush.json", "json", ("mcp", NAME), _stdio_entry), TextFile("AGENTS.md")),
    ),
    Agent(
        "opencode",
        "opencode",
        "https://opencode.ai/docs/mcp-servers/",
        Scope(
            ServerEntry("~/.config/opencode/opencode.json", "json", ("mcp", NAME), _local_entry),
            TextFile("~/.config/opencode/AGENTS.md"),
            subagent=TextFile("~/.config/opencode/agents/cortex.md", _MODAL),
        ),
        Scope(
            ServerEntry("opencode.json", "json", ("mcp", NAME), _local_entry),
            TextFile("AGENTS.md"),
            subagent=TextFile(".opencode/agents/cortex.md", _MODAL),
        ),
    ),
    Agent(
        "windsurf",
        "Windsurf",
        "https://docs.windsurf.com/windsurf/cascade/mcp",
        Scope(
            _mcp_servers_entry("~/.codeium/windsurf/mcp_config.json"),
            TextFile("~/.codeium/windsurf/memories/global_rules.md"),
        ),
        note="it has one entry for all projects: add --project and a path to args where it starts elsewhere",
    ),
    Agent(
        "zed",
        "Zed",
        "https://zed.dev/docs/ai/mcp",
        Scope(ServerEntry("~/.config/zed/settings.json", "json", ("context_servers", NAME), _plain_entry)),
        Scope(
            ServerEntry(".zed/settings.json", "json", ("context_servers", NAME), _plain_entry),
            TextFile("AGENTS.md"),
        ),
    ),
    Agent(
        "cline",
        "Cline",
        "https://docs.cline.bot/mcp/adding-and-configuring-servers",
        Scope(
            _mcp_servers_entry("~/.cline/data/settings/cline_mcp_settings.json", _auto_approve_entry),
            TextFile("~/.cline/rules/cortex.md", _PLAIN_RULE),
        ),
        folders=("~/.cline", "%/Code/User/globalStorage/saoudrizwan.claude-dev"),
        client_names=("cline", "@cline/core"),
    ),
    Agent(
        "kilo",
        "Kilo Code",
        "https://kilo.ai/docs/automate/mcp/using-in-kilo-code",
        Scope(
            ServerEntry("~/.config/kilo/kilo.jsonc", "json", ("mcp", NAME), _local_entry),
            TextFile("~/.config/kilo/AGENTS.md"),
            subagent=TextFile("~/.config/kilo/agents/cortex.md", _MODAL),
        ),
        Scope(ServerEntry(".kilo/kilo.jsonc", "json", ("mcp", NAME), _local_entry), TextFile("AGENTS.md")),
        folders=("~/.config/kilo", "%/Code/User/globalStorage/kilocode.kilo-code"),
        client_names=("kilo", "kilo-code", "kilocode"),
    ),
    Agent(
        "roo",
        "Roo Code",
        "https://docs.roocode.com/features/mcp/using-mcp-in-roo",
        Scope(
            _mcp_servers_entry(
                "%/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
                _always_allow_entry,
            ),
            TextFile("~/.roo/rules/cortex.md", _PLAIN_RULE),
        ),
        Scope(
            _mcp_servers_entry(".roo/mcp.json", _always_allow_entry),
            TextFile(".roo/rules/cortex.md", _PLAIN_RULE),
        ),
        folders=("%/Code/User/globalStorage/rooveterinaryinc.roo-cline",),
        client_names=("roo-code", "roo-cline"),
        program="",
    ),
    Agent(
        "continue",
        "Continue",
        "https://docs.continue.dev/customize/deep-dives/mcp",
        Scope(
            ServerEntry("~/.continue/config.yaml", "yaml", ("mcpServers",), _continue_entry),
            TextFile("~/.continue/rules/cortex.md", _PLAIN_RULE),
        ),
        client_names=("continue-client", "continue-cli-client"),
        program="cn",
    ),
    Agent(
        "amp",
        "Amp",
        "https://ampcode.com/manual#mcp",
        Scope(
            ServerEntry("~/.config/amp/settings.json", "json", ("amp.mcpServers", NAME), _plain_entry),
            TextFile("~/.config/amp/AGENTS.md"),
        ),
        Scope(
            ServerEntry(".amp/settings.json", "json", ("amp.mcpServers", NAME), _plain_entry),
            TextFile("AGENTS.md"),
        ),
        client_names=("amp-mcp-client", "amp"),
    ),
    Agent(
        "goose",
        "Goose",
        "https://block.github.io/goose/docs/getting-started/using-extensions",
        Scope(
            ServerEntry("~/.config/goose/config.yaml", "yaml", ("extensions", NAME), _goose_entry),
            TextFile("~/.config/goose/.goosehints"),
        ),
    ),
    Agent(
        "junie",
        "Junie (JetBrains)",
        "https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html",
        Scope(_mcp_servers_entry("~/.junie/mcp/mcp.json")),
        Scope(_mcp_servers_entry(".junie/mcp/mcp.json"), TextFile(".junie/guidelines.md")),
        folders=("~/.junie",),
    ),
    Agent(
        "kiro",
        "Kiro",
        "https://kiro.dev/docs/mcp/configuration/",
        project=Scope(
            _mcp_servers_entry(".kiro/settings/mcp.json", _auto_approve_entry),
            TextFile(".kiro/steering/cortex.md", _KIRO_RULE),
        ),
        folders=("~/.kiro",),
        note="it does not pass the open folder to a server in the user's settings",
    ),
    Agent(
        "qwen",
        "Qwen Code",
        "https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/",
        *_gemini_scopes(".qwen", "QWEN.md"),
        client_names=("qwen-cli-mcp-client", "qwen-code"),
    ),
    Agent(
        "trae",
        "Trae",
        "https://docs.trae.ai/ide/add-mcp-servers",
        Scope(_mcp_servers_entry("%/Trae/User/mcp.json")),
        Scope(_mcp_servers_entry(".trae/mcp.json"), TextFile(".trae/rules/cortex.md", _PLAIN_RULE)),
        folders=("%/Trae", "~/.trae"),
        note="servers of a project must be enabled in its settings",
    ),
    Agent(
        "warp",
        "Warp",
        "https://docs.warp.dev/agents/capabilities/mcp",
        Scope(_mcp_servers_entry("~/.warp/.mcp.json")),
        Scope(_mcp_servers_entry(".warp/.mcp.json"), TextFile("AGENTS.md")),
        folders=("~/.warp", "%/warp-terminal"),
        program="warp-terminal",
    ),
)
BY_NAME = {agent.name: agent for agent in AGENTS}
#: the same of agents that `cortex install` does not know
_OTHER_CLIENTS = ("intellij-idea", "jetbrains", "kimi", "omp-coding-agent", "pi-cli", "pi-coding-agent")
CLIENTS = (*_OTHER_CLIENTS, *(client for agent in AGENTS for client in agent.clients))
#: names that were not read in the client's own source, nor reported by two other programs
UNVERIFIED_CLIENTS = frozenset(
    "amp claude-desktop copilot crush github-copilot-developer intellij-idea jetbrains junie kilocode kimi roo-cline trae warp".split()
)
