"""Languages with definitions only: they are nodes, and nothing is resolved."""

from __future__ import annotations

from cortex.graph.facts.grammars import Rules
from cortex.graph.resolution.language import Language
from cortex.terms.languages import family_of

OUTLINES = tuple(
    Language(name, rules=Rules(family_of(name), (suffix,), self_names=frozenset(), super_names=frozenset()))
    for name, suffix in (
        ("elixir", ".ex"),
        ("haskell", ".hs"),
        ("lua", ".lua"),
        ("zig", ".zig"),
        ("shell", ".sh"),
        ("sql", ".sql"),
    )
)
