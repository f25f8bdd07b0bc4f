"""Ruby."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cortex.graph.facts.delegates import block_argument, class_of_call, default_mark, guarded_value
from cortex.graph.facts.expressions.chains import split_chain
from cortex.graph.facts.expressions.operators import ELEMENT, SET_ELEMENT
from cortex.graph.facts.facts import YIELDED, Binding, Reference
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_ruby
from cortex.graph.languages.defaults import read_names
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.calling.common_names import COMMON
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.values import Value, merge_values
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import accepts_count
from cortex.terms.kinds import TYPE_KINDS
from cortex.terms.languages import family_of

#: a receiver's last name
_LAST_NAME = re.compile(r"[a-z]\w*(?=(?:\(\))?$)")
#: methods of the library
_METHODS = read_names(__package__, "methods")
#: types of Ruby itself, in lower case: a variable of that name has no type of the project
_CORE_TYPES = frozenset(
    "string hash array integer float symbol time date datetime set class proc method range regexp file io "
    "dir object module process thread queue data struct logger exception error uri path pathname json yaml "
    "csv http socket mutex encoding lock match stringio tempfile".split()
)
#: methods that return their receiver, or a value of the same type
_SAME = frozenset("freeze dup clone tap itself".split())


def _uncalled(
    evaluator: Evaluator,
    values: tuple[Value, ...],
    links: list[str],
    _owners: tuple[Value, ...],
    _place: tuple[str, int],
) -> tuple[Value, ...]:
    """Return `values`, with the results of methods before a further link."""
    if not links:
        return values
    return tuple(bare for value in values for bare in evaluator.bare_values(value, ""))


def _instance(_members: Members, value: Value, name: str) -> tuple[Value, ...]:
    """Return the type for `Disk.new`, a call of which makes an instance."""
    return (value,) if name == "new" and value.tag == "def" else ()


def _passed_to(
    evaluator: Evaluator, value: Value, _link: str, owners: tuple[Value, ...], _place: tuple[str, int]
) -> tuple[Value, ...]:
    """Return the values that a method passes to its block, `yield file`."""
    if value.tag != "def":
        return ()
    if evaluator.project.definition(value.ref).kind in TYPE_KINDS:  # `File.new(name) { |file| … }`
        makers = evaluator.member(value.ref, "initialize")
        owners = (value._replace(tag="inst"),)
        return merge_values(_passed_to(evaluator, maker, _link, owners, _place) for maker in makers)
    places = evaluator.project.index(value.path).places(value.at, YIELDED)
    bindings = [place for place in places if isinstance(place, Binding)]
    return merge_values(
        owners if binding.value == "self" else evaluator.evaluate(binding.value, *value.ref, binding.at)
        for binding in bindings
    )


def _class_of(members: Members, value: Value, name: str) -> tuple[Value, ...]:
    """Return the type of an instance, `self.class`; for a module that adds methods to the types
    which include it, also those.
    """
    if name != "class" or value.tag != "inst":
        return ()
    added = members.supertypes.of(value.ref).promised
    return (value._replace(tag="def"), *(Value("inst", *ref) for ref in sorted(added)))


def _itself(_members: Members, value: Value, name: str) -> tuple[Value, ...]:
    return (Value("elem", value.path, value.at, 1),) if value.tag == "inst" and name in _SAME else ()


def _call_added(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of a method that a running program added to a type, by its name."""
    supertypes = calls.evaluator.supertypes
    if callee.values or not all(
        owner.tag == "inst" and supertypes.of(owner.ref).complete for owner in callee.owners
    ):
        return None
    return calls.call_by_name(callee.reference, callee.name)


