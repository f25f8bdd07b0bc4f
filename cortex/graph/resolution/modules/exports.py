"""Exports of modules through re-exports, and the names that imports bring: single names, or all
names of a module.
"""

from typing import Protocol

from cortex.graph.facts.declared.builds import TESTS
from cortex.graph.facts.facts import OBJECT, SPACE, USING, Import
from cortex.graph.facts.reaching_bindings import ANYWHERE
from cortex.graph.resolution.evaluation.values import (
    EXTERNAL,
    ChainEvaluator,
    How,
    Recursion,
    Remembering,
    Value,
    Values,
)
from cortex.graph.resolution.modules.commonjs import HOPS_MAX, CommonJs
from cortex.graph.resolution.modules.crates import Crates
from cortex.graph.resolution.modules.includes import C_HOME
from cortex.graph.resolution.modules.package_names import find_name_space, in_scope, package_object
from cortex.graph.resolution.project import Project


class Names(Protocol):
    """Names at the top of a file, as Exports uses them."""

    def local(self, name: str, path: str, scope: int, at: int) -> tuple[Values, How] | None: ...

    def beyond(self, name: str, path: str, at: int) -> tuple[Values, How]: ...


class Exports(Remembering):
    """Exports of a project's modules, with caches. Valid while the project does not change."""

    def __init__(
        self, project: Project, meanings: ChainEvaluator, recursion: Recursion, names: Names
    ) -> None:
        self.project = self._project = project
        self.meanings, self._recursion, self._names = meanings, recursion, names
        self.commonjs = CommonJs(project, meanings, recursion)
        self.crates = Crates(project, meanings, self)
        self._memo: dict[tuple[str, str], Values] = {}
        #: file → the modules that its star imports name
        self._stars: dict[str, tuple[str, ...]] = {}
        #: C++ file → the scopes in which it defines names, inner ones first
        self._scopes_by_file: dict[str, tuple[str, ...]] = {}
        #: (file, name) → the values that star imports bring
        self._star_memo: dict[tuple[str, str], Values] = {}
        self.memos = (self._memo, self._stars, self._scopes_by_file, self._star_memo)

    def exported(self, key: str, name: str, hops: int = 0) -> Values:
        """Return the values of a module's name, through re-exports."""
        memo = (key, name)
        if (cached := self._memo.get(memo)) is not None:
            return cached
        before = self._recursion.enter(memo, allowed=hops <= HOPS_MAX)
        if before is None:
            return self._recursion.answer(memo, ())
        values = self._exported(key, name, hops)
        if key in self._project.packed and (other := self._project.script.counterpart(key)):
            more = self._exported(other, name, hops)
            if more and any(value.path != other for value in values):  # each file has its own names
                values = tuple(value for value in values if value.path != other)
                more = tuple(value for value in more if value.path != key)
            values = self.commonjs.drop_declared_modules(
                (*values, *(value for value in more if value not in values))
            )
        if self._recursion.leave(memo, before, values):
            self._memo[memo] = values
        return values

    def own_exported(self, key: str, name: str) -> Values:
        """Return a script's exports of a name, without a name that it only imports."""
        index = self._project.index(key.partition("|")[0])
        imports = index.imports.get((-1, name), ())
        if (
            imports
            and name not in index.facts.exports
            and not any(statement.exported for statement in imports)
        ):
            return ()
        return self.exported(key, name)

    def _exported(self, key: str, name: str, hops: int) -> Values:
        project = self._project
        key, bar, scope = key.partition("|")
        if bar:
            return self._from_scope(key, scope, name, hops)
        if key.endswith("/"):
            return self._from_folder(key, name)
        if key not in project.packed:
            return ()
        facts = project.index(key).facts
        local = facts.exports.get(name, name)
        if local == OBJECT:
            return (Value("mod", key),)
        script = project.rules(key).whole_exports
        if script and (assigned := self.commonjs.assigned_export(key, name)):
            return assigned
        if (resolved := self._names.local(local, key, -1, ANYWHERE)) is not None:
            return resolved[0]
        if script and (values := self.commonjs.whole_member(key, name)):
            return values
        language = project.language(key)
        if language.submodule is not None and (child := language.submodule(project, key, name)):
            return (Value("mod", child),)
        for star in project.index(key).star_imports:
            inner = project.find_module(star.module, key)
            if inner and (values := self.exported(inner, name, hops + 1)):
                return values
        stub = language.stub(project, key) if language.stub is not None else ""
        return self._exported(stub, name, hops) if stub else ()

    def _from_folder(self, key: str, name: str) -> Values:
        """Return a name of Go's package, or of Python's package without `__init__.py`."""
        paths = self._project.paths_of(key)
        if not paths:
            child = self._project.python.child(key, name)
            return (Value("mod", child),) if child else ()
        # A test may be in a package of its own, which does not show the names of the folder's.
        path = next((path for path in paths if not path.endswith(TESTS)), paths[0])
        beyond, _ = self._names.beyond(name, path, ANYWHERE)
        return beyond or (self._names.local(name, path, -1, ANYWHERE) or ((),))[0]

    def _from_scope(self, key: str, scope: str, name: str, hops: int) -> Values:
        """Return a name of `@package|scope` or `file|scope`."""
        project = self._project
        home = key.removeprefix("@")
        values = in_scope(self._project, home, scope, name, "")
        if values:
            return (*values, *self._copied_from(key, scope, name, values, hops))
        inner = f"{scope}.{name}" if scope else name
        if project.has_scope(home, inner) and f"{home}.{inner}" not in project.homes:
            return (Value("mod", f"{key}|{inner}"),)
        if home in project.packed and (inner_values := self.crates.re_exported(home, scope, name)):
            return inner_values
        if (
            home in project.packed
            and scope
            and (inner_values := self.crates.members_below(home, scope, name))
        ):
            return inner_values
        for ref in project.types_named(home, scope) if scope else ():
            if values := self.meanings.member(ref, name):
                return values
        family = home.partition(":")[0]
        for ref in package_object(project, home, scope) if family in project.package_objects else ():
            if values := self.meanings.member(ref, name):
                return values
        if not scope and f"{home}.{name}" in project.homes:
            return (Value("mod", f"@{family}:{home.partition(':')[2]}.{name}|"),)
        if scope and home == C_HOME and (used := self._used_in_scope(scope, name, hops)):
            return used
        if project.is_opened_by_macro(home, name):
            return (Value("mod", f"{key}|{inner}"),)
        return self._in_opened_space(key, scope, name, hops)

    def _in_opened_space(self, key: str, scope: str, name: str, hops: int) -> Values:
        """Return a name of a C++ name space that a macro opens: it is in the scope around it."""
        if not scope or not self._project.is_opened_by_macro(key.removeprefix("@"), scope):
            return ()
        outer = self._from_scope(key, scope.rpartition(".")[0], name, hops)
        return tuple(value for value in outer if self._project.is_in_opened_space(value.path, scope))

    def _copied_from(self, key: str, scope: str, name: str, values: Values, hops: int) -> list[Value]:
        """Return what `values` copy from a C++ name space that a macro opens: a library's copy in
        one header defines the macro itself, and no file of the library includes it.
        """
        openers = self._project.tops_of(C_HOME, SPACE + scope.rpartition(".")[2]) if scope else ()
        copies = {value.path for value in values}.intersection(openers)
        read_by = self._project.includes.files_read_by
        opened = self._in_opened_space(key, scope, name, hops) if copies else ()
        return [value for value in opened if value not in values and copies.isdisjoint(read_by(value.path))]

    def _used_in_scope(self, scope: str, name: str, hops: int) -> Values:
        """Return the values of a name that a name space of C++ takes from another."""
        for path in self._project.tops_of(C_HOME, USING + scope):
            for binding in self._project.index(path).top_bindings[-1, USING + scope]:
                module, _, member = binding.value.rpartition(".")
                space = (
                    find_name_space(self._project, C_HOME, scope, module) if member in ("*", name) else None
                )
                if space is not None and (values := self.exported(space.path, name, hops + 1)):
                    return values
        return ()

    def _module_of(self, statement: Import, path: str) -> str:
        """Return the key of an import's module.

        C++'s `using namespace app` may also mean a name space inside one that the file opens.
        """
        key = self._project.find_module(statement.module, path)
        if key or not statement.member or self._project.home(path) != C_HOME:
            return key
        opened = self._scopes_by_file.get(path)
        if opened is None:
            scopes = {definition.scope for definition in self._project.index(path).facts.definitions}
            opened = self._scopes_by_file[path] = tuple(sorted(scopes - {""}, key=len, reverse=True))
        wholes = (f"{scope}.{statement.module}" for scope in opened)
        scope_key = next(
            (qualified for qualified in wholes if self._project.has_scope(C_HOME, qualified)), ""
        )
        return f"@{C_HOME}|{scope_key}" if scope_key else ""

    def imported(self, statement: Import, path: str, hops: int = 0) -> Values:
        key = self._module_of(statement, path)
        language = self._project.language(path)
        if not statement.member:
            return (Value("mod", key),) if key else (EXTERNAL,)
        if language.import_first is not None:
            first = language.import_first(self, statement, path, key, hops)
            if first is not None:
                return first
        if not key:
            return (EXTERNAL,)
        values = self.exported(key, statement.member, hops)
        if values or language.import_last is None:
            return values
        inner = language.import_last(self._project, statement, path, key)
        return (Value("mod", inner),) if inner else ()

    def dotted_import(self, dotted: str, path: str) -> Values:
        """Return the module of `import a.b.c`, which binds the whole dotted name."""
        imports = self._project.index(path).imports.get((-1, dotted))
        if not imports:
            return ()
        key = self._project.find_module(imports[-1].module, path)
        return (Value("mod", key),) if key else (EXTERNAL,)

    def star_imported(self, name: str, path: str, at: int) -> Values:
        """Return the values that star imports bring under a name.

        Scala's may import members of a value from an earlier import: only those before byte `at`
        count.
        """
        if self._project.rules(path).value_imports:
            return self._star_import_values(name, path) or self._star_import_before(name, path, at)
        values = self._star_memo.get((path, name))
        if values is None:
            before = self._recursion.begin()
            values = self._star_import_values(name, path)
            if self._recursion.end(before):
                self._star_memo[path, name] = values
        return values

    def _star_import_before(self, name: str, path: str, at: int) -> Values:
        for star in self._project.index(path).star_imports:
            if star.at < at and (values := self.value_import(star, path, name)):
                return values
        return ()

    def _star_import_values(self, name: str, path: str) -> Values:
        keys = self._stars.get(path)
        if keys is None:  # most names get here
            module_keys = [self._module_of(star, path) for star in self._project.index(path).star_imports]
            keys = self._stars[path] = tuple(dict.fromkeys(key for key in module_keys if key))
        for key in keys:
            if values := self.exported(key, name):
                return values
        return ()

    def value_import(self, statement: Import, path: str, name: str) -> Values:
        """Return members that Scala's import takes from a value, an object or a nested package:
        `import disk._`.
        """
        home = self._project.home(path)
        if home in self._project.homes and (key := self._project.find_module(statement.module, path)):
            return self.exported(key, name)
        while "." in home or home[-1] != ":":  # relative to a package around this one
            if values := in_scope(self._project, f"{home}.{statement.module}", "", name, path):
                return values
            family, _, package = home.partition(":")
            home = f"{family}:{package.rpartition('.')[0]}"
        owners = self.meanings.evaluate(statement.module, path, statement.scope, statement.at)
        return tuple(value for owner in owners for value in self.meanings.attribute(owner, name))
