"""Choice of one overload of a function by its number or its parameters, as people write them:
`read~2`, `read(InputStream, int)`, `read(String, …)`. Pure.
"""

import re
from collections.abc import Sequence

#: languages whose calls choose among functions of one name
OVERLOADING = frozenset({"java", "kotlin", "csharp", "scala", "cpp", "c", "swift"})

_WORD = re.compile(r"\w+")
#: the package before a type, as javadoc writes it
_QUALIFIER = re.compile(r"(?:\w+\.)+(?=\w)")
_NUMBER = re.compile(r"~(\d+)\s*$")
#: the end of a list of parameters that leaves out the others
_ELLIPSES = ("…", "...", "..")


def overload_number(symbol: str) -> int:
    """Return the number of the overload that a symbol names; 0 without one."""
    match = _NUMBER.search(symbol)
    return int(match[1]) if match is not None else 0


def names_parameters(symbol: str) -> bool:
    """Whether a symbol has a list of parameters that is not empty."""
    return bool(_wanted_parameters(symbol)[0])


def fitting_overloads(symbol: str, signatures: Sequence[str]) -> list[int]:
    """Return places of signatures with as many parameters, else of those that begin with them."""
    wanted, is_open = _wanted_parameters(symbol)
    taken = [_split_parameters(text.partition("(")[2].rpartition(")")[0]) for text in signatures]
    fitting = [at for at, parameters in enumerate(taken) if _takes(parameters, wanted)]
    exact = [at for at in fitting if len(taken[at]) == len(wanted) and not is_open]
    return exact or fitting


def _wanted_parameters(symbol: str) -> tuple[list[str], bool]:
    """Return (the symbol's parameters, whether it leaves out further ones)."""
    _, opened, inner = symbol.partition("(")
    wanted = _split_parameters(inner.rpartition(")")[0] or inner) if opened else []
    is_open = bool(wanted) and wanted[-1] in _ELLIPSES
    return (wanted[:-1] if is_open else wanted), is_open


def _split_parameters(text: str) -> list[str]:
    """Return the parts of a list of parameters, each without its default."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "(<[{") - (letter in ")>]}")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.partition("=")[0].strip() for part in parts if part.strip(" )")]


def _takes(taken: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether each of the wanted parameters, a type or a name or both, is the one at its place."""
    words = [set(_WORD.findall(parameter)) for parameter in taken]
    requested = [set(_WORD.findall(_QUALIFIER.sub("", parameter))) for parameter in wanted]
    return len(requested) <= len(words) and all(
        some <= all_ for some, all_ in zip(requested, words, strict=False)
    )
