"""Members: `value.name` for types and their supertypes, for fields, and for modules."""

from collections.abc import Iterator

from cortex.graph.facts.facts import ANY_NAME, BY_MACRO, HOLDER, SPECIALIZED, SPREAD, Binding
from cortex.graph.facts.rails import SCOPED
from cortex.graph.resolution.calling.common_names import DEREF, ELEMENT_OF, ITERATORS, SAME_AS, SECOND
from cortex.graph.resolution.evaluation.results import Results
from cortex.graph.resolution.evaluation.scopes import Scopes
from cortex.graph.resolution.evaluation.values import (
    EXTERNAL,
    OVERLOADS_MAX,
    ChainEvaluator,
    Recursion,
    Remembering,
    Value,
    Values,
    merge_values,
)
from cortex.graph.resolution.modules.includes import C_HOME
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import leading_parameters
from cortex.graph.resolution.types.partial_types import of_same_type
from cortex.graph.resolution.types.supertypes import Supers, Supertypes

#: tags of values without a type's members
_NO_TYPES = frozenset({"mod", "ext", "list", "map", "elem", "iter"})
#: the member of C#'s dictionaries that holds their elements without keys
_VALUES = "Values"
#: members of every object of a script
_OF_OBJECTS = frozenset(
    {"constructor", "hasOwnProperty", "toString", "valueOf", "isPrototypeOf", "toLocaleString"}
)
#: begins the names of the functions that destructure a value
COMPONENT = "component"


