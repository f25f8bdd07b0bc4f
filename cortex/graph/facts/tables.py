"""One file's facts as they are kept, packed, and unpacked with the look-ups that resolution needs.
Of no other file.

A project of 50 000 files cannot be kept as Python objects. What is needed of every file all the
time are its name and the words that it speaks of; the rest is encoded, and the references and local
bindings, which only the file's own resolution reads, are compressed as well.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from cortex.graph.facts.blocks import BLOCKS
from cortex.graph.facts.facts import (
    CONSTRUCTOR,
    EXPORTED,
    HOLDER,
    TESTED,
    Binding,
    Definition,
    Facts,
    Import,
    Reference,
)
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.links import BETWEEN
from cortex.graph.facts.reaching_bindings import Meanings, Place
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: a definition: its file and its number there
Ref = tuple[str, int]

#: zlib's; higher ones take several times as long for a tenth less
COMPRESSION = 1

WORD = re.compile(r"[A-Za-z_$][\w$]*")

_Inner = tuple[tuple[Reference, ...], tuple[Binding, ...]]
_HEAD = msgspec.msgpack.Decoder(Facts)
_INNER = msgspec.msgpack.Decoder(_Inner)


class Packed(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`words` are the names that the file speaks of, each between line feeds; `head` is Facts
    without references and local bindings, which `inner` holds.
    """

    path: str
    language: str
    sha256: str
    package: str
    words: bytes
    head: bytes
    inner: bytes


def pack(facts: Facts) -> Packed:
    outer: list[Binding] = []
    local: list[Binding] = []
    for binding in facts.bindings:
        (outer if is_outer(facts, binding) else local).append(binding)
    head = msgspec.structs.replace(facts, references=(), bindings=tuple(outer))
    inner = msgspec.msgpack.encode((facts.references, local))
    words = sorted(set(WORD.findall(" ".join(_texts(facts)))))
    return Packed(
        facts.path,
        facts.language,
        facts.sha256,
        facts.package,
        "\n".join(("", *words, "")).encode("utf-8", "surrogatepass"),
        msgspec.msgpack.encode(head),
        zlib.compress(inner, COMPRESSION),
    )


def head_of(packed: Packed) -> Facts:
    """The facts without references and local bindings."""
    return _HEAD.decode(packed.head)


