"""Receivers of members in code: whether they mean the type of the member. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter

from cortex.ask.lines.declared_types import Declared, Functions, is_spelled_like
from cortex.terms.languages import language_of

#: characters before a member in which its receiver is sought
RECEIVER_CHARS = 120
#: characters of the head of a type in which the types that it is made from are sought
HEAD_CHARS = 400
#: the last name of a receiver, and the one before it: `Problem`, `Severity` in `Problem.Severity.`
_RECEIVER = re.compile(
    r"(?:(\w+)\s*(?:\??\.|::)\s*)?(?<!\w)(\w+)(?:::)?(?:<[^<>]*>)?[?!]*\s*(?:\.|->|::)\s*\Z"
)
#: receivers that are the object or the type around them
_SELVES = frozenset(("self", "this", "Self", "static", "cls", "super", "base"))
#: a name in the spelling of types, not of constants
_TYPE = re.compile(r"[A-Z]\w*[a-z]\w*|[A-Z]")
#: languages with properties and packages in the spelling of types
_ANY_CASE = frozenset(("c", "cpp", "csharp", "go"))
#: a type that C++ leaves open
_PARAMETER = re.compile(r"auto|decltype|[A-Z][A-Z0-9]?")
#: the head of an `impl` of Rust, up to its type
_IMPL = re.compile(r"^[ \t]*(?:unsafe\s+)?impl\b([^{;]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Owner:
    """The type that a member belongs to, and its lines. `outer`: the type around it; `namesakes`:
    the types around others of the same name, "" for none; `by_name`: only receivers that are its
    name mean it.
    """

    name: str
    file: str = ""
    start: int = 0
    end: int = 0
    outer: str = ""
    namesakes: frozenset[str] = field(default=frozenset())
    by_name: bool = False
    #: of C and C++: other names of the type and those of its heirs, and the types of fields by name
    aliases: frozenset[str] = field(default=frozenset())
    fields: Mapping[str, frozenset[str]] = field(default_factory=dict, compare=False)

    def holds(self, file: str, line: int) -> bool:
        """Whether a line is inside of the type."""
        return file == self.file and self.start <= line <= self.end


@dataclass(frozen=True)
class Receivers:
    """The receivers in the code of a file of members of `owner`, of those named `word` alone."""

    path: str
    code: str
    owner: Owner
    word: str = ""

    def mean_owner(self, at: int) -> bool | None:
        """Whether the receiver before the member at index `at` is the owner; None if the text does
        not tell: it is a variable, or the result of a call.
        """
        match = _RECEIVER.search(self.code, max(0, at - RECEIVER_CHARS), at)
        if match is None:
            return self._means_initialised(at) if self._declares else None
        outer, name = match.groups()
        if name in self._names:
            return self._means_ours(outer)
        is_rust = language_of(self.path).name == "rust"
        if name in _SELVES:
            if self._declares and name == "this":
                return self.means_enclosing(at)
            return self._is_in_impl(at) if is_rust and name == "Self" else None
        if self._declares:
            return self._means_declared(match)
        is_type = _TYPE.fullmatch(name) and language_of(self.path).name not in _ANY_CASE
        is_path = is_rust and self.code[match.end() - 2 : match.end()].strip() in ("::", ":")
        return False if is_type or is_path else None

    @cached_property
    def _declares(self) -> bool:
        """Whether the language declares the type of each receiver: C and C++."""
        return language_of(self.path).headers

    def _means_initialised(self, at: int) -> bool | None:
        """The same for a member in an initialiser: `struct cell one = {.flags = 1}`."""
        if not self.code[max(0, at - RECEIVER_CHARS) : at].rstrip().endswith("."):
            return None
        return self._is_ours(self._functions.find_initialised(at))

    def _means_declared(self, match: re.Match[str]) -> bool | None:
        """The same by the declared type of a variable or field, or by a type as the receiver."""
        name, before = match[2], self.code[max(0, match.start(2) - 3) : match.start(2)].rstrip()
        if self.code[match.start(2) : match.end()].rstrip().endswith("::"):
            return False
        if not before.endswith((".", "->", "::")):
            return self._is_ours(self._functions.find_declared(name, match.start(2)))
        types = self.owner.fields.get(name)
        return None if types is None or not self._names.isdisjoint(types) else False

    def _is_ours(self, declared: Declared | None) -> bool | None:
        if declared is None or _PARAMETER.fullmatch(declared.name):
            return None
        is_alias = not declared.tagged and is_spelled_like(declared.name, self.owner.name)
        return self._means_ours(None) if is_alias or declared.name in self._names else False

    def means_enclosing(self, at: int) -> bool | None:
        """Whether the method of C++ around the index `at` is one of the owner; None for none, and
        for a method that is written inside of its type.
        """
        owner = self._functions.find_owner(at)
        return None if owner is None else owner in self._names

    @cached_property
    def _functions(self) -> Functions:
        word = re.escape(self.word) or r"\w+"
        return Functions(self.code, set(re.findall(rf"(\w+)\s*(?:\.|->)\s*(?={word}\b)", self.code)))

    @cached_property
    def names_owner(self) -> bool:
        """Whether the code names the owner, and no namesake instead."""
        return self._holds(self.owner.name) and self._means_ours(None) is not False

    @cached_property
    def brings_members(self) -> bool:
        """Whether the code takes members of the owner by their names: `use Owner::*`."""
        return re.search(rf"\b{re.escape(self.owner.name)}::(?:\*|\{{)", self.code) is not None

    @cached_property
    def _names(self) -> frozenset[str]:
        """The owner's names in the file: its own, other ones, those of types made from it."""
        name = re.escape(self.owner.name)
        others = re.findall(
            rf"\b{name}\s+as\s+(\w+)|(?<!\w)(\w+)\s*=\s*(?:[\w.:]+[.:])?{name}\s*;?[ \t]*$"
            rf"|\b(?:class|interface|object|trait)\s+(\w+)\b[^{{;\n]{{0,{HEAD_CHARS}}}\b{name}\b",
            self.code,
            re.MULTILINE,
        )
        names = {self.owner.name, *self.owner.aliases}
        return frozenset(names.union(alias for row in others for alias in row if alias))

    def _means_ours(self, outer: str | None) -> bool | None:
        """Whether the owner's name means the owner, not one of its namesakes, behind `outer`."""
        owner = self.owner
        if not owner.namesakes or self.path == owner.file:
            return True
        if outer and (outer == owner.outer or outer in owner.namesakes):
            return outer == owner.outer
        return self._means_ours_here

    @cached_property
    def _means_ours_here(self) -> bool | None:
        """The same by the types around the owner and its namesakes that the file names."""
        if self.owner.outer and self._holds(self.owner.outer):
            return True
        return False if any(map(self._holds, filter(None, self.owner.namesakes))) else None

    def _holds(self, name: str) -> bool:
        return re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", self.code) is not None

    def _is_in_impl(self, at: int) -> bool:
        """Whether the `impl` before the index `at` is one of the owner."""
        before = bisect_left(self._impls, at, key=itemgetter(0))
        return before > 0 and self._impls[before - 1][1]

    @cached_property
    def _impls(self) -> list[tuple[int, bool]]:
        """(where it ends, whether its type is the owner) of the head of each `impl`."""
        name = re.compile(rf"\b{re.escape(self.owner.name)}\b")
        return [
            (head.end(), name.search(head[1].rpartition(" for ")[2]) is not None)
            for head in _IMPL.finditer(self.code)
        ]
