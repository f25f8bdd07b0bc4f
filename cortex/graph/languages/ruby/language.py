"""Ruby."""

from __future__ import annotations

from collections.abc import Iterator

from cortex.graph.facts.expressions.operators import ELEMENT, SET_ELEMENT
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_ruby
from cortex.graph.languages.ruby.library import RUBY_METHODS
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.calling.common_names import COMMON
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.values import Value
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.languages import family_of

#: methods that return their receiver, or a value of the same type
_SAME = frozenset("freeze dup clone tap itself".split())


def _find_module(project: Project, module: str, importer: str) -> str:
    return project.ruby.find(module, importer)


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


def _itself(_members: Members, value: Value, name: str) -> tuple[Value, ...]:
    """Return a getter of the value itself."""
    return (Value("elem", value.path, value.at, 1),) if value.tag == "inst" and name in _SAME else ()


def _call_mixin(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of a call of a module's method, if the type around may include it.

    Not of a name without arguments: it may be a reader (`attr_reader`).
    """
    if callee.values or callee.reference.arguments == 0:
        return None
    refs = _mixin_methods(calls, callee.name, callee.reference.scope)
    return calls.targets.edges_of_call(callee.reference, refs, "name")


def _mixin_methods(calls: Calls, name: str, scope: int) -> list[Ref]:
    around = calls.evaluator.owners.type_around(calls.path, scope)
    definition = calls.project.definition(around) if around else None
    if name in COMMON or (definition is not None and definition.kind != "trait" and not definition.bases):
        return []
    return [*calls.evaluator.mixin_methods(calls.rules.family, name)]


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
        library_methods=RUBY_METHODS,
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
        wraps={"parenthesized_statements": "", "assignment": "right", "operator_assignment": "right"},
        either={"conditional": ("consequence", "alternative"), "binary": ("left", "right")},
        literals=frozenset(
            {"string", "integer", "float", "array", "hash", "simple_symbol", "nil", "true", "false"}
        ),
        hoisted=True,
        setters=True,
        operators={
            **{sign: sign for sign in "+ - * / % ** < > <= >= <=> << >> & | ^ =~ ===".split()},
            ELEMENT: "[]",
            SET_ELEMENT: "[]=",
        },
    ),
    find_module=_find_module,
    uncalled=_uncalled,
    missing_member=(_instance, _itself),
    bare_call=(_call_mixin,),
)
