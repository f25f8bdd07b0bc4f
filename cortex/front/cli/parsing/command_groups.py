"""The groups of the commands: first words that several commands share, and headings of the help."""

from collections.abc import Mapping

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
    from cortex.front.cli.parsing.command_names import NAMES  # a command that is no tool needs none

    headings = {heading: words.split() for heading, words in HEADINGS.get(group, {}).items()}
    listed = {word for words in headings.values() for word in words}
    for words in list(headings.values())[:1]:
        places = (name.rpartition(" ") for name in NAMES)
        words += [word for place, _, word in places if place == group and word not in listed]
    return headings
