"""What a bare name stands for in a block that is called on something, `disk.apply { save() }`, and
in the body of a class without a name: a member of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from cortex.graph.facts.blocks import BLOCKS, THIS
from cortex.graph.facts.facts import Binding
from cortex.graph.facts.reaching_bindings import Meanings
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.values import Value
from cortex.terms.kinds import TYPE_KINDS


class Values(Protocol):
    """What is asked about expressions."""

    def evaluate(self, chain: str, path: str, scope: int, at: int) -> tuple[Value, ...]: ...

    def attribute(self, value: Value, name: str) -> tuple[Value, ...]: ...


class Within:
    """The blocks of a project that does not change while this lives."""

    def __init__(self, project: Project, values: Values) -> None:
        self._project = project
        self._values = values
        #: (path, scope) → what `_blocks` says
        self._known: dict[tuple[str, int], tuple[tuple[int, Meanings], ...]] = {}

    def relax(self, memo_max: int) -> None:
        """Forget what was found when it is more than `memo_max`."""
        if len(self._known) > memo_max:
            self._known.clear()

    def members(
        self, name: str, path: str, scope: int, at: int, known: tuple[Value, ...]
    ) -> tuple[Value, ...]:
        """The members of that name of what the blocks around a place are called on, the innermost
        first; none where `known`, what the name means else, is written in that block.
        """
        index = self._project.index(path)
        definitions = index.facts.definitions
        if index.facts.language not in BLOCKS or not index.may_know(THIS):
            return ()
        for here, meanings in self._blocks(path, scope):
            for what in reversed(meanings.at(at).places):
                if not isinstance(what, Binding) or not what.at < at < what.until:
                    continue
                own = (one for one in known if one.tag == "def" and one.path == path)
                if any(what.at < definitions[one.at].begin < what.until for one in own):
                    return ()
                if found := self._of(what, name, path, here):
                    return found
        return ()

    def _blocks(self, path: str, scope: int) -> tuple[tuple[int, Meanings], ...]:
        """The scopes from this one outwards in which blocks are called on something, and which of
        them are where: most places are in none.
        """
        known = self._known.get((path, scope))
        if known is None:
            index = self._project.index(path)
            outer = index.facts.definitions[scope].parent if scope >= 0 else None
            around = self._blocks(path, outer) if outer is not None else ()
            own = ((scope, index.meanings(scope, THIS)),) if index.places(scope, THIS) else ()
            known = self._known[path, scope] = (*own, *around)
        return known

    def receivers(self, path: str, scope: int, at: int) -> Iterator[Value]:
        """What the blocks, the functions and the types around a place are called on, the innermost
        first.
        """
        index = self._project.index(path)
        definitions = index.facts.definitions
        blocks = index.may_know(THIS)
        while True:
            for what in reversed(index.meanings(scope, THIS).at(at).places) if blocks else ():
                if isinstance(what, Binding) and what.at < at < what.until:
                    found = self._values.evaluate(what.value, path, scope, what.at)
                    yield from (one for one in found if one.tag == "inst")
            if scope < 0:
                return
            one = definitions[scope]
            if one.kind in TYPE_KINDS:
                yield Value("inst", path, scope)
            elif one.parent < 0 and one.scope:
                yield from (v for v in self._values.evaluate("this", path, scope, at) if v.tag == "inst")
            scope = index.outer(scope)

    def _of(self, what: Binding, name: str, path: str, scope: int) -> tuple[Value, ...]:
        for owner in self._values.evaluate(what.value, path, scope, what.at):
            values = self._values.attribute(owner, name) if owner.tag == "inst" else ()
            if any(one.tag != "def" or self._is_no_type(one) for one in values):
                return values
        return ()

    def _is_no_type(self, value: Value) -> bool:
        return self._project.definition(value.ref).kind not in TYPE_KINDS
