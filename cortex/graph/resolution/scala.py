"""What Scala's calls mean beyond members: `apply` of the object beside a class, in a constructor
`this(1)`, what functions without a name are given, packages' own objects, and packages by names
that begin in those around a file's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from cortex.graph.facts.facts import CASE, COMPANION, DEFAULT, LATER, PACKAGE, Reference
from cortex.graph.facts.types import split_top
from cortex.graph.resolution.arity import taken, takes
from cortex.graph.resolution.commonjs import Meanings
from cortex.graph.resolution.generics import NOTHING, Generics, Standing
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import EXTERNAL, Value
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: a link that says what a function without a name is given: as which argument it is passed, and
#: which of its parameters is meant
_GIVEN = re.compile(r"\(~(\d+)_(\d+)\)")
#: Scala's types of functions by their names
FUNCTIONS = ("PartialFunction[", "Function1[", "Function2[")


class Values(Meanings, Protocol):
    """What is asked about expressions and types."""

    @property
    def generics(self) -> Generics: ...

    def called(self, value: Value) -> tuple[Value, ...]: ...

    def declared(
        self, text: str, path: str, scope: int, standing: Standing = NOTHING
    ) -> tuple[Value, ...]: ...


class Scala:
    """Of a project that does not change while this lives."""

    def __init__(self, project: Project, values: Values) -> None:
        self._project = project
        self._values = values

    def taking(self, owners: tuple[Value, ...], members: tuple[Value, ...]) -> tuple[Value, ...]:
        """What takes a function that is called on `owners`: `members`, where these are functions,
        else what `owners` hold.
        """
        own = tuple(one for one in members if one.tag == "def")
        return own or tuple(one for owner in owners for one in self._named(owner))

    def _named(self, value: Value) -> tuple[Value, ...]:
        """A value; what a method without parameters gives that is named and not called."""
        if value.tag == "def":
            one = self._project.definition(value.ref)
            return self._values.called(value) if one.kind in CALLABLE_KINDS and not taken(one) else ()
        return (value,) if value.tag in ("list", "inst", "ext") else ()

    def passed_to(
        self, value: Value, link: str, owners: tuple[Value, ...], place: tuple[str, int]
    ) -> tuple[Value, ...]:
        """What a function without a name is given that is passed to `value`, a function or what
        holds elements.
        """
        match = _GIVEN.fullmatch(link)
        if match is None:
            return ()
        argument, number = int(match[1]), int(match[2])
        if value.tag == "list":
            inner = value.depth - 1
            one = value._replace(tag="list" if inner > 0 else "inst", depth=max(0, inner))
            return (one,) if not number else ()
        if value.tag != "def":  # an `Option`, whose value acts as what it holds
            return (value,) if not number and value.tag == "inst" else (EXTERNAL,)
        one_ = self._project.definition(value.ref)
        parameters = taken(one_)[argument : argument + 1] if one_.kind in CALLABLE_KINDS else ()
        for parameter in parameters:
            given = parameters_of(parameter.type.removesuffix(DEFAULT).removesuffix(LATER))
            if number < len(given):
                standing = self._values.generics.of_call(value, owners, place)
                return self._values.declared(given[number], *value.ref, standing)
        return ()

    def applied(self, value: Value, count: int) -> tuple[Value, ...]:
        """What a call of a type's name gives: of its object's `apply`, where all that may be called
        give the same; nothing for any other value, and where it is the class itself.
        """
        found = made(self._project, self._values, (value,), count) if value.tag == "def" else ()
        gives = {one.ref: self._values.called(one) for one in found}
        each = list(gives.values())
        return each[0] if each and all(one == each[0] for one in each) else ()

    def around(self, name: str, path: str) -> Iterator[str]:
        """The keys of what a name with dots is in the packages around a file's, and in its own."""
        package = self._project.home(path).partition(":")[2]
        while package:
            if key := self._project.find_module(f"{package}.{name}", path):
                yield key
            package = package.rpartition(".")[0]


def plain(text: str) -> tuple[str, str]:
    """A type without the arrow of what is passed by its name, `=> Disk`; what it gives where it is
    one of functions, `A => Disk`.
    """
    text = text.strip().removeprefix("=>").strip()
    at = _arrow(text)
    return (text, text[at + 2 :].strip()) if at >= 0 else (text, "")


