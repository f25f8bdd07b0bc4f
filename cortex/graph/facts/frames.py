"""What the sweep over a file's captures is in: open definitions and frames. No behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field

from tree_sitter import Node

from cortex.graph.facts.comments import NOTHING_TOLD, Told
from cortex.graph.facts.facts import Base, Parameter


@dataclass(slots=True)
class Open:
    """A definition that the sweep is in."""

    name: str
    kind: str
    scope: str
    parent: int
    node: Node
    name_node: Node
    bases: list[Base] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    returns: str = ""
    inferred: list[str] = field(default_factory=list)
    flags: tuple[str, ...] = ()
    told: Told = NOTHING_TOLD


@dataclass(slots=True)
class Frame:
    """What the sweep is in: a definition or a block (`index` of the definition around it)."""

    begin: int
    end: int
    index: int
    qualified: str
    kind: str
    block: bool
    node: Node | None = None
    #: type parameter → what it has to be
    bounds: dict[str, str] = field(default_factory=dict)