class Members(Remembering):
    """Members in a project, with caches. Valid while the project does not change."""

    def __init__(  # noqa: PLR0917 - its collaborators
        self,
        project: Project,
        values: ChainEvaluator,
        scopes: Scopes,
        supertypes: Supertypes,
        results: Results,
        recursion: Recursion,
    ) -> None:
        self.project = self._project = project
        self._values, self._scopes = values, scopes
        self.exports, self._owners = scopes.exports, scopes.owners
        self.supertypes, self.results = supertypes, results
        self._generics = results.generics
        self._recursion = recursion
        self.evaluate, self.is_static, self.helper = values.evaluate, scopes.is_static, values.helper
        self._memo: dict[tuple[Ref, str], Values] = {}
        #: (number of a line of supertypes, name) → their members of that name
        self._lines: dict[tuple[int, str], Values] = {}
        self.memos = (self._memo, self._lines)

    def attribute(self, value: Value, name: str) -> Values:
        """Return the values of `value.name`."""
        if value.tag in _NO_TYPES:
            return self._untyped_attribute(value, name)
        if (
            name == "this" and value.tag == "def" and self._project.definition(value.ref).has_members
        ):  # Java's `Disk.this` in an inner class
            return (value._replace(tag="inst"),)
        if value.tag == "def" and not (
            (definition := self._project.definition(value.ref)).has_members or definition.kind == "module"
        ):
            rules = self._project.rules(value.path)
            if rules.numbered_fields and name.isdigit():
                return self._variant_values(value, name)
            if rules.calls_without_arguments and not leading_parameters(definition):
                return merge_values(
                    self.attribute(returned, name) for returned in self.results.returned(value.ref)
                )
            return merge_values(
                self.attribute(instance, name) for instance in self.results.decorated(value.ref)
            )
        members = self.member(value.ref, name, past=value.tag == "super") or self._index_signature_values(
            value, name
        )
        language = self._project.language(value.path)
        rules = language.rules
        if value.tag == "inst" and rules.type_arguments:
            if field_values := self._generics.field(value, name):
                members = (*(member for member in members if member.tag == "def"), *field_values)
            elif (
                not members and not self._has_pairs(value.ref) and (elements := self._generics.element(value))
            ):
                return merge_values(self.attribute(_container_of(element), name) for element in elements)
        if rules.class_methods and value.tag != "super":
            # Without one of its kind the value is rather a class than an instance, or the reverse.
            # What its macro computes, a class has not: a base outside may have it, `Model.first`.
            # An instance has no scope of Rails: a column of the table may have its name.
            of_kind = self.member_of_kind(value.ref, name, static=value.tag == "def")
            is_other = self._is_scope if value.tag == "inst" else self._is_computed
            members = of_kind or tuple(v for v in members if not is_other(v))
        elif len(members) > 1 and rules.kinds_of_methods:
            members = self._scopes.of_kind(members, static=value.tag == "def")
        if name == "new" and rules.makes_by_new and value.tag == "def":
            is_module = self._is_mixin(value.ref)  # `module_function :new`
            members = tuple(m for m in members if is_module or self._scopes.is_static(m.ref))
        if not members:
            for step in language.missing_member:
                if members := step(self, value, name):
                    break
        if value.tag == "inst" or rules.computed_members:
            results = (
                self.results.returned(member.ref)
                if member.tag == "def"
                and {"property", "cached_property"} & set(self._project.definition(member.ref).flags)
                else (member,)
                for member in members
            )
            return merge_values(results, OVERLOADS_MAX)
        return members

    def _has_pairs(self, ref: Ref) -> bool:
        """Return True for a type that inherits from one of C#'s dictionaries."""
        holds_pairs = self._project.language(ref[0]).holds_pairs
        return holds_pairs is not None and any(
            holds_pairs(f"{base.chain}{base.arguments}")
            for type_ref in (ref, *self.supertypes.of(ref).types)
            for base in self._project.definition(type_ref).bases
        )

    def _is_computed(self, value: Value) -> bool:
        return value.tag == "def" and self._project.definition(value.ref).name.startswith(BY_MACRO)

    def _variant_values(self, variant: Value, number: str) -> Values:
        """Return the values in a variant of Rust's enums."""
        bindings = self._project.index(variant.path).places(variant.at, number)
        chains = (binding.value for binding in bindings if isinstance(binding, Binding))
        return merge_values(self._values.evaluate(chain, *variant.ref) for chain in chains)

    def deref_members(self, value: Value, name: str) -> Values:
        """Return the members of the type that Rust's `deref` returns: `fn deref(&self) ->
        &Disk`.
        """
        methods = self.member(value.ref, DEREF.lower()) if name != DEREF.lower() else ()
        key = (value.ref, DEREF, name)
        before = self._recursion.enter(key) if methods else None
        if before is None:
            return self._recursion.answer(key, ())
        targets = merge_values(self.results.called(method) for method in methods if method.tag == "def")
        members = merge_values(self.attribute(target, name) for target in targets if target.tag == "inst")
        self._recursion.leave(key, before, members)
        return members

    def _untyped_attribute(self, value: Value, name: str) -> Values:
        if value.tag == "mod":
            values = self.exports.exported(value.path, name)
            # A Rust path without a target leads out of the project: `std::process`.
            return values or ((EXTERNAL,) if value.path.partition("|")[0].endswith(".rs") else ())
        if value.tag == "iter":  # `i->save()`, `i->second` of a map's
            elements = self.results.element(value)
            return (
                elements
                if name == SECOND
                else merge_values(self.attribute(element, name) for element in elements)
            )
        if value.tag == "map":
            if name != _VALUES:
                return (EXTERNAL,)
            return (value if value.depth > 1 else value._replace(tag="list"),)
        if value.tag == "list":
            listed = self._project.language(value.path).listed_member
            if listed is not None and (values := listed(self, value, name)):
                return values
            if name in ITERATORS and self._project.home(value.path) == C_HOME:
                return (value._replace(tag="iter"),)
            if name in ELEMENT_OF:
                return (value._replace(tag="elem"),)
            return (value._replace(tag="list"),) if name in SAME_AS else (EXTERNAL,)
        if value.tag != "ext":
            return ()
        steps = self._project.language(value.path).missing_member if value.path else ()
        return next(filter(None, (step(self, value, name) for step in steps)), (EXTERNAL,))

    def member(self, owner: Ref, name: str, *, past: bool = False) -> Values:
        """Return the members of a type or its supertypes (`past`: of these only); of fields their
        values.
        """
        memo = (owner, f"super {name}" if past else name)
        if (cached := self._memo.get(memo)) is not None:
            return cached
        before = self._recursion.enter(memo)
        if before is None:
            return self._recursion.answer(memo, ())
        # Inherited members only then: same-named types in many places would search one another.
        values = () if past else self._own_member(owner, name)
        if not values:
            above = self.supertypes.of(owner)
            if above.types or above.spaces:
                values = self._inherited_member(above, name)
        if self._recursion.leave(memo, before, values):
            self._memo[memo] = values
        return values

    def _inherited_member(self, above: Supers, name: str) -> Values:
        """Return an inherited member, in one cache for all types with the same supertypes."""
        memo = (above.line, name)
        values = self._lines.get(memo)
        if values is None:
            before = self._recursion.begin()
            lines = self._lines_of(above)
            groups = (merge_values(self._handed_down(ref, name) for ref in line) for line in lines)
            values = self._bases_named(above, name) or next(filter(None, groups), ())
            if not values and above.spaces:
                values = merge_values(self.exports.own_exported(space.path, name) for space in above.spaces)
            if self._recursion.end(before):
                self._lines[memo] = values
        return values

    def _bases_named(self, above: Supers, name: str) -> Values:
        """Return C++'s supertypes of that name: a member of their heirs, `Base::save()`."""
        if not above.types or not self._project.rules(above.types[0][0]).name_spaces:
            return ()
        return tuple(Value("def", *ref) for ref in above.types if self._project.definition(ref).name == name)

    def _lines_of(self, above: Supers) -> Iterator[tuple[Ref, ...]]:
        """Yield the supertypes that give members, nearest first; specialisations of one C++
        template together: its arguments decide which is meant.
        """
        definition, yielded = self._project.definition, set[str]()
        for supertype in above.types:
            name = definition(supertype).qualified
            if supertype in above.promised or name in yielded:
                continue
            if SPECIALIZED not in definition(supertype).flags:
                yield (supertype,)
                continue
            yielded.add(name)
            yield tuple(ref for ref in above.types if definition(ref).qualified == name)

    def member_of_kind(self, owner: Ref, name: str, *, static: bool) -> Values:
        """Return Ruby's members of one name that are class methods (`static`), or that are not, of
        the nearest type that has any.
        """
        values = self.member(owner, name)
        if not values or name[:1].isupper():  # constants are of no kind
            return values
        above = self.supertypes.of(owner)
        line = [(owner, above), *((ref, self.supertypes.of(ref)) for ref in above.types)]
        extended = frozenset[Ref]().union(*(supers.extended for _, supers in line))
        if not extended and (matching := self._drop_other_kind(values, static=static)):
            return matching
        # Modules by which included ones, the type and its base classes extend the class.
        added = frozenset[Ref]().union(
            *(supers.promised for ref, supers in line if ref != owner),
            *(supers.extended for ref, supers in line if ref == owner or not self._is_mixin(ref)),
        )
        for ref, _ in line:
            if ref in above.promised or (not static and ref in extended):
                continue
            members = self._own_member(owner, name) if ref == owner else self._handed_down(ref, name)
            if matching := self._drop_other_kind(members, static=static and ref not in added):
                return matching
        return ()

    def _is_mixin(self, ref: Ref) -> bool:
        return self._project.definition(ref).kind == "trait"

    def _drop_other_kind(self, values: Values, *, static: bool) -> Values:
        return tuple(v for v in values if v.tag != "def" or static == self._scopes.is_static(v.ref))

    def _handed_down(self, supertype: Ref, name: str) -> Values:
        """Return a supertype's members; Ruby's modules keep their class methods to themselves,
        except the scopes that Rails gives the types which include them.
        """
        values = self._own_member(supertype, name)
        if values and self._is_mixin(supertype) and self._project.rules(supertype[0]).class_methods:
            return (*self._drop_other_kind(values, static=False), *filter(self._is_scope, values))
        return values

    def _is_scope(self, value: Value) -> bool:
        return value.tag == "def" and self._project.definition(value.ref).returns == SCOPED

    def _index_signature_values(self, value: Value, name: str) -> Values:
        """Return the values of a script type's index signature, `Record<string, Disk>`, for an
        instance.
        """
        if value.tag != "inst" or not self._project.rules(value.path).erased_types or name in _OF_OBJECTS:
            return ()
        above = self.supertypes.of(value.ref)
        for path, at in (value.ref, *above.types) if above.complete else ():
            qualified = self._project.definition((path, at)).qualified
            if values := self._field_values(self._project.home(path), qualified, ANY_NAME, path):
                return values
        return ()

    def _own_member(self, owner: Ref, name: str) -> Values:
        project, path = self._project, owner[0]
        home, qualified = project.home(path), project.definition(owner).qualified
        rules = project.rules(path)
        near = path if rules.types_in_one_file else ""
        refs = project.members_of(home, qualified).get(name, [])
        if refs and (select := project.language(path).own_members) is not None:
            refs = select(self, owner, refs)
        if refs:
            # With included files its bodies may be elsewhere.
            own_refs = refs if rules.includes else [ref for ref in refs if ref[0] == path] or refs
            if rules.partial_types:
                own_refs = of_same_type(project, owner, refs)
            selected = (
                self._scopes.overloads(own_refs[0][0], [ref[1] for ref in own_refs])
                if len({ref[0] for ref in own_refs}) == 1
                else None
            )
            methods = tuple(Value("def", *ref) for ref in own_refs if selected is None or ref[1] in selected)
            # A field and a method may share a name (Java, PHP): a call means the method, a receiver
            # the field.
            if rules.fields_beside_methods:
                methods = self._with_fields(
                    owner, name, methods, [*project.fields_of(home, qualified, name)], near
                )
            return methods[:OVERLOADS_MAX]
        if rules.open_types:
            wanted = project.definition(owner).name
            candidates = project.open_methods.get((rules.family, name, wanted), ())
            if open_refs := [ref for ref in candidates if self._owners.of(*ref) == owner][:OVERLOADS_MAX]:
                return tuple(Value("def", *ref) for ref in open_refs)
        bindings = [*project.fields_of(home, qualified, name)]
        if not bindings:
            return self._spread_members(owner, name)
        return self._with_fields(owner, name, (), bindings, near) or self._spread_members(owner, name)

    def _with_fields(
        self,
        owner: Ref,
        name: str,
        methods: Values,
        bindings: list[tuple[str, Binding]],
        near: str,
    ) -> Values:
        """Return the methods and the values of the fields of one name."""
        aliases = self._project.language(owner[0]).with_aliases
        if aliases is not None and bindings:
            methods, bindings = aliases(self, owner, name, methods, bindings)
        return (*methods, *self._values_of(bindings, near))

    def _spread_members(self, owner: Ref, name: str) -> Values:
        """Return the members that an object literal spreads: `{ ...other }`."""
        if HOLDER not in self._project.definition(owner).flags:
            return ()
        values = self._field_values(
            self._project.home(owner[0]), self._project.definition(owner).qualified, SPREAD
        )
        return merge_values(self.attribute(value, name) for value in values)

    def _field_values(self, home: str, qualified: str, name: str, near: str = "") -> Values:
        """Return the values of a type's field; of same-named types in several files that of
        `near`.
        """
        return self._values_of([*self._project.fields_of(home, qualified, name)], near)

    def _values_of(self, bindings: list[tuple[str, Binding]], near: str) -> Values:
        if not bindings:
            return ()
        bindings = [entry for entry in bindings if entry[0] == near] or bindings
        values: list[Value] = []
        for where, binding in bindings:
            if binding.value in "#?":
                continue
            candidates = self._values.evaluate(binding.value, where, binding.scope, binding.at)
            if binding.value.startswith(":") and candidates:
                return candidates  # a declared type decides
            values += candidates
        return merge_values([tuple(values)])


def _container_of(value: Value) -> Value:
    return value._replace(tag="list", depth=value.depth + 1) if value.tag in ("inst", "list") else value


def component_name(project: Project, value: Value, name: str) -> str:
    """Return the name of the part that `val (a, b) = x` takes: `component2` is the second
    constructor parameter.
    """
    number = name.removeprefix(COMPONENT)
    if value.tag != "inst" or not number.isdecimal() or not project.rules(value.path).components:
        return name
    facts = project.index(value.path).facts
    names = [binding.name for binding in facts.bindings if binding.scope == value.at][: int(number)]
    return names[-1] if names and len(names) == int(number) else name
