"""Aliases of types that wrap or hold others: `type Result<T> = std::result::Result<T, Error>`."""

from collections.abc import Callable

from cortex.graph.facts.declared.types import CONTAINERS, WRAPPERS
from cortex.graph.facts.facts import ALIAS, Import
from cortex.graph.resolution.evaluation.values import Values
from cortex.graph.resolution.project import Project

_LIBRARY = WRAPPERS | CONTAINERS
#: aliases of aliases that are followed
_DEPTH_MAX = 3


def without_alias(
    project: Project, named: Callable[[str, str, int], Values], text: str, path: str, scope: int
) -> str:
    """Return a declared type with the name of the library's type in place of an alias of it,
    `ShopResult<Disk>` → `Result<Disk>`; an alias passes its first parameter on first.

    `named` gives the values of a chain in a scope of a file.
    """
    head, _, arguments = text.partition("<")
    chain = head.strip(" &").replace("::", ".")
    if not chain.replace(".", "").isidentifier() or chain.rpartition(".")[2] in _LIBRARY:
        return text
    for _ in range(_DEPTH_MAX):
        bases = [
            (value.path, base.chain)
            for value in named(chain, path, scope)
            if value.tag == "def"
            for base in project.definition(value.ref).bases
            if base.relation == ALIAS
        ]
        if len(bases) != 1:
            return text
        (path, chain), scope = bases[0], -1
        for place in project.index(path).places(-1, chain):
            if isinstance(place, Import) and place.member:
                chain = f"{place.module}.{place.member}"
        if (name := chain.rpartition(".")[2]) in _LIBRARY:
            return f"{name}<{arguments}"
    return text
