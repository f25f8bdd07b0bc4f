"""Shell completion: the script of each shell, and the names that it requests on Tab."""

import contextlib
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import replace

from cortex.front.cli.parsing.parser import Parser
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.system import hosts
from cortex.system.errors import EXIT_OK, CortexError
from cortex.system.terminal import escape_in_line

#: shells with a script
SHELLS = ("bash", "zsh", "fish")
#: kinds of completed names
KINDS = ("path", "symbol")
#: seconds that a Tab may take
TAB_S = 2.0
#: shell → (its functions, the expression that completes an argument), for a kind of name
_ASKS = {
    "bash": (
        """_cortex_{0}() {{
  local name
  cortex complete {0} -- "$1" 2>/dev/null | while IFS= read -r name; do printf '%q\\n' "$name"; done
}}""",
        "_cortex_{0}",
    ),
    "zsh": (
        """_cortex_{0}() {{
  local -a names
  names=("${{(@f)$(cortex complete {0} -- "$PREFIX" 2>/dev/null)}}")
  compadd -- ${{names:#}}
}}""",
        "_cortex_{0}",
    ),
    "fish": ("", "(cortex complete {0} -- (commandline -ct) 2>/dev/null)"),
}


def script(everything: Parser, parsers: Iterable[Parser], shell: str) -> str:
    """Return the script that the shell reads at its start."""
    import shtab

    before, asks = _ASKS[shell]
    for parser in parsers:
        for folder in parser.folders:
            folder.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        for action, kind in parser.completions:
            action.complete = {shell: asks.format(kind)}  # type: ignore[attr-defined]
    preamble = "\n".join(before.format(kind) for kind in KINDS)
    text: str = shtab.complete(everything, shell=shell, preamble=preamble)
    # shtab registers its function where the script is read by eval alone, not by `source <(…)`
    return text.replace("$zsh_eval_context[-1] == eval ]]", "$zsh_eval_context[-1] == (eval|file) ]]")


def declare(parser: Parser) -> None:
    parser.add_argument("kind", choices=KINDS, help="the kind of name to complete")
    parser.add_argument("word", nargs="?", default="", help="the beginning of the name")


def complete(options: Namespace) -> int:
    """Print the names with a prefix, one a line; nothing without workers, for Tab starts none."""
    with contextlib.suppress(CortexError):
        config = configuration.load(options.project)
        config = replace(config, server=replace(config.server, deadline_s=TAB_S))
        for name in hosts.run(_names(config, options.kind, options.word)):
            print(escape_in_line(name))
    return EXIT_OK


async def _names(config: Config, kind: str, word: str) -> list[str]:
    from cortex.front.link import Link
    from cortex.front.mcp.completion import COMPLETE

    link = Link(config, start=False, channel="cli")
    link.open()
    try:
        return list((await link.call(COMPLETE, {"prefix": word, "kind": kind}))["values"])
    finally:
        await link.close()
