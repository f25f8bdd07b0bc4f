"""Lines with a module, or with a function of one, in a language whose names the graph does not
resolve (Elixir): what stands before the name tells which module is meant.
"""

import re
from collections.abc import Sequence

from cortex.ask.lines.current_lines import read_texts
from cortex.ask.query_context import Turn
from cortex.ask.reading.meanings import Meaning
from cortex.ask.references.owners import keep_nearest
from cortex.ask.references.use_sites import Site, Uses
from cortex.ask.references.word_lines import find_lines, search_text
from cortex.terms.languages import language_of

LANGUAGES = frozenset(("elixir",))


def is_module(meaning: Meaning) -> bool:
    """Whether a definition is a module inside of a file of such a language."""
    return meaning.kind == "module" and ":" in meaning.id and language_of(meaning.file).name in LANGUAGES


async def find_module_lines(turn: Turn, meaning: Meaning) -> Uses:
    """Return the lines that name a module, by its whole name, by the end of it, or by its last
    part in a file with an alias of it. Raises NotReady.
    """
    outer, _, word = meaning.name.rpartition(".")
    holding = await find_lines(turn, word, ("code",))
    if holding is None:
        return Uses()
    usage = await search_text(turn, word, {(meaning.file, meaning.start): None}, holding=holding)
    named = re.compile(rf"((?:\w+\.)*)(?<![\w$]){re.escape(word)}\b(?!\.[A-Z{{])")
    defined = re.compile(rf"\s*defmodule\s+((?:\w+\.)*{re.escape(word)})\s")
    definitions = filter(None, (defined.match(line.text) for line in holding.lines.values()))
    has_namesakes = any(match[1] != meaning.name for match in definitions)
    alias = re.compile(rf"{re.escape(outer)}\.(?:{re.escape(word)}\b|\{{[^}}]*\b{re.escape(word)}\b)")
    texts = await read_texts(turn, sorted({site.file for site in usage.sites})) if has_namesakes else {}

    def means_it(site: Site) -> bool:
        for match in named.finditer(site.text):
            if match[1] and f".{meaning.name}".endswith(f".{match[0]}"):
                return True
            if not match[1] and (not has_namesakes or alias.search(texts.get(site.file, ""))):
                return True
        return False

    usage.sites = [site for site in usage.sites if means_it(site)]
    return usage


async def keep_called(turn: Turn, meaning: Meaning, sites: Sequence[Site]) -> list[Site]:
    """Return the lines that may call a function of a module: with its module before it, and those
    without any module that no namesake is nearer to. Raises NotReady.
    """
    outer, _, word = meaning.name.rpartition(".")
    module = outer.rpartition(".")[2]
    called = re.compile(rf"(?:\b([A-Z]\w*)\.)?(?<![\w$]){re.escape(word)}(?![\w$])")
    sure, open_sites = [], []
    for site in sites:
        receivers = {match[1] for match in called.finditer(site.text)}
        if module in receivers:
            sure.append(site)
        elif None in receivers or not receivers:
            open_sites.append(site)
    nearest = {site.place for site in (*sure, *await keep_nearest(turn, meaning, open_sites))}
    return [site for site in sites if site.place in nearest]
