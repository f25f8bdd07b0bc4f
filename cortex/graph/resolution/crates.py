"""What Rust's names mean inside of modules that are written in a file, in `impl`s for types from
outside, and as macros.
"""

from __future__ import annotations

from typing import Protocol

from cortex.graph.facts.chains import split
from cortex.graph.facts.facts import Definition, Import
from cortex.graph.facts.types import alternatives
from cortex.graph.resolution.commonjs import Meanings
from cortex.graph.resolution.package_names import in_scope
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import How, Value, near


class Exports(Protocol):
    """What is asked about what files give away."""

    def imported(self, one: Import, path: str, hops: int = 0) -> tuple[Value, ...]: ...

    def exported(self, key: str, name: str, hops: int = 0) -> tuple[Value, ...]: ...


class Crates:
    """Of a project that does not change while this lives."""

    def __init__(self, project: Project, meanings: Meanings, exports: Exports) -> None:
        self._project = project
        self._meanings = meanings
        self._exports = exports

    def outer(self, path: str, scope: int) -> tuple[Value, ...]:
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
        given = self._project.index(path).facts.extensions
        return any(self._project.types_named(path, scope)) or any(one.type == scope for one in given)

    def inside(self, name: str, path: str, inside: str) -> tuple[tuple[Value, ...], How] | None:
        """What a name means in a module inside a Rust file: what that imports and defines, nothing
        of what is around it; None where that cannot be told.
        """
        index = self._project.index(path)
        while inside:
            imports = index.inner_imports.get(inside, ())
            for one in imports:
                if one.name == name:
                    return self._exports.imported(one, path), "import"
            if not self.is_type(path, inside):
                if values := in_scope(self._project, path, inside, name, path):
                    return values, "exact"
                if self._project.has_scope(path, f"{inside}.{name}"):
                    return (Value("mod", f"{path}|{inside}.{name}"),), "exact"
            for one in imports:
                key = self._project.find_module(one.module, path) if one.member == "*" else ""
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
        for one in imports:
            if one.name == name:
                return self._exports.imported(one, path)
        for one in imports:
            key = self._project.find_module(one.module, path) if one.member == "*" else ""
            if key and key != f"{path}|{inside}" and (values := self._exports.exported(key, name)):
                return values
        return ()

    def below(self, path: str, scope: str, name: str) -> tuple[Value, ...]:
        """What `scope::name` is where a file only imports `scope`, or an enum of that name."""
        outer, _, last = scope.rpartition(".")
        found: dict[Value, None] = {}
        for value in self._exports.exported(f"{path}|{outer}" if outer else path, last):
            if value.tag == "mod" and value.path != f"{path}|{scope}":
                found.update(dict.fromkeys(self._exports.exported(value.path, name)))
            elif value.tag == "def" and self._project.definition(value.ref).has_members:
                found.update(dict.fromkeys(self._meanings.member(value.ref, name)))
        return tuple(found)

    def given_self(self, path: str, one: Definition) -> Value | None:
        """`self` in an `impl` of a trait for a type from outside: what the trait has."""
        for where, extension in self._project.extensions.get(one.scope.rpartition(".")[2], ()):
            if where == path and extension.type == one.scope:
                for value in self._meanings.evaluate(extension.base.chain, path, -1):
                    if value.tag == "def" and self._meanings.member(value.ref, one.name):
                        return value._replace(tag="inst")
        return None

    def macros(self, chain: str, path: str) -> tuple[list[Ref], How]:
        """The macros that `own!` may mean: of this file, else of this crate, else those that
        a path or an import names.
        """
        project = self._project
        receiver, name = split(chain)
        refs = [*project.methods.get(("rust", name), ())]
        if own := [ref for ref in refs if ref[0] == path]:
            return own, "exact"
        root = project.rust.root(path)
        within = [ref for ref in refs if project.rust.root(ref[0]) == root]
        held = [what for what in project.index(path).places(-1, name[:-1]) if isinstance(what, Import)]
        if held:
            key = project.find_module(held[-1].module, path)
            return near((within or refs) if key else [], path), "import"
        return near(within or (refs if receiver or project.index(path).stars else []), path), "import"

    def bounded(self, values: tuple[Value, ...], name: str, path: str, scope: int) -> tuple[Value, ...]:
        """What a field of `self` is whose type is a parameter of the `impl` around."""
        project = self._project
        if scope < 0 or len(values) != 1 or project.language(path) != "rust" or values[0].tag != "inst":
            return ()
        home, owner = project.home(values[0].path), project.definition(values[0].ref)
        index = project.index(path)
        for _, binding in project.fields_of(home, owner.qualified, name):
            if any(index.places(scope, one.rstrip("*")) for one in alternatives(binding.value[1:])):
                return self._meanings.evaluate(binding.value, path, scope)
        return ()