class FileIndex:
    """One file's facts with look-ups, each made when it is first asked for. Never changed."""

    __slots__ = (
        "_bindings",
        "_children",
        "_fields",
        "_firsts",
        "_holders",
        "_imports",
        "_inner_imports",
        "_known",
        "_local",
        "_meanings",
        "_members",
        "_names",
        "_narrowed",
        "_outers",
        "_packed",
        "_places",
        "_renamed",
        "_top_places",
        "facts",
        "ids",
    )

    def __init__(self, packed: Packed) -> None:
        self._packed = packed
        self.facts = head_of(packed)
        #: the definitions' ids; the project gives them
        self.ids: list[str] = []
        self._inner_imports: dict[str, list[Import]] = {}
        self._bindings: dict[tuple[int, str], list[Binding]] | None = None
        self._children: dict[tuple[int, str], list[int]] | None = None
        self._fields: dict[str, dict[str, list[Binding]]] | None = None
        self._imports: tuple[dict[tuple[int, str], list[Import]], list[Import]] | None = None
        self._firsts: set[str] | None = None
        self._holders: dict[tuple[int, str], int] = {}
        self._local: tuple[Binding, ...] | None = None
        self._known: set[str] | None = None
        self._names: set[str] | None = None
        self._narrowed: set[str] | None = None
        self._members: dict[str, dict[str, list[Ref]]] | None = None
        self._outers: dict[int, int] = {}
        self._meanings: dict[tuple[int, str], Meanings] = {}
        self._places: dict[tuple[int, str], list[Place]] | None = None
        self._renamed: set[str] | None = None
        self._top_places: dict[tuple[int, str], list[Place]] | None = None

    @property
    def references(self) -> tuple[Reference, ...]:
        """Not kept: only the file's own resolution reads them, once, and they are half of it."""
        references, local = self._unpacked()
        if self._local is None:
            self._local = local
        return references

    @property
    def local(self) -> tuple[Binding, ...]:
        """The bindings inside of functions."""
        if self._local is None:
            self._local = self._unpacked()[1]
        return self._local

    def _unpacked(self) -> _Inner:
        found: _Inner = _INNER.decode(zlib.decompress(self._packed.inner))
        return found

    def places(self, scope: int, name: str) -> Sequence[Place]:
        """The bindings, then the imports, then the definitions of `name` in one scope that is not a
        type's.
        """
        if scope >= 0:
            if self._places is None:
                self._places = self._placed(self.local, inner=True)
            return self._places.get((scope, name), ())
        if self._top_places is None:
            tops = [binding for held in self.tops.values() for binding in held]
            self._top_places = self._placed(tops, inner=False)
        return self._top_places.get((scope, name), ())

    def meanings(self, scope: int, name: str) -> Meanings:
        """Which of these places hold where."""
        found = self._meanings.get((scope, name))
        if found is None:
            found = Meanings(self.places(scope, name), self.facts.definitions)
            self._meanings[scope, name] = found
        return found

    def holder(self, scope: int, name: str, places: Sequence[Place]) -> int:
        """The number of a script's constant that has members, unless a type is declared for it
        before, or a block inside binds the name again; of those in blocks the one among `places`;
        -1 for none.
        """
        found = self._holders.get((scope, name))
        if found is None:
            found = self._holders[scope, name] = self._holder(self.places(scope, name))
        if found < 0:
            return -1
        one = self.facts.definitions[found]
        if is_hidden(one, places[-1] if places else None):
            return -1
        if not one.until or found in places:
            return found
        return next((at for at in places if isinstance(at, int) and self._holds(at)), -1)

    def _holder(self, held: Sequence[Place]) -> int:
        for what in held:
            if isinstance(what, int):
                if self._holds(what):
                    return what
            elif isinstance(what, Binding) and what.value.startswith(":"):
                return -1
        return -1

    def _holds(self, at: int) -> bool:
        """Whether a definition is a constant that has members."""
        return self.facts.definitions[at].kind == "constant" and HOLDER in self.facts.definitions[at].flags

    @property
    def names(self) -> set[str]:
        """The names of all definitions."""
        if self._names is None:
            self._names = {one.name for one in self.facts.definitions}
        return self._names

    def outer(self, at: int) -> int:
        """The number of the definition around one; of Kotlin's extension that is written in a type
        that type's.
        """
        one = self.facts.definitions[at]
        if one.parent >= 0 or not one.scope or self.facts.language != "kotlin":
            return one.parent
        if not self._outers:
            types: list[int] = []
            for number, each in enumerate(self.facts.definitions):  # in the order of the text
                while types and self.facts.definitions[types[-1]].end <= each.begin:
                    types.pop()
                self._outers[number] = types[-1] if types else -1
                if each.kind in TYPE_KINDS:
                    types.append(number)
        return self._outers[at]

    @property
    def narrowed(self) -> set[str]:
        """The fields of which a test in a function says more, as bindings name them."""
        if self._narrowed is None:
            self._narrowed = {one.name for one in self.local if BETWEEN in one.name}
        return self._narrowed

    @property
    def firsts(self) -> set[str]:
        """What methods call their first parameter."""
        if self._firsts is None:
            methods = (one for one in self.facts.definitions if one.kind == "method" and one.parameters)
            self._firsts = {one.parameters[0].name for one in methods}
        return self._firsts

    def may_know(self, name: str) -> bool:
        """False when `name` has no place in this file; True also while that is not worth finding
        out.
        """
        if self._local is None:
            return True
        if self._known is None:
            self._known = {one.name for held in (self.facts.bindings, self._local) for one in held}
            self._known.update(one.name for one in self.facts.imports)
            self._known |= self.names
        return name in self._known

    def renames(self, name: str) -> bool:
        """Whether a variable of that name, or an import of something by another name, may stand for
        what is called otherwise. Asked while references are read.
        """
        if self._renamed is None:
            python = self.facts.language == "python"  # whose parameters may be fixtures
            held = (one for some in (self.facts.bindings, self.local) for one in some)
            self._renamed = {one.name for one in held if python or tells(one)}
            self._renamed.update(one.name for one in self.facts.imports if one.name != one.member)
        return name in self._renamed

    def declares(self, name: str) -> bool:
        """Whether `name` is one of a definition or an import of this file, wherever it stands."""
        return name in self.names or any(one.name == name for one in self.facts.imports)

    def _placed(self, bindings: Iterable[Binding], *, inner: bool) -> dict[tuple[int, str], list[Place]]:
        found: dict[tuple[int, str], list[Place]] = {}
        for binding in bindings:
            found.setdefault((binding.scope, binding.name), []).append(binding)
        for key, imports in self.imports.items():
            if (key[0] >= 0) == inner:
                found.setdefault(key, []).extend(imports)
        for at, one in enumerate(self.facts.definitions):
            if (one.parent >= 0) == inner and (inner or not one.scope) and not self._is_member(one):
                found.setdefault((one.parent, one.name), []).append(at)
        return found

    def _is_member(self, one: Definition) -> bool:
        """Whether a definition makes no name where it stands: `this.x = function () {}`,
        `exports.x = function () {}`.
        """
        return EXPORTED in one.flags or (
            one.kind == "method"
            and one.parent >= 0
            and self.facts.definitions[one.parent].kind in CALLABLE_KINDS
        )

    @property
    def tops(self) -> dict[tuple[int, str], list[Binding]]:
        """The bindings at the top of the file, by (-1, name)."""
        if self._bindings is None:
            self._sort_bindings()
        assert self._bindings is not None
        return self._bindings

    @property
    def fields(self) -> dict[str, dict[str, list[Binding]]]:
        """Qualified type → name → what its field may hold."""
        if self._fields is None:
            self._sort_bindings()
        assert self._fields is not None
        return self._fields

    def _sort_bindings(self) -> None:
        self._bindings, self._fields = {}, {}
        for binding in self.facts.bindings:
            owner, name = binding.scope, binding.name
            if "." in name:
                root, _, name = name.rpartition(".")
                owner = _self_type(self.facts, binding.scope, root)
                if owner < 0:
                    root = "" if self.facts.language == "ruby" else root  # `@x` outside of all classes
                    # A member of what has this name.
                    if not root or RULES[self.facts.language].family == "script":
                        self._fields.setdefault(root, {}).setdefault(name, []).append(binding)
                    continue
            elif owner < 0:
                self._bindings.setdefault((owner, name), []).append(binding)
                continue
            if binding.until and self.facts.language == "kotlin":
                continue  # a local of a block, or a parameter that a property hides
            qualified = self.facts.definitions[owner].qualified
            self._fields.setdefault(qualified, {}).setdefault(name, []).append(binding)

    @property
    def imports(self) -> dict[tuple[int, str], list[Import]]:
        """By (scope, name)."""
        return self._sorted_imports()[0]

    @property
    def stars(self) -> list[Import]:
        return self._sorted_imports()[1]

    def _sorted_imports(self) -> tuple[dict[tuple[int, str], list[Import]], list[Import]]:
        if self._imports is None:
            named: dict[tuple[int, str], list[Import]] = {}
            stars: list[Import] = []
            for one in self.facts.imports:
                if one.inside and one.scope < 0:
                    self._inner_imports.setdefault(one.inside, []).append(one)
                elif one.member == "*":
                    stars.append(one)
                else:
                    named.setdefault((one.scope, one.name), []).append(one)
            self._imports = named, stars
        return self._imports

    @property
    def inner_imports(self) -> dict[str, list[Import]]:
        """Those of modules inside the file (Rust), by the module."""
        self._sorted_imports()
        return self._inner_imports

    @property
    def children(self) -> dict[tuple[int, str], list[int]]:
        """(enclosing definition, name) → numbers of definitions."""
        if self._children is None:
            self._children = {}
            for at, one in enumerate(self.facts.definitions):
                self._children.setdefault((one.parent, one.name), []).append(at)
        return self._children

    @property
    def members(self) -> dict[str, dict[str, list[Ref]]]:
        """Qualified scope → name → definitions."""
        if self._members is None:
            self._members = {}
            for at, one in enumerate(self.facts.definitions):
                if TESTED in one.flags:
                    continue
                names = self._members.setdefault(one.scope, {})
                names.setdefault(one.name, []).append((self.facts.path, at))
        return self._members


