"""Ruby."""

from cortex.graph.facts.expressions.operators import ELEMENT, SET_ELEMENT
from cortex.graph.facts.facts import YIELDED, Binding
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_ruby
from cortex.graph.facts.rails import QUERY
from cortex.graph.facts.ruby import (
    BLOCK_SELF,
    COMPUTED,
    EVALUATED,
    FIRST_OF_TWO,
    LISTED,
    SECOND_OF_TWO,
    block_argument,
    class_of_call,
    default_mark,
    guarded_value,
    list_of_elements,
    result_of_operator,
    value_of_case,
)
from cortex.graph.languages.defaults import read_names
from cortex.graph.languages.ruby.aliases import with_aliases
from cortex.graph.languages.ruby.blocks import METHODS, Blocks, call_in_block
from cortex.graph.languages.ruby.calls import (
    ALLOCATE,
    call_added,
    call_class_of_includers,
    call_in_body,
    call_mixin,
    call_of_each,
    no_class,
    no_edges,
    of_named_receiver,
    of_namesake,
)
from cortex.graph.languages.ruby.constants import (
    call_constant,
    called_member,
    called_root,
    own_members,
    results_of_name,
    uncalled_root,
)
from cortex.graph.languages.ruby.macros import Macros
from cortex.graph.languages.ruby.queries import member_of_model, query_of
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.results import COPIES
from cortex.graph.resolution.evaluation.values import Value, Values, merge_values
from cortex.graph.resolution.language import Language
from cortex.terms.kinds import TYPE_KINDS
from cortex.terms.languages import family_of

#: classes of Ruby whose instances are types, hold objects of the project, or get its methods
_HOLDERS = frozenset({"Class", "Module", "Struct", "Object", "Array", "Hash", "Set", "Queue"})
#: classes of Ruby's literals, and those that they inherit from
_OF_LITERALS = tuple("String Symbol Array Hash Integer Float Numeric Range Regexp Kernel Object".split())
#: methods of a job's class that have it performed, those that do so at once and return its result;
#: those that return a job or a mailer with other settings
_ENQUEUERS = frozenset("perform_later perform_now perform_async perform_in perform_at perform_sync".split())
_AT_ONCE = frozenset({"perform_now", "perform_sync"})
_CONFIGURED = frozenset({"set", "with"})


def _uncalled(
    evaluator: Evaluator,
    values: Values,
    links: list[str],
    _owners: Values,
    _place: tuple[str, int],
) -> Values:
    """Return `values`, with the results of methods before a further link, and there one of the
    parts of a reopened type: all have its members.
    """
    if not links:
        return values
    results = tuple(result for value in values for result in results_of_name(evaluator, value))
    if len(results) < 2:
        return results
    definition = evaluator.project.definition
    parts = {(v.tag, definition(v.ref).qualified) if v.at >= 0 else v: v for v in reversed(results)}
    return tuple(reversed(parts.values()))


def _is_outside(links: list[str]) -> bool:
    """Return True for `Faraday::Stubs.new`: an instance of a class that no file defines."""
    *names, method, call = links if len(links) > 2 else ("", "", "")
    are_constants = all(name[:1].isupper() for name in names)
    return are_constants and (method, call) == ("new", "()") and names[0] not in _HOLDERS


def _instance(_members: Members, value: Value, name: str) -> Values:
    """Return the type for `Disk.new` and `Disk.allocate`, a call of which makes an instance."""
    return (value,) if name in ("new", ALLOCATE) and value.tag == "def" else ()


def _passed_to(
    evaluator: Evaluator, value: Value, link: str, owners: Values, _place: tuple[str, int]
) -> Values:
    """Return the values that a method passes to its block, `yield file`, or the elements of a list;
    for LISTED the list of a value; for a link of COMPUTED the methods that a macro makes.
    """
    if link == LISTED:
        depth = value.depth + 1
        return (value._replace(tag="list", depth=depth),) if value.tag in ("inst", "list") else ()
    if link == QUERY:
        return query_of(value) if value.tag == "list" or _is_type(evaluator, value) else ()
    if link == BLOCK_SELF:
        return evaluator.helper(Blocks).runners(value, owners)
    if value.tag != "def":
        if link in COMPUTED.values():
            return ()
        # Of a model itself `find_each` makes the query: `Story.find_each { |story| … }`.
        lists = (
            value if owner.tag == "def" else owner
            for owner in owners
            if "list" in (owner.tag, value.tag) and link != FIRST_OF_TWO
        )
        return merge_values(evaluator.results.element(owner) for owner in lists)
    if link == SECOND_OF_TWO:
        return ()
    if link in COMPUTED.values():
        return evaluator.helper(Macros).defined_by(value, link)
    if evaluator.project.definition(value.ref).kind in TYPE_KINDS:  # `File.new(name) { |file| … }`
        makers = evaluator.member(value.ref, "initialize")
        owners = (value._replace(tag="inst"),)
        return merge_values(_passed_to(evaluator, maker, link, owners, _place) for maker in makers)
    places = evaluator.project.index(value.path).places(value.at, YIELDED)
    bindings = [place for place in places if isinstance(place, Binding)]
    return merge_values(
        owners if binding.value == "self" else evaluator.evaluate(binding.value, *value.ref, binding.at)
        for binding in bindings
    )


