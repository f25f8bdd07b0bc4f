"""Methods that are named like constants: `Path("x")` calls a method, `Path` alone is a type."""

from collections.abc import Iterator

from cortex.graph.facts.declared.unnamed_types import UNNAMED
from cortex.graph.facts.rails import QUERY, SCOPED
from cortex.graph.facts.ruby import UNNAMED_AT
from cortex.graph.languages.ruby.blocks import Blocks
from cortex.graph.languages.ruby.queries import bare_query, without_macros
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.values import Value, Values
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: scopes whose methods every object has: that of files, and those that a program reopens
_OF_ALL_OBJECTS = ("", "Kernel", "Object")


def call_constant(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Make the callee of `Path("x")` a method, also where a type of that name is nearer."""
    if callee.name[:1].isupper():
        place = calls.path, callee.reference.scope
        of_self = callee.receiver in ("", *calls.rules.self_names)
        callee.values = _methods(calls.evaluator, callee.name, place, callee.values, of_self=of_self)
    return None


def called_root(
    evaluator: Evaluator, links: list[str], place: tuple[str, int, int], values: Values
) -> tuple[Values, Values]:
    """Return the methods that a chain's first link calls, and their owners."""
    if links[0][:1].isupper():
        if links[1] != QUERY:
            values = _methods(evaluator, links[0], place[:2], values, of_self=True)
        return values, values
    # A scope's query is of the class that calls it on itself.
    is_scope = any(v.tag == "def" and evaluator.project.definition(v.ref).returns == SCOPED for v in values)
    owners = evaluator.helper(Blocks).self_in(*place[:2]) if is_scope else values
    return values or bare_query(evaluator, links[0], *place[:2]), owners


def called_member(
    evaluator: Evaluator,
    links: list[str],
    number: int,
    _path: str,
    _owners: Values,
    values: Values,
) -> Values:
    """Return the methods that a further link calls, `Shop::Path("x")`."""
    is_constant = links[number][:1].isupper() and links[number + 1] != QUERY
    return _callable(evaluator.project, values) if is_constant else values


def results_of_name(evaluator: Evaluator, value: Value, name: str = "") -> Values:
    """Return the values of a name without parentheses: a method is called, unless it is named like
    a constant.
    """
    if value.tag == "def" and (method := evaluator.project.definition(value.ref)).kind in CALLABLE_KINDS:
        return () if method.name[:1].isupper() else evaluator.called(value)
    return evaluator.called(value) if name == "new" or value.tag == "elem" else (value,)


def uncalled_root(evaluator: Evaluator, name: str, place: tuple[str, int], values: Values) -> Values:
    """Return the values of a chain's first name without parentheses; of a constant that means only
    methods the nearest type of its name.
    """
    if name[:1] == UNNAMED_AT:
        begin, definitions = int(name[1:]), evaluator.project.index(place[0]).facts.definitions
        return tuple(Value("def", place[0], at) for at, d in enumerate(definitions) if d.begin == begin)[:1]
    values = values or bare_query(evaluator, name, *place)
    results = tuple(result for value in values for result in results_of_name(evaluator, value, name))
    return results or (_nearest_type(evaluator.project, name, *place) if values else ())


def _nearest_type(project: Project, name: str, path: str, scope: int) -> Values:
    """Return the type of a constant's name in the innermost scope around a place that has one."""
    home = project.home(path)
    inside = project.index(path).facts.definitions[scope].qualified if scope >= 0 else ""
    while name[:1].isupper():
        for ref in project.members_of(home, inside).get(name, ()):
            if project.definition(ref).kind in TYPE_KINDS:
                return (Value("def", *ref),)
        if not inside:
            break
        inside = inside.rpartition(".")[0]
    return ()


def own_members(members: Members, owner: Ref, refs: list[Ref]) -> list[Ref]:
    """Return the members of one name that a type has: those of an unnamed class alone, others of
    its name are no parts of it; and none that only a macro of Rails would define.
    """
    project, refs = members.project, without_macros(members, owner, refs)
    if not project.definition(owner).name.endswith(UNNAMED):
        return refs
    return [ref for ref in refs if ref[0] == owner[0] and project.definition(ref).parent == owner[1]]


def _methods(
    evaluator: Evaluator, name: str, place: tuple[str, int], values: Values, *, of_self: bool
) -> Values:
    """Return the methods among `values`, without any and on `self` those of the type around, or of
    all objects.
    """
    project = evaluator.project
    methods = _callable(project, values)
    if methods or not of_self:
        return methods
    around = evaluator.owners.type_around(*place)
    if around and (methods := _callable(project, evaluator.member(around, name))):
        return methods
    scopes = (project.members_of(project.home(place[0]), scope) for scope in _OF_ALL_OBJECTS)
    refs = (ref for members in scopes for ref in members.get(name, ()) if not project.definition(ref).until)
    return _callable(project, tuple(Value("def", *ref) for ref in refs))


def _callable(project: Project, values: Values) -> Values:
    return tuple(v for v in values if v.tag == "def" and project.definition(v.ref).kind in CALLABLE_KINDS)
