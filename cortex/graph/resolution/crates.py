"""What Rust's names mean inside of modules that are written in a file, in `impl`s for types from
outside, and as macros.
"""

from __future__ import annotations

from typing import Protocol

from cortex.graph.facts.chains import split_chain
from cortex.graph.facts.facts import Definition, Import
from cortex.graph.facts.types import alternatives
from cortex.graph.resolution.commonjs import ChainEvaluator
from cortex.graph.resolution.package_names import in_scope
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import How, Value, nearest_definitions


class Exports(Protocol):
    """What is asked about what files give away."""

    def imported(self, statement: Import, path: str, hops: int = 0) -> tuple[Value, ...]: ...

    def exported(self, key: str, name: str, hops: int = 0) -> tuple[Value, ...]: ...


class Crates:
    """Of a project that does not change while this lives."""

    def __init__(self, project: Project, meanings: ChainEvaluator, exports: Exports) -> None:
        self._project = project
        self._meanings = meanings
        self._exports = exports

    def outer_module(self, path: str, scope: int) -> tuple[Value, ...]:
        """The module around this one: written in the same file, or another file."""
        inside = self._project.index(path).facts.definitions[scope].scope if scope >= 0 else ""
        while inside and self.is_type(path, inside):
            inside = inside.rpartition(".")[0]
        if inside:
            outer = inside.rpartition(".")[0]
            return (Value("mod", f"{path}|{outer}" if outer else path),)
        key = self._project.find_module("super", path)
        return (Value("mod", key),) if key else ()

    def is_type(self, path: str, scope: str) -> bool:
        """Whether a scope in a file is a type's, which may be from outside: `impl Shop for u8`."""
        extensions = self._project.index(path).facts.extensions
        return any(self._project.types_named(path, scope)) or any(
            extension.type == scope for extension in extensions
        )

    def lookup_inside(self, name: str, path: str, inside: str) -> tuple[tuple[Value, ...], How] | None:
        """What a name means in a module inside a Rust file: what that imports and defines, nothing
        of what is around it; None where that cannot be told.
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

    def re_exported(self, path: str, inside: str, name: str) -> tuple[Value, ...]:
        """What a module inside a Rust file imports by that name."""
        imports = self._project.index(path).inner_imports.get(inside, ())
        for statement in imports:
            if statement.name == name:
                return self._exports.imported(statement, path)
        for statement in imports:
            key = self._project.find_module(statement.module, path) if statement.member == "*" else ""
            if key and key != f"{path}|{inside}" and (values := self._exports.exported(key, name)):
                return values
        return ()

    def members_below(self, path: str, scope: str, name: str) -> tuple[Value, ...]:
        """What `scope::name` is where a file only imports `scope`, or an enum of that name."""
        outer, _, last = scope.rpartition(".")
        values: dict[Value, None] = {}
        for value in self._exports.exported(f"{path}|{outer}" if outer else path, last):
            if value.tag == "mod" and value.path != f"{path}|{scope}":
                values.update(dict.fromkeys(self._exports.exported(value.path, name)))
            elif value.tag == "def" and self._project.definition(value.ref).has_members:
                values.update(dict.fromkeys(self._meanings.member(value.ref, name)))
        return tuple(values)

    def trait_self(self, path: str, definition: Definition) -> Value | None:
        """`self` in an `impl` of a trait for a type from outside: what the trait has."""
        for where, extension in self._project.extensions.get(definition.scope.rpartition(".")[2], ()):
            if where == path and extension.type == definition.scope:
                for value in self._meanings.evaluate(extension.base.chain, path, -1):
                    if value.tag == "def" and self._meanings.member(value.ref, definition.name):
                        return value._replace(tag="inst")
        return None

    def macros(self, chain: str, path: str) -> tuple[list[Ref], How]:
        """The macros that `own!` may mean: of this file, else of this crate, else those that
        a path or an import names.
        """
        project = self._project
        receiver, name = split_chain(chain)
        refs = [*project.methods.get(("rust", name), ())]
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

    def bounded_field(self, values: tuple[Value, ...], name: str, path: str, scope: int) -> tuple[Value, ...]:
        """What a field of `self` is whose type is a parameter of the `impl` around."""
        project = self._project
        if scope < 0 or len(values) != 1 or project.language(path) != "rust" or values[0].tag != "inst":
            return ()
        home, owner = project.home(values[0].path), project.definition(values[0].ref)
        index = project.index(path)
        for _, binding in project.fields_of(home, owner.qualified, name):
            if any(
                index.places(scope, bound_name.rstrip("*")) for bound_name in alternatives(binding.value[1:])
            ):
                return self._meanings.evaluate(binding.value, path, scope)
        return ()
