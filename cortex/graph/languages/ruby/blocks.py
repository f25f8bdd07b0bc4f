"""What is `self` in Ruby's blocks: the receiver of `instance_eval(&block)` in the method that gets
the block, or in one to which it passes the block on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cortex.graph.facts.expressions.chains import split_chain, strip_call
from cortex.graph.facts.facts import Binding
from cortex.graph.facts.ruby import BLOCK_SELF, EVALUATED, RUNS_BLOCK
from cortex.graph.languages.defaults import read_names
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.calling.common_names import COMMON
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import Value, merge_values
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

    def runners(self, method: Value, owners: tuple[Value, ...]) -> tuple[Value, ...]:
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
        receivers = owners or self._instances(method.ref)
        values = merge_values([self._of_chain(chain, method.ref, receivers) for chain in chains])
        self._open.discard(method.ref)
        return values

    def of_name(self, name: str) -> tuple[Value, ...]:
        """Return what the only method of a name that runs its block has as `self` there."""
        if name in METHODS or name in COMMON:
            return ()
        refs = [
            ref
            for ref in self._evaluator.methods_named(family_of("ruby"), name)
            if any(flag.startswith(RUNS_BLOCK) for flag in self._project.definition(ref).flags)
        ]
        return self.runners(Value("def", *refs[0]), ()) if len(refs) == 1 else ()

    def _instances(self, ref: Ref) -> tuple[Value, ...]:
        owner = self._evaluator.owners.of(*ref)
        if owner is None:
            return ()
        return (Value("def" if self._evaluator.scopes.is_static(ref) else "inst", *owner),)

    def _of_chain(self, chain: str, ref: Ref, receivers: tuple[Value, ...]) -> tuple[Value, ...]:
        if chain == "self":
            return receivers
        if not chain.endswith(BLOCK_SELF):
            return self._evaluator.evaluate(chain, *ref)
        receiver, name = split_chain(chain.removesuffix(BLOCK_SELF))
        if receiver == "self":
            values = [self._passed_on(owner, name) for owner in receivers]
        else:
            values = [self._evaluator.evaluate(chain, *ref)]
        return merge_values(values) or self.of_name(name)

    def _passed_on(self, owner: Value, name: str) -> tuple[Value, ...]:
        if name == "new":
            return self.runners(owner, ()) if owner.tag == "def" else ()
        if owner.tag not in ("inst", "def"):
            return ()
        members = self._evaluator.member_of_kind(owner.ref, name, static=owner.tag == "def")
        return merge_values(self.runners(member, (owner,)) for member in members)


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
    for place in reversed(calls.project.index(calls.path).places(reference.scope, EVALUATED)):
        if not isinstance(place, Binding) or not place.at <= reference.at < place.until:
            continue
        around = calls.path, place.scope, place.at
        if place.value.endswith(BLOCK_SELF):
            values = _selves(evaluator, place.value, around)
            if refs := _members(calls, values, callee):
                return refs
            if values:  # `self` is known
                return []
            continue
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


def _selves(evaluator: Evaluator, chain: str, place: tuple[str, int, int]) -> tuple[Value, ...]:
    """Return what is `self` in the block of a call; by the name of its method if nothing else tells
    that.
    """
    if values := evaluator.evaluate(chain, *place):
        return values
    name = split_chain(chain.removesuffix(BLOCK_SELF))[1]
    return (
        ()
        if evaluator.evaluate(chain.removesuffix(BLOCK_SELF), *place)
        else evaluator.helper(Blocks).of_name(name)
    )


def _members(calls: Calls, owners: Sequence[Value], callee: Callee) -> list[Ref]:
    """Return the methods of the called name of the first owner that has any."""
    for owner in owners:
        if owner.tag in ("inst", "def") and calls.project.definition(owner.ref).has_members:
            members = calls.evaluator.member_of_kind(owner.ref, callee.name, static=owner.tag == "def")
            if refs := calls.targets.callable_refs(members, callee.reference.arguments):
                return refs
    return []
