"""Steps and hooks that several languages share."""

from cortex.graph.facts.facts import COMPANION, TYPE_ONLY
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.evaluation.values import ChainEvaluator, Value, Values
from cortex.graph.resolution.project import Project
from cortex.terms.kinds import TYPE_KINDS


def take_method_past_locals(calls: Calls, callee: Callee) -> None:
    """Take a method of that name, or an imported one: a variable or field does not hide them."""
    if not calls.targets.callable_refs(callee.values, -1):
        callee.values = calls.methods_past_locals(callee.name, callee.reference.scope)
        callee.confidence = "receiver"
        if not callee.values:
            callee.values, callee.confidence = calls.evaluator.scopes.lookup(callee.name, calls.path, -1)


def take_made_type(calls: Calls, callee: Callee) -> None:
    """Take the type that `new` makes: a method of its name does not hide it."""
    definition, home = calls.project.definition, calls.project.home
    if callee.reference.types != TYPE_ONLY or any(
        value.tag == "def" and definition(value.ref).kind in TYPE_KINDS for value in callee.values
    ):
        return
    callee.values = calls.evaluator.scopes.types_named(callee.name, calls.path, callee.reference.scope)
    if any(value.tag == "def" for value in callee.values):
        near = home(callee.values[0].path) == home(calls.path)
        callee.confidence = "exact" if near else "import"


def take_block_member(calls: Calls, callee: Callee) -> None:
    """Take a member of the receiver of a block or of an unnamed class around the call."""
    reference = callee.reference
    members = calls.evaluator.implicit_receivers.members(
        callee.name, calls.path, reference.scope, reference.at, callee.values
    )
    if members:
        callee.values, callee.confidence = members, "receiver"


def take_inherited_overloads(calls: Calls, callee: Callee) -> None:
    """Take inherited overloads if those of the type do not take the arguments."""
    callee.values = calls.inherited_overloads(callee.values, callee.reference)


def called_by_method(name: str, project: Project, values: ChainEvaluator, value: Value) -> Values:
    """Return the method `name` of an instance that calls it; of an object its own one, too."""
    members = (member for member in values.member(value.ref, name) if member.tag == "def")
    at_object = COMPANION in project.definition(value.ref).flags
    return tuple(member for member in members if at_object or not _is_of_object(project, member))


def _is_of_object(project: Project, value: Value) -> bool:
    """Return True if a method belongs to an object, and not to its companion class."""
    parent = project.definition(value.ref).parent
    return parent >= 0 and COMPANION in project.definition((value.path, parent)).flags
