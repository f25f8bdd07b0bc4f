"""Facts of one file in packed form, and an index over them with the look-ups of resolution.

A project of 50 000 files does not fit into memory as Python objects. Resolution always needs the
path of each file and the words that it mentions; the rest is encoded, in zstd frames. References
and local bindings have one of their own: only the resolution of the file itself reads them.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from cortex.graph.facts.facts import (
    ACCESSOR,
    BETWEEN,
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
from cortex.graph.facts.grammars import Rules
from cortex.graph.facts.reaching_bindings import BindingSite, Meanings
from cortex.system import zstd
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: a definition: the path of its file and its index there
Ref = tuple[str, int]

#: bytes of a file's facts, at most: a file of some megabytes has as many
FACTS_BYTES_MAX = 1 << 30

WORD = re.compile(r"[A-Za-z_$][\w$]*")

_Inner = tuple[tuple[Reference, ...], tuple[Binding, ...]]
_HEAD = msgspec.msgpack.Decoder(Facts)
_INNER = msgspec.msgpack.Decoder(_Inner)


class Packed(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The encoded facts of a file.

    `words` are the names that the file mentions, with a line feed before and after each; `head` is
    Facts without references and local bindings, packed; `inner` holds these two, packed.
    """

    path: str
    language: str
    sha256: str
    package: str
    words: bytes
    head: bytes
    inner: bytes


def pack(facts: Facts, rules: Rules) -> Packed:
    outer: list[Binding] = []
    local: list[Binding] = []
    for binding in facts.bindings:
        (outer if is_visible_outside(facts, binding, rules) else local).append(binding)
    head = msgspec.structs.replace(facts, references=(), bindings=tuple(outer))
    inner = msgspec.msgpack.encode((facts.references, local))
    words = sorted(set(WORD.findall(" ".join(_mentioned_texts(facts, rules)))))
    return Packed(
        facts.path,
        facts.language,
        facts.sha256,
        facts.package,
        "\n".join(("", *words, "")).encode("utf-8", "surrogatepass"),
        zstd.pack(msgspec.msgpack.encode(head)),
        zstd.pack(inner),
    )


def head_of(packed: Packed) -> Facts:
    """Return the facts without references and local bindings."""
    return _HEAD.decode(zstd.unpack(packed.head, FACTS_BYTES_MAX))