def tells(one: Binding) -> bool:
    """Whether something is known of what is bound."""
    return one.value not in {"?", "#"}


def is_outer(facts: Facts, binding: Binding) -> bool:
    """Whether others can see what is bound: at the top of a file, or a field."""
    if binding.scope < 0 or "." in binding.name:
        return True
    if binding.until and facts.language in BLOCKS:
        return False  # in a block of what a field is given: `val disk = Disk().apply { … }`
    return facts.definitions[binding.scope].kind in TYPE_KINDS


def is_hidden(one: Definition, last: Place | None) -> bool:
    """Whether `last`, what a name is bound to, is of a block that the definition is not in."""
    return isinstance(last, Binding) and last.until > 0 and not last.at <= one.end <= last.until


def _self_type(facts: Facts, scope: int, root: str) -> int:
    """The number of the type whose member `self.x` is, -1 when `root` is not the receiver."""
    rules = RULES[facts.language]
    at = scope
    while at >= 0:
        one = facts.definitions[at]
        if CONSTRUCTOR in one.flags and root in rules.self_names:
            return at
        if one.kind == "method" and one.parent < 0 and rules.family == "script" and root in rules.self_names:
            return next((n for n, o in enumerate(facts.definitions) if o.qualified == one.scope), -1)
        if one.parent >= 0 and facts.definitions[one.parent].kind in TYPE_KINDS and one.kind == "method":
            first = one.parameters[0].name if one.parameters else ""
            named = root in rules.self_names or (facts.language == "python" and root == first)
            return one.parent if named else -1
        at = one.parent
    return -1


def asks_fixtures(language: str, one: Definition) -> bool:
    """Whether pytest gives a function's parameters by their names: a test's, a fixture's."""
    if language != "python" or one.kind not in CALLABLE_KINDS:
        return False
    return one.name.startswith("test") or "fixture" in one.flags


def _texts(facts: Facts) -> Iterator[str]:
    """All that may speak of a name."""
    for reference in facts.references:
        yield reference.chain
        yield from reference.passed
    for imported in facts.imports:
        yield from (imported.name, imported.module, imported.member)
    yield from (one.value for one in facts.bindings)
    for extension in facts.extensions:
        yield from (extension.type, extension.base.chain)
    for definition in facts.definitions:
        yield definition.returns
        yield from (base.chain for base in definition.bases)
        yield from (one.type for one in definition.parameters)
        if asks_fixtures(facts.language, definition):
            yield from (one.name for one in definition.parameters)
