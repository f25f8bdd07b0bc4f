"""Kotlin's calls besides members: extensions, also on implicit receivers; receivers and arguments
of blocks.
"""

import re
from collections.abc import Sequence

from cortex.graph.facts.declared.types import split_top_level
from cortex.graph.facts.expressions.blocks import BLOCK_MARKS, BLOCK_RECEIVER
from cortex.graph.facts.facts import DEFAULT, PLATFORM
from cortex.graph.resolution.calling.extensions import is_generic
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import How, Value, Values
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import accepts_count
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: the receiver before the parameters of a block's type
_RECEIVER = re.compile(r"(?:suspend\s+)?([\w.]+(?:<[^()]*>)?)\??\.\(")
#: the first parameter of a function type
_FIRST = re.compile(
    r"(?:suspend\s+)?(?:[\w.]+(?:<[^()]*>)?\??\.)?\(\s*(?:\w+\s*:\s*)?([\w.]+(?:<[^()]*>)?\??)\s*[,)]"
)
_NAME = re.compile(r"[\w.]+")
#: depth of nested aliases of function types
ALIASES_MAX = 3
#: an unknown receiver
_UNKNOWN = "?"
#: extensions that a call in a chain may mean
_SEVERAL_MAX = 48


class Kotlin:
    """Kotlin's calls. Valid while the project does not change."""

    def __init__(self, project: Project, values: Evaluator) -> None:
        self._project, self._values = project, values

    def extension_values(  # noqa: PLR0917
        self,
        name: str,
        call: str,
        path: str,
        owners: Values,
        members: Values,
        receiver: str = "",
    ) -> Values:
        """Return the targets of a call of `name` on `owners`: `members`, or extensions.

        Extensions count if no member takes as many arguments, or the members are extensions too.
        """
        extensions = self._values.extensions
        block = call[1:2] in BLOCK_MARKS
        count = 0 if block else int(call.strip("(_)") or 0)
        own_members = [
            value for value in members if value.tag == "def" and not extensions.is_extension(value)
        ]
        if own_members and (
            block or any(accepts_count(self._project.definition(v.ref), count) for v in own_members)
        ):
            return members
        is_outside = bool(owners) and all(value.tag == "ext" for value in (*members, *owners))
        is_settled = any(value.tag != "def" for value in members) and not (
            is_outside or extensions.is_evident(receiver, path)
        )
        if members and not own_members and is_settled and not block:
            return members  # else perhaps an extension: its block's receiver hides outer members
        candidates = extensions.find(name, path, owners, receiver) if owners or receiver else []
        refs = [candidate.ref for candidate in candidates] if block else extensions.nearest(candidates, count)
        return tuple(Value("def", *ref) for ref in refs[:_SEVERAL_MAX]) or members

    def implicit_call(
        self, name: str, call: str, place: tuple[str, int, int], named_values: Values
    ) -> tuple[Values, Values]:
        """Return (targets, receivers) of a bare call at a place (path, scope, byte).

        The targets are `named_values`, or an extension on an implicit receiver.
        """
        extensions = self._values.extensions
        if any(value.tag != "def" or not extensions.is_extension(value) for value in named_values):
            return named_values, ()
        if not extensions.has_extension(name, place[0]):
            return named_values, ()
        for owner in self._values.implicit_receivers.receivers(*place):
            if values := self.extension_values(name, call, place[0], (owner,), ()):
                return values, (owner,)
        # A receiver around may have an external type, as in `buildString { … }`.
        return named_values or self.extension_values(name, call, place[0], (), (), _UNKNOWN), ()

    def functions_past_other_arities(
        self, name: str, path: str, scope: int, refs: Sequence[Ref], count: int
    ) -> tuple[Values, How] | None:
        """Return the functions of that name around a scope that take `count` arguments, and the
        confidence: `refs`, which are nearer, take other numbers. None without any.
        """
        index = self._project.index(path)
        while scope >= 0:
            if index.facts.definitions[scope].kind in TYPE_KINDS:
                inherited = self._values.member((path, scope), name, past=True)
                if fitting := tuple(v for v in inherited if v.tag == "def" and self._takes(v.ref, count)):
                    return fitting, "receiver"
            scope = index.outer(scope)
            values, how = self._values.scopes.lookup(name, path, scope)
            fitting = tuple(
                value
                for value in values
                if value.tag == "def" and value.ref not in refs and self._takes(value.ref, count)
            )
            if fitting:
                return fitting, how
        return None

    def _takes(self, ref: Ref, count: int) -> bool:
        definition = self._project.definition(ref)
        return definition.kind in CALLABLE_KINDS and accepts_count(definition, count)

    def functions_past_variables(self, name: str, path: str, scope: int) -> Values:
        """The functions of that name around a scope: a variable that is no function hides none."""
        index = self._project.index(path)
        while scope >= 0:
            scope = index.outer(scope)
            values, _ = self._values.scopes.lookup(name, path, scope)
            if any(value.tag == "def" for value in values):
                return tuple(value for value in values if value.tag == "def")
        return ()

    def passed_to(self, value: Value, link: str, owners: Values, place: tuple[str, int]) -> Values:
        """Return the receiver, `Disk.() -> Unit`, or the argument, `(Disk) -> Unit`, of a
        function's block.

        The link BLOCK_RECEIVER or BLOCK_ARGUMENT selects; the block is the last parameter, or the
        one that the link names.
        """
        definition = self._project.definition(value.ref) if value.tag == "def" else None
        if definition is None or not definition.parameters or definition.kind not in CALLABLE_KINDS:
            return ()
        parameter_name = link.strip("()^~")
        types = [
            parameter.type
            for parameter in definition.parameters
            if parameter.name == parameter_name or not parameter_name
        ]
        if parameter_name.isdecimal():
            types = [
                parameter.type
                for parameter in definition.parameters[int(parameter_name) : int(parameter_name) + 1]
            ]
        kind = _RECEIVER if link.startswith(BLOCK_RECEIVER[:-1]) else _FIRST
        function_type = self._function_type(types[-1], value.ref) if types else None
        if function_type is None or (match := kind.match(function_type[0])) is None:
            return ()
        if (
            owners and is_generic(definition) and match[1].rstrip("?") == definition.scope
        ):  # `T.() -> Unit` of `T.f`
            return owners
        type_arguments = self._values.generics.of_call(value, owners, place)
        return self._values.declared(match[1], *function_type[1], type_arguments)

    def _function_type(self, text: str, ref: Ref) -> tuple[str, Ref] | None:
        """Return a function type as written, and the definition around it; aliases are followed."""
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
            values = self._values.evaluate(name[0], *ref) if name is not None else ()
            aliases = [
                v.ref for v in values if v.tag == "def" and self._project.definition(v.ref).kind == "type"
            ]
            if not aliases:
                return None
            ref = aliases[0]
            text = self._project.definition(ref).returns.lstrip(":")
        return None

    def unaliased(self, refs: list[Ref]) -> list[Ref]:
        """Return `refs` with type aliases replaced by their classes; [] for an `expect` alias of an
        external type.
        """
        targets: dict[Ref, None] = {}
        for ref in refs:
            definition = self._project.definition(ref)
            if definition.kind != "type" or not definition.bases:
                targets[ref] = None
                continue
            types = self._values.supertypes.base(ref, definition.bases[0].chain)
            if not types and PLATFORM in definition.flags:
                return []
            targets |= dict.fromkeys(types)
        return list(targets)


def function_result(text: str) -> str:
    """Return the result of a function type, `(A) -> B`; "" for other types."""
    text = text.strip().rstrip("?").removesuffix(DEFAULT).strip()
    if text.startswith("(") and split_top_level(text, ")") == [text[1:-1]]:
        return function_result(text[1:-1])
    depth = 0
    for at, character in enumerate(text):
        arrow = character == ">" and text[at - 1 : at] == "-"
        if arrow and not depth:
            return text[at + 1 :].strip()
        depth += (character in "<([") - (character in ">)]" and not arrow)
    return ""
