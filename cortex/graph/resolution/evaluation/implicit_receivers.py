"""Implicit receivers: bare names in a block with a receiver, `disk.apply { save() }`, and in the
body of an unnamed class, are members of the receiver.
"""

from collections.abc import Iterator

from cortex.graph.facts.expressions.blocks import THIS
from cortex.graph.facts.facts import Binding
from cortex.graph.facts.reaching_bindings import Meanings
from cortex.graph.resolution.evaluation.values import ChainEvaluator, Remembering, Value, Values
from cortex.graph.resolution.project import Project
from cortex.terms.kinds import TYPE_KINDS


class ImplicitReceivers(Remembering):
    """The blocks of a project. Valid while the project does not change."""

    def __init__(self, project: Project, values: ChainEvaluator) -> None:
        self._project, self._values = project, values
        #: (path, scope) → result of `_blocks`
        self._blocks_by_scope: dict[tuple[str, int], tuple[tuple[int, Meanings], ...]] = {}
        self.memos = (self._blocks_by_scope,)

    def members(self, name: str, path: str, scope: int, at: int, named_values: Values) -> Values:
        """Return the members of that name on the receivers of blocks around a place, innermost
        first.

        () if one of `named_values`, the other meanings of the name, is written in that block.
        """
        index = self._project.index(path)
        definitions = index.facts.definitions
        if not index.rules.blocks or not index.may_bind(THIS):
            return ()
        for outer_scope, meanings in self._blocks(path, scope):
            for binding in reversed(meanings.at(at).places):
                if not isinstance(binding, Binding) or not binding.at < at < binding.until:
                    continue
                own_values = (value for value in named_values if value.tag == "def" and value.path == path)
                if any(binding.at < definitions[value.at].begin < binding.until for value in own_values):
                    return ()
                if members := self._block_members(binding, name, path, outer_scope):
                    return members
        return ()

    def _blocks(self, path: str, scope: int) -> tuple[tuple[int, Meanings], ...]:
        """Return the scopes from this one outwards with such blocks, and the blocks of each.

        Most places are in none.
        """
        blocks = self._blocks_by_scope.get((path, scope))
        if blocks is None:
            index = self._project.index(path)
            outer = index.facts.definitions[scope].parent if scope >= 0 else None
            around = self._blocks(path, outer) if outer is not None else ()
            own_blocks = ((scope, index.meanings(scope, THIS)),) if index.places(scope, THIS) else ()
            blocks = self._blocks_by_scope[path, scope] = (*own_blocks, *around)
        return blocks

    def receivers(self, path: str, scope: int, at: int) -> Iterator[Value]:
        """Yield the implicit receivers of the blocks, functions and types around a place, innermost
        first.
        """
        index = self._project.index(path)
        definitions = index.facts.definitions
        blocks = index.may_bind(THIS)
        while True:
            for binding in reversed(index.meanings(scope, THIS).at(at).places) if blocks else ():
                if isinstance(binding, Binding) and binding.at < at < binding.until:
                    values = self._values.evaluate(binding.value, path, scope, binding.at)
                    yield from (value for value in values if value.tag == "inst")
            if scope < 0:
                return
            definition = definitions[scope]
            if definition.kind in TYPE_KINDS:
                yield Value("inst", path, scope)
            elif definition.parent < 0 and definition.scope:
                yield from (v for v in self._values.evaluate("this", path, scope, at) if v.tag == "inst")
            scope = index.outer(scope)

    def _block_members(self, binding: Binding, name: str, path: str, scope: int) -> Values:
        for owner in self._values.evaluate(binding.value, path, scope, binding.at):
            values = self._values.attribute(owner, name) if owner.tag == "inst" else ()
            if any(value.tag != "def" or self._is_no_type(value) for value in values):
                return values
        return ()

    def _is_no_type(self, value: Value) -> bool:
        return self._project.definition(value.ref).kind not in TYPE_KINDS
