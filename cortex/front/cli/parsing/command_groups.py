"""Names of the commands made from tools (`cortex_search` is `cortex search`), and the groups of all
commands: first words that several share, and headings of the help.
"""

from __future__ import annotations

from collections.abc import Mapping

from cortex.front.tools import PEOPLE, TOOLS, TOOLSETS
from cortex.terms.observations import ROWS

#: prefixes of tool names that command names drop
PREFIXES = ("cortex_", "code_", "find_")
#: tools with a command of the group `memory`; `cortex search` asks code and memory
MEMORY = {line.name for line in TOOLSETS["memory-all"]} - {line.name for line in TOOLSETS["code"]} | set(
    PEOPLE
)
#: tool of observations → its former command, where `memory` plus the tool's name was taken
_FORMER = {"search": "find", "timeline": "around"}


def command_name(tool: str) -> str:
    """Return the words after `cortex`."""
    if tool in ROWS:
        return f"memory tool {tool.replace('_', '-')}"
    group = "memory " if tool in MEMORY else ""
    for prefix in (*PREFIXES, "memory_") if group else PREFIXES:
        tool = tool.removeprefix(prefix)
    return group + tool.replace("_", "-")


def _aliases() -> dict[str, str]:
    """Return alias → tool of observations."""
    aliases = {f"memory tool {tool}": tool for tool in ROWS}
    for tool in ROWS:
        former = _FORMER.get(tool, tool.replace("_", "-"))
        aliases |= {f"memory {former}": tool, f"memory tool {former}": tool}
    return aliases


#: command → its tool
NAMES = {command_name(tool): tool for tool in (*TOOLS, *PEOPLE)}
#: hidden alias → its tool. The spellings from before `cortex memory tool`, and the names of tools
#: with underscores, work until 1.0; help and completion do not list them
ALIASES = {alias: tool for alias, tool in _aliases().items() if alias not in NAMES}


#: group of commands (their first words) → its help line
GROUPS: Mapping[str, str] = {
    "embed": "Serve the embedding model.",
    "key": "Manage the master key of encrypted indexes and memory.",
    "hook": "Record Claude Code sessions by hooks.",
    "memory": "Store, find and correct notes of earlier sessions.",
    "memory model": "Install a model that embeds notes.",
    "memory tool": "Call a tool of observations, as agents do.",
}

#: group ("": the program itself) → heading in its help → its commands, in their order. A group that
#: is missing has one heading; tools that are missing follow under the group's first
HEADINGS: Mapping[str, Mapping[str, str]] = {
    "": {
        "Ask": "search read uses exact explore graph related",
        "Index and serve": "init index up down status why",
        "Agents": "install uninstall mcp hook",
        "Memory": "memory",
        "Server": "serve open token embed",
        "Upkeep": "doctor stats projects clean purge trust key upgrade",
        "Help and shell": "help version completion complete",
    },
    "memory": {
        "Find and read": "recall search list show briefing timeline traverse history session stats",
        "Write": "store edit relate rate forget undo candidates closed accept",
        "Share and copy": "link export import backup restore migrate",
        "Upkeep": "doctor consolidate maintain encrypt decrypt model",
        "Worker": "status up down follow past-sessions",
        "Agents' tools": "tool",
    },
    "memory tool": {
        "Search": "search search-sessions decisions changes how-it-works find-by-concept find-by-file "
        "find-by-type find-similar-observations find-related-observations get-observations-by-tag "
        "explain-search-ranking",
        "Read": "get-observation get-recent-context timeline get-context-timeline get-timeline-by-query "
        "get-observation-relationships list-sessions get-patterns export-observations",
        "Change": "edit-observation tag-observation merge-observations bulk-delete-observations "
        "bulk-mark-superseded bulk-boost-observations batch-tag-by-pattern",
        "Report": "get-memory-stats get-temporal-trends get-observation-quality get-data-quality-report "
        "get-observation-scoring-breakdown analyze-observation-importance analyze-search-patterns "
        "suggest-consolidations",
        "Upkeep": "run-consolidation trigger-maintenance get-maintenance-stats check-system-health",
    },
}


def headings_of(group: str) -> dict[str, list[str]]:
    """Heading → command words of a group; empty if the group has no headings."""
    headings = {heading: words.split() for heading, words in HEADINGS.get(group, {}).items()}
    listed = {word for words in headings.values() for word in words}
    for words in list(headings.values())[:1]:
        places = (name.rpartition(" ") for name in NAMES)
        words += [word for place, _, word in places if place == group and word not in listed]
    return headings
