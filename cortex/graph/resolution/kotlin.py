"""What Kotlin's calls mean beyond members: extensions, also of what a place is in, companions that
are called, and what a block that is passed is called on and given.
"""

from __future__ import annotations

import re
from typing import Protocol

from cortex.graph.facts.blocks import BLOCK, BLOCK_MARKS
from cortex.graph.facts.facts import BOUND, DEFAULT, PLATFORM, Definition, Reference
from cortex.graph.facts.types import split_top
from cortex.graph.resolution.arity import takes
from cortex.graph.resolution.extensions import Extensions
from cortex.graph.resolution.generics import NOTHING, Generics, Standing
from cortex.graph.resolution.implicit_receivers import Within
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.scopes import Scopes
from cortex.graph.resolution.supertypes import Supertypes
from cortex.graph.resolution.values import Value
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: what stands before the parameters of a block that has a receiver
_RECEIVER = re.compile(r"(?:suspend\s+)?([\w.]+(?:<[^()]*>)?)\??\.\(")
#: the one parameter of a function's type, or the first of several
_FIRST = re.compile(
    r"(?:suspend\s+)?(?:[\w.]+(?:<[^()]*>)?\??\.)?\(\s*(?:\w+\s*:\s*)?([\w.]+(?:<[^()]*>)?\??)\s*[,)]"
)
_NAME = re.compile(r"[\w.]+")
#: begins the names of what gives the parts of a value that is taken apart
PART = "component"
#: languages whose patterns take classes apart by what their constructors bind
_IN_PARTS = frozenset({"kotlin", "scala"})
#: names of function types inside one another
ALIASES_MAX = 3
#: a receiver of which nothing is known
_UNKNOWN = "?"
#: extensions that a call in a chain may mean
_SEVERAL_MAX = 48


class Values(Protocol):
    """What is asked about expressions."""

    @property
    def extensions(self) -> Extensions: ...

    @property
    def within(self) -> Within: ...

    @property
    def scopes(self) -> Scopes: ...

    @property
    def supertypes(self) -> Supertypes: ...

    def evaluate(self, chain: str, path: str, scope: int) -> tuple[Value, ...]: ...

    @property
    def generics(self) -> Generics: ...

    def declared(
        self, text: str, path: str, scope: int, standing: Standing = NOTHING
    ) -> tuple[Value, ...]: ...

    def member(self, owner: Ref, name: str) -> tuple[Value, ...]: ...


