"""Overloads: of several functions of one name those that fit a call's arguments, by literals,
casts, new objects and declared types. Returns several if these do not decide.
"""

import re
from collections.abc import Sequence

from cortex.graph.facts.expressions.arguments import NAME_MARK, WIDENING
from cortex.graph.facts.expressions.chains import ADDRESS, MOVED, POINTED
from cortex.graph.facts.facts import COMPANION, FREE, GIVES, MANY, Binding, Definition, Reference
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import Value
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import (
    accepts_count,
    has_conditional_result,
    is_many,
    leading_parameters,
    match_parameters,
    type_parameter_names,
)
from cortex.graph.resolution.types.plain_types import BOXES, NO_FUNCTIONS, PRIMITIVES, WITH_RESULT, bare_type
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: ends a chain with a call
_CALL = re.compile(r"\(_?(\d*)\)(?:<[^<>]*>)?$")
#: assignments that are followed to find a type
FOLLOWED_MAX = 3
#: supertypes of a string
_OF_TEXT = frozenset({"CharSequence", "Comparable", "Serializable", "IEnumerable"})
#: supertypes of C#'s arrays
_OF_ARRAYS = frozenset(
    {"IEnumerable", "IList", "ICollection", "IReadOnlyList", "IReadOnlyCollection", "Array"}
)
#: supertypes of a boxed number, in Java and in C#
_OF_NUMBERS = frozenset(
    {"Number", "Comparable", "Serializable", "IComparable", "IFormattable", "IConvertible"}
)
#: supertypes of `Disk.class`
_OF_CLASSES = frozenset({"Type", "AnnotatedElement", "GenericDeclaration", "Serializable", "Constable"})
#: begins a probable type: it counts only if a candidate takes exactly that type
LIKELY = "?"
#: least fit of a parameter that certainly takes its argument
CERTAIN = 0.8


def strip_name(passed: str) -> str:
    """Return an argument without the name of its parameter."""
    return passed.partition(NAME_MARK)[2] or passed


def _argument_names(passed: Sequence[str]) -> list[str]:
    return [argument.partition(NAME_MARK)[0] if NAME_MARK in argument else "" for argument in passed]


