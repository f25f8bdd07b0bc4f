"""The part of a file's facts that is visible to other files: their resolution may depend on it,
under the names listed here.
"""

from collections import defaultdict
from collections.abc import Iterator

from cortex.graph.facts.facts import ANY_NAME, CALLED, DECORATED, Binding, Facts, Fragment
from cortex.graph.facts.grammars import Rules
from cortex.graph.facts.tables import WORD, is_visible_outside
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS


def derived_names(facts: Facts, rules: Rules) -> Iterator[tuple[str, str]]:
    """Yield (word, name): a public name of `facts`, and a word in its value."""
    for definition in facts.definitions:
        if definition.kind in CALLABLE_KINDS:
            texts = [definition.returns, *(flag for flag in definition.flags if flag.startswith(DECORATED))]
            if rules.public_parameters:  # types of callbacks passed to it; the receiver of an extension
                texts += [
                    *(parameter.type for parameter in definition.parameters),
                    definition.scope if definition.parent < 0 else "",
                ]
            for word in WORD.findall(" ".join(texts)):
                yield word, definition.name
                if (
                    definition.name == "constructor" or CALLED in definition.flags
                ):  # other files use its type's name
                    yield word, definition.scope.rpartition(".")[2]
        elif definition.returns:  # an alias of a function type
            yield from ((word, definition.name) for word in WORD.findall(definition.returns))
        for base in definition.bases:
            yield from ((word, definition.name) for word in WORD.findall(base.chain))
    for binding in facts.bindings:
        if is_visible_outside(facts, binding, rules):
            name = binding.name.rpartition(".")[2]
            yield from ((word, name) for word in WORD.findall(binding.value))
    for constant, text in facts.texts.items():
        if "\0" in text:
            yield from ((word, constant.rpartition(".")[2]) for word in WORD.findall(text))
    for fragment in facts.fragments:
        if fragment.kind in ("injects", "binds"):
            name = fragment.router.strip("='").rpartition(".")[2]
            yield from ((word, name) for word in WORD.findall(fragment.target))
    for imported in facts.imports:
        if imported.scope < 0 and imported.member != imported.name:
            yield imported.member, imported.name
    for extension in facts.extensions:
        name = extension.type.rpartition(".")[2]
        yield from ((word, name) for word in WORD.findall(extension.base.chain))


def public_surface(facts: Facts, rules: Rules) -> dict[str, list[object]]:
    """Return the public part of a file's facts: key of a definition, binding, import → its
    signature.
    """
    # Lists: pairs of a pair of a pair … of a name with a thousand meanings are too deep to compare.
    entries = defaultdict[str, list[object]](list)
    for definition in facts.definitions:
        kind = "type" if definition.kind in TYPE_KINDS else "name"
        bases = tuple((base.relation, base.chain, base.arguments) for base in definition.bases)
        key = f"{kind} {definition.qualified}"
        if definition.name in rules.handlers:
            key += "".join(f" {parameter.type}" for parameter in definition.parameters)
        signature = (
            definition.kind,
            bases,
            definition.parameters,
            definition.returns,
            definition.flags,
            definition.until > 0,
            facts.package,
            facts.builds,
        )
        entries[key].append(signature)
    for binding in facts.bindings:
        if is_visible_outside(facts, binding, rules):
            name = f"bind {_public_name(facts, binding)}"
            entries[name].append((binding.value, facts.builds))
    for imported in facts.imports:
        if imported.scope < 0:
            name = f"import {imported.name or imported.module}"
            entries[name].append((imported.module, imported.member))
    for extension in facts.extensions:
        entries[f"extension {extension.type} {extension.base.chain}"].append(True)
    for exported, local in facts.exports.items():
        entries[f"export {exported} {local}"].append(True)
    for constant, text in facts.texts.items():
        name = f"text {constant.rpartition('.')[2]}"
        entries[name].append(text)
    for fragment in facts.fragments:
        if fragment.kind == "injects":
            name = f"inject {fragment.router[1:]}"
            entries[name].append(fragment.target)
        elif fragment.kind == "exposes":
            name = f"expose {fragment.router}"
            entries[name].append(facts.definitions[int(fragment.target[1:])].qualified)
        elif fragment.kind == "maps":
            name = f"maps {fragment.router.partition('(')[0].rpartition('.')[2].lstrip('=')}"
            entries[name].append((fragment.methods, fragment.target))
        elif fragment.kind == "binds":
            bound = f"binds {_bound_names(facts, fragment)}"
            entries[bound].append((fragment.template, fragment.flags))
    entries[f"package {facts.package}"].append(True)
    return dict(entries)


def _bound_names(facts: Facts, fragment: Fragment) -> str:
    """Return the names of the types for which a container passes a service, and of its methods."""
    if not fragment.target.startswith("#"):
        return " ".join((fragment.router, fragment.target, *fragment.methods))
    at = int(fragment.target[1:])
    bases = (base.chain for base in facts.definitions[at].bases)
    methods = (definition.name for definition in facts.definitions if definition.parent == at)
    return " ".join((fragment.router, *bases, *methods))


def _public_name(facts: Facts, binding: Binding) -> str:
    """Return the name by which other files use a binding; for an index signature the type's
    name.
    """
    owner, _, name = binding.name.rpartition(".")
    if name != ANY_NAME:
        return name
    return owner or (facts.definitions[binding.scope].qualified if binding.scope >= 0 else "")
