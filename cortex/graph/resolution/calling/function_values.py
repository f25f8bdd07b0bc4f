"""Edges of functions as values: `references` to those that are passed, assigned or stored, and
`implements` to the type for which a function is given. Reads one file.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from cortex.graph.facts.expressions.arguments import NAME_MARK
from cortex.graph.facts.expressions.chains import split_chain
from cortex.graph.facts.facts import (
    DEFAULT,
    MANY,
    MODULE,
    READ,
    TYPE_ONLY,
    Definition,
    Import,
    Parameter,
    PassedFunction,
    Reference,
)
from cortex.graph.resolution.calling.properties import Properties
from cortex.graph.resolution.calling.targets import Targets
from cortex.graph.resolution.edges import Edge, Edges, Location
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.callback_types import REST_MARK
from cortex.graph.resolution.types.function_types import stands_for
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: kinds of values in languages in which a type is a value as well
_VALUES_AND_TYPES = CALLABLE_KINDS | TYPE_KINDS
#: an unnamed function among the described arguments of a call
_FUNCTION = "#fn"
#: what stands around a type's name
_NAME = re.compile(r"\W")
#: names of constructors besides that of their type
_CONSTRUCTORS = ("constructor", "__init__", "__construct")


class FunctionValues:
    def __init__(
        self, project: Project, evaluator: Evaluator, path: str, edges: Edges, targets: Targets
    ) -> None:
        self._project, self._evaluator, self._path = project, evaluator, path
        self._edges, self._targets = edges, targets
        self._properties = Properties(project, evaluator, path, edges)
        self._index = project.index(path)
        self._rules = self._index.rules
        #: type → whether a function may stand for it, and its method
        self._function_types: dict[Ref, tuple[bool, Ref | None]] = {}
        #: names of modules that the file loads as it runs: `import("./x").then((x) => …)`
        self._loaded_modules = {
            binding.name
            for bindings in (self._index.facts.bindings, self._index.local_bindings)
            for binding in bindings
            if binding.value.startswith(MODULE)
        }

    def edges_of(self, reference: Reference) -> Iterator[Edge]:
        """Yield the edges of a function or method that is passed, assigned or stored.

        Types count in languages that have them as values. Nothing if syntax cannot tell the target.
        """
        if reads := self._reads(reference):
            yield from reads
            return
        for edge in self._targets.edges_of_call(reference, *self._refs_of(reference)):
            if edge.target != edge.source:
                yield msgspec.structs.replace(edge, type="references")

    def edges_of_given(self, reference: Reference) -> Iterator[Edge]:
        """Yield the edges to the types that are wanted where an object literal or a function is
        given outside of a call: the holder of a literal implements the type there.
        """
        for value in self._evaluator.evaluate(reference.chain, self._path, reference.scope, reference.at):
            if value.tag != "inst" or self._project.definition(value.ref).kind not in TYPE_KINDS:
                continue
            for function in reference.functions:
                yield from self._edges_to_type(reference, function, value.ref)
            if not reference.functions:
                yield self._implements(self._holder(reference.scope), value.ref, reference)

    def edges_of_arguments(self, reference: Reference, refs: Sequence[Ref]) -> Iterator[Edge]:
        """Yield the edges of the functions among the arguments of a call of `refs`."""
        functions = {function.parameter: function for function in reference.functions}
        for at, passed in enumerate(reference.passed):
            name, mark, described = passed.rpartition(NAME_MARK)
            if described.startswith(_FUNCTION):
                key = name if mark else str(at)
                functions.setdefault(key, PassedFunction(key, "", reference.line, reference.column))
        for ref in refs:
            for function in functions.values():
                for wanted in self._wanted_types(ref, function):
                    yield from self._edges_to_type(reference, function, wanted)

    def _wanted_types(self, ref: Ref, function: PassedFunction) -> Iterator[Ref]:
        """Yield the types of the parameter of `ref` that gets a function, if one may stand for
        them; the type itself if it is called: `Comparator(::compare)`.
        """
        definition = self._project.definition(ref)
        is_converted = definition.kind in TYPE_KINDS - {"class"} and function.parameter == "0"
        if is_converted and self._stands_for(ref)[0]:
            yield ref
            return
        for owner in (ref, *self._constructors(ref, definition)):
            text = self._type_of_parameter(owner, function)
            is_free = _NAME.sub("", text) in self._targets.overloads.type_parameters(owner)
            values = self._evaluator.declared(text, *owner) if text and not is_free else ()
            for value in values:
                if value.tag == "inst" and self._stands_for(value.ref)[0]:
                    yield value.ref

    def _stands_for(self, ref: Ref) -> tuple[bool, Ref | None]:
        if (answer := self._function_types.get(ref)) is None:
            answer = self._function_types[ref] = stands_for(self._project, self._evaluator, ref)
        return answer

    def _constructors(self, ref: Ref, definition: Definition) -> list[Ref]:
        if definition.kind not in TYPE_KINDS:
            return []
        members = self._project.members_of(self._project.home(ref[0]), definition.qualified)
        return [
            constructor for name in (definition.name, *_CONSTRUCTORS) for constructor in members.get(name, ())
        ]

    def _type_of_parameter(self, ref: Ref, function: PassedFunction) -> str:
        """Return the declared type of the parameter that gets a function; "" if none tells it."""
        definition = self._project.definition(ref)
        parameters = definition.parameters
        if self._project.rules(ref[0]).first_parameter and definition.kind == "method":
            parameters = parameters[not {"staticmethod"} & set(definition.flags) :]
        chosen = _parameter_of(parameters, function.parameter)
        if chosen is None:
            return ""
        return chosen.type.removesuffix(DEFAULT).removeprefix(MANY).removeprefix(REST_MARK).strip()

    def _edges_to_type(self, reference: Reference, function: PassedFunction, wanted: Ref) -> Iterator[Edge]:
        """Yield the edges from a named function to the type and to its one method; from the
        holder of an unnamed function, which runs more than that, to the type alone.
        """
        stands, method = self._stands_for(wanted)
        if not stands:
            return
        if not function.chain:
            yield self._implements(self._holder(reference.scope), wanted, function)
            return
        place = function.line, function.column, reference.at
        value = Reference("value", function.chain, reference.scope, *place)
        for ref in self._taking(self._refs_of(value)[0], method or wanted):
            if self._project.definition(ref).kind in CALLABLE_KINDS and ref != method:
                for target in (wanted, method):
                    if target is not None:
                        yield self._implements(self._project.id_of(ref), target, function)

    def _taking(self, refs: list[Ref], wanted: Ref) -> list[Ref]:
        """Return the one of several overloads with as many parameters as the wanted function."""
        if len(refs) < 2 or self._targets.are_twins(refs):
            return refs
        count = len(self._project.definition(wanted).parameters)
        taking = [ref for ref in refs if len(self._project.definition(ref).parameters) == count]
        return taking if len(taking) == 1 else []

    def _holder(self, scope: int) -> str:
        """Return the id of the holder of an unnamed value; the file for a field, as its type would
        seem to implement the wanted one.
        """
        definitions = self._index.facts.definitions
        is_type = scope >= 0 and definitions[scope].kind in TYPE_KINDS
        return self._edges.source(-1 if is_type else scope)

    def _implements(self, source: str, ref: Ref, place: Reference | PassedFunction) -> Edge:
        near = self._project.home(ref[0]) == self._project.home(self._path)
        at = Location(self._path, place.line, place.column)
        return Edge(source, self._project.id_of(ref), "implements", at, "exact" if near else "import")

    def _refs_of(self, reference: Reference) -> tuple[list[Ref], str]:
        """Return (the definitions that a value may be, confidence)."""
        receiver, name = split_chain(reference.chain)
        evaluator, place = self._evaluator, (self._path, reference.scope, reference.at)
        if not receiver:
            values, confidence = evaluator.scopes.lookup(name, *place)
        elif reference.types == TYPE_ONLY or self._may_be_member(reference.chain, name):
            scope = self._scope_of_name(receiver, reference.scope)
            owners = evaluator.evaluate(receiver, self._path, scope, reference.at)
            values = tuple(v for owner in owners for v in evaluator.attribute(owner, name))
            confidence = "import" if any(owner.tag == "mod" for owner in owners) else "receiver"
            if not owners and reference.chain.startswith("\\"):  # PHP: a function with its full name
                values = evaluator.evaluate(reference.chain, self._path, reference.scope)
                confidence = "import"
        else:
            return [], ""
        kinds = _VALUES_AND_TYPES if self._rules.types_are_values else CALLABLE_KINDS
        if reference.types == TYPE_ONLY:
            kinds = TYPE_KINDS
        meant = [v for v in values if v.tag == "def" and self._project.definition(v.ref).kind in kinds]
        return self._targets.callable_refs(meant, -1), confidence

    def _reads(self, reference: Reference) -> list[Edge]:
        """Return the edges to the getter that a value reads."""
        name = split_chain(reference.chain)[1]
        if reference.types or not self._project.known_names.are_properties(self._rules.family, name):
            return []
        return list(self._properties.edges_of(msgspec.structs.replace(reference, types=READ)))

    def _scope_of_name(self, name: str, scope: int) -> int:
        """Return the scope that binds the parameter of a function within a constant's value."""
        definitions = self._index.facts.definitions
        while scope >= 0 and name in self._loaded_modules and definitions[scope].kind == "constant":
            scope = definitions[scope].parent
        return scope

    def _may_be_member(self, chain: str, name: str) -> bool:
        """True if the project has a method of that name, or the chain begins with a module."""
        if (self._rules.family, name) in self._project.methods or self._rules.functions_by_path:
            return True
        if chain.startswith(("\\", MODULE)):
            return True
        root = chain.partition(".")[0]
        if root in self._loaded_modules:
            return True
        return any(isinstance(place, Import) for place in self._index.places(-1, root))


def _parameter_of(parameters: Sequence[Parameter], which: str) -> Parameter | None:
    """Return the parameter with that number or name; a variadic last one takes all further."""
    if not which.isdigit():
        return next((parameter for parameter in parameters if parameter.name == which), None)
    number = int(which)
    if number < len(parameters):
        return parameters[number]
    last = parameters[-1] if parameters else None
    return last if last is not None and last.type.startswith((MANY, REST_MARK)) else None