def parameters_of(text: str) -> list[str]:
    """The types of what a function takes, by its own type: `A => B`, `(A, B) => C`,
    `PartialFunction[A, B]`.
    """
    text = text.strip().removeprefix("=>").strip()
    at = _arrow(text)
    if at < 0:
        held = next((text[len(one) : -1] for one in FUNCTIONS if text.startswith(one)), "")
        return split_top(held, ",")[:-1]
    taken_by = text[:at].strip()
    if taken_by.startswith("(") and taken_by.endswith(")"):
        return split_top(taken_by[1:-1], ",")
    return [taken_by]


def _arrow(text: str) -> int:
    """Where the first arrow of a type stands that is in no brackets; -1 for none."""
    depth = 0
    for at, one in enumerate(text):
        if one == "=" and text[at : at + 2] == "=>" and not depth:
            return at
        depth += (one in "[(") - (one in "])")
    return -1


def package_object(project: Project, home: str, scope: str = "") -> Iterator[Ref]:
    """The own objects of a package, or of what is one in it by the name `scope`: their members are
    the package's.
    """
    family, _, package = home.partition(":")
    if scope:
        yield from project.types_named(home, f"{scope}.{PACKAGE}")
    elif package:
        outer, _, name = package.rpartition(".")
        yield from project.types_named(f"{family}:{outer}", f"{name}.{PACKAGE}")


def made(project: Project, meanings: Meanings, values: tuple[Value, ...], count: int) -> tuple[Value, ...]:
    """What of the object by a type's name a call of that with `count` arguments may call: each
    `apply` that takes so many, and the class itself where nobody writes its own.
    """
    if len(values) != 1 or values[0].tag != "def":
        return ()
    whole = project.definition(values[0].ref)
    if whole.kind not in TYPE_KINDS:
        return ()
    own = object_of(project, values[0]).ref
    every = (*meanings.member(own, "apply"), *meanings.member(own, "apply", past=True))
    fitting = [v for v in dict.fromkeys(every) if v.tag == "def" and _is_called(project, v, values[0])]
    fitting = [v for v in fitting if takes(project.definition(v.ref), "scala", count)]
    if fitting and CASE in whole.flags and takes(whole, "scala", count):
        return (*fitting, values[0])
    return tuple(fitting)


def object_of(project: Project, value: Value) -> Value:
    """The object beside a class, or `value`."""
    one = project.definition(value.ref)
    for at in project.index(value.path).children.get((one.parent, one.name), ()):
        if COMPANION in project.definition((value.path, at)).flags:
            return value._replace(at=at)
    return value


def _is_called(project: Project, value: Value, on: Value) -> bool:
    """Whether a method is called on the object by a type's name: its own, or one that the object
    inherits.
    """
    parent = project.definition(value.ref).parent
    if parent < 0:
        return False
    around, whole = project.definition((value.path, parent)), project.definition(on.ref)
    own = around.qualified == whole.qualified and project.home(value.path) == project.home(on.path)
    has_object = COMPANION in project.definition(object_of(project, on).ref).flags
    return COMPANION in around.flags if own else COMPANION not in around.flags and has_object


def beside(project: Project, values: tuple[Value, ...], one: Reference) -> tuple[Value, ...]:
    """The class that a bare `apply(1)` may make one of in the object beside it, one of those that
    have an `apply` of their own that nobody writes.
    """
    for value in values if one.chain == "apply" else ():
        parent = project.definition(value.ref).parent if value.tag == "def" else -1
        around = project.definition((value.path, parent)) if parent >= 0 else None
        if around is None or COMPANION not in around.flags:
            continue
        for at in project.index(value.path).children.get((around.parent, around.name), ()):
            whole = project.definition((value.path, at))
            if CASE in whole.flags and COMPANION not in whole.flags:
                return (Value("def", value.path, at),) if takes(whole, "scala", max(0, one.arguments)) else ()
    return ()


def constructed(project: Project, path: str, one: Reference, own: Value) -> Value:
    """What `this(1)` calls on `own`: the class, in one of its constructors."""
    definitions = project.index(path).facts.definitions
    in_constructor = one.scope >= 0 and definitions[one.scope].name == one.chain == "this"
    return own._replace(tag="def") if in_constructor else own


def is_of_object(project: Project, value: Value) -> bool:
    """Whether a method is one of an object, and not of the class beside that."""
    parent = project.definition(value.ref).parent
    return parent >= 0 and COMPANION in project.definition((value.path, parent)).flags
