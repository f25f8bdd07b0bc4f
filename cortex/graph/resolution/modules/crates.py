"""Names of Rust in inline modules, in `impl`s for external types, and as macros."""

from typing import Protocol

from cortex.graph.facts.declared.types import alternatives
from cortex.graph.facts.expressions.chains import split_chain
from cortex.graph.facts.facts import Definition, Import
from cortex.graph.resolution.evaluation.values import ChainEvaluator, How, Value, Values, nearest_definitions
from cortex.graph.resolution.modules.package_names import in_scope
from cortex.graph.resolution.project import Project, Ref


class Exports(Protocol):
    """Exports of files, as Crates uses them."""

    def imported(self, statement: Import, path: str, hops: int = 0) -> Values: ...

    def exported(self, key: str, name: str, hops: int = 0) -> Values: ...


class Crates:
    """Rust's names. Valid while the project does not change."""

    def __init__(self, project: Project, meanings: ChainEvaluator, exports: Exports) -> None:
        self._project, self._meanings, self._exports = project, meanings, exports

    def outer_module(self, path: str, scope: int) -> Values:
        """Return the module around this one: in the same file, or another file."""
        inside = self._project.index(path).facts.definitions[scope].scope if scope >= 0 else ""
        while inside and self.is_type(path, inside):
            inside = inside.rpartition(".")[0]
        if inside:
            outer = inside.rpartition(".")[0]
            return (Value("mod", f"{path}|{outer}" if outer else path),)
        key = self._project.find_module("super", path)
        return (Value("mod", key),) if key else ()

    def is_type(self, path: str, scope: str) -> bool:
        """Return True for the scope of a type, also of an external one: `impl Shop for u8`."""
        extensions = self._project.index(path).facts.extensions
        return any(self._project.types_named(path, scope)) or any(
            extension.type == scope for extension in extensions
        )

    def lookup_inside(self, name: str, path: str, inside: str) -> tuple[Values, How] | None:
        """Return the values of a name in an inline module of a Rust file, None if undecided.

        The module sees its imports and definitions, and no name of the modules around it.
        """
        index = self._project.index(path)
        while inside:
            imports = index.inner_imports.get(inside, ())
            for statement in imports:
                if statement.name == name:
                    return self._exports.imported(statement, path), "import"
            if not self.is_type(path, inside):
                if values := in_scope(self._project, path, inside, name, path):
                    return values, "exact"
                if self._project.has_scope(path, f"{inside}.{name}"):
                    return (Value("mod", f"{path}|{inside}.{name}"),), "exact"
            for statement in imports:
                key = self._project.find_module(statement.module, path) if statement.member == "*" else ""
                if key and (values := self._exports.exported(key, name)):
                    return values, "exact" if key == path else "import"
            if imports:
                key = self._project.find_module(name, path)
                return ((Value("mod", key),) if key else ()), "import"
            inside = inside.rpartition(".")[0]
        return None

    def re_exported(self, path: str, inside: str, name: str) -> Values:
        """Return the values that an inline module of a Rust file imports under a name."""
        imports = self._project.index(path).inner_imports.get(inside, ())
        for statement in imports:
            if statement.name == name:
                return self._exports.imported(statement, path)
        for statement in imports:
            key = self._project.find_module(statement.module, path) if statement.member == "*" else ""
            if key and key != f"{path}|{inside}" and (values := self._exports.exported(key, name)):
                return values
        return ()

    def members_below(self, path: str, scope: str, name: str) -> Values:
        """Return `scope::name` if a file only imports `scope`, or an enum of that name."""
        outer, _, last = scope.rpartition(".")
        values: dict[Value, None] = {}
        for value in self._exports.exported(f"{path}|{outer}" if outer else path, last):
            if value.tag == "mod" and value.path != f"{path}|{scope}":
                values.update(dict.fromkeys(self._exports.exported(value.path, name)))
            elif value.tag == "def" and self._project.definition(value.ref).has_members:
                values.update(dict.fromkeys(self._meanings.member(value.ref, name)))
        return tuple(values)

    def trait_self(self, path: str, definition: Definition) -> Value | None:
        """Return `self` in an `impl` of a trait for an external type: an instance of the trait."""
        for where, extension in self._project.extensions.get(definition.scope.rpartition(".")[2], ()):
            if where == path and extension.type == definition.scope:
                for value in self._meanings.evaluate(extension.base.chain, path, -1):
                    if value.tag == "def" and self._meanings.member(value.ref, definition.name):
                        return value._replace(tag="inst")
        return None

    def macros(self, chain: str, path: str) -> tuple[list[Ref], How]:
        """Return the macros that `name!` may mean, and the confidence.

        They are those of this file, else of this crate, else those that a path or an import names.
        """
        project = self._project
        receiver, name = split_chain(chain)
        refs = [*project.methods.get((project.rules(path).family, name), ())]
        if local_refs := [ref for ref in refs if ref[0] == path]:
            return local_refs, "exact"
        root = project.rust.root(path)
        crate_refs = [ref for ref in refs if project.rust.root(ref[0]) == root]
        imports = [site for site in project.index(path).places(-1, name[:-1]) if isinstance(site, Import)]
        if imports:
            key = project.find_module(imports[-1].module, path)
            return nearest_definitions((crate_refs or refs) if key else [], path), "import"
        return nearest_definitions(
            crate_refs or (refs if receiver or project.index(path).star_imports else []), path
        ), "import"

    def bounded_field(self, values: Values, name: str, path: str, scope: int) -> Values:
        """Return the values of a field of `self` whose type is a parameter of the `impl` around."""
        project = self._project
        if scope < 0 or len(values) != 1 or not project.rules(path).bounded_fields or values[0].tag != "inst":
            return ()
        home, owner = project.home(values[0].path), project.definition(values[0].ref)
        index = project.index(path)
        for _, binding in project.fields_of(home, owner.qualified, name):
            if any(
                index.places(scope, bound_name.rstrip("*")) for bound_name in alternatives(binding.value[1:])
            ):
                return self._meanings.evaluate(binding.value, path, scope)
        return ()