class FileIndex:
    """Look-ups over one file's facts, each built on first use. The facts never change."""

    __slots__ = (
        "_bindings", "_children", "_fields", "_firsts", "_holders", "_imports", "_inner_imports",
        "_known_names", "_local", "_meanings", "_members", "_names", "_narrowed", "_outers",
        "_packed", "_places", "_renamed", "_top_places", "facts", "ids", "rules",
    )  # fmt: skip

    def __init__(self, packed: Packed, rules: Rules) -> None:
        self._packed, self.rules = packed, rules
        self.facts = head_of(packed)
        #: ids of the definitions, set by the project
        self.ids: list[str] = []
        self._inner_imports: dict[str, list[Import]] = {}
        self._bindings: dict[tuple[int, str], list[Binding]] | None = None
        self._children: dict[tuple[int, str], list[int]] | None = None
        self._fields: dict[str, dict[str, list[Binding]]] | None = None
        self._imports: tuple[dict[tuple[int, str], list[Import]], list[Import]] | None = None
        self._firsts: set[str] | None = None
        self._holders: dict[tuple[int, str], int] = {}
        self._local: tuple[Binding, ...] | None = None
        self._known_names: set[str] | None = None
        self._names: set[str] | None = None
        self._narrowed: set[str] | None = None
        self._members: dict[str, dict[str, list[Ref]]] | None = None
        self._outers: dict[int, int] = {}
        self._meanings: dict[tuple[int, str], Meanings] = {}
        self._places: dict[tuple[int, str], list[BindingSite]] | None = None
        self._renamed: set[str] | None = None
        self._top_places: dict[tuple[int, str], list[BindingSite]] | None = None

    @property
    def references(self) -> tuple[Reference, ...]:
        """The references; not cached, because only the file's own resolution reads them, once, and
        they are half of its memory.
        """
        references, local = self._unpack()
        if self._local is None:
            self._local = local
        return references

    @property
    def local_bindings(self) -> tuple[Binding, ...]:
        """The bindings inside functions."""
        if self._local is None:
            self._local = self._unpack()[1]
        return self._local

    def _unpack(self) -> _Inner:
        inner: _Inner = _INNER.decode(zstd.unpack(self._packed.inner, FACTS_BYTES_MAX))
        return inner

    def places(self, scope: int, name: str) -> Sequence[BindingSite]:
        """Return the bindings, imports and definitions, in this order, of `name` in a scope.

        The scope is no type.
        """
        if scope >= 0:
            if self._places is None:
                self._places = self._group_places(self.local_bindings, inner=True)
            return self._places.get((scope, name), ())
        if self._top_places is None:
            tops = [binding for group in self.top_bindings.values() for binding in group]
            self._top_places = self._group_places(tops, inner=False)
        return self._top_places.get((scope, name), ())

    def meanings(self, scope: int, name: str) -> Meanings:
        """Return the same places with the byte range in which each is valid."""
        meanings = self._meanings.get((scope, name))
        if meanings is None:
            meanings = Meanings(self.places(scope, name), self.facts.definitions)
            self._meanings[scope, name] = meanings
        return meanings

    def file_field(self, name: str) -> Meanings:
        """Return the values of Ruby's `@x` outside of all types, each with its group of tests."""
        key = (-1, f"self.{name}")
        meanings = self._meanings.get(key)
        if meanings is None:
            bindings = self.fields.get("", {}).get(name, ())
            meanings = self._meanings[key] = Meanings(bindings, self.facts.definitions)
        return meanings

    def holder(self, scope: int, name: str, places: Sequence[BindingSite]) -> int:
        """Return the index of a script's constant `name` that has members, -1 for none.

        -1 as well if a type is declared for the constant earlier, or if the last of `places` binds
        the name again in an inner block. Of constants in blocks, the one among `places`.
        """
        if not self.rules.scripts:
            return -1
        number = self._holders.get((scope, name))
        if number is None:
            number = self._holders[scope, name] = self._find_holder(self.places(scope, name))
        if number < 0:
            return -1
        definition = self.facts.definitions[number]
        if is_hidden(definition, places[-1] if places else None):
            return -1
        if not definition.until or number in places:
            return number
        return next((at for at in places if isinstance(at, int) and self._holds(at)), -1)

    def _find_holder(self, places: Sequence[BindingSite]) -> int:
        for site in places:
            if isinstance(site, int):
                if self._holds(site):
                    return site
            elif isinstance(site, Binding) and site.value.startswith(":"):
                return -1
        return -1

    def _holds(self, at: int) -> bool:
        """True for a constant that has members."""
        return self.facts.definitions[at].kind == "constant" and HOLDER in self.facts.definitions[at].flags

    @property
    def names(self) -> set[str]:
        """The names of all definitions."""
        if self._names is None:
            self._names = {definition.name for definition in self.facts.definitions}
        return self._names

    def outer(self, at: int) -> int:
        """Return the index of the definition around another, -1 for none; for a Kotlin extension
        that is written in a type, the index of that type.
        """
        definition = self.facts.definitions[at]
        if definition.parent >= 0 or not definition.scope or not self.rules.written_in_types:
            return definition.parent
        if not self._outers:
            types: list[int] = []
            for number, other in enumerate(self.facts.definitions):  # in the order of the text
                while types and self.facts.definitions[types[-1]].end <= other.begin:
                    types.pop()
                self._outers[number] = types[-1] if types else -1
                if other.kind in TYPE_KINDS:
                    types.append(number)
        return self._outers[at]

    def shown(self, at: int) -> str:
        """Return a definition's name as the graph has it: a setter alone has its property's."""
        definition = self.facts.definitions[at]
        name = definition.shown
        if not definition.is_accessor or name[-1] != ACCESSOR:
            return name
        getter = ACCESSOR + definition.name[:-1]
        return name if getter in self.members.get(definition.scope, ()) else name[:-1]

    @property
    def narrowed_fields(self) -> set[str]:
        """The fields that a test in a function narrows, as bindings name them."""
        if self._narrowed is None:
            self._narrowed = {binding.name for binding in self.local_bindings if BETWEEN in binding.name}
        return self._narrowed

    @property
    def first_parameters(self) -> set[str]:
        """The names of the first parameters of methods."""
        if self._firsts is None:
            methods = (
                definition
                for definition in self.facts.definitions
                if definition.kind == "method" and definition.parameters
            )
            self._firsts = {method.parameters[0].name for method in methods}
        return self._firsts

    def may_bind(self, name: str) -> bool:
        """Return False if nothing in this file binds `name`; True also while the local bindings are
        not unpacked.
        """
        if self._local is None:
            return True
        if self._known_names is None:
            self._known_names = {
                binding.name for group in (self.facts.bindings, self._local) for binding in group
            }
            self._known_names.update(statement.name for statement in self.facts.imports)
            self._known_names |= self.names
        return name in self._known_names

    def may_rename(self, name: str) -> bool:
        """True if `name` may be a variable or a renamed import, so that its target has another
        name. Call it while references are read.
        """
        if self._renamed is None:
            fixtures = self.rules.fixtures  # pytest passes these by parameter name
            bindings = (binding for group in (self.facts.bindings, self.local_bindings) for binding in group)
            self._renamed = {binding.name for binding in bindings if fixtures or has_value(binding)}
            self._renamed.update(
                statement.name for statement in self.facts.imports if statement.name != statement.member
            )
        return name in self._renamed

    def declares(self, name: str) -> bool:
        """True if a definition or an import of this file has the name `name`, in any scope."""
        return name in self.names or any(statement.name == name for statement in self.facts.imports)

    def _group_places(
        self, bindings: Iterable[Binding], *, inner: bool
    ) -> dict[tuple[int, str], list[BindingSite]]:
        places: dict[tuple[int, str], list[BindingSite]] = {}
        for binding in bindings:
            places.setdefault((binding.scope, binding.name), []).append(binding)
        for key, imports in self.imports.items():
            if (key[0] >= 0) == inner:
                places.setdefault(key, []).extend(imports)
        for at, definition in enumerate(self.facts.definitions):
            if (
                (definition.parent >= 0) == inner
                and (inner or not definition.scope)
                and not self._is_member(definition)
            ):
                places.setdefault((definition.parent, definition.name), []).append(at)
        return places

    def _is_member(self, definition: Definition) -> bool:
        """True if a definition binds no name in its scope: `this.x = function () {}`, `exports.x =
        function () {}`.
        """
        return EXPORTED in definition.flags or (
            definition.kind == "method"
            and definition.parent >= 0
            and self.facts.definitions[definition.parent].kind in CALLABLE_KINDS
        )

    @property
    def top_bindings(self) -> dict[tuple[int, str], list[Binding]]:
        """The bindings at the top of the file, by (-1, name)."""
        if self._bindings is None:
            self._sort_bindings()
        assert self._bindings is not None
        return self._bindings

    @property
    def fields(self) -> dict[str, dict[str, list[Binding]]]:
        """Qualified type → field name → bindings of its values."""
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
                owner = _self_type(self.facts, self.rules, binding.scope, root)
                if owner < 0:
                    if self.rules.file_fields and root in self.rules.self_names:
                        root = ""  # Ruby's `@x` outside of all classes
                    # a member of the constant or function `root`, of an extended type, or a
                    # constant of Ruby's module
                    rules = self.rules
                    if rules.file_fields or rules.members_of_values or rules.extended_fields:
                        self._fields.setdefault(root, {}).setdefault(name, []).append(binding)
                    continue
            elif owner < 0:
                self._bindings.setdefault((owner, name), []).append(binding)
                continue
            if binding.until and self.rules.hidden_parameters:
                continue  # a local of a block, or a parameter that a property hides
            qualified = self.facts.definitions[owner].qualified
            self._fields.setdefault(qualified, {}).setdefault(name, []).append(binding)

    @property
    def imports(self) -> dict[tuple[int, str], list[Import]]:
        """By (scope, name)."""
        return self._sorted_imports()[0]

    @property
    def star_imports(self) -> list[Import]:
        return self._sorted_imports()[1]

    def _sorted_imports(self) -> tuple[dict[tuple[int, str], list[Import]], list[Import]]:
        if self._imports is None:
            by_name: dict[tuple[int, str], list[Import]] = {}
            stars: list[Import] = []
            for statement in self.facts.imports:
                if statement.inside and statement.scope < 0:
                    self._inner_imports.setdefault(statement.inside, []).append(statement)
                elif statement.member == "*":
                    stars.append(statement)
                else:
                    by_name.setdefault((statement.scope, statement.name), []).append(statement)
            self._imports = by_name, stars
        return self._imports

    @property
    def inner_imports(self) -> dict[str, list[Import]]:
        """Imports of modules inside the file (Rust), by module."""
        self._sorted_imports()
        return self._inner_imports

    @property
    def children(self) -> dict[tuple[int, str], list[int]]:
        """(enclosing definition, name) → indices of definitions."""
        if self._children is None:
            self._children = {}
            for at, definition in enumerate(self.facts.definitions):
                self._children.setdefault((definition.parent, definition.name), []).append(at)
        return self._children

    @property
    def members(self) -> dict[str, dict[str, list[Ref]]]:
        """Qualified scope → name → definitions."""
        if self._members is None:
            self._members = {}
            for at, definition in enumerate(self.facts.definitions):
                if TESTED in definition.flags:
                    continue
                names = self._members.setdefault(definition.scope, {})
                names.setdefault(definition.name, []).append((self.facts.path, at))
        return self._members