def _is_type(evaluator: Evaluator, value: Value) -> bool:
    return value.tag == "def" and evaluator.project.definition(value.ref).kind in TYPE_KINDS


def _job(members: Members, value: Value, name: str) -> Values:
    """Return the method that performs a job for `SendJob.perform_later(1)`, and the class itself
    for `SendJob.set(wait: 1)` and `UserMailer.with(user: 1)`.
    """
    if value.tag not in ("def", "inst") or not (name in _ENQUEUERS or name in _CONFIGURED):
        return ()
    if performing := members.member(value.ref, "perform"):
        later = int(name not in _AT_ONCE)
        return tuple(v._replace(depth=later) for v in performing) if name in _ENQUEUERS else (value,)
    is_mailer = members.project.definition(value.ref).name.endswith("Mailer")
    return (value,) if is_mailer and name in _CONFIGURED else ()


def _class_of(members: Members, value: Value, name: str) -> Values:
    """Return the type of an instance, `self.class`; for a module that adds methods to the types
    which include it, or that another module adds beside them, also those.
    """
    if name != "class" or value.tag != "inst":
        return ()
    added = members.supertypes.of(value.ref).promised
    if (around := members.project.definition(value.ref).parent) >= 0:
        siblings = members.supertypes.of((value.path, around)).promised
        added |= siblings if value.ref in siblings else frozenset()
    return (value._replace(tag="def"), *(Value("inst", *ref) for ref in sorted(added)))


def _added(members: Members, value: Value, name: str) -> Values:
    """Return the methods of a literal that the project adds to Ruby's classes: `class String`. A
    name that Ruby's own classes have may be that of another one than the literal's.
    """
    if value.tag != "ext" or name in METHODS:
        return ()
    home = members.project.home(value.path)
    types = (ref for type_name in _OF_LITERALS for ref in members.project.types_named(home, type_name))
    return merge_values(members.member_of_kind(ref, name, static=False) for ref in types)


def _itself(_members: Members, value: Value, name: str) -> Values:
    return (Value("elem", value.path, value.at, 1),) if value.tag == "inst" and name in COPIES else ()


RUBY = Language(
    "ruby",
    rules=Rules(
        family_of("ruby"),
        (".rb",),
        bases_in_parts=True,
        ordered_bases=True,
        traits_first=True,
        kinds_of_methods=True,
        class_methods=True,
        makes_by_new=True,
        bare_super=True,
        twins=True,
        renamed_twins=True,
        element_operator="[]",
        library_methods=METHODS,
        framework_methods=dict.fromkeys(
            ("ApplicationRecord", "ApplicationController"), read_names(__package__, "rails")
        ),
        included_hook="included",
        block_self=EVALUATED,
        self_names=frozenset({"self"}),
        implicit_self=True,
        shared="project",
        file_fields=True,
        fields_beside_methods=True,
        renamed_calls=_ENQUEUERS | {"new"},
    ),
    syntax=Syntax(
        package=__package__,
        queries=("ruby",),
        imports=read_ruby,
        names=frozenset({"identifier", "constant", "self", "instance_variable", "class_variable", "super"}),
        members={"scope_resolution": ("scope", "name")},
        methods={"call": ("receiver", "method")},
        elements={"element_reference": "object"},
        wraps={
            "parenthesized_statements": "",
            **dict.fromkeys(("assignment", "operator_assignment"), "right"),
            **dict.fromkeys(("then", "else", "begin"), "-1"),
            **dict.fromkeys(("if_modifier", "unless_modifier"), "body"),
        },
        either={
            **dict.fromkeys(("conditional", "if", "elsif", "unless"), ("consequence", "alternative")),
            "binary": ("left", "right"),
            "rescue_modifier": ("body", "handler"),
        },
        literals=frozenset(
            {"string", "integer", "float", "array", "hash", "simple_symbol", "nil", "true", "false"}
        ),
        hoisted=True,
        value_of_name=block_argument,
        parameter_type=default_mark,
        readers={
            "call": class_of_call,
            **dict.fromkeys(("array", "hash"), list_of_elements),
            "binary": result_of_operator,
            "case": value_of_case,
            **dict.fromkeys(("rescue", "ensure"), guarded_value),
        },
        setters=True,
        operators={
            **{sign: sign for sign in "+ - * / % ** < > <= >= <=> << >> & | ^ =~ ===".split()},
            ELEMENT: "[]",
            SET_ELEMENT: "[]=",
        },
    ),
    find_module=lambda project, module, importer: project.ruby.find(module, importer),
    is_outside=_is_outside,
    own_members=own_members,
    with_aliases=with_aliases,
    called_root=called_root,
    called_member=called_member,
    uncalled_root=uncalled_root,
    uncalled=_uncalled,
    listed_member=member_of_model,
    missing_member=(_instance, _class_of, _itself, _job, _added, member_of_model),
    passed_to=_passed_to,
    member_call=(no_edges, call_in_body, call_constant, call_class_of_includers),
    called_member_values=(call_added, call_of_each),
    methods_by_name=(of_named_receiver,),
    common_methods=of_namesake,
    bare_call=(call_constant, call_in_block, no_class, call_mixin),
)
