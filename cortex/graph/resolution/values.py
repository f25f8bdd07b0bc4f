"""What a name or chain may stand for."""

from __future__ import annotations

from typing import Literal, NamedTuple

from cortex.graph.resolution.project import Ref

#: values that one chain may have; more says nothing
VALUES_MAX = 6
#: a place in a file after everything that is bound in it
ANYWHERE = 1 << 60


class Value(NamedTuple):
    """`def` itself, an instance (`inst`) of a type, a `super` of one, a `mod`ule (`path` its key), a container's `list`
    of instances, an `elem`ent getter of it, or something of another project (`ext`).
    """

    tag: Literal["def", "inst", "super", "mod", "list", "elem", "ext"]
    path: str = ""
    at: int = -1
    depth: int = 0

    @property
    def ref(self) -> Ref:
        return (self.path, self.at)


EXTERNAL = Value("ext")
How = Literal["exact", "import", "receiver"]
