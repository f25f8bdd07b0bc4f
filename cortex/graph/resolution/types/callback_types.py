"""Parameter types of a script's unnamed functions, from the type of the function that they are
passed to (facts/expressions/callback_types.py).
"""

import re
from collections.abc import Iterable, Iterator

from cortex.graph.facts.declared.generics import split_generic
from cortex.graph.facts.declared.types import parameter_type, split_top_level
from cortex.graph.facts.expressions.callback_types import ITSELF, Context, decode_context
from cortex.graph.facts.facts import CALLED
from cortex.graph.facts.reaching_bindings import ANYWHERE
from cortex.graph.resolution.evaluation.values import ChainEvaluator, Value, Values
from cortex.graph.resolution.modules.commonjs import HOPS_MAX, CommonJs
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: signatures of one function that are read
SIGNATURES_MAX = 24
#: number of the last parameter
LAST = -1
#: precedes the type of a rest parameter
REST_MARK = "..."
#: the label of a tuple's element, `[run: Worker]`
_LABEL = re.compile(r"[\w$]+\??:\s*")


class Contexts:
    """Evaluator of such parameters. Valid while the project does not change."""

    def __init__(self, project: Project, meanings: ChainEvaluator, commonjs: CommonJs) -> None:
        self._project, self._meanings, self._commonjs = project, meanings, commonjs

    def values_of(self, value: str, path: str, scope: int, at: int = ANYWHERE) -> Values:
        """Return the values of a parameter; of several signatures the first with an answer."""
        context = decode_context(value)
        if context.source.startswith(":"):
            return self._first(self._parameter_values((context.source[1:], path, scope), context))
        callees = self._meanings.evaluate(context.source, path, scope, at)
        refs = [ref for callee in callees for ref in self._signatures(callee)]
        # If that signature is not readable: functions usually take a callback last.
        values = self._first(
            candidates
            for number in (context.argument, LAST)[: 1 if context.number == ITSELF else 2]
            for ref in refs
            if (declared := self._type_of(ref, number))
            for candidates in self._parameter_values((declared, *ref), context)
        )
        return values or self._first(
            candidates
            for declaration in self._declared(context.before, path, scope, at)
            if context.before and (text := _tuple_part(declaration[0], context.distance - 1))
            for candidates in self._parameter_values((text, *declaration[1:]), context)
        )

    def _declared(
        self, chain: str, path: str, scope: int, at: int, hops: int = 0
    ) -> Iterator[tuple[str, str, int]]:
        """Yield the declared types of a value as (text, file, scope)."""
        if hops > HOPS_MAX or not self._project.rules(path).whole_exports:
            return
        if chain.endswith("()"):
            for value in self._meanings.evaluate(chain[:-2], path, scope, at):
                returns = self._project.definition(value.ref).returns if value.tag == "def" else ""
                if returns.startswith(":"):
                    yield returns[1:], *value.ref
            return
        index = self._project.index(path)
        for statement in index.imports.get((-1, chain), ()):
            key = self._project.find_module(statement.module, path)
            if key and key in self._project.packed:
                local = self._project.index(key).facts.exports.get(statement.member, statement.member)
                yield from self._declared(local, key, -1, ANYWHERE, hops + 1)
        for binding in index.top_bindings.get((-1, chain), ()):
            if binding.value.startswith(":"):
                yield binding.value[1:], path, -1
            elif binding.value != chain:
                yield from self._declared(binding.value, path, -1, ANYWHERE, hops + 1)

    def _first(self, candidates: Iterable[Values]) -> Values:
        return next((values for values in candidates if values), ())

    def _parameter_values(self, declaration: tuple[str, str, int], context: Context) -> Iterator[Values]:
        """Yield the values of parameter `context.number` for a function of the declared type.

        `declaration` is (text of the type, file, scope).
        """
        text, path, scope = declaration
        if context.number == ITSELF:
            yield self._meanings.evaluate(f":{text}", path, scope)
            return
        if not context.keys and (inner := parameter_type(text, context.number)):
            yield self._meanings.evaluate(f":{inner}", path, scope)
            return
        values = self._meanings.evaluate(f":{text}", path, scope)
        for key in context.keys:
            values = tuple(member for value in values for member in self._meanings.attribute(value, key))
        for value in values:
            for ref in self._signatures(value):
                if inner := self._type_of(ref, context.number):
                    yield self._meanings.evaluate(f":{inner}", *ref)

    def _signatures(self, value: Value) -> list[Ref]:
        """Return all definitions that a call of a value may mean."""
        signatures: list[Ref] = []
        for callee in self._commonjs.unwrap_module(value):
            name = CALLED if callee.tag == "inst" else "constructor"
            if callee.tag not in ("inst", "def"):
                continue
            definition = self._project.definition(callee.ref)
            if callee.tag == "def" and definition.kind in CALLABLE_KINDS:
                signatures += self._overloads_of(callee.ref)
            elif definition.kind in TYPE_KINDS:
                members = self._meanings.member(callee.ref, name)
                signatures += [
                    ref for member in members if member.tag == "def" for ref in self._overloads_of(member.ref)
                ]
        return signatures[:SIGNATURES_MAX]

    def _overloads_of(self, ref: Ref) -> list[Ref]:
        """Return the signatures of a function, and itself."""
        definition = self._project.definition(ref)
        index = self._project.index(ref[0])
        refs = index.members.get(definition.scope, {}).get(definition.name, [])
        return [other for other in refs if self._project.definition(other).kind == definition.kind]

    def _type_of(self, ref: Ref, number: int) -> str:
        """Return the declared type of a parameter; of a rest parameter the type of its elements."""
        types = [parameter.type for parameter in self._project.definition(ref).parameters]
        number = len(types) - 1 if number == LAST else number
        if 0 <= number < len(types) and not types[number].startswith(REST_MARK):
            return types[number]
        if not types or not types[-1].startswith(REST_MARK):
            return ""
        last_type = types[-1].removeprefix(REST_MARK).strip()
        if last_type.endswith("[]"):
            return last_type[:-2]
        return (
            parameter_type(f"({last_type.strip('[]')}) => x", number - len(types) + 1)
            if last_type[:1] == "["
            else ""
        )


def _tuple_part(text: str, number: int) -> str:
    """An element of the only tuple in type arguments: `Worker` of `Macro<[Worker, string]>`."""
    tuples = [
        argument for argument in split_generic(text)[1] if argument.startswith("[") and argument.endswith("]")
    ]
    parts = split_top_level(tuples[0][1:-1], ",") if len(tuples) == 1 else []
    part_type = parts[number] if number < len(parts) else ""
    label = _LABEL.match(part_type)
    return part_type[label.end() :] if label else part_type
