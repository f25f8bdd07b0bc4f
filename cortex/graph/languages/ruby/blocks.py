"""What is `self` in Ruby's blocks: the receiver of `instance_eval(&block)` in the method that gets
the block, or in one to which it passes the block on.
"""

from collections.abc import Iterator, Sequence

from cortex.graph.facts.expressions.chains import split_chain, strip_call
from cortex.graph.facts.facts import Binding, Reference
from cortex.graph.facts.ruby import BLOCK_SELF, EVALUATED, RUNS_BLOCK
from cortex.graph.languages.defaults import read_names
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.calling.common_names import COMMON
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import Value, Values, merge_values
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import TYPE_KINDS
from cortex.terms.languages import family_of

#: methods of the library
METHODS = read_names(__package__, "methods")
#: methods that run their block with their receiver as `self`
_EVALUATE = ("instance_eval", "instance_exec")
#: methods through which a block is followed
_DEPTH_MAX = 6


class Blocks:
    """What runs the blocks of each method. Valid while the project does not change."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._project, self._evaluator = project, evaluator
        self._open: set[Ref] = set()

    def runners(self, method: Value, owners: Values) -> Values:
        """Return what is `self` in the block of a method that is called on `owners`; of a class,
        in that of its constructor.
        """
        if method.tag != "def" or len(self._open) > _DEPTH_MAX:
            return ()
        definition = self._project.definition(method.ref)
        if definition.kind in TYPE_KINDS:
            makers = self._evaluator.member(method.ref, "initialize")
            instances = (method._replace(tag="inst"),)
            return merge_values(self.runners(maker, instances) for maker in makers)
        chains = [flag[len(RUNS_BLOCK) :] for flag in definition.flags if flag.startswith(RUNS_BLOCK)]
        if not chains or method.ref in self._open:
            return ()
        self._open.add(method.ref)
        # A bare name is its own owner.
        receivers = tuple(owner for owner in owners if owner.ref != method.ref)
        receivers = receivers or self._instances(method.ref)
        values = merge_values([self._of_chain(chain, method.ref, receivers) for chain in chains])
        self._open.discard(method.ref)
        return values

    def of_name(self, name: str) -> Values:
        """Return what the only method of a name that runs its block has as `self` there."""
        if name in METHODS or name in COMMON:
            return ()
        refs = [
            ref
            for ref in self._evaluator.methods_named(family_of("ruby"), name)
            if any(flag.startswith(RUNS_BLOCK) for flag in self._project.definition(ref).flags)
        ]
        return self.runners(Value("def", *refs[0]), ()) if len(refs) == 1 else ()

    def self_in(self, path: str, scope: int) -> Values:
        """Return what is `self` in a scope, a type in its body; () outside of types."""
        definitions = self._project.index(path).facts.definitions
        while scope >= 0:
            if definitions[scope].kind in TYPE_KINDS:
                return (Value("def", path, scope),)
            if definitions[scope].kind == "method":
                return self._instances((path, scope))
            scope = definitions[scope].parent
        return ()

    def _instances(self, ref: Ref) -> Values:
        owner = self._evaluator.owners.of(*ref)
        if owner is None:
            return ()
        return (Value("def" if self._evaluator.scopes.is_static(ref) else "inst", *owner),)

    def _of_chain(self, chain: str, ref: Ref, receivers: Values) -> Values:
        if chain == "self":
            return receivers
        if not chain.endswith(BLOCK_SELF):
            return self._evaluator.evaluate(chain, *ref)
        return self.of_call(chain, receivers, ref)

    def of_call(self, chain: str, owners: Values, place: tuple[str, int] | tuple[str, int, int]) -> Values:
        """Return what is `self` in the block of a call, `store.run(^s)`, where `owners` are `self`;
        by the name of its method if nothing else tells that.
        """
        callee = chain.removesuffix(BLOCK_SELF)
        receiver, name = split_chain(callee)
        if receiver in ("", "self") and (values := self._on_self(owners, name)) is not None:
            return values
        if values := self._evaluator.evaluate(chain, *place):
            return values
        return () if self._evaluator.evaluate(callee, *place) else self.of_name(name)

    def _on_self(self, owners: Values, name: str) -> Values | None:
        """Return what is `self` in the block of a method that `owners` call on themselves; None if
        they have none of that name.
        """
        owners = tuple(owner for owner in owners if owner.tag in ("inst", "def"))
        if name == "new":
            return merge_values(self.runners(owner, ()) for owner in owners if owner.tag == "def") or None
        members = [
            (member, owner)
            for owner in owners
            for member in self._evaluator.member_of_kind(owner.ref, name, static=owner.tag == "def")
        ]
        return merge_values(self.runners(member, (owner,)) for member, owner in members) if members else None


def call_in_block(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of a bare name in a block whose `self` has such a method: methods around the
    block have none to say there.
    """
    if callee.is_receiver or any(value.tag != "def" for value in callee.values):
        return None
    refs = _methods_of_block(calls, callee)
    return calls.targets.edges_of_call(callee.reference, refs, "receiver") if refs else None


def _methods_of_block(calls: Calls, callee: Callee) -> list[Ref]:
    """Return the methods of what is `self` in the blocks around a call: `Menu.new do … end`."""
    reference, evaluator, own_method = callee.reference, calls.evaluator, -1
    for place, values in reversed(_blocks_around(calls, reference)):
        if place.value.endswith(BLOCK_SELF):
            if refs := _members(calls, values, callee):
                return refs
            if values:  # `self` is known
                return []
            continue
        around = calls.path, place.scope, place.at
        receiver, name = split_chain(strip_call(place.value))
        if name in _EVALUATE and any(
            evaluator.member(owner.ref, name)
            for owner in evaluator.evaluate(receiver, *around)
            if owner.at >= 0
        ):
            own_method = place.at  # what it does with the block is unknown
        if own_method == place.at or callee.values:
            continue
        if refs := _members(calls, evaluator.evaluate(place.value, *around), callee):
            return refs
    return []


def _blocks_around(calls: Calls, reference: Reference) -> list[tuple[Binding, Values]]:
    """Return the blocks around a call, from the outermost, with what is `self` by their methods: a
    method that is called in an outer block is one of its `self`.
    """
    evaluator, blocks = calls.evaluator, list[tuple[Binding, Values]]()
    owners: Values = ()
    meanings = calls.project.index(calls.path).meanings(reference.scope, EVALUATED)
    for place in meanings.at(reference.at).places:
        if not isinstance(place, Binding):
            continue
        values: Values = ()
        if place.value.endswith(BLOCK_SELF):
            around = calls.path, place.scope, place.at
            helper = evaluator.helper(Blocks)
            values = helper.of_call(place.value, owners or helper.self_in(*around[:2]), around)
        owners = values or owners
        blocks.append((place, values))
    return blocks


def _members(calls: Calls, owners: Sequence[Value], callee: Callee) -> list[Ref]:
    """Return the methods of the called name of the first owner that has any."""
    for owner in owners:
        if owner.tag in ("inst", "def") and calls.project.definition(owner.ref).has_members:
            members = calls.evaluator.member_of_kind(owner.ref, callee.name, static=owner.tag == "def")
            if refs := calls.targets.callable_refs(members, callee.reference.arguments):
                return refs
    return []
