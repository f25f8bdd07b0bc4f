"""Names that a project's files define: a chain that ends with any other name resolves to nothing
and is skipped. Pure.
"""

import re
from collections import defaultdict

from cortex.graph.facts.declared.types import alternatives
from cortex.graph.facts.expressions.chains import split_chain
from cortex.graph.facts.facts import ACCESSOR, ANY_NAME, OPERATOR, RUNNING, Reference
from cortex.graph.facts.tables import FileIndex, has_value

#: a plain name; a chain with another end (a call, a module, alternatives) is always resolved
PLAIN_NAME = re.compile(r"\\?([\w$]+[!?=']*)\**")


class KnownNames:
    """Names that a project defines.

    A name remains when its file is removed: a superfluous name costs a lookup and adds no edge.
    """

    def __init__(self) -> None:
        #: family → names that other files can see
        self._of: defaultdict[str, set[str]] = defaultdict(set)
        #: family → names of properties that call something
        self._properties: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, index: FileIndex) -> None:
        facts = index.facts
        names = self._of[index.rules.family]
        names |= index.names
        if prefix := index.rules.uncalled_prefix:
            names |= {
                name[len(prefix)].lower() + name[len(prefix) + 1 :]
                for name in index.names
                if name.startswith(prefix) and name != prefix
            }
        self._properties[index.rules.family].update(
            definition.name.strip(ACCESSOR) for definition in facts.definitions if RUNNING in definition.flags
        )
        names.update(facts.exports)
        names.update(binding.name.rpartition(".")[2] for binding in facts.bindings if has_value(binding))
        names.update(statement.name for statement in facts.imports if statement.name != statement.member)

    def are_properties(self, family: str, name: str) -> bool:
        """Return True if a property of that name calls something."""
        return name in self._properties[family]

    def may_lead(self, reference: Reference, index: FileIndex) -> bool:
        """Return True if a reference of a file can name a definition of the project."""
        if reference.types == OPERATOR:
            name, names = split_chain(reference.chain)[1], self._of[index.rules.family]
            return name in names or index.rules.fallback_operators.get(name) in names
        if reference.kind != "type":
            return self._may_lead(reference.chain, index)
        return any(
            self._may_lead(chain, index) for chain in alternatives(reference.chain) or (reference.chain,)
        )

    def _may_lead(self, chain: str, index: FileIndex) -> bool:
        receiver, last = split_chain(chain)
        match = PLAIN_NAME.fullmatch(last)
        if match is None:
            return True
        rules, name = index.rules, match[1]
        names = self._of[rules.family]
        if name in names or name in rules.reserved or name in rules.renamed_calls:
            return True
        if receiver:
            return ANY_NAME in names  # a type with an index signature
        return index.may_rename(name)
