"""The protocol of a language: the rules and hooks that resolution reads.

The defaults of the hooks do nothing. `cortex/graph/languages` has one object for each language, and
a Project gets the table of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex.graph.facts.grammars import Grammar


@dataclass(frozen=True, slots=True, eq=False)
class Language(Grammar):
    """A language of the graph."""
