"""Laravel's jobs, events and scopes: the methods that it calls by convention.

`dispatch(new SendJob(1))` calls the job's `handle`, `event(new Shipped(1))` each `handle` with one
parameter of that type. In chains the object that a call dispatches has a member DISPATCHED.
"""

from collections.abc import Iterator

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import chain_of, text_of
from cortex.graph.facts.grammars import Syntax
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.values import Value, Values
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.languages import family_of

#: the member that stands for what handles an object
DISPATCHED = "dispatch!"
#: begins the name of a scope's method; the method that handles a job or an event
SCOPE, HANDLE = "scope", "handle"
#: methods of a job's class that have it handled, and those that do so at once and return its result
DISPATCHERS = frozenset(
    "dispatch dispatchSync dispatchNow dispatchIf dispatchUnless dispatchAfterResponse".split()
)
_AT_ONCE = frozenset({"dispatchSync", "dispatchNow"})
#: functions that get the object to be handled; receivers of methods that do, and these methods
_FUNCTIONS = frozenset("dispatch dispatch_sync dispatch_now event".split())
_RECEIVERS = frozenset("$this Bus Event Queue".split())
_METHODS = frozenset("dispatch dispatchSync dispatchNow dispatchAfterResponse push later chain batch".split())
#: last names of the traits and interfaces of a job or an event, which give it its dispatchers
_DISPATCHABLE = frozenset("Dispatchable Queueable ShouldQueue AsAction AsJob".split())
#: methods of Laravel's models and of their builders: a scope of such a name is not called by it
_OF_MODELS = frozenset(
    "all append attach chunk chunkById create createOrFirst createQuietly cursor cursorPaginate decrement delete "
    "destroy doesntHave each eachById fill find findMany findOr findOrFail findOrNew findSole first firstOr "
    "firstOrCreate firstOrFail firstOrNew firstWhere forceCreate forceDelete forceFill fresh fromQuery get "
    "getConnection getKey getKeyName getModel getQuery getTable has hasMany hasOne hydrate increment is isNot "
    "latest lazy lazyById load loadCount loadMissing make mergeConstraintsFrom morphMany newCollection newInstance "
    "newModelQuery newQuery observe oldest on onWriteConnection orDoesntHave orHas orWhere orWhereDoesntHave "
    "orWhereHas orWhereNot paginate pluck push qualifyColumn query refresh relationLoaded replicate restore save "
    "saveOrFail saveQuietly scopes simplePaginate sole tap toArray toBase toJson toSql touch trashed unless update "
    "updateOrCreate updateOrFail updateQuietly upsert value valueOrFail when where whereBelongsTo whereDoesntHave "
    "whereHas whereHasMorph whereKey whereKeyNot whereMorphedTo whereNot whereRelation with withAggregate withAvg "
    "withCasts withCount withExists withMax withMin withOnly withSum withTrashed withWhereHas without "
    "withoutEvents withoutGlobalScope withoutGlobalScopes withoutTrashed".split()
)


def dispatched_objects(call: Node, chain: str, syntax: Syntax) -> Iterator[tuple[str, Node]]:
    """Yield (chain, place) of the handlers of the objects that a call dispatches."""
    receiver, _, name = chain.rpartition(".")
    if name not in (_METHODS if receiver else _FUNCTIONS) or (receiver and receiver not in _RECEIVERS):
        return
    arguments = call.child_by_field_name("arguments")
    first = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    value = first.named_children[-1] if first is not None and first.named_children else None
    if value is None:
        return
    listed = value.named_children if value.type == "array_creation_expression" else (value,)
    for part in listed:
        element = part.named_children[-1] if part.type == "array_element_initializer" else part
        is_variable = element.type == "variable_name" and text_of(element) != "$this"
        if is_variable or element.type == "object_creation_expression":
            yield f"{chain_of(element, syntax)}.{DISPATCHED}", element


class Listeners:
    """The listeners of each event. Valid while the project does not change."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._of: dict[Ref, list[Ref]] = {}
        for ref in evaluator.methods_named(family_of("php"), HANDLE):
            parameters = project.definition(ref).parameters
            if len(parameters) == 1 and parameters[0].type:
                for event in evaluator.declared(parameters[0].type, *ref):
                    if event.tag == "inst" and not event.depth:
                        self._of.setdefault(event.ref, []).append(ref)

    def of(self, event: Ref) -> list[Ref]:
        return self._of.get(event, [])


def by_convention(members: Members, value: Value, name: str) -> Values:
    """Return the methods that Laravel calls for the scope `visible` of a model, `scopeVisible`, and
    for the dispatch of a job or an event, its `handle` or those of its listeners.
    """
    if value.tag not in ("def", "inst"):
        return ()
    if name == DISPATCHED or (name in DISPATCHERS and value.tag == "def"):
        if name != DISPATCHED and not _is_below(members, value.ref, _DISPATCHABLE):
            return ()
        handlers = members.member(value.ref, HANDLE)
        if not handlers:
            handlers = tuple(Value("def", *ref) for ref in members.helper(Listeners).of(value.ref))
        later = int(name not in _AT_ONCE)
        return tuple(handler._replace(depth=later) for handler in handlers)
    if not name[:1].islower() or name in _OF_MODELS:
        return ()
    return members.member(value.ref, f"{SCOPE}{name[:1].upper()}{name[1:]}")


def _is_below(members: Members, ref: Ref, names: frozenset[str]) -> bool:
    """Return True if a type, or one above it, has a base with one of `names`."""
    types = (ref, *members.supertypes.of(ref).types)
    return any(
        base.chain.rpartition(".")[2] in names
        for type_ref in types
        for base in members.project.definition(type_ref).bases
    )


def call_of_each_listener(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of the dispatch of an event: all of its listeners are called."""
    refs = [value.ref for value in callee.values if value.tag == "def"]
    is_dispatch = callee.name == DISPATCHED or callee.name in DISPATCHERS
    if len(refs) < 2 or not is_dispatch:
        return None
    if any(calls.project.definition(ref).name != HANDLE for ref in refs):
        return None
    return (edge for ref in refs for edge in calls.targets.edges_of_call(callee.reference, [ref], "receiver"))
