"""Which names the files of a project give to something: what ends with another name leads nowhere,
and is not looked for. Pure.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict

from cortex.graph.facts.chains import split_chain
from cortex.graph.facts.facts import ANY_NAME, Reference
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.tables import FileIndex, has_value
from cortex.graph.facts.types import alternatives

#: a name by itself; anything else that a chain may end with (a call, a module, one of several
#: values) is looked for
_NAME = re.compile(r"\\?([\w$]+[!?=']*)\**")
#: names that lead to a definition of another one: `Disk.new` of Ruby, `disk.copy(…)` of Scala,
#: `save.call(disk)` and what is exported by default in scripts
_MEANING_OTHERS = {
    "jvm": frozenset({"copy"}),
    "ruby": frozenset({"new"}),
    "script": frozenset({"call", "apply", "default"}),
}


class KnownNames:
    """Of a project. A name stays when its file goes: one too many costs a search and makes no
    edge.
    """

    def __init__(self) -> None:
        #: family → names of what others can see
        self._of: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, index: FileIndex) -> None:
        facts = index.facts
        names = self._of[RULES[facts.language].family]
        names |= index.names
        names.update(facts.exports)
        names.update(binding.name.rpartition(".")[2] for binding in facts.bindings if has_value(binding))
        names.update(statement.name for statement in facts.imports if statement.name != statement.member)

    def may_lead(self, reference: Reference, index: FileIndex) -> bool:
        """Whether a reference of a file can name anything of the project."""
        if reference.kind != "type":
            return self._may_lead(reference.chain, index)
        return any(
            self._may_lead(chain, index) for chain in alternatives(reference.chain) or (reference.chain,)
        )

    def _may_lead(self, chain: str, index: FileIndex) -> bool:
        receiver, last = split_chain(chain)
        match = _NAME.fullmatch(last)
        if match is None:
            return True
        language, name = index.facts.language, match[1]
        names = self._of[RULES[language].family]
        if name in names or name in _meaning_others(language):
            return True
        if receiver:
            return ANY_NAME in names  # a type that holds something by whatever name
        return index.may_rename(name)


@functools.cache
def _meaning_others(language: str) -> frozenset[str]:
    rules = RULES[language]
    words = rules.self_names | rules.super_names | rules.type_names
    return words | _MEANING_OTHERS.get(rules.family, frozenset())
