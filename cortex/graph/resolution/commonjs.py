"""What a script exports in CommonJS's way: by name (`exports.x = …`), or as a whole
(`module.exports = …`).
"""

from __future__ import annotations

from typing import Protocol

from cortex.graph.facts.facts import EXPORTED, SPREAD
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.reaching_bindings import ANYWHERE
from cortex.graph.facts.scripts import EXPORTS
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import Recursion, Value

#: imports that are followed through re-exports
HOPS_MAX = 12


class Meanings(Protocol):
    """What is asked about what a name leads to."""

    def evaluate(self, chain: str, path: str, scope: int, at: int = ANYWHERE) -> tuple[Value, ...]: ...

    def member(self, owner: Ref, name: str, *, past: bool = False) -> tuple[Value, ...]: ...

    def attribute(self, value: Value, name: str) -> tuple[Value, ...]: ...

    def called(self, value: Value) -> tuple[Value, ...]: ...


class CommonJs:
    """The exports of a project that does not change while this lives."""

    def __init__(self, project: Project, meanings: Meanings, recursion: Recursion) -> None:
        self._project = project
        self._meanings = meanings
        self._recursion = recursion
        self._wholes: dict[str, tuple[Value, ...]] = {}

    def relax(self, memo_max: int) -> None:
        """Forget what was found when it is more than `memo_max`."""
        if len(self._wholes) > memo_max:
            self._wholes.clear()

    def whole(self, key: str) -> tuple[Value, ...]:
        """What `module.exports` is in a file; () for nothing that is known."""
        if key in self._wholes:
            return self._wholes[key]
        if key not in self._project.packed or RULES[self._project.language(key)].family != "script":
            return ()
        found: tuple[Value, ...] = ()
        before = self._recursion.enter(("whole", key))
        if before is None:
            return self._recursion.found(("whole", key), found)
        for one in filter(None, (key, self._project.script.beside(key))):
            last: tuple[Value, ...] = ()
            for where, binding in self._project.fields_of(one, "module", EXPORTS):
                if binding.value not in ("?", "#"):
                    last = self._meanings.evaluate(binding.value, where, binding.scope)
            found += tuple(value for value in last if value not in found)
        if self._recursion.leave(("whole", key), before, found):
            self._wholes[key] = found
        return found

    def unwrapped(self, value: Value, hops: int = 0) -> tuple[Value, ...]:
        """`value`; for a script's module what it exports as a whole, through others that it
        exports.
        """
        if value.tag != "mod" or hops > HOPS_MAX:
            return (value,)
        whole = self.whole(value.path)
        return tuple(one for inner in whole for one in self.unwrapped(inner, hops + 1)) or (value,)

    def own(self, links: list[str], path: str, scope: int) -> tuple[tuple[Value, ...], list[str]] | None:
        """A script's own `exports.save` and `module.exports.save`, and the links that are left; not
        of a name that a scope around binds.
        """
        whole = links[0] == "module" and links[1] == EXPORTS and len(links) > 2
        if not (whole or links[0] == EXPORTS) or RULES[self._project.language(path)].family != "script":
            return None
        index, here = self._project.index(path), scope
        while not index.places(here, links[0]):
            if here < 0:
                return (Value("mod", path),), links[1:] if whole else links
            here = index.facts.definitions[here].parent
        return None

    def given(self, key: str, name: str) -> tuple[Value, ...]:
        """What a script gives to `exports.name`."""
        index = self._project.index(key)
        for at in index.children.get((-1, name), ()):
            if EXPORTED in index.facts.definitions[at].flags:
                return (Value("def", key, at),)
        for where, binding in self._project.fields_of(key, EXPORTS, name):
            if values := self._meanings.evaluate(binding.value, where, binding.scope):
                return values
        for where, binding in self._project.fields_of(key, EXPORTS, SPREAD):
            for value in self._meanings.evaluate(binding.value, where, binding.scope):
                if values := self._meanings.attribute(value, name):
                    return values
        return ()

    def of_whole(self, key: str, name: str) -> tuple[Value, ...]:
        """A name of a script that exports something as a whole; that itself by default."""
        whole = self.whole(key)
        if name == "default":
            commonjs = whole or any(self._project.index(key).fields.get(root) for root in ("module", EXPORTS))
            return self._by_default(whole) or ((Value("mod", key),) if commonjs else ())
        return tuple(one for value in whole for one in self._meanings.attribute(value, name))

    def _by_default(self, whole: tuple[Value, ...]) -> tuple[Value, ...]:
        """What each file calls `default` itself, as in `Disk.default = Disk`; else its whole."""
        told = [(value, self._meanings.attribute(value, "default")) for value in whole]
        named = {value.path: found for value, found in told if any(one.tag == "def" for one in found)}
        return tuple(dict.fromkeys(one for value in whole for one in named.get(value.path, (value,))))

    def told_of(self, found: tuple[Value, ...]) -> tuple[Value, ...]:
        """`found` without the modules of which something says more: a file of declarations names
        the class that `require("./disk")` is.
        """
        told = {one.path for one in found if one.tag == "def"}
        told |= {self._project.script.beside(path) for path in told}
        return tuple(one for one in found if one.tag != "mod" or one.path not in told)
