"""Edges to the getters and setters that a property's use runs. Reads one file."""

from collections.abc import Iterable, Iterator, Sequence

from cortex.graph.facts.expressions.chains import split_chain
from cortex.graph.facts.facts import ACCESSOR, READ, UNCALLED, WRITTEN, Reference
from cortex.graph.resolution.calling.targets import CANDIDATES_MAX
from cortex.graph.resolution.edges import Edge, Edges
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import Value
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import TYPE_KINDS

#: flags of methods that run where they are named
_READ_FLAGS = frozenset({"property", "cached_property", UNCALLED})
#: tags of values that may have members outside of the project
_UNTYPED = frozenset({"ext", "mod"})


class Properties:
    """The uses of properties in one file."""

    def __init__(self, project: Project, evaluator: Evaluator, path: str, edges: Edges) -> None:
        self._project, self._evaluator, self._path, self._edges = project, evaluator, path, edges
        self._rules = project.rules(path)
        #: accessors have other names than their property
        self._has_accessors = bool(project.language(path).syntax.accessors)

    def edges_of(self, reference: Reference) -> Iterator[Edge]:
        receiver, name = split_chain(reference.chain)
        for use in (READ, WRITTEN):
            if reference.types & use:
                written = use == WRITTEN
                refs = (
                    self._of_receiver(reference, receiver, name, written=written)
                    if receiver
                    else self._in_scope(reference, name, written=written)
                )
                refs = [ref for ref in dict.fromkeys(refs) if ref != (self._path, reference.scope)]
                if len(refs) == 1:
                    yield self._edges.call(reference, refs[0], "receiver")
                elif 1 < len(refs) <= CANDIDATES_MAX:
                    yield self._edges.ambiguous(reference, refs, "receiver")

    def _of_receiver(self, reference: Reference, receiver: str, name: str, *, written: bool) -> Iterator[Ref]:
        place = self._path, reference.scope, reference.at
        owners = self._evaluator.evaluate(receiver, *place)
        for owner in owners:
            if owner.tag in ("inst", "super", "def"):
                refs = self._of_type(owner, name, written=written)
                on_type = owner.tag == "def" and not self._rules.implicit_self
                on_type = on_type and self._project.definition(owner.ref).kind in TYPE_KINDS
                yield from (ref for ref in refs if not on_type or self._is_static(ref))
        if self._rules.extension_functions:
            yield from self._extensions(owners, name, receiver, written=written)

    def _extensions(
        self, owners: Sequence[Value], name: str, receiver: str, *, written: bool
    ) -> Iterable[Ref]:
        """Return the accessors of Kotlin's `val Disk.size`, unless the type has that property."""
        if any(owner.tag in _UNTYPED or self._has_member(owner, name) for owner in owners):
            return ()
        extensions, key = self._evaluator.extensions, _accessor_name(name, written=written)
        is_known = owners or extensions.is_evident(receiver, self._path)
        candidates = extensions.find(key, self._path, owners, receiver) if is_known else []
        return extensions.nearest(candidates, 0)

    def _has_member(self, owner: Value, name: str) -> bool:
        is_type = owner.tag in ("inst", "super", "def") and self._project.definition(owner.ref).has_members
        return is_type and any(
            not self._evaluator.extensions.is_extension(value)
            for key in (name, _accessor_name(name, written=False))
            for value in self._evaluator.member(owner.ref, key)
        )

    def _is_static(self, ref: Ref) -> bool:
        return "static" in self._project.definition(ref).flags

    def _of_type(self, owner: Value, name: str, *, written: bool) -> list[Ref]:
        """Return the accessors of a type's property, or of the nearest base with one."""
        if owner.tag == "def" and not self._project.definition(owner.ref).has_members:
            return []
        past = owner.tag == "super"
        if self._has_accessors:
            key = _accessor_name(name, written=written)
            if values := self._evaluator.member(owner.ref, key, past=past):
                return self._accessors(values)
            if not self._rules.computed_members:
                return []
        name += "_=" * (written and self._rules.calls_without_arguments)
        return self._plain(self._evaluator.member(owner.ref, name, past=past), written=written)

    def _in_scope(self, reference: Reference, name: str, *, written: bool) -> list[Ref]:
        lookup, place = self._evaluator.scopes.lookup, (self._path, reference.scope, reference.at)
        if self._has_accessors:
            values, _ = lookup(_accessor_name(name, written=written), *place)
            if refs := self._accessors(values):
                return refs
        if self._rules.extension_functions:
            for owner in self._evaluator.implicit_receivers.receivers(*place):
                if refs := list(self._extensions((owner,), name, "", written=written)):
                    return refs
        name += "_=" * (written and self._rules.calls_without_arguments)
        return self._plain(lookup(name, *place)[0], written=written)

    def _accessors(self, values: Sequence[Value]) -> list[Ref]:
        is_extension = self._evaluator.extensions.is_extension
        refs = [value.ref for value in values if value.tag == "def" and not is_extension(value)]
        return [ref for ref in refs if self._project.definition(ref).is_accessor]

    def _plain(self, values: Sequence[Value], *, written: bool) -> list[Ref]:
        """Return the accessors among methods that have the property's name: a getter, and the
        setter beside it.
        """
        refs = [value.ref for value in values if value.tag == "def"]
        if written and self._rules.calls_without_arguments:
            return refs[:1]
        if not written:
            return [ref for ref in refs if not _READ_FLAGS.isdisjoint(self._project.definition(ref).flags)]
        setters = []
        for ref in refs[:1]:
            definition = self._project.definition(ref)
            members = self._project.members_of(self._project.home(ref[0]), definition.scope)
            setters += [
                other
                for other in members.get(definition.name, ())
                if other[0] == ref[0] and "setter" in self._project.definition(other).flags
            ]
        return setters[:1]


def _accessor_name(name: str, *, written: bool) -> str:
    return name + ACCESSOR if written else ACCESSOR + name
