"""What modules give by a name, through re-exports, and what imports bring of it: the imports of
that name, and those of everything.
"""

from __future__ import annotations

from typing import Any, Protocol

from cortex.graph.facts.facts import OBJECT, Import
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.reaching_bindings import ANYWHERE
from cortex.graph.resolution.commonjs import HOPS_MAX, CommonJs, Meanings
from cortex.graph.resolution.crates import Crates
from cortex.graph.resolution.includes import C_HOME
from cortex.graph.resolution.package_names import below, in_scope
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.scala import package_object
from cortex.graph.resolution.values import EXTERNAL, How, Recursion, Value


class Names(Protocol):
    """What is asked about the names at the top of a file."""

    def local(self, name: str, path: str, scope: int, at: int) -> tuple[tuple[Value, ...], How] | None: ...

    def beyond(self, name: str, path: str, at: int) -> tuple[tuple[Value, ...], How]: ...


class Exports:
    """Of a project that does not change while this lives; remembers what it has found."""

    def __init__(self, project: Project, meanings: Meanings, recursion: Recursion, names: Names) -> None:
        self._project = project
        self._meanings = meanings
        self._recursion = recursion
        self._names = names
        self.commonjs = CommonJs(project, meanings, recursion)
        self.crates = Crates(project, meanings, self)
        self._known: dict[tuple[str, str], tuple[Value, ...]] = {}
        #: file → the modules that it imports everything from
        self._stars: dict[str, tuple[str, ...]] = {}
        #: file of C++ → the scopes in which it defines something, the inner ones first
        self._opened: dict[str, tuple[str, ...]] = {}
        #: (file, name) → what these bring by that name
        self._brought: dict[tuple[str, str], tuple[Value, ...]] = {}

    def relax(self, memo_max: int) -> None:
        """Forget what was found when it is more than `memo_max`."""
        memos: tuple[dict[Any, Any], ...] = (self._known, self._stars, self._opened, self._brought)
        for memo in memos:
            if len(memo) > memo_max:
                memo.clear()
        self.commonjs.relax(memo_max)

    def exported(self, key: str, name: str, hops: int = 0) -> tuple[Value, ...]:
        """What the name of a module stands for, through re-exports."""
        memo = (key, name)
        known = self._known.get(memo)
        if known is not None:
            return known
        before = self._recursion.enter(memo, allowed=hops <= HOPS_MAX)
        if before is None:
            return self._recursion.found(memo, ())
        found = self._exported(key, name, hops)
        if key in self._project.files and (other := self._project.script.beside(key)):
            more = self._exported(other, name, hops)
            if more and any(one.path != other for one in found):  # each says what is its own
                found = tuple(one for one in found if one.path != other)
                more = tuple(one for one in more if one.path != key)
            found = self.commonjs.told_of((*found, *(one for one in more if one not in found)))
        if self._recursion.leave(memo, before, found):
            self._known[memo] = found
        return found

    def given_away(self, key: str, name: str) -> tuple[Value, ...]:
        """What a script exports by a name, and nothing that it only imports by it."""
        index = self._project.index(key.partition("|")[0])
        imports = index.imports.get((-1, name), ())
        if imports and name not in index.facts.exports and not any(one.exported for one in imports):
            return ()
        return self.exported(key, name)

    def _exported(self, key: str, name: str, hops: int) -> tuple[Value, ...]:
        project = self._project
        key, bar, scope = key.partition("|")
        if bar:
            return self._from_scope(key, scope, name)
        if key.endswith("/"):
            return self._from_folder(key, name)
        if key not in project.files:
            return ()
        facts = project.index(key).facts
        local = facts.exports.get(name, name)
        if local == OBJECT:
            return (Value("mod", key),)
        script = RULES[facts.language].family == "script"
        if script and (own := self.commonjs.given(key, name)):
            return own
        found = self._names.local(local, key, -1, ANYWHERE)
        if found is not None:
            return found[0]
        if script and (values := self.commonjs.of_whole(key, name)):
            return values
        if child := self._child(key, name, facts.language):
            return (Value("mod", child),)
        for star in project.index(key).stars:
            inner = project.find_module(star.module, key)
            if inner and (values := self.exported(inner, name, hops + 1)):
                return values
        stub = project.python.stub(key) if facts.language == "python" else ""
        return self._exported(stub, name, hops) if stub else ()

    def _from_folder(self, key: str, name: str) -> tuple[Value, ...]:
        """A name of Go's package, or of Python's without a file of its own."""
        paths = self._project.paths_of(key)
        if not paths:
            child = self._project.python.child(key, name)
            return (Value("mod", child),) if child else ()
        beyond, _ = self._names.beyond(name, paths[0], ANYWHERE)
        return beyond or (self._names.local(name, paths[0], -1, ANYWHERE) or ((),))[0]

    def _child(self, key: str, name: str, language: str) -> str:
        """The key of the module of that name in this one; "" when there is none."""
        if language == "python":
            return self._project.python.child(key, name)
        if language != "rust":
            return ""
        inside = self._project.has_scope(key, name)
        return f"{key}|{name}" if inside else self._project.rust.child(key, name)

    def _from_scope(self, key: str, scope: str, name: str) -> tuple[Value, ...]:
        """A name of `@home|scope` or `file|scope`."""
        project = self._project
        home = key.removeprefix("@")
        found = in_scope(self._project, home, scope, name, "")
        if found:
            return found
        inner = f"{scope}.{name}" if scope else name
        if project.has_scope(home, inner) and f"{home}.{inner}" not in project.homes:
            return (Value("mod", f"{key}|{inner}"),)
        if home in project.packed and (given := self.crates.re_exported(home, scope, name)):
            return given
        if home in project.packed and scope and (given := self.crates.below(home, scope, name)):
            return given
        for ref in project.types_named(home, scope) if scope else ():
            if found := self._meanings.member(ref, name):
                return found
        family = home.partition(":")[0]
        for ref in package_object(project, home, scope) if family == "jvm" else ():
            if found := self._meanings.member(ref, name):
                return found
        if not scope and f"{home}.{name}" in project.homes:
            return (Value("mod", f"@{family}:{home.partition(':')[2]}.{name}|"),)
        return ()

    def _module_of(self, one: Import, path: str) -> str:
        """The key of what an import is of; of C++'s `using namespace app` also of a name space in
        one that the file opens.
        """
        key = self._project.find_module(one.module, path)
        if key or not one.member or self._project.home(path) != C_HOME:
            return key
        opened = self._opened.get(path)
        if opened is None:
            scopes = {each.scope for each in self._project.index(path).facts.definitions}
            opened = self._opened[path] = tuple(sorted(scopes - {""}, key=len, reverse=True))
        wholes = (f"{scope}.{one.module}" for scope in opened)
        found = next((whole for whole in wholes if self._project.has_scope(C_HOME, whole)), "")
        return f"@{C_HOME}|{found}" if found else ""

    def imported(self, one: Import, path: str, hops: int = 0) -> tuple[Value, ...]:
        key = self._module_of(one, path)
        family = RULES[self._project.language(path)].family
        if not key and self._project.language(path) == "kotlin":  # of a companion: `Disk.Companion.make`
            outer = self._project.find_module(one.module.rpartition(".")[0], path)
            if found := self.exported(outer, one.member, hops) if outer and one.member else ():
                return found
        if not one.member:
            return (Value("mod", key),) if key else (EXTERNAL,)
        if family == "php" and not (key and self.exported(key, one.member, hops)):
            key = below(self._project, "php:", f"{one.module}.{one.member}" if one.module else one.member)
            return (Value("mod", key),) if key else (EXTERNAL,)
        if family == "python" and (not key or key.endswith("/")):  # in another root of the name-space
            inner = self._project.find_module(f"{one.module}.{one.member}", path)
            if inner:
                return (Value("mod", inner),)
        if not key:
            known = self._of_value(one, path, one.member) if self._project.language(path) == "scala" else ()
            return known or (EXTERNAL,)
        found = self.exported(key, one.member, hops)
        if not found and family == "python":
            child = self._project.python.child(key, one.member)
            if child:
                return (Value("mod", child),)
        if not found and family == "rust":
            inner = self._project.find_module(f"{one.module}.{one.member}", path)
            return (Value("mod", inner),) if inner else ()
        return found

    def dotted_import(self, dotted: str, path: str) -> tuple[Value, ...]:
        """`import a.b.c` binds the whole name."""
        found = self._project.index(path).imports.get((-1, dotted))
        if not found:
            return ()
        key = self._project.find_module(found[-1].module, path)
        return (Value("mod", key),) if key else (EXTERNAL,)

    def starred(self, name: str, path: str, at: int) -> tuple[Value, ...]:
        """What imports of everything bring by that name; of Scala's, which may be of what others
        bring, those before byte `at`: none is looked for in itself or in a later one.
        """
        if self._project.language(path) == "scala":
            return self._brought_by(name, path) or self._brought_before(name, path, at)
        known = self._brought.get((path, name))
        if known is None:
            before = self._recursion.begin()
            known = self._brought_by(name, path)
            if self._recursion.end(before):
                self._brought[path, name] = known
        return known

    def _brought_before(self, name: str, path: str, at: int) -> tuple[Value, ...]:
        for one in self._project.index(path).stars:
            if one.at < at and (values := self._of_value(one, path, name)):
                return values
        return ()

    def _brought_by(self, name: str, path: str) -> tuple[Value, ...]:
        keys = self._stars.get(path)
        if keys is None:  # most names come by here
            found = [self._module_of(one, path) for one in self._project.index(path).stars]
            keys = self._stars[path] = tuple(dict.fromkeys(key for key in found if key))
        for key in keys:
            if values := self.exported(key, name):
                return values
        return ()

    def _of_value(self, one: Import, path: str, name: str) -> tuple[Value, ...]:
        """What Scala's import of a value's or an object's members brings, `import disk._`, or of a
        package below this one.
        """
        home = self._project.home(path)
        if home in self._project.homes and (key := self._project.find_module(one.module, path)):
            return self.exported(key, name)
        while "." in home or home[-1] != ":":  # relative to a package around this one
            if found := in_scope(self._project, f"{home}.{one.module}", "", name, path):
                return found
            family, _, package = home.partition(":")
            home = f"{family}:{package.rpartition('.')[0]}"
        owners = self._meanings.evaluate(one.module, path, one.scope, one.at)
        return tuple(value for owner in owners for value in self._meanings.attribute(owner, name))