def _no_class(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return no edges for a bare name of a class in a variable, `kind = Class.new do … end`."""
    types = (v.tag == "def" and calls.project.definition(v.ref).kind in TYPE_KINDS for v in callee.values)
    return iter(()) if callee.name[:1].islower() and not callee.is_receiver and any(types) else None


def _call_mixin(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of a call of a module's method, if the type around may include it.

    A module's own calls may mean any method. Not of a name without arguments in a type: it may be a
    reader (`attr_reader`).
    """
    name, evaluator = callee.name, calls.evaluator
    around = evaluator.owners.type_around(calls.path, callee.reference.scope)
    if callee.values or (callee.reference.arguments == 0 and around is not None):
        return None
    definition = calls.project.definition(around) if around else None
    is_module = definition is not None and definition.kind == "trait"
    if name in COMMON or (definition is not None and not is_module and not definition.bases):
        return None
    refs = evaluator.mixin_methods(calls.rules.family, name)
    if not refs and name not in _METHODS:
        named = evaluator.methods_named(calls.rules.family, name)
        refs = tuple(
            ref
            for ref in named
            if not evaluator.scopes.is_static(ref)
            and (is_module or _is_outside(calls.project, evaluator.owners.of(*ref)))
        )
    return calls.targets.edges_of_call(callee.reference, [*refs], "name")


def _of_named_receiver(calls: Calls, reference: Reference, refs: list[Ref]) -> list[Ref]:
    """Return the methods that take as few arguments as a call without any, of an instance no class
    methods; of several those whose type has the receiver's name: `parse_context.locale`.
    """
    is_static = calls.evaluator.scopes.is_static
    if any(map(is_static, refs)):
        receiver = split_chain(reference.chain)[0]
        values = calls.evaluator.evaluate(receiver, calls.path, reference.scope, reference.at)
        if values and all(value.tag == "inst" for value in values):
            refs = [ref for ref in refs if not is_static(ref)]
    if reference.arguments < 1 and not reference.chain.endswith("="):
        refs = [ref for ref in refs if accepts_count(calls.project.definition(ref), 0)]
    if len(refs) < 2:
        return refs
    last_name = _LAST_NAME.search(reference.chain.rpartition(".")[0])
    if last_name is None:
        return refs
    owners = [(ref, calls.evaluator.owners.of(*ref)) for ref in refs]
    types = {ref: calls.project.definition(owner).name.lower() for ref, owner in owners if owner}
    words = last_name[0].split("_")
    for first in range(len(words)):  # of `new_entry` also `Entry`
        if named := [ref for ref in refs if types.get(ref) == "".join(words[first:])]:
            return named
    return refs


def _of_namesake(calls: Calls, reference: Reference, method: str) -> list[Ref]:
    """Return the instance methods of the one type that the receiver is named like: `parser.parse`.

    A plural may be a list.
    """
    last_name = _LAST_NAME.search(reference.chain.rpartition(".")[0])
    name = last_name[0].replace("_", "") if last_name else ""
    if not name or name in _CORE_TYPES or name.endswith("s"):
        return []
    types = calls.evaluator.helper(_Namesakes).methods(method).get(name, {})
    return next(iter(types.values())) if len(types) == 1 else []


class _Namesakes:
    """The instance methods of a name: by that of their type in lower case, and the type."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._project, self._evaluator = project, evaluator
        self._by_name: dict[str, dict[str, dict[str, list[Ref]]]] = {}

    def methods(self, name: str) -> dict[str, dict[str, list[Ref]]]:
        if (by_type := self._by_name.get(name)) is None:
            by_type = self._by_name[name] = {}
            for ref in self._evaluator.methods_named(family_of("ruby"), name):
                owner = self._evaluator.owners.of(*ref)
                if owner and not self._evaluator.scopes.is_static(ref):
                    definition = self._project.definition(owner)
                    types = by_type.setdefault(definition.name.lower(), {})
                    types.setdefault(definition.qualified, []).append(ref)
        return by_type


def _is_outside(project: Project, owner: Ref | None) -> bool:
    """Return True for an outside class that the project reopens, `class Minitest::Test`."""
    if owner is None:
        return False
    definition = project.definition(owner)
    space = definition.scope.partition(".")[0]
    inside = any(project.types_named(project.home(owner[0]), space))
    return bool(space) and not definition.bases and not inside


def _call_in_body(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of `self.save` in the body of a type: its class methods."""
    scope = callee.reference.scope
    if callee.receiver != "self" or scope < 0:
        return None
    if calls.project.definition((calls.path, scope)).kind not in TYPE_KINDS:
        return None
    values = calls.evaluator.member_of_kind((calls.path, scope), callee.name, static=True)
    refs = calls.targets.callable_refs(values, callee.reference.arguments)
    return calls.targets.edges_of_call(callee.reference, refs, "receiver") if refs else None


def _no_edges(_calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return no edges for `self.class`."""
    return iter(()) if callee.name == "class" else None


RUBY = Language(
    "ruby",
    rules=Rules(
        family_of("ruby"),
        (".rb",),
        bases_in_parts=True,
        kinds_of_methods=True,
        class_methods=True,
        calls_by_name=True,
        makes_by_new=True,
        bare_super=True,
        twins=True,
        library_methods=_METHODS,
        included_hook="included",
        self_names=frozenset({"self"}),
        implicit_self=True,
        shared="project",
        file_fields=True,
        renamed_calls=frozenset({"new"}),
    ),
    syntax=Syntax(
        package=__package__,
        queries=("ruby",),
        imports=read_ruby,
        names=frozenset({"identifier", "constant", "self", "instance_variable", "super"}),
        members={"scope_resolution": ("scope", "name")},
        methods={"call": ("receiver", "method")},
        elements={"element_reference": "object"},
        wraps={
            "parenthesized_statements": "",
            **dict.fromkeys(("assignment", "operator_assignment"), "right"),
            **dict.fromkeys(("then", "else"), "-1"),
            **dict.fromkeys(("if_modifier", "unless_modifier"), "body"),
        },
        either={
            **dict.fromkeys(("conditional", "if", "elsif", "unless"), ("consequence", "alternative")),
            "binary": ("left", "right"),
        },
        literals=frozenset(
            {"string", "integer", "float", "array", "hash", "simple_symbol", "nil", "true", "false"}
        ),
        hoisted=True,
        value_of_name=block_argument,
        parameter_type=default_mark,
        readers={"call": class_of_call, **dict.fromkeys(("rescue", "ensure"), guarded_value)},
        setters=True,
        operators={
            **{sign: sign for sign in "+ - * / % ** < > <= >= <=> << >> & | ^ =~ ===".split()},
            ELEMENT: "[]",
            SET_ELEMENT: "[]=",
        },
    ),
    find_module=lambda project, module, importer: project.ruby.find(module, importer),
    uncalled=_uncalled,
    missing_member=(_instance, _class_of, _itself),
    passed_to=_passed_to,
    member_call=(_no_edges, _call_in_body),
    called_member_values=(_call_added,),
    methods_by_name=(_of_named_receiver,),
    common_methods=_of_namesake,
    bare_call=(_no_class, _call_mixin),
)
