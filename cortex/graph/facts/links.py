"""Links of a chain (facts.py) for whole modules. Pure."""

#: begins a link for a whole module, such as `require("./x")`: its path follows, encoded by HIDDEN
MODULE = "@"
#: characters that would end a link, and their replacements in a module's path
BETWEEN = "\x01"
HIDDEN = str.maketrans(".[]()", f"{BETWEEN}\x02\x03\x04\x05")
UNHIDDEN = {value: key for key, value in HIDDEN.items()}


def module_link(module: str) -> str:
    """Return a whole module as one link of a chain."""
    return MODULE + module.translate(HIDDEN)


def module_of(link: str) -> str:
    """Return the module of a link; "" for other links."""
    return link[1:].translate(UNHIDDEN) if link.startswith(MODULE) else ""