def has_value(binding: Binding) -> bool:
    """True if the bound value is known."""
    return binding.value not in {"?", "#"}


def is_visible_outside(facts: Facts, binding: Binding, rules: Rules) -> bool:
    """True if other files can see the bound name: at the top of a file, or a field."""
    if binding.scope < 0 or "." in binding.name:
        return True
    if binding.until and (rules.blocks or rules.file_fields):
        return False  # in a block within a field's value, `val disk = Disk().apply { … }`, or a test's
    return facts.definitions[binding.scope].kind in TYPE_KINDS


def is_hidden(definition: Definition, last: BindingSite | None) -> bool:
    """True if `last`, the last binding of the name, is in a block that does not hold the
    definition.
    """
    return isinstance(last, Binding) and last.until > 0 and not last.at <= definition.end <= last.until


def _self_type(facts: Facts, rules: Rules, scope: int, root: str) -> int:
    """Return the index of the type that has `self.x`, -1 if `root` is not the receiver."""
    at = scope
    while at >= 0:
        definition = facts.definitions[at]
        if root in rules.self_names and (
            CONSTRUCTOR in definition.flags or (rules.file_fields and definition.kind in TYPE_KINDS)
        ):
            return at
        if (
            definition.kind == "method"
            and definition.parent < 0
            and rules.members_of_values
            and root in rules.self_names
        ):
            return next(
                (n for n, other in enumerate(facts.definitions) if other.qualified == definition.scope), -1
            )
        if (
            definition.parent >= 0
            and facts.definitions[definition.parent].kind in TYPE_KINDS
            and definition.kind == "method"
        ):
            first = definition.parameters[0].name if definition.parameters else ""
            is_receiver = root in rules.self_names or (rules.first_parameter and root == first)
            return definition.parent if is_receiver else -1
        at = definition.parent
    return -1


