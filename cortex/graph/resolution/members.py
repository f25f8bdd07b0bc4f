"""What `value.name` stands for: the members of types and of what these inherit from, the fields of
types, the names of modules.
"""

from __future__ import annotations

from cortex.graph.facts.facts import ANY_NAME, CASE, HOLDER, SPREAD, Binding
from cortex.graph.facts.generics import GENERIC_LANGUAGES
from cortex.graph.facts.grammars import RULES
from cortex.graph.resolution.arity import taken
from cortex.graph.resolution.builds import built_with
from cortex.graph.resolution.common_names import DEREF, ELEMENT_OF, ITERATORS, SAME, SAME_AS, SECOND
from cortex.graph.resolution.commonjs import Meanings
from cortex.graph.resolution.includes import C_HOME
from cortex.graph.resolution.linkage import bodies, of_type
from cortex.graph.resolution.package_names import below
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.results import Results
from cortex.graph.resolution.scala import object_of
from cortex.graph.resolution.scopes import Scopes
from cortex.graph.resolution.supertypes import Supers, Supertypes
from cortex.graph.resolution.values import EXTERNAL, OVERLOADS_MAX, Recursion, Value, several

#: languages in which a class may have a method of its own beside one of its instances, of one name
_OWN_METHODS = frozenset({"ruby", "typescript", "tsx", "javascript"})
#: families whose types stand in one file: what another file says of a type of the same name, it
#: says of another one, as in copies of a library
_WHOLE = frozenset({"c", "go", "jvm", "php"})
#: what a value is that has no members of a type
_NO_TYPES = frozenset({"mod", "ext", "list", "elem", "iter"})
#: what every object of a script has
_OF_OBJECTS = frozenset(
    {"constructor", "hasOwnProperty", "toString", "valueOf", "isPrototypeOf", "toLocaleString"}
)


