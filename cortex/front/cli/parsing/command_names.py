"""Names of the commands made from tools: `cortex_search` is `cortex search`."""

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
