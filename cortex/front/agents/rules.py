"""Rules for the files of agents: when to use which tool."""

#: the first and the last line of our section in the user's file
BEGIN = "<!-- cortex: written by `cortex install`, taken out by `cortex uninstall` -->"
END = "<!-- /cortex -->"
#: at most 200 tokens: agents read it with every prompt
RULES = """\
The `cortex` tools know this code base and follow every saved file. Use them before grep, find or reading files:
- `cortex_search`: where something is done and how, in words or by name.
- `cortex_read`: whole functions, by name or place, several in one call.
- `cortex_uses`: every place that uses a symbol, before a change or a deletion.
- `cortex_exact`: every place of a word, phrase, piece of text or expression.
- `cortex_store`: what was decided or learned; where a noted fact changed, with `topic` or `supersedes`.
"""


def section() -> str:
    return f"{BEGIN}\n## Finding code\n\n{RULES}{END}\n"