class Overloads:
    """Chooses overloads for the calls of one file."""

    def __init__(self, project: Project, evaluator: Evaluator, path: str) -> None:
        self.project, self.evaluator, self.path = project, evaluator, path
        self.index = project.index(path)
        self.language = project.language(path)
        self.rules = self.language.rules
        #: (chain, scope, byte) → type of an argument
        self._passed: dict[tuple[str, int, int], str] = {}
        #: bare name → the project's type of an argument, which the file may only name in full
        self._types: dict[str, Ref] = {}
        #: the function that is scored, whose scope may name types that this file does not
        self.callee: Ref = (path, -1)

    def choose(self, refs: Sequence[Ref], reference: Reference, skipped: int = 0) -> list[Ref]:
        """Return those of `refs` that take the arguments after `skipped` parameters; the best if it
        is clear.
        """
        argument_types, names = self._argument_types(refs, reference), _argument_names(reference.passed)
        if skipped:  # the receiver is an argument as well
            receiver = reference.chain.rpartition(".")[0]
            argument_types = [self._type_of(receiver, reference.scope, reference.at), *argument_types]
            names = ["", *names]
        scored = [
            (score, ref)
            for ref in refs
            if (score := self._bound_score(ref, argument_types, names, reference)) is not None
        ]
        if not scored:
            return list(refs)
        possible = [ref for _, ref in scored]
        sure = [(score, ref) for score, ref in scored if score[0] >= CERTAIN]
        # Variadic functions count only if no other takes the arguments.
        if any(total >= 0 for (_, total), _ in sure) or not any(
            least > 0 and total >= 0 for (least, total), _ in scored
        ):
            scored = sure or scored  # a certain fit comes before a possible one
        best = max(total for (_, total), _ in scored)
        fitting = [ref for _, ref in scored]
        leading = [(least, ref) for (least, total), ref in scored if total == best]
        if len(leading) > 1 or not self._is_settled(fitting, argument_types, names):
            return fitting
        if len(possible) > 1 and has_conditional_result(self.project.definition(leading[0][1])):
            return possible
        # A possible external type is no more likely than a type that accepts anything.
        guessed = self.rules.counted_arguments and any(argument_types) and not leading[0][0]
        if self.rules.abstract_types and leading[0][0] < CERTAIN:
            guessed = guessed or any(not least for (least, _), _ in scored)
        return fitting if guessed else [leading[0][1]]

    def may_take(self, refs: Sequence[Ref], reference: Reference, least: float = 0.0) -> bool:
        """Return True if one of `refs` may take the arguments of a call; each of a known type with
        a fit of at least `least`.
        """
        argument_types, names = self._argument_types(refs, reference), _argument_names(reference.passed)
        scores = (self._bound_score(ref, argument_types, names, reference) for ref in refs)
        return any(score is not None and score[0] >= least for score in scores)

    def _argument_types(self, refs: Sequence[Ref], reference: Reference) -> list[str]:
        """Return the types of the arguments, "" if not evident."""
        chains = [strip_name(chain) for chain in reference.passed]
        if len(refs) < 2:  # what a function gives decides among several
            chains = [chain.partition(GIVES)[0] if chain[:3] == "#fn" else chain for chain in chains]
        argument_types = [self.type_of(chain, reference.scope, reference.at) for chain in chains]
        if not any(type_name.startswith(LIKELY) for type_name in argument_types):
            return argument_types
        takes = [[parameter.type for parameter in self.project.definition(ref).parameters] for ref in refs]
        for at, type_name in enumerate(argument_types):
            if type_name.startswith(LIKELY):
                taken = {
                    self._bare_type(types[min(at, len(types) - 1)].removeprefix(MANY))
                    for types in takes
                    if types
                }
                argument_types[at] = type_name[1:] if type_name[1:] in taken else ""
        return argument_types

    def type_of(self, chain: str, scope: int, at: int) -> str:
        """Return `_type_of`, cached: each candidate of a call needs it."""
        type_name = self._passed.get((chain, scope, at))
        if type_name is None:
            type_name = self._passed[chain, scope, at] = self._type_of(chain, scope, at)
        return type_name

    def _is_settled(self, refs: Sequence[Ref], argument_types: Sequence[str], names: Sequence[str]) -> bool:
        """Return True if the type of each argument is known wherever the parameters differ."""
        if self.rules.positional_arguments:
            taken = [
                [self._bare_type(parameter.type) for parameter in self.project.definition(ref).parameters]
                for ref in refs
            ]
        else:
            taken = [self._parameter_types(ref, argument_types, names) or [] for ref in refs]
        return all(
            type_name or len({tuple(types[at : at + 1]) for types in taken}) == 1
            for at, type_name in enumerate(argument_types)
        )

    def _parameter_types(
        self, ref: Ref, argument_types: Sequence[str], names: Sequence[str]
    ) -> list[str] | None:
        """The types of the arguments' parameters; None if the numbers or names do not match."""
        definition = self.evaluator.signature(ref)
        parameters = match_parameters(leading_parameters(definition), argument_types, names)
        if parameters is None:
            return None
        if self.language.parameter_types is not None:
            return self.language.parameter_types(self, ref, parameters, argument_types)
        types = [self._bare_type(parameter.type.removeprefix(MANY)) for parameter in parameters]
        free_names = {flag[1:] for flag in definition.flags if flag.startswith(FREE)}
        return ["T" if name in free_names else name for name in types] if free_names else types

    def type_parameters(self, ref: Ref) -> frozenset[str]:
        """Return the type parameters of a function and of the types around it."""
        at, names = ref[1], list[str]()
        while at >= 0:
            definition = self.project.definition((ref[0], at))
            names += type_parameter_names(definition)
            at = definition.parent
        return frozenset(names)

    def _bound_score(
        self, ref: Ref, argument_types: Sequence[str], names: Sequence[str], reference: Reference
    ) -> tuple[float, float] | None:
        """Return `_score`, with the fit of C++'s references; None if one cannot bind."""
        score, fit_of = self._score(ref, argument_types, names), self.language.bind_references
        if score is None or fit_of is None:
            return score
        bound = fit_of(self, ref, reference)
        return None if bound is None else (score[0], score[1] + bound)

    def _score(
        self, ref: Ref, argument_types: Sequence[str], names: Sequence[str]
    ) -> tuple[float, float] | None:
        """Return (worst fit of the arguments with known types, total fit); None if one cannot fit.

        The total is below 0 for a variadic function.
        """
        self.callee = ref
        if self.rules.positional_arguments:
            return self._score_of_java(ref, argument_types)
        wanted = self._parameter_types(ref, argument_types, names)
        if wanted is None:
            return None if self.rules.counted_arguments else (0.0, 0.0)
        fits = [self.fit(expected, other) for expected, other in zip(wanted, argument_types, strict=True)]
        fitting = [fit for fit in fits if fit is not None]
        if len(fitting) < len(fits):
            return None
        parameters = leading_parameters(self.project.definition(ref))
        many = any(map(is_many, parameters))
        unused = max(0, len(parameters) - len(argument_types) - many)
        total = sum(fitting, 0.0)
        if self.rules.summed_fits:
            less = 0.0 if self.rules.declared_defaults else 0.05 * unused  # C++ weighs no defaults
            return self._worst_fit(fitting, argument_types), 10 + total - less - 0.3 * many
        # Variadic functions come last, before them those with more unused defaults.
        less = 0.9 * unused / (unused + 1) + many if self.rules.inherited_defaults else unused + 0.3 * many
        return self._worst_fit(fitting, argument_types), max(0.0, total + 0.1 * len(fits) - less)

    def _score_of_java(self, ref: Ref, argument_types: Sequence[str]) -> tuple[float, float] | None:
        types = [parameter.type for parameter in self.project.definition(ref).parameters]
        rest_type = types[-1][2:] if types and types[-1].startswith(MANY) else ""
        readings = [types] if len(types) == len(argument_types) else []
        if rest_type and len(argument_types) >= len(types) - 1:
            readings.append([*types[:-1], *[rest_type] * (len(argument_types) - len(types) + 1)])
        for wanted in readings:
            pairs = zip(wanted, argument_types, strict=True)
            fits = [self.fit(self._bare_type(expected), other) for expected, other in pairs]
            fitting = [fit for fit in fits if fit is not None]
            if len(fitting) == len(fits):
                more = 0.1 * len(fits) if wanted is types else -100
                return self._worst_fit(fitting, argument_types), sum(fitting, 0.0) + more
        return None

    def _worst_fit(self, fits: Sequence[float], argument_types: Sequence[str]) -> float:
        if not any(argument_types):
            return 0.0
        pairs = zip(fits, argument_types, strict=True)
        return min(
            (fit for fit, other in pairs if other not in ("", "null") and other[:2] != "fn"), default=CERTAIN
        )

    def _bare_type(self, text: str) -> str:
        bare = self.language.bare_type
        return bare_type(text, kotlin=False) if bare is None else bare(text)

    def fit(self, wanted: str, actual: str) -> float | None:
        if wanted and wanted == self.rules.argument_list and actual != wanted:
            return None  # such an argument has a declared type
        if not actual or not wanted:
            return 0.0
        if self.language.fit is not None:
            return self.language.fit(self, wanted, actual)
        if actual[:2] == "fn" and self.language.function_fit is not None:
            return self.language.function_fit(self, wanted, actual)
        if wanted == actual:
            return 5.0
        if self.language.special_fit is not None:
            special = self.language.special_fit(self, wanted, actual)
            if special is not None:
                return special
        if wanted in ("fn", f"{actual}{WITH_RESULT}"):
            return None
        if actual == f"{wanted}{WITH_RESULT}":
            return 3.0
        if actual == "KClass":
            return 0.5 if wanted == "Object" or (len(wanted) < 3 and wanted.isupper()) else None
        if actual == "Class" and wanted not in ("Class", "Object") and len(wanted) > 2:
            return 3.0 if wanted in _OF_CLASSES else None
        if wanted[-1] == "?" or actual[-1] == "?":
            return self._fit_of_values(wanted, actual)
        free = wanted == "Object" or (len(wanted) < 3 and wanted.isupper())
        if actual == "anonymous":
            return 0.5 if free else None
        if wanted[:2] == "fn" and wanted[2:3].isdigit():
            is_value = actual in PRIMITIVES or actual == "String" or self.project_type(actual)
            return None if actual != "fn" and is_value else 0.0
        if actual in ("null", "fn"):
            return None if wanted in PRIMITIVES or (actual == "fn" and wanted.endswith("[]")) else 0.5
        if actual.endswith("[]"):
            inner = actual[:-2]
            if wanted.endswith("[]") and inner not in PRIMITIVES:
                return self.fit(wanted[:-2], inner)
            return 2.0 if wanted in _OF_ARRAYS else 0.5 if free else None
        if wanted.endswith("[]"):
            return None if len(actual) > 2 else 0.0
        if actual in PRIMITIVES:
            if wanted in PRIMITIVES:
                return self._widening_fit(wanted, actual)
            return 1.0 if BOXES.get(wanted) == actual else 0.5 if free or wanted in _OF_NUMBERS else None
        if wanted in PRIMITIVES:
            return (self._widening_fit(wanted, BOXES[actual]) if actual in BOXES else None) and 0.8
        if free:  # boxed numbers prefer no unboxing
            return 0.9 if actual in BOXES else 0.5
        if actual == "String":
            return 2.0 if wanted in _OF_TEXT else None
        if actual in BOXES:
            return 2.0 if wanted in _OF_NUMBERS else None
        return self.supertype_fit(wanted, actual)

    def _fit_of_values(self, wanted: str, actual: str) -> float | None:
        """Return the fit of C#'s nullable values, `int?`."""
        if actual == "null":
            return 0.6 if wanted[-1] == "?" else None
        fit = self.fit(wanted.rstrip("?"), actual.rstrip("?"))
        if actual[-1] == "?" and wanted[-1] != "?":
            return fit if wanted == "Object" else None
        return None if fit is None else min(fit, 3.0)

    def fit_of_function(self, wanted: str) -> float | None:
        """The fit of C#'s unnamed function for a parameter that is no known function type."""
        if wanted[:2] == "fn" or wanted in PRIMITIVES or wanted.endswith("[]"):
            return None
        if wanted.removesuffix(WITH_RESULT) in NO_FUNCTIONS:
            return None
        own_type = self.project_type(wanted, self.callee)
        return None if own_type is not None and self.project.definition(own_type).kind != "type" else 0.3

    def _widening_fit(self, wanted: str, actual: str) -> float | None:
        if wanted == actual:
            return 5.0
        if "boolean" in (wanted, actual):
            return None
        distance = WIDENING.index(wanted) - WIDENING.index(actual)
        return 4.0 - 0.2 * distance if distance > 0 and wanted != "char" else None

    def project_type(self, name: str, scope: Ref | None = None) -> Ref | None:
        """Return the project's type of that name in this file, or in `scope` alone."""
        for value in self.evaluator.evaluate(name, *(scope or (self.path, -1))):
            if value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS:
                return value.ref
        return None if scope else self._types.get(name)

    def supertype_fit(self, wanted: str, actual: str) -> float | None:
        """Return the fit of a type for one of its supertypes; unknown ones may fit."""
        if actual in self.rules.library_supertypes:
            return self._library_supertype_fit(wanted, self.rules.library_supertypes[actual])
        own_type = self.project_type(actual)
        if own_type is None:
            return 0.0
        supers = self.evaluator.supertypes.of(own_type)
        for far, ref in enumerate(supers.types):
            if self.project.definition(ref).name == wanted:
                return max(2.5, 3.0 - 0.01 * far)
        return None if supers.complete or self.project_type(wanted) is not None else 0.0

    def _library_supertype_fit(self, wanted: str, supers: Sequence[str]) -> float | None:
        """Return the fit of a library type for one of its supertypes."""
        if wanted in supers:
            return 3.0 - 0.1 * supers.index(wanted)
        is_listed = wanted in self.rules.library_supertypes or wanted in _OF_TEXT or wanted == "String"
        return None if is_listed or self.project_type(wanted) is not None else 0.0

    def _type_of(self, chain: str, scope: int, at: int, depth: int = 0) -> str:
        """Return the bare type of an expression, "" if not evident."""
        if chain.startswith("#fn") and GIVES in chain:
            described, place, body = chain.split(GIVES, 2)
            return f"{described[1:]}{GIVES}{self._type_of(body, scope, int(place), depth + 1)}"
        if chain.startswith("#") and "." not in chain:  # not a call on a literal
            literal = self.language.literal_type
            return chain[1:] if literal is None else literal(chain[1:])
        if chain.startswith(":"):
            return self._bare_type(chain)
        if chain == "?" or depth > FOLLOWED_MAX:
            return ""
        if chain.replace("_", "").isalnum():
            return self._variable_type(chain, scope, at, depth)
        if chain.endswith(ADDRESS):
            pointed = self._type_of(chain[: -len(ADDRESS)], scope, at, depth + 1)
            return pointed and f"{pointed}*"
        if chain.endswith(MOVED):
            return self._type_of(chain[: -len(MOVED)], scope, at, depth + 1)
        if chain.endswith(POINTED):
            return self._instance_type(chain, scope, at) or self._type_of(
                chain[: -len(POINTED)], scope, at, depth + 1
            )
        if chain.endswith("[]"):
            container = self._type_of(chain[:-2], scope, at, depth + 1)
            return container[:-2] if container.endswith("[]") else ""
        if called := _CALL.search(chain):
            if chain[-1] == ">" and (instance := self._instance_type(chain, scope, at)):
                return instance
            callee = chain[: called.start()]
            values = self.evaluator.evaluate(callee, self.path, scope, at)
            methods = [self.project.definition(value.ref) for value in values if value.tag == "def"]
            count = int(called[1] or 0)
            fitting = [
                method for method in methods if accepts_count(method, count, self.rules.default_arguments)
            ] or methods
            results = {self._result_type(method) for method in fitting}
            self.keep_types(values)
            is_construction = self.rules.capital_types and callee.isidentifier() and callee[0].isupper()
            outside = (
                "" if results else callee if is_construction else self._outside_type(callee)
            )  # `new DateTime()`
            return results.pop() if len(results) == 1 else outside
        return (
            self._instance_type(chain, scope, at)
            or self.field_type(chain, scope, at)
            or self._outside_type(chain)
        )

    def field_type(self, chain: str, scope: int, at: int) -> str:
        """Return the declared type of a field: `this.size`, `Disk.NAME`."""
        owner, _, name = chain.rpartition(".")
        for value in self.evaluator.evaluate(owner, self.path, scope, at) if owner else ():
            if value.tag in ("inst", "def"):
                home, definition = self.project.home(value.path), self.project.definition(value.ref)
                for _, binding in self.project.fields_of(home, definition.qualified, name):
                    return self._bare_type(binding.value) if binding.value.startswith(":") else ""
                is_enumeration = definition.kind == "type" and not (definition.bases or definition.returns)
                if value.tag == "def" and is_enumeration:
                    return definition.name
        return ""

    def _outside_type(self, chain: str) -> str:
        """Return the type of an external expression: Java's library methods, constants and
        factories of external types.
        """
        outside = self.language.outside_type
        return outside(chain) if outside is not None else ""

    def _instance_type(self, chain: str, scope: int, at: int) -> str:
        """Return the project's type that an expression is an instance of; "" for none."""
        values = self.evaluator.evaluate(chain, self.path, scope, at)
        if self.rules.companions and len(values) == 1 and values[0].tag == "def":
            definition = self.project.definition(values[0].ref)
            return definition.name if COMPANION in definition.flags else ""
        names = {self.project.definition(value.ref).name for value in values if value.tag == "inst"}
        self.keep_types(values)
        # All platform variants of one type count.
        return names.pop() if len(names) == 1 and all(value.tag == "inst" for value in values) else ""

    def keep_types(self, values: Sequence[Value]) -> None:
        """Remember types that this file may only name in full."""
        for value in values:
            if (
                value.tag in ("def", "inst")
                and (type_definition := self.project.definition(value.ref)).kind in TYPE_KINDS
            ):
                self._types[type_definition.name] = value.ref

    def _result_type(self, definition: Definition) -> str:
        if definition.kind in TYPE_KINDS:
            return definition.name
        is_declared = definition.kind in CALLABLE_KINDS and definition.returns.startswith(":")
        bare = self._bare_type(definition.returns) if is_declared else ""
        return bare if len(bare.rstrip("[]")) > 2 or bare in PRIMITIVES else ""

    def _variable_type(self, name: str, scope: int, at: int, depth: int) -> str:
        definitions = self.index.facts.definitions
        current = scope
        while True:
            if current >= 0 and definitions[current].kind in TYPE_KINDS:
                home = self.project.home(self.path)
                fields = self.project.fields_of(home, definitions[current].qualified, name)
                for _, binding in fields:
                    return self._bare_type(binding.value) if binding.value.startswith(":") else ""
            else:
                bindings = [
                    candidate
                    for candidate in self.index.places(current, name)
                    if isinstance(candidate, Binding)
                ]
                bindings = [
                    candidate
                    for candidate in bindings
                    if candidate.at <= at and (at < candidate.until or (current >= 0 and not candidate.until))
                ]
                if bindings:
                    last = max(bindings, key=lambda candidate: candidate.at)
                    before = last.at - 1  # `val disk = disk.copy()`
                    return self._type_of(last.value, current, before, depth + 1) if last.value != "#" else ""
            if current < 0:
                return self._instance_type(name, scope, at)
            current = definitions[current].parent