class Kotlin:
    """Of a project that does not change while this lives."""

    def __init__(self, project: Project, values: Values) -> None:
        self._project = project
        self._values = values

    def extended(  # noqa: PLR0917
        self,
        name: str,
        call: str,
        path: str,
        owners: tuple[Value, ...],
        known: tuple[Value, ...],
        receiver: str = "",
    ) -> tuple[Value, ...]:
        """What a call of `name` on `owners` calls: `known`, its members, or an extension where none
        of these takes so many arguments, or they are extensions themselves.
        """
        extensions = self._values.extensions
        block = call[1:2] in BLOCK_MARKS
        count = 0 if block else int(call.strip("(_)") or 0)
        own = [value for value in known if value.tag == "def" and not extensions.is_one(value)]
        if own and (block or any(takes(self._project.definition(v.ref), "kotlin", count) for v in own)):
            return known
        told = any(value.tag != "def" for value in known) and not extensions.is_evident(receiver, path)
        if known and not own and told:
            return known
        found = extensions.kotlin(name, path, owners, receiver) if owners or receiver else []
        refs = [one.ref for one in found] if block else extensions.nearest(found, count)
        return tuple(Value("def", *ref) for ref in refs[:_SEVERAL_MAX]) or known

    def implicit(
        self, name: str, call: str, place: tuple[str, int, int], known: tuple[Value, ...]
    ) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """What a bare call at a place (path, scope, byte) calls, and on what: `known`, or an
        extension of what the blocks, functions and types around it are called on.
        """
        extensions = self._values.extensions
        if any(value.tag != "def" or not extensions.is_one(value) for value in known):
            return known, ()
        if not extensions.is_known(name, place[0]):
            return known, ()
        for owner in self._values.within.receivers(*place):
            values = self.extended(name, call, place[0], (owner,), ())
            if values:
                return values, (owner,)
        # Something around may be of a type from outside, as in `buildString { … }`.
        return known or self.extended(name, call, place[0], (), (), _UNKNOWN), ()

    def past_variables(self, name: str, path: str, scope: int) -> tuple[Value, ...]:
        """The functions of that name that are written around a scope: a variable that is known to
        be none hides no function.
        """
        index = self._project.index(path)
        while scope >= 0:
            scope = index.outer(scope)
            found, _ = self._values.scopes.lookup(name, path, scope)
            if any(value.tag == "def" for value in found):
                return tuple(value for value in found if value.tag == "def")
        return ()

    def passed_to(
        self, value: Value, link: str, owners: tuple[Value, ...], place: tuple[str, int]
    ) -> tuple[Value, ...]:
        """What the block that a function takes is called on (BLOCK), `Disk.() -> Unit`, or given
        (GIVEN), `(Disk) -> Unit`: of its last parameter, or of the one that the link names.
        """
        one = self._project.definition(value.ref) if value.tag == "def" else None
        if one is None or not one.parameters or one.kind not in CALLABLE_KINDS:
            return ()
        which = link.strip("()^~")
        told = [each.type for each in one.parameters if each.name == which or not which]
        if which.isdecimal():
            told = [each.type for each in one.parameters[int(which) : int(which) + 1]]
        kind = _RECEIVER if link.startswith(BLOCK[:-1]) else _FIRST
        said = self._function_type(told[-1], value.ref) if told else None
        if said is None or (match := kind.match(said[0])) is None:
            return ()
        if owners and is_generic(one) and match[1].rstrip("?") == one.scope:  # `T.() -> Unit` of `T.f`
            return owners
        standing = self._values.generics.of_call(value, owners, place)
        return self._values.declared(match[1], *said[1], standing)

    def _function_type(self, text: str, ref: Ref) -> tuple[str, Ref] | None:
        """A function's type as it is written, and where: also behind another name of it."""
        for _ in range(ALIASES_MAX):
            text = text.removesuffix(DEFAULT).strip()
            while text.startswith("(") and text.rstrip("?").endswith(")") and "->" in text:
                inner = text.rstrip("?")[1:-1].strip()
                if "->" not in inner or inner.count("(") != inner.count(")"):
                    break
                text = inner
            if "->" in text:
                return text, ref
            name = _NAME.match(text)
            found = self._values.evaluate(name[0], *ref) if name is not None else ()
            aliases = [
                v.ref for v in found if v.tag == "def" and self._project.definition(v.ref).kind == "type"
            ]
            if not aliases:
                return None
            ref = aliases[0]
            text = self._project.definition(ref).returns.lstrip(":")
        return None

    def part(self, value: Value, name: str) -> str:
        """The name of the part that `val (a, b) = x` takes of a class's instance: `component2` is
        what its constructor binds second.
        """
        number = name.removeprefix(PART)
        if (
            value.tag != "inst"
            or not number.isdecimal()
            or self._project.language(value.path) not in _IN_PARTS
        ):
            return name
        facts = self._project.index(value.path).facts
        held = [one.name for one in facts.bindings if one.scope == value.at][: int(number)]
        return held[-1] if held and len(held) == int(number) else name

    def given_back(self, one: Definition, owners: tuple[Value, ...]) -> tuple[Value, ...]:
        """What an extension is called on, where it gives that back: `fun <T : Disk> T.add(): T`."""
        return owners if is_generic(one) and one.returns[1:].rstrip("?") == one.scope else ()

    def unaliased(self, refs: list[Ref]) -> list[Ref]:
        """`refs` with the classes that other names stand for; none of what is `expect`ed where that
        is another name for what comes from outside.
        """
        found: dict[Ref, None] = {}
        for ref in refs:
            one = self._project.definition(ref)
            if one.kind != "type" or not one.bases:
                found[ref] = None
                continue
            types = self._values.supertypes.base(ref, one.bases[0].chain)
            if not types and PLATFORM in one.flags:
                return []
            found |= dict.fromkeys(types)
        return list(found)

    def made(self, values: tuple[Value, ...], one: Reference) -> tuple[Value, ...]:
        """`values`, or `operator fun invoke` of a class's companion where that takes what is
        passed.
        """
        if len(values) != 1 or values[0].tag != "def":
            return values
        if self._project.definition(values[0].ref).kind not in TYPE_KINDS:
            return values
        found = [value for value in self._values.member(values[0].ref, "invoke") if value.tag == "def"]
        own = [(value, self._project.definition(value.ref)) for value in found]
        own = [(v, each) for v, each in own if (v.path, each.parent) == values[0].ref]  # not of a base's
        fitting = (v for v, each in own if "static" in each.flags and takes(each, "kotlin", one.arguments))
        return tuple(fitting) or values


def result_of(text: str) -> str:
    """What a type of functions gives, `(A) -> B`; "" where a text is no such type."""
    text = text.strip().rstrip("?").removesuffix(DEFAULT).strip()
    if text.startswith("(") and split_top(text, ")") == [text[1:-1]]:
        return result_of(text[1:-1])
    depth = 0
    for at, one in enumerate(text):
        arrow = one == ">" and text[at - 1 : at] == "-"
        if arrow and not depth:
            return text[at + 1 :].strip()
        depth += (one in "<([") - (one in ">)]" and not arrow)
    return ""


def as_function(one: Value) -> Value:
    """A function without a name that gives `one`."""
    return one._replace(tag="elem", depth=one.depth + 1) if one.tag in ("inst", "list") else one


def is_generic(one: Definition) -> bool:
    """Whether an extension is of a type parameter."""
    return any(flag.startswith(BOUND) for flag in one.flags)