class Members:
    """Of a project that does not change while this lives; remembers what it has found."""

    def __init__(  # noqa: PLR0917 - what it asks
        self,
        project: Project,
        values: Meanings,
        scopes: Scopes,
        supertypes: Supertypes,
        results: Results,
        recursion: Recursion,
    ) -> None:
        self._project = project
        self._values = values
        self._scopes = scopes
        self._exports, self._owners = scopes.exports, scopes.owners
        self._supertypes = supertypes
        self._results = results
        self._generics = results.generics
        self._recursion = recursion
        self._known: dict[tuple[Ref, str], tuple[Value, ...]] = {}
        #: (number of a line of supertypes, name) → what these have by that name
        self._lines: dict[tuple[int, str], tuple[Value, ...]] = {}

    def relax(self, memo_max: int) -> None:
        """Forget what was found when it is more than `memo_max`."""
        if len(self._known) > memo_max:
            self._known.clear()
        if len(self._lines) > memo_max:
            self._lines.clear()

    def attribute(self, value: Value, name: str) -> tuple[Value, ...]:
        """What `value.name` stands for."""
        if value.tag in _NO_TYPES:
            return self._of_no_type(value, name)
        if (
            name == "this" and value.tag == "def" and self._project.definition(value.ref).has_members
        ):  # Java's `Disk.this` in a class inside of it
            return (value._replace(tag="inst"),)
        if value.tag == "def" and not (
            (one := self._project.definition(value.ref)).has_members or one.kind == "module"
        ):
            if self._project.language(value.path) == "rust" and name.isdigit():
                return self._of_variant(value, name)
            if self._project.language(value.path) == "scala" and not taken(one):
                return several(self.attribute(given, name) for given in self._results.returned(value.ref))
            return several(self.attribute(one, name) for one in self._results.decorated(value.ref))
        found = self.member(value.ref, name, past=value.tag == "super") or self._by_any_name(value, name)
        if not found and value.tag == "def" and self._project.language(value.path) == "scala":
            found = self.member(object_of(self._project, value).ref, name)  # that it inherits
        if not found and value.tag == "def" and self._project.language(value.path) == "php":
            # A name space may have a class's name: `Node\Expr` of the class `Node`.
            key = below(
                self._project, self._project.home(value.path), self._project.definition(value.ref).qualified
            )
            return self._exports.exported(key, name) if key else ()
        if value.tag == "inst" and self._project.language(value.path) in GENERIC_LANGUAGES:
            if told := self._generics.field(value, name):
                found = (*(one for one in found if one.tag == "def"), *told)
            elif not found and (held := self._generics.element(value)):
                return several(self.attribute(_listed(one), name) for one in held)
        if len(found) > 1 and self._project.language(value.path) in _OWN_METHODS:
            found = self._scopes.of_kind(found, static=value.tag == "def")
        if (
            not found
            and name == "new"
            and self._project.language(value.path) == "ruby"
            and value.tag == "def"
        ):
            return (value,)
        if not found and name == SECOND and value.tag == "inst" and self._project.home(value.path) == C_HOME:
            return (value,)
        if (
            not found
            and name == "copy"
            and value.tag == "inst"
            and CASE in self._project.definition(value.ref).flags
        ):
            return (value._replace(tag="def"),)  # Scala's, which nobody writes
        if not found and value.tag == "inst" and self._project.language(value.path) == "rust":
            found = self._by_deref(value, name)
        if not found and value.tag == "inst" and name in SAME.get(self._project.language(value.path), ()):
            return (Value("elem", value.path, value.at, 1),)
        if value.tag == "inst" or RULES[self._project.language(value.path)].family in ("script", "swift"):
            given = (
                self._results.returned(one.ref)
                if one.tag == "def"
                and {"property", "cached_property"} & set(self._project.definition(one.ref).flags)
                else (one,)
                for one in found
            )
            return several(given, OVERLOADS_MAX)
        return found

    def _of_variant(self, variant: Value, number: str) -> tuple[Value, ...]:
        """What a variant of Rust's enums holds."""
        held = self._project.index(variant.path).places(variant.at, number)
        said = (one.value for one in held if isinstance(one, Binding))
        return several(self._values.evaluate(one, *variant.ref) for one in said)

    def _by_deref(self, value: Value, name: str) -> tuple[Value, ...]:
        """What Rust's type has of the one that it acts as: `fn deref(&self) -> &Disk`."""
        made_by = self.member(value.ref, DEREF.lower()) if name != DEREF.lower() else ()
        key = (value.ref, DEREF, name)
        before = self._recursion.enter(key) if made_by else None
        if before is None:
            return self._recursion.found(key, ())
        given = several(self._results.called(one) for one in made_by if one.tag == "def")
        found = several(self.attribute(one, name) for one in given if one.tag == "inst")
        self._recursion.leave(key, before, found)
        return found

    def _of_no_type(self, value: Value, name: str) -> tuple[Value, ...]:
        if value.tag == "mod":
            found = self._exports.exported(value.path, name)
            # A Rust path that leads nowhere leads out of the project: `std::process`.
            return found or ((EXTERNAL,) if value.path.partition("|")[0].endswith(".rs") else ())
        if value.tag == "iter":  # `i->save()`, `i->second` of a map's
            held = self._results.element(value)
            return held if name == SECOND else several(self.attribute(one, name) for one in held)
        if value.tag == "list":
            if name in ITERATORS and self._project.home(value.path) == C_HOME:
                return (value._replace(tag="iter"),)
            if name in ELEMENT_OF:
                return (value._replace(tag="elem"),)
            return (value._replace(tag="list"),) if name in SAME_AS else (EXTERNAL,)
        return (EXTERNAL,) if value.tag == "ext" else ()

    def member(self, owner: Ref, name: str, *, past: bool = False) -> tuple[Value, ...]:
        """The member of a type or of what it inherits from (`past`: only of that); fields give
        their types' instances.
        """
        memo = (owner, f"super {name}" if past else name)
        known = self._known.get(memo)
        if known is not None:
            return known
        before = self._recursion.enter(memo)
        if before is None:
            return self._recursion.found(memo, ())
        # What it inherits only then: types of one name in many places ask each other for that.
        found = () if past else self._own_member(owner, name)
        if not found:
            above = self._supertypes.of(owner)
            if above.types or above.spaces:
                found = self._inherited(above, name)
        if self._recursion.leave(memo, before, found):
            self._known[memo] = found
        return found

    def _inherited(self, above: Supers, name: str) -> tuple[Value, ...]:
        """The member of what types inherit from: one answer for all that inherit the same."""
        memo = (above.line, name)
        known = self._lines.get(memo)
        if known is None:
            before = self._recursion.begin()
            each = (self._own_member(one, name) for one in above.types if one not in above.promised)
            known = next(filter(None, each), ())
            if not known and above.spaces:
                known = several(self._exports.given_away(space.path, name) for space in above.spaces)
            if self._recursion.end(before):
                self._lines[memo] = known
        return known

    def _by_any_name(self, value: Value, name: str) -> tuple[Value, ...]:
        """What an instance of a script's type holds by whatever name, `Record<string, Disk>`."""
        script = RULES[self._project.language(value.path)].family == "script"
        if value.tag != "inst" or not script or name in _OF_OBJECTS:
            return ()
        above = self._supertypes.of(value.ref)
        for path, at in (value.ref, *above.types) if above.whole else ():
            qualified = self._project.definition((path, at)).qualified
            if held := self._held(self._project.home(path), qualified, ANY_NAME, path):
                return held
        return ()

    def _own_member(self, owner: Ref, name: str) -> tuple[Value, ...]:
        project, path = self._project, owner[0]
        home, qualified = project.home(path), project.definition(owner).qualified
        rules = RULES[project.language(path)]
        near = path if rules.family in _WHOLE else ""
        refs = project.members_of(home, qualified).get(name, [])
        if rules.family == "script" and project.definition(owner).kind != "module":
            refs = [ref for ref in refs if project.definition(ref).kind != "function"]  # inside one
            refs = project.inside(owner, refs) if len(refs) > 1 else refs
        if refs:
            if rules.family == "c":  # whose bodies may be written elsewhere
                own = bodies(project, of_type(project, owner, refs))
            else:
                refs = built_with(project, refs, path) if rules.family == "go" else refs
                own = [ref for ref in refs if ref[0] == path] or refs
            kept = (
                self._scopes.overloads(own[0][0], [ref[1] for ref in own])
                if len({r[0] for r in own}) == 1
                else None
            )
            methods = tuple(Value("def", *ref) for ref in own if kept is None or ref[1] in kept)
            # A field and a method may share a name (Java, PHP): a call means the one, a receiver
            # the other.
            if rules.family in ("jvm", "php"):
                methods = (*methods, *self._held(home, qualified, name, near))
            return methods[:OVERLOADS_MAX]
        if rules.open_types:
            wanted = project.definition(owner).name
            given = project.open_methods.get((rules.family, name, wanted), ())
            if found := [ref for ref in given if self._owners.of(*ref) == owner][:OVERLOADS_MAX]:
                return tuple(Value("def", *ref) for ref in found)
        return self._held(home, qualified, name, near) or self._spread(owner, name)

    def _spread(self, owner: Ref, name: str) -> tuple[Value, ...]:
        """What an object literal takes in whole: `{ ...other }`."""
        if HOLDER not in self._project.definition(owner).flags:
            return ()
        values = self._held(self._project.home(owner[0]), self._project.definition(owner).qualified, SPREAD)
        return several(self.attribute(value, name) for value in values)

    def _held(self, home: str, qualified: str, name: str, near: str = "") -> tuple[Value, ...]:
        """What a field of a type may hold; of types of one name in several files that of `near`."""
        bindings = [*self._project.fields_of(home, qualified, name)]
        bindings = [one for one in bindings if one[0] == near] or bindings
        values: list[Value] = []
        for where, binding in bindings:
            if binding.value in "#?":
                continue
            found = self._values.evaluate(binding.value, where, binding.scope, binding.at)
            if binding.value.startswith(":") and found:
                return found  # declared: that settles it
            values += found
        return several([tuple(values)])


def _listed(one: Value) -> Value:
    """A container of what a value is."""
    return one._replace(tag="list", depth=one.depth + 1) if one.tag in ("inst", "list") else one
