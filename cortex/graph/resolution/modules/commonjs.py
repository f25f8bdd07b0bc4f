"""CommonJS exports of a script: by name (`exports.x = …`), or as a whole (`module.exports = …`)."""

from cortex.graph.facts.facts import EXPORTED, SPREAD
from cortex.graph.facts.scripts import EXPORTS
from cortex.graph.resolution.evaluation.values import ChainEvaluator, Recursion, Remembering, Value, Values
from cortex.graph.resolution.project import Project

#: re-exports that an import is followed through
HOPS_MAX = 12


class CommonJs(Remembering):
    """CommonJS exports of a project. Valid while the project does not change."""

    def __init__(self, project: Project, meanings: ChainEvaluator, recursion: Recursion) -> None:
        self._project, self._meanings, self._recursion = project, meanings, recursion
        self._wholes: dict[str, Values] = {}
        self.memos = (self._wholes,)

    def whole_export(self, key: str) -> Values:
        """Return the values of a file's `module.exports`; () if unknown."""
        if key in self._wholes:
            return self._wholes[key]
        if key not in self._project.packed or not self._project.rules(key).whole_exports:
            return ()
        values: Values = ()
        before = self._recursion.enter(("whole", key))
        if before is None:
            return self._recursion.answer(("whole", key), values)
        for path in filter(None, (key, self._project.script.counterpart(key))):
            last: Values = ()
            for where, binding in self._project.fields_of(path, "module", EXPORTS):
                if binding.value not in ("?", "#"):
                    last = self._meanings.evaluate(binding.value, where, binding.scope)
            values += tuple(value for value in last if value not in values)
        if self._recursion.leave(("whole", key), before, values):
            self._wholes[key] = values
        return values

    def unwrap_module(self, value: Value, hops: int = 0) -> Values:
        """Return `value`; for a script's module the values that it exports as a whole,
        repeatedly.
        """
        if value.tag != "mod" or hops > HOPS_MAX:
            return (value,)
        exported = self.whole_export(value.path)
        return tuple(target for inner in exported for target in self.unwrap_module(inner, hops + 1)) or (
            value,
        )

    def own_export(self, links: list[str], path: str, scope: int) -> tuple[Values, list[str]] | None:
        """Return the module of a script's `exports.save` or `module.exports.save`, and the
        remaining links.

        None if a scope around binds the first name.
        """
        is_whole = links[0] == "module" and links[1] == EXPORTS and len(links) > 2
        if not (is_whole or links[0] == EXPORTS) or not self._project.rules(path).whole_exports:
            return None
        index, current = self._project.index(path), scope
        while not index.places(current, links[0]):
            if current < 0:
                return (Value("mod", path),), links[1:] if is_whole else links
            current = index.facts.definitions[current].parent
        return None

    def assigned_export(self, key: str, name: str) -> Values:
        """Return the values that a script assigns to `exports.name`."""
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

    def whole_member(self, key: str, name: str) -> Values:
        """Return a member of a whole export; for `default` the export itself."""
        exported = self.whole_export(key)
        if name == "default":
            commonjs = exported or any(
                self._project.index(key).fields.get(root) for root in ("module", EXPORTS)
            )
            return self._default_exports(exported) or ((Value("mod", key),) if commonjs else ())
        return tuple(member for value in exported for member in self._meanings.attribute(value, name))

    def _default_exports(self, exported: Values) -> Values:
        """Return each file's `default`, as in `Disk.default = Disk`; else its whole export."""
        pairs = [(value, self._meanings.attribute(value, "default")) for value in exported]
        defaults = {
            value.path: members for value, members in pairs if any(member.tag == "def" for member in members)
        }
        return tuple(
            dict.fromkeys(target for value in exported for target in defaults.get(value.path, (value,)))
        )

    def drop_declared_modules(self, values: Values) -> Values:
        """Return `values` without modules that a definition describes better: a declaration file
        names the class that `require("./disk")` returns.
        """
        paths = {value.path for value in values if value.tag == "def"}
        paths |= {self._project.script.counterpart(path) for path in paths}
        return tuple(value for value in values if value.tag != "mod" or value.path not in paths)