def takes_fixtures(rules: Rules, definition: Definition) -> bool:
    """True if pytest passes arguments by parameter name: to tests and fixtures."""
    if not rules.fixtures or definition.kind not in CALLABLE_KINDS:
        return False
    return definition.name.startswith("test") or "fixture" in definition.flags


def _mentioned_texts(facts: Facts, rules: Rules) -> set[str]:
    """Return all texts that may mention a name."""
    texts = {reference.chain for reference in facts.references}
    texts.update([text for reference in facts.references for text in reference.passed])
    for imported in facts.imports:
        texts.update((imported.name, imported.module, imported.member))
    texts.update([binding.value for binding in facts.bindings])
    for extension in facts.extensions:
        texts.update((extension.type, extension.base.chain))
    for fragment in facts.fragments:
        texts.update((fragment.router, fragment.target))
        if "computed" in fragment.flags or fragment.kind in ("client", "request"):
            texts.add(fragment.template)
    texts.update(text for text in facts.texts.values() if "\0" in text)
    for definition in facts.definitions:
        texts.add(definition.returns)
        texts.update([base.chain for base in definition.bases])
        texts.update([parameter.type for parameter in definition.parameters])
        if takes_fixtures(rules, definition):
            texts.update([parameter.name for parameter in definition.parameters])
    return texts
