"""Rules for the files of agents: when to use which tool."""

from __future__ import annotations

#: the first and the last line of our section in the user's file
BEGIN = "<!-- cortex: written by `cortex install`, taken out by `cortex uninstall` -->"
END = "<!-- /cortex -->"
#: at most 200 tokens: agents read it with every prompt
RULES = """\
The `cortex` tools know this code base and follow every saved file. Use them before grep, find or reading files:
- `cortex_explore`: how something works, over several files, in one call.
- `cortex_search`: where something is done, in words or by name.
- `cortex_exact`: every place of a word, phrase, piece of text or expression.
- `cortex_graph`: callers, callees, implementations; `impact` before a change or a deletion.
- `cortex_outline`: what is in a file or folder.

Code that they show is current: do not read it again. Read a file to edit it, or for what no answer shows.
"""


def section() -> str:
    return f"{BEGIN}\n## Finding code\n\n{RULES}{END}\n"
