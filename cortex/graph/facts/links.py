"""Links of a chain (facts.py) that are no plain name: a whole module. Pure."""

from __future__ import annotations

#: begins a link that is a whole module, as `require("./x")` is: its path follows, HIDDEN
MODULE = "@"
#: what would end a link, and what stands for it in the path of a module
BETWEEN = "\x01"
HIDDEN = str.maketrans(".[]()", f"{BETWEEN}\x02\x03\x04\x05")
UNHIDDEN = {value: key for key, value in HIDDEN.items()}


def module_link(module: str) -> str:
    """A whole module as one link of a chain."""
    return MODULE + module.translate(HIDDEN)


def module_of(link: str) -> str:
    """The module that a link is; "" when it is another link."""
    return link[1:].translate(UNHIDDEN) if link.startswith(MODULE) else ""
