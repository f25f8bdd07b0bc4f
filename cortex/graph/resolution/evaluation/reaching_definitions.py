"""Stages of a scope: places at which the same bindings reach. References with an equal stage have
the same targets.
"""

import re

from cortex.graph.facts.expressions.blocks import THIS
from cortex.graph.facts.expressions.chains import EITHER, narrowed_name
from cortex.graph.facts.reaching_bindings import Meanings
from cortex.graph.facts.tables import FileIndex

_ROOT = re.compile(r"[^.\[\]():]+")
_FIELD = re.compile(r"[^.\[\]():]+\.[^.\[\]():]+")

#: a name, and the Meanings of it and of the receivers that its chain depends on; None if each place
#: counts separately
_Marks = tuple[str, tuple[Meanings, ...] | None]


class Stages:
    """The stages of one file."""

    def __init__(self, index: FileIndex) -> None:
        self._index = index
        self._marks: dict[tuple[int, str], _Marks] = {}
        #: (scope, name) → Meanings of a name and of the receivers of blocks around it
        self._meanings_by_name: dict[tuple[int, str], tuple[Meanings, ...]] = {}
        self._this: dict[int, tuple[Meanings, ...]] = {}
        self._firsts: dict[tuple[int, str, tuple[int, ...]], int] = {}

    def at(self, scope: int, chain: str, at: int) -> tuple[str, tuple[int, ...]]:
        """Return (first name of `chain`, numbers that are equal where the same bindings reach)."""
        key = (scope, chain)
        marks = self._marks.get(key)
        if marks is None:
            marks = self._marks[key] = self._marks_of(scope, chain)
        name, meanings = marks
        if meanings is None:
            return name, (at,)
        return name, tuple([meaning.at(at).number for meaning in meanings])

    def first(self, scope: int, name: str, stage: tuple[int, ...], at: int) -> int:
        """Return the first place with this stage that was passed in: its targets hold here too."""
        return self._firsts.setdefault((scope, name, stage), at)

    def _marks_of(self, scope: int, chain: str) -> _Marks:
        """Return the first name of a chain; with its field if tests narrow that."""
        index, name = self._index, chain
        if not chain.isidentifier():
            root = _ROOT.match(chain)
            if root is None or chain[0] == EITHER:
                return chain, None
            name = root[0]
        key = (scope, name)
        meanings = self._meanings_by_name.get(key)
        if meanings is None:
            own_meanings = (
                (index.meanings(scope, name),) if index.may_bind(name) and index.places(scope, name) else ()
            )
            meanings = self._meanings_by_name[key] = (*own_meanings, *self._called_on(scope))
        if index.narrowed_fields and (field := _FIELD.match(chain)):
            name = field[0]
            if index.places(scope, narrowed_key := narrowed_name(name)):
                meanings = (*meanings, index.meanings(scope, narrowed_key))
        if scope < 0 and name == "self" and index.rules.file_fields and (field := _FIELD.match(chain)):
            name = field[0]  # Ruby's `self.@x` in a test's block
            meanings = (*meanings, index.file_field(name.rpartition(".")[2]))
        return name, meanings

    def _called_on(self, scope: int) -> tuple[Meanings, ...]:
        """Return the receivers of blocks in a scope, in languages that have such blocks."""
        meanings = self._this.get(scope)
        if meanings is None:
            index = self._index
            has_this = index.rules.blocks and index.may_bind(THIS)
            name = THIS if has_this else index.rules.block_self
            has = name and index.places(scope, name)
            meanings = self._this[scope] = (index.meanings(scope, name),) if has else ()
        return meanings
