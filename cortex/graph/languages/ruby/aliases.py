"""Further names of Ruby's methods: `alias store save`, `alias_method :store, :save`.

A name means what its type gave it last: in one file the later of a method and an alias, of two
files either. An alias is the method that had its name before.
"""

import re
from collections.abc import Iterable, Sequence

from cortex.graph.facts.facts import Binding
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.values import Value, Values, unique
from cortex.graph.resolution.project import Ref

#: the value of an alias: its receiver and the name of the method
_ALIAS = re.compile(r"self(\.class)?\.([^\W\d]\w*[?!=]?|[-+*/%<>=~^&|!\[\]]+)")
#: a file and one of its bindings
_Site = tuple[str, Binding]


def with_aliases(
    members: Members, owner: Ref, name: str, methods: Values, bindings: Sequence[_Site]
) -> tuple[Values, list[_Site]]:
    """Return the methods that a name of `owner` means, among `methods` and those of its aliases;
    and the `bindings` that are no aliases.
    """
    aliases = [(site, match) for site in bindings if (match := _ALIAS.fullmatch(site[1].value))]
    if not aliases:
        return methods, list(bindings)
    project, is_static = members.project, members.is_static
    in_type = project.members_of(project.home(owner[0]), project.definition(owner).qualified)
    places = {ref: (ref[0], project.definition(ref).begin, is_static(ref)) for ref in in_type.get(name, ())}
    names = [(path, binding.at, bool(match[1])) for (path, binding), match in aliases]
    values = [value for value in methods if not _is_renewed(places[value.ref], names)]
    for (site, match), place in zip(aliases, names, strict=True):
        if not _is_renewed(place, places.values()):
            values += _originals(members, owner, site, match[2])
    others = [site for site in bindings if not _ALIAS.fullmatch(site[1].value)]
    return unique(values), others


def _is_renewed(place: tuple[str, int, bool], others: Iterable[tuple[str, int, bool]]) -> bool:
    """Return True if one of `others`, places of the same name, comes later in the file."""
    return any(path == place[0] and at > place[1] and static == place[2] for path, at, static in others)


def _originals(members: Members, owner: Ref, alias: _Site, original: str) -> list[Value]:
    """Return the methods of the original name that the type has before its alias."""
    path, binding = alias
    project = members.project
    qualified = project.definition(owner).qualified
    values = members.evaluate(binding.value, path, binding.scope, binding.at)
    later = {
        value
        for where, other in project.fields_of(project.home(path), qualified, original)
        if where == path and other.at > binding.at and _ALIAS.fullmatch(other.value)
        for value in members.evaluate(other.value, where, other.scope, other.at)
    }
    later |= {
        value
        for value in values
        if value.tag == "def"
        and value.path == path
        and (definition := project.definition(value.ref)).begin > binding.at
        and (definition.scope, definition.name) == (qualified, original)
    }
    if earlier := [value for value in values if value not in later]:
        return earlier
    if not later:
        return []
    return _before(members, owner, alias, original) or [*members.member(owner, original, past=True)]


def _before(members: Members, owner: Ref, alias: _Site, original: str) -> list[Value]:
    """Return the type's method that its file gave the original name last above the alias."""
    path, binding = alias
    project, is_static = members.project, binding.value.startswith("self.class.")
    place = project.home(path), project.definition(owner).qualified
    refs = project.members_of(*place).get(original, ())
    above: list[tuple[int, Value | None]] = [
        (project.definition(ref).begin, Value("def", *ref))
        for ref in refs
        if ref[0] == path and members.is_static(ref) == is_static
    ]
    above += [
        (other.at, None)
        for where, other in project.fields_of(*place, original)
        if where == path and (match := _ALIAS.fullmatch(other.value)) and bool(match[1]) == is_static
    ]
    last = max((entry for entry in above if entry[0] < binding.at), key=lambda entry: entry[0], default=None)
    return [last[1]] if last is not None and last[1] is not None else []
