"""Which of several functions of one name a call can mean, by what it passes: literals, casts, new
objects, and what is declared with its type. Says several where that does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cortex.graph.facts.arguments import NAMED, WIDENING
from cortex.graph.facts.chains import POINTED
from cortex.graph.facts.facts import COMPANION, DEFAULT, FREE, MANY, Binding, Definition, Reference
from cortex.graph.resolution import kotlin_types
from cortex.graph.resolution.arity import generics, is_many, slots, taken, takes
from cortex.graph.resolution.conversions import ARGUMENT_LIST, ELEMENTS, OWN, fit_of_cpp, of_cpp
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.linkage import signature
from cortex.graph.resolution.plain_types import (
    COLLECTIONS,
    PRIMITIVES,
    VALUES,
    bare,
    of_csharp,
    of_scala,
)
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: languages whose calls of other numbers of arguments are no calls of a function
_COUNTED = frozenset({"kotlin", "csharp", "scala"})
#: ends a chain with a call
_CALL = re.compile(r"\(_?(\d*)\)$")
#: values that one is made from, followed to find a type
FOLLOWED_MAX = 3
_BOXES = {
    "Integer": "int",
    "Long": "long",
    "Double": "double",
    "Float": "float",
    "Boolean": "boolean",
    "Character": "char",
    "Byte": "byte",
    "Short": "short",
}
#: C#'s types that stand for no function
_NO_FUNCTIONS = frozenset(
    "String CancellationToken Type Guid DateTime TimeSpan Exception StringBuilder Stream Task IEnumerable List "
    "IList ICollection Dictionary IDictionary HashSet Regex CultureInfo Encoding StringComparison".split()
)
#: what a text can be given for beside its own type
_OF_TEXT = frozenset({"CharSequence", "Comparable", "Serializable", "IEnumerable"})
#: what a boxed number can be given for
_OF_NUMBERS = frozenset({"Number", "Comparable", "Serializable"})
#: what `Disk.class` can be given for
_OF_CLASSES = frozenset({"Type", "AnnotatedElement", "GenericDeclaration", "Serializable", "Constable"})
#: begins a type that is likely: it counts where a candidate takes exactly that
LIKELY = "?"
#: what makes one of a type by the name of that
_MAKERS = frozenset("of valueOf getInstance from parse".split())
#: fits that say that a parameter takes what is given, and not merely that it may
_CERTAIN = 0.8
#: C++'s literals, as its types are called
_LITERALS_OF_CPP = {"String": "char*", "boolean": "bool", "null": "null", "fn": "fn"}
_GIVES_OF_CPP = {"string": "string", "to_string": "string", "c_str": "char*"}
#: what methods of Java's own types give, whatever they are called on
_GIVES = {
    **dict.fromkeys("toString substring trim toLowerCase toUpperCase concat getMessage".split(), "String"),
    **dict.fromkeys("length size hashCode indexOf lastIndexOf compareTo intValue ordinal".split(), "int"),
    **dict.fromkeys(
        "equals isEmpty contains startsWith endsWith equalsIgnoreCase hasNext containsKey".split(), "boolean"
    ),
    "getClass": "Class",
    "longValue": "long",
    "doubleValue": "double",
    "charAt": "char",
    "toCharArray": "char[]",
    "getBytes": "byte[]",
}


def unnamed(passed: str) -> str:
    """What is passed, without the name of its parameter."""
    return passed.partition(NAMED)[2] or passed


def _names_in(passed: Sequence[str]) -> list[str]:
    return [one.partition(NAMED)[0] if NAMED in one else "" for one in passed]


class Overloads:
    """Reads one file of a project."""

    def __init__(self, project: Project, evaluator: Evaluator, path: str) -> None:
        self.project = project
        self.evaluator = evaluator
        self.path = path
        self.index = project.index(path)
        self.language = self.index.facts.language
        #: (chain, scope, byte) → the type of what is passed
        self._passed: dict[tuple[str, int, int], str] = {}

    def chosen(self, refs: Sequence[Ref], one: Reference, skipped: int = 0) -> list[Ref]:
        """Those of `refs` that take what `one` passes, behind `skipped` parameters; the best where
        one is better than all.
        """
        given, names = self._given_to(refs, one), _names_in(one.passed)
        if skipped:  # the receiver is given as well
            receiver = one.chain.rpartition(".")[0]
            given = [self._type_of(receiver, one.scope, one.at), *given]
            names = ["", *names]
        scored = [(score, ref) for ref in refs if (score := self._score(ref, given, names)) is not None]
        if not scored:
            return list(refs)
        sure = [(score, ref) for score, ref in scored if score[0] >= _CERTAIN]
        # Those that take many are looked at where no other takes what is given.
        if any(total >= 0 for (_, total), _ in sure) or not any(
            least > 0 and total >= 0 for (least, total), _ in scored
        ):
            scored = sure or scored  # what takes it comes before what may take it
        best = max(total for (_, total), _ in scored)
        fitting = [ref for _, ref in scored]
        leading = [(least, ref) for (least, total), ref in scored if total == best]
        if len(leading) > 1 or not self._settled(fitting, given, names):
            return fitting
        # One that may be a type from outside is no more likely than one that stands for any.
        guessed = self.language in _COUNTED and any(given) and not leading[0][0]
        if self.language == "scala" and leading[0][0] < _CERTAIN:
            guessed = guessed or any(not least for (least, _), _ in scored)
        return fitting if guessed else [leading[0][1]]

    def may_take(self, refs: Sequence[Ref], one: Reference) -> bool:
        """Whether one of `refs` may be what `one` calls, by what it passes."""
        given, names = self._given_to(refs, one), _names_in(one.passed)
        return any(self._score(ref, given, names) is not None for ref in refs)

    def _given_to(self, refs: Sequence[Ref], one: Reference) -> list[str]:
        """The types of what is passed, "" where they are not evident."""
        given = [self.type_of(unnamed(chain), one.scope, one.at) for chain in one.passed]
        if not any(each.startswith(LIKELY) for each in given):
            return given
        takes = [[one.type for one in self.project.definition(ref).parameters] for ref in refs]
        for at, each in enumerate(given):
            if each.startswith(LIKELY):
                taken = {
                    self._bare(types[min(at, len(types) - 1)].removeprefix(MANY)) for types in takes if types
                }
                given[at] = each[1:] if each[1:] in taken else ""
        return given

    def type_of(self, chain: str, scope: int, at: int) -> str:
        """As `_type_of`; asked again for each function that a call may mean."""
        known = self._passed.get((chain, scope, at))
        if known is None:
            known = self._passed[chain, scope, at] = self._type_of(chain, scope, at)
        return known

    def _settled(self, refs: Sequence[Ref], given: Sequence[str], names: Sequence[str]) -> bool:
        """Whether all is known of what is given where the parameters differ."""
        if self.language == "java":
            taken = [
                [self._bare(one.type) for one in self.project.definition(ref).parameters] for ref in refs
            ]
        else:
            taken = [self._wanted(ref, given, names) or [] for ref in refs]
        return all(
            known or len({tuple(types[at : at + 1]) for types in taken}) == 1
            for at, known in enumerate(given)
        )

    def _wanted(self, ref: Ref, given: Sequence[str], names: Sequence[str]) -> list[str] | None:
        """The types of the parameters that arguments are for; None when they do not fit."""
        one = signature(self.project, ref)
        found = slots(taken(one), given, names)
        if found is None:
            return None
        if self.language == "cpp":
            return [of_cpp(each.type.removeprefix(MANY).removesuffix(DEFAULT)) for each in found]
        if self.language == "csharp":
            free = self._type_parameters(ref)
            return [of_csharp(each.type, other, free) for each, other in zip(found, given, strict=True)]
        if self.language == "scala":
            free = self._type_parameters(ref)
            return [self._said(of_scala(each.type, free), ref) for each in found]
        types = [self._bare(each.type.removeprefix(MANY)) for each in found]
        named = {flag[1:] for flag in one.flags if flag.startswith(FREE)}
        return ["T" if name in named else name for name in types] if named else types

    def _said(self, name: str, ref: Ref) -> str:
        """A type's name where Scala's function is written; "" for `type Elem`, which does not say
        what it is, and for another name.
        """
        found = self.evaluator.evaluate(name, *ref) if name[:1].isupper() and name != "Object" else ()
        kinds = (self.project.definition(one.ref).kind for one in found if one.tag == "def")
        return "" if "type" in kinds else name

    def _type_parameters(self, ref: Ref) -> frozenset[str]:
        """Of a function and of the types around it."""
        at, found = ref[1], list[str]()
        while at >= 0:
            one = self.project.definition((ref[0], at))
            found += generics(one)
            at = one.parent
        return frozenset(found)

    def _score(self, ref: Ref, given: Sequence[str], names: Sequence[str]) -> tuple[float, float] | None:
        """How well parameters take that of what is known to be given which fits worst; how well
        they take all, below 0 where one stands for many; None when they cannot.
        """
        if self.language == "java":
            return self._score_of_java(ref, given)
        wanted = self._wanted(ref, given, names)
        if wanted is None:
            return None if self.language in _COUNTED else (0.0, 0.0)
        fits = [self._fit(one, other) for one, other in zip(wanted, given, strict=True)]
        known = [one for one in fits if one is not None]
        if len(known) < len(fits):
            return None
        parameters = taken(self.project.definition(ref))
        many = any(map(is_many, parameters))
        unused = max(0, len(parameters) - len(given) - many)
        if self.language in ("csharp", "cpp"):
            return self._least(known, given), 10 + sum(known) - 0.05 * unused - 0.3 * many
        # One that stands for many is the last that is meant; then one with more defaults.
        less = 0.9 * unused / (unused + 1) + many if self.language == "kotlin" else unused + 0.3 * many
        return self._least(known, given), max(0.0, sum(known) + 0.1 * len(fits) - less)

    def _score_of_java(self, ref: Ref, given: Sequence[str]) -> tuple[float, float] | None:
        types = [one.type for one in self.project.definition(ref).parameters]
        rest = types[-1][2:] if types and types[-1].startswith(MANY) else ""
        if len(types) == len(given):
            fits = [self._fit(self._bare(one), other) for one, other in zip(types, given, strict=True)]
            known = [one for one in fits if one is not None]
            if len(known) == len(fits):
                return self._least(known, given), sum(known) + 0.1 * len(fits)
        if not rest or len(given) < len(types) - 1:
            return None
        wanted = [*types[:-1], *[rest] * (len(given) - len(types) + 1)]
        fits = [self._fit(self._bare(one), other) for one, other in zip(wanted, given, strict=True)]
        known = [one for one in fits if one is not None]
        return (self._least(known, given), sum(known) - 100) if len(known) == len(fits) else None

    def _least(self, fits: Sequence[float], given: Sequence[str]) -> float:
        if not any(given):
            return 0.0
        pairs = zip(fits, given, strict=True)
        return min(
            (fit for fit, other in pairs if other not in ("", "null") and other[:2] != "fn"), default=_CERTAIN
        )

    def _bare(self, text: str) -> str:
        if self.language == "csharp":
            name = bare(text, kotlin=False)
            return name + "?" * (name in VALUES and text.rstrip().endswith("?"))
        if self.language == "cpp":
            name = of_cpp(text.lstrip(":"))
            return "char*" if name == "char" else name  # what is declared is kept without its stars
        if self.language == "scala":
            return of_scala(text.lstrip(":"))
        return bare(text, kotlin=self.language == "kotlin")

    def _fit(self, wanted: str, given: str) -> float | None:
        if wanted == ARGUMENT_LIST and given != wanted and self.language == "cpp":
            return None  # who passes one has it by a name
        if not given or not wanted:
            return 0.0
        if self.language == "cpp":
            fit = fit_of_cpp(wanted, given)
            return self._inherits(wanted.rstrip("*"), given.rstrip("*")) if fit == OWN else fit
        if wanted == given:
            return 5.0
        if self.language == "scala" and (fit := self._fit_of_scala(wanted, given)) is not None:
            return fit
        if wanted == "fn":
            return None
        if given == "KClass":
            return 0.5 if wanted == "Object" or (len(wanted) < 3 and wanted.isupper()) else None
        if given == "Class" and wanted not in ("Class", "Object") and len(wanted) > 2:
            return 3.0 if wanted in _OF_CLASSES else None
        if wanted[-1] == "?" or given[-1] == "?":
            return self._fit_of_values(wanted, given)
        free = wanted == "Object" or (len(wanted) < 3 and wanted.isupper())
        if given == "anonymous":
            return 0.5 if free else None
        if given[:2] == "fn" and given[2:].isdigit():
            return self._fit_of_function(wanted)
        if wanted[:2] == "fn" and wanted[2:].isdigit():
            return (
                None
                if given != "fn" and (given in PRIMITIVES or given == "String" or self._own(given))
                else 0.0
            )
        if given in ("null", "fn"):
            return None if wanted in PRIMITIVES or (given == "fn" and wanted.endswith("[]")) else 0.5
        if given.endswith("[]"):
            inner = given[:-2]
            if wanted.endswith("[]") and inner not in PRIMITIVES:
                return self._fit(wanted[:-2], inner)
            return 0.5 if free else None
        if wanted.endswith("[]"):
            return None if len(given) > 2 else 0.0
        if given in PRIMITIVES:
            if wanted in PRIMITIVES:
                return self._widened(wanted, given)
            return 1.0 if _BOXES.get(wanted) == given else 0.5 if free or wanted in _OF_NUMBERS else None
        if wanted in PRIMITIVES:
            return (self._widened(wanted, _BOXES[given]) if given in _BOXES else None) and 0.8
        if free:  # a boxed number is rather given as it is than unboxed
            return 0.9 if given in _BOXES else 0.5
        if given == "String":
            return 2.0 if wanted in _OF_TEXT else None
        if given in _BOXES:
            return 2.0 if wanted in _OF_NUMBERS else None
        return self._inherits(wanted, given)

    def _fit_of_scala(self, wanted: str, given: str) -> float | None:
        """What Scala's own types and those that are declared without saying what they are may be
        given for; None where that is as in other languages.
        """
        if wanted == "fn":
            return 1.0 if given in COLLECTIONS else 0.0 if given not in (*PRIMITIVES, "String") else None
        if given == "String" and wanted in COLLECTIONS:
            return 0.3
        unsaid = (self._own(one) for one in (wanted, given) if one[:1].isupper() and one != "Object")
        return 0.0 if any(ref and self.project.definition(ref).kind == "type" for ref in unsaid) else None

    def _fit_of_values(self, wanted: str, given: str) -> float | None:
        """C#'s values that may be missing, `int?`."""
        if given == "null":
            return 0.6 if wanted[-1] == "?" else None
        fit = self._fit(wanted.rstrip("?"), given.rstrip("?"))
        if given[-1] == "?" and wanted[-1] != "?":
            return fit if wanted == "Object" else None
        return None if fit is None else min(fit, 3.0)

    def _fit_of_function(self, wanted: str) -> float | None:
        """C#'s function without a name, for anything but one of as many parameters."""
        if wanted[:2] == "fn" or wanted in PRIMITIVES or wanted.endswith("[]") or wanted in _NO_FUNCTIONS:
            return None
        own = self._own(wanted)
        return None if own is not None and self.project.definition(own).kind != "type" else 0.3

    def _widened(self, wanted: str, given: str) -> float | None:
        if wanted == given:
            return 5.0
        if "boolean" in (wanted, given):
            return None
        distance = WIDENING.index(wanted) - WIDENING.index(given)
        return 4.0 - 0.2 * distance if distance > 0 and wanted != "char" else None

    def _own(self, name: str) -> Ref | None:
        """The project's type of that name as this file means it."""
        for value in self.evaluator.evaluate(name, self.path, -1):
            if value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS:
                return value.ref
        return None

    def _inherits(self, wanted: str, given: str) -> float | None:
        """A type that is given for one of its supertypes; unknown ones may fit."""
        if self.language == "kotlin" and given in kotlin_types.SUPERS:
            return self._inherits_of_kotlin(wanted, kotlin_types.SUPERS[given])
        own = self._own(given)
        if own is None:
            return 0.0
        supers = self.evaluator.supertypes.of(own)
        for far, ref in enumerate(supers.types):
            if self.project.definition(ref).name == wanted:
                return max(2.5, 3.0 - 0.01 * far)
        return None if supers.whole or self._own(wanted) is not None else 0.0

    def _inherits_of_kotlin(self, wanted: str, supers: Sequence[str]) -> float | None:
        """A type of Kotlin's own that is given for one of its supertypes."""
        if wanted in supers:
            return 3.0 - 0.1 * supers.index(wanted)
        told = wanted in kotlin_types.SUPERS or wanted in _OF_TEXT or wanted == "String"
        return None if told or self._own(wanted) is not None else 0.0

    def _type_of(self, chain: str, scope: int, at: int, depth: int = 0) -> str:
        """The bare type of an expression, "" when it is not evident."""
        if chain.startswith("#") and "." not in chain:  # not what is called on a literal
            return chain[1:] if self.language != "cpp" else _LITERALS_OF_CPP.get(chain[1:], of_cpp(chain[1:]))
        if chain.startswith(":"):
            return self._bare(chain)
        if chain == "?" or depth > FOLLOWED_MAX:
            return ""
        if chain.replace("_", "").isalnum():
            return self._variable(chain, scope, at, depth)
        if chain.endswith(POINTED):
            return self._made(chain, scope, at) or self._type_of(chain[: -len(POINTED)], scope, at, depth + 1)
        if chain.endswith("[]"):
            held = self._type_of(chain[:-2], scope, at, depth + 1)
            return held[:-2] if held.endswith("[]") else ""
        if called := _CALL.search(chain):
            callee = chain[: called.start()]
            found = self.evaluator.evaluate(callee, self.path, scope, at)
            methods = [self.project.definition(one.ref) for one in found if one.tag == "def"]
            count = int(called[1] or 0)
            fitting = [one for one in methods if takes(one, self.language, count)] or methods
            told = {self._given(one) for one in fitting}
            made = self.language == "csharp" and callee.isidentifier() and callee[0].isupper()
            outside = "" if told else callee if made else self._outside(callee)  # `new DateTime()`
            return told.pop() if len(told) == 1 else outside
        return self._made(chain, scope, at) or self._field(chain, scope, at) or self._outside(chain)

    def _field(self, chain: str, scope: int, at: int) -> str:
        """The declared type of a field: `this.size`, `Disk.NAME`."""
        owner, _, name = chain.rpartition(".")
        for value in self.evaluator.evaluate(owner, self.path, scope, at) if owner else ():
            if value.tag in ("inst", "def"):
                home, one = self.project.home(value.path), self.project.definition(value.ref)
                for _, binding in self.project.fields_of(home, one.qualified, name):
                    return self._bare(binding.value) if binding.value.startswith(":") else ""
        return ""

    def _outside(self, chain: str) -> str:
        """What is given by what the project does not define: Java's own types, constants of types
        from outside and what makes one of them.
        """
        if self.language == "cpp":
            name = chain.rpartition(".")[2]
            return _GIVES_OF_CPP.get(name, name if name in ELEMENTS else "")
        if self.language == "kotlin":
            owner, _, name = chain.rpartition(".")
            return (kotlin_types.GIVEN if owner else kotlin_types.MADE).get(name, "")
        if self.language != "java":
            return ""
        owner, _, name = chain.rpartition(".")
        last = owner.rpartition(".")[2]
        if not owner:
            return name if name[:1].isupper() else ""
        if last[:1].isupper() and last.isalnum() and (name.isupper() or name in _MAKERS or name == "NaN"):
            return _BOXES.get(last, LIKELY + last) if name not in _MAKERS else LIKELY + last
        return LIKELY + ("String" if owner == "String" else _GIVES.get(name, ""))

    def _made(self, chain: str, scope: int, at: int) -> str:
        """The type of the project that an expression is one of."""
        found = self.evaluator.evaluate(chain, self.path, scope, at)
        if self.language == "scala" and len(found) == 1 and found[0].tag == "def":
            one = self.project.definition(found[0].ref)
            return one.name if COMPANION in one.flags else ""
        names = {self.project.definition(one.ref).name for one in found if one.tag == "inst"}
        # Of one type that each system has for itself all are meant.
        return names.pop() if len(names) == 1 and all(one.tag == "inst" for one in found) else ""

    def _given(self, one: Definition) -> str:
        """What a call of a definition gives."""
        if one.kind in TYPE_KINDS:
            return one.name
        told = one.kind in CALLABLE_KINDS and one.returns.startswith(":")
        bare = self._bare(one.returns) if told else ""
        return bare if len(bare.rstrip("[]")) > 2 or bare in PRIMITIVES else ""

    def _variable(self, name: str, scope: int, at: int, depth: int) -> str:
        definitions = self.index.facts.definitions
        here = scope
        while here >= 0:
            if definitions[here].kind in TYPE_KINDS:
                home = self.project.home(self.path)
                fields = self.project.fields_of(home, definitions[here].qualified, name)
                for _, binding in fields:
                    return self._bare(binding.value) if binding.value.startswith(":") else ""
            else:
                held = [one for one in self.index.places(here, name) if isinstance(one, Binding)]
                held = [one for one in held if one.at <= at and (not one.until or at < one.until)]
                if held:
                    last = max(held, key=lambda one: one.at)
                    return self._type_of(last.value, here, last.at, depth + 1) if last.value != "#" else ""
            here = definitions[here].parent
        return self._made(name, scope, at)
