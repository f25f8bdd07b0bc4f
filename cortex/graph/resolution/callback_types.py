"""What the parameters of a script's unnamed functions are, by the types of those that the functions
are passed to (facts/contexts.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cortex.graph.facts.callback_types import Context, read
from cortex.graph.facts.facts import CALLED
from cortex.graph.facts.generics import named_with
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.reaching_bindings import ANYWHERE
from cortex.graph.facts.types import parameter_of, split_top
from cortex.graph.resolution.commonjs import HOPS_MAX, CommonJs, Meanings
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import Value
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: signatures of one function that are looked at
SIGNATURES_MAX = 24
#: number of the last parameter
LAST = -1
#: stands before the type of what takes all further arguments
REST = "..."
#: what a part of a tuple is called, `[run: Worker]`
_LABEL = re.compile(r"[\w$]+\??:\s*")


class Contexts:
    """Of a project that does not change while this lives."""

    def __init__(self, project: Project, meanings: Meanings, commonjs: CommonJs) -> None:
        self._project = project
        self._meanings = meanings
        self._commonjs = commonjs

    def of(self, value: str, path: str, scope: int, at: int = ANYWHERE) -> tuple[Value, ...]:
        """What a parameter may be; the first answer of several signatures."""
        one = read(value)
        if one.source.startswith(":"):
            return self._first(self._taken((one.source[1:], path, scope), one))
        callees = self._meanings.evaluate(one.source, path, scope, at)
        refs = [ref for callee in callees for ref in self._signatures(callee)]
        # Of a signature that was not read, its like: what takes a function takes it last.
        known = self._first(
            found
            for number in (one.argument, LAST)
            for ref in refs
            if (said := self._type_of(ref, number))
            for found in self._taken((said, *ref), one)
        )
        return known or self._first(
            found
            for said in self._declared(one.before, path, scope, at)
            if one.before and (text := _part(said[0], one.distance - 1))
            for found in self._taken((text, *said[1:]), one)
        )

    def _declared(
        self, chain: str, path: str, scope: int, at: int, hops: int = 0
    ) -> Iterator[tuple[str, str, int]]:
        """The types that a value is declared with, as they are written: text, file, scope."""
        if hops > HOPS_MAX or RULES[self._project.language(path)].family != "script":
            return
        if chain.endswith("()"):
            for value in self._meanings.evaluate(chain[:-2], path, scope, at):
                returns = self._project.definition(value.ref).returns if value.tag == "def" else ""
                if returns.startswith(":"):
                    yield returns[1:], *value.ref
            return
        index = self._project.index(path)
        for one in index.imports.get((-1, chain), ()):
            key = self._project.find_module(one.module, path)
            if key and key in self._project.packed:
                local = self._project.index(key).facts.exports.get(one.member, one.member)
                yield from self._declared(local, key, -1, ANYWHERE, hops + 1)
        for binding in index.tops.get((-1, chain), ()):
            if binding.value.startswith(":"):
                yield binding.value[1:], path, -1
            elif binding.value != chain:
                yield from self._declared(binding.value, path, -1, ANYWHERE, hops + 1)

    def _first(self, found: Iterable[tuple[Value, ...]]) -> tuple[Value, ...]:
        return next((values for values in found if values), ())

    def _taken(self, said: tuple[str, str, int], one: Context) -> Iterator[tuple[Value, ...]]:
        """What parameter `one.number` is of a function of the type `said`: text, file, scope."""
        text, path, scope = said
        if not one.keys and (inner := parameter_of(text, one.number)):
            yield self._meanings.evaluate(f":{inner}", path, scope)
            return
        values = self._meanings.evaluate(f":{text}", path, scope)
        for key in one.keys:
            values = tuple(each for value in values for each in self._meanings.attribute(value, key))
        for value in values:
            for ref in self._signatures(value):
                if inner := self._type_of(ref, one.number):
                    yield self._meanings.evaluate(f":{inner}", *ref)

    def _signatures(self, value: Value) -> list[Ref]:
        """All definitions of what a call of a value calls."""
        found: list[Ref] = []
        for whole in self._commonjs.unwrapped(value):
            name = CALLED if whole.tag == "inst" else "constructor"
            if whole.tag not in ("inst", "def"):
                continue
            definition = self._project.definition(whole.ref)
            if whole.tag == "def" and definition.kind in CALLABLE_KINDS:
                found += self._beside(whole.ref)
            elif definition.kind in TYPE_KINDS:
                members = self._meanings.member(whole.ref, name)
                found += [ref for one in members if one.tag == "def" for ref in self._beside(one.ref)]
        return found[:SIGNATURES_MAX]

    def _beside(self, ref: Ref) -> list[Ref]:
        """The signatures of a function, and itself."""
        one = self._project.definition(ref)
        index = self._project.index(ref[0])
        refs = index.members.get(one.scope, {}).get(one.name, [])
        return [each for each in refs if self._project.definition(each).kind == one.kind]

    def _type_of(self, ref: Ref, number: int) -> str:
        """The declared type of a parameter, of the last one where that takes the rest."""
        types = [one.type for one in self._project.definition(ref).parameters]
        number = len(types) - 1 if number == LAST else number
        if 0 <= number < len(types) and not types[number].startswith(REST):
            return types[number]
        if not types or not types[-1].startswith(REST):
            return ""
        rest = types[-1].removeprefix(REST).strip()
        if rest.endswith("[]"):
            return rest[:-2]
        return parameter_of(f"({rest.strip('[]')}) => x", number - len(types) + 1) if rest[:1] == "[" else ""


def _part(text: str, number: int) -> str:
    """A part of the one tuple among a type's arguments: `Worker` of `Macro<[Worker, string]>`."""
    tuples = [one for one in named_with(text)[1] if one.startswith("[") and one.endswith("]")]
    parts = split_top(tuples[0][1:-1], ",") if len(tuples) == 1 else []
    said = parts[number] if number < len(parts) else ""
    label = _LABEL.match(said)
    return said[label.end() :] if label else said
