"""What others can see of one file's facts: what the resolution of other files may depend on, and by
which names they speak of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from cortex.graph.facts.facts import ANY_NAME, CALLED, DECORATED, Binding, Facts
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.tables import WORD, is_outer
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS


def derived(facts: Facts) -> Iterator[tuple[str, str]]:
    """(word, name): a name of `facts` that others can see, and a word that its value speaks of."""
    tells = RULES[facts.language].family == "script" or facts.language == "kotlin"
    for one in facts.definitions:
        if one.kind in CALLABLE_KINDS:
            told = [one.returns, *(flag for flag in one.flags if flag.startswith(DECORATED))]
            if tells:  # what a function is told that is passed to this one; whose extension this is
                told += [*(each.type for each in one.parameters), one.scope if one.parent < 0 else ""]
            for word in WORD.findall(" ".join(told)):
                yield word, one.name
                if one.name == "constructor" or CALLED in one.flags:  # others say its type's name
                    yield word, one.scope.rpartition(".")[2]
        elif one.returns:  # another name of a function's type
            yield from ((word, one.name) for word in WORD.findall(one.returns))
        for base in one.bases:
            yield from ((word, one.name) for word in WORD.findall(base.chain))
    for binding in facts.bindings:
        if is_outer(facts, binding):
            name = binding.name.rpartition(".")[2]
            yield from ((word, name) for word in WORD.findall(binding.value))
    for imported in facts.imports:
        if imported.scope < 0 and imported.member != imported.name:
            yield imported.member, imported.name
    for extension in facts.extensions:
        name = extension.type.rpartition(".")[2]
        yield from ((word, name) for word in WORD.findall(extension.base.chain))


def surface(facts: Facts | None) -> dict[str, object]:
    """What other files can see of one: for each definition what their resolution may depend on."""
    if facts is None:
        return {}
    seen: dict[str, object] = {}
    for one in facts.definitions:
        kind = "type" if one.kind in TYPE_KINDS else "name"
        bases = tuple((base.relation, base.chain, base.arguments) for base in one.bases)
        key = f"{kind} {one.qualified}"
        told = (one.kind, bases, one.parameters, one.returns, one.flags, facts.package, facts.builds)
        seen[key] = (seen.get(key), told)
    for binding in facts.bindings:
        if is_outer(facts, binding):
            name = f"bind {_spoken_of(facts, binding)}"
            seen[name] = (seen.get(name), binding.value, facts.builds)
    for imported in facts.imports:
        if imported.scope < 0:
            name = f"import {imported.name or imported.module}"
            seen[name] = (seen.get(name), imported.module, imported.member)
    for extension in facts.extensions:
        seen[f"extension {extension.type} {extension.base.chain}"] = True
    for exported, local in facts.exports.items():
        seen[f"export {exported} {local}"] = True
    seen[f"package {facts.package}"] = True
    return seen


def _spoken_of(facts: Facts, binding: Binding) -> str:
    """The name by which others speak of what is bound; of what a type holds by whatever name, the
    type's.
    """
    owner, _, name = binding.name.rpartition(".")
    if name != ANY_NAME:
        return name
    return owner or (facts.definitions[binding.scope].qualified if binding.scope >= 0 else "")
