"""Which of the meanings that a name gets in one scope hold at a place there: references for which
they are the same say the same.
"""

from __future__ import annotations

import re

from cortex.graph.facts.blocks import BLOCKS, THIS
from cortex.graph.facts.chains import EITHER, narrowed
from cortex.graph.facts.facts import Import
from cortex.graph.facts.tables import FileIndex

#: meanings of one name in a scope over which each place is looked at by itself
STAGES_MAX = 16

_ROOT = re.compile(r"[^.\[\]():]+")
_FIELD = re.compile(r"[^.\[\]():]+\.[^.\[\]():]+")

#: a name, and from where to where its meanings hold; None where each place counts by itself
_Marks = tuple[str, list[tuple[int, int]] | None]


class Stages:
    """Of one file."""

    def __init__(self, index: FileIndex) -> None:
        self._index = index
        self._marks: dict[tuple[int, str], _Marks] = {}
        self._firsts: dict[tuple[int, str, int], int] = {}

    def at(self, scope: int, chain: str, at: int) -> tuple[str, int]:
        """The name that `chain` begins with, and a number for the meanings of it that hold: a bit
        for each.
        """
        key = (scope, chain)
        marks = self._marks.get(key)
        if marks is None:
            marks = self._marks[key] = self._marks_of(scope, chain)
        name, spans = marks
        if spans is None:
            return name, -at
        stage = 1
        for begin, until in spans:
            stage += stage + (begin <= at and not 0 < until <= at)
        return name, stage

    def first(self, scope: int, name: str, stage: int, at: int) -> int:
        """The first place asked about where `name` means what it means at `at`: what was found
        there holds here.
        """
        return self._firsts.setdefault((scope, name, stage), at)

    def _marks_of(self, scope: int, chain: str) -> _Marks:
        """The name that a chain begins with; with its field where tests say more of that."""
        root = _ROOT.match(chain)
        if root is None or chain[0] == EITHER:
            return chain, None
        index, name = self._index, root[0]
        held = index.places(scope, name)
        if index.facts.language in BLOCKS and index.may_know(THIS):
            held = (*held, *index.places(scope, THIS))
        if index.narrowed and (field := _FIELD.match(chain)):
            name, held = field[0], (*held, *index.places(scope, narrowed(field[0])))
        if len(held) > STAGES_MAX:
            return name, None
        definitions = index.facts.definitions
        return name, [
            (definitions[what].begin, 0)
            if isinstance(what, int)
            else (what.at, 0 if isinstance(what, Import) else what.until)
            for what in held
        ]
