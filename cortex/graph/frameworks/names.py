"""What names of a file mean in others: routers, and constants with text."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from cortex.graph.facts.facts import Binding, Fragment, Import
from cortex.graph.facts.scripts import MODULE_EXPORTS
from cortex.graph.frameworks.reading.literals import fill, fill_end, holes, names_path
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.terms.kinds import OPEN_END, TYPE_KINDS

#: modules between a name and its definition, and constants whose values name one another
_HOPS_MAX, _STEPS_MAX = 6, 8
#: a name in the URL of a request
_NAME = re.compile(r"\{([\w$.]+)\}")


class Routers:
    """Finds the id of a router that a key or chain means: `app/orders:router`."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._project, self._evaluator = project, evaluator
        self._exports = evaluator.scopes.exports

    def find(self, path: str, chain: str, scope: int) -> str:
        if chain.startswith("="):
            return f"{self._project.module_id(path)}:{chain[1:]}"
        if not chain or chain.startswith("?"):
            return ""
        if chain.startswith("/"):  # a file of routes
            return f"{self._project.module_id(chain[1:])}:app" if chain[1:] in self._project.packed else ""
        if chain.startswith("'"):
            module, _, rest = chain[1:].rpartition("'")
            return self._in_module(self._project.find_module(module, path), rest.lstrip("."), 0)
        return self._by_name(path, chain, scope, 0) or self._of_type(path, chain, scope)

    def _of_type(self, path: str, chain: str, scope: int) -> str:
        """Return the router of a class that the file sees without an import of its own."""
        name, bracket, mark = chain.partition("(")
        refs = self._evaluator.types_of(name, path, scope) if name[:1].isupper() else []
        for file, index in refs:
            definition = self._project.definition((file, index))
            if router_id := self._in_file(file, f"{definition.qualified}{bracket}{mark}"):
                return router_id
        return ""

    def _by_name(self, path: str, chain: str, scope: int, hops: int) -> str:
        if hops > _HOPS_MAX:
            return ""
        index = self._project.index(path)
        for sibling in self._project.homes.get(self._project.home(path)) or [path]:
            if router_id := self._in_file(sibling, chain):
                return router_id
        links = chain.split(".")
        while True:
            for count in range(len(links), 0, -1):
                name = ".".join(links[:count])
                base = name.partition("(")[0]
                for statement in index.imports.get((scope, base), ()):
                    rest = ".".join([name[len(base) :], *links[count:]]).strip(".")
                    if router_id := self._imported(path, statement, rest, hops + 1):
                        return router_id
            if scope < 0:
                break
            scope = index.facts.definitions[scope].parent
        for star in (*index.star_imports, *index.imports.get((-1, MODULE_EXPORTS), ())):
            if router_id := self._in_module(self._project.find_module(star.module, path), chain, hops + 1):
                return router_id
        return ""

    def _imported(self, path: str, statement: Import, rest: str, hops: int) -> str:
        for value in self._exports.imported(statement, path):
            if value.tag == "mod" and (router_id := self._in_module(value.path, rest, hops)):
                return router_id
        if not statement.member:
            return ""
        key = self._project.find_module(statement.module, path)
        joined = (
            f"{statement.member}{rest}" if rest.startswith("(") else f"{statement.member}.{rest}".strip(".")
        )
        return self._in_module(key, joined, hops)

    def _in_module(self, key: str, chain: str, hops: int) -> str:
        if not key or hops > _HOPS_MAX:
            return ""
        for path in self._project.paths_of(key) or ((key,) if key in self._project.packed else ()):
            if router_id := self._in_file(path, chain) or self._by_name(path, chain, -1, hops + 1):
                return router_id
        return ""

    def _in_file(self, path: str, chain: str) -> str:
        """Return the id of a router of a file by the name under which others import it."""
        if path not in self._project.packed:
            return ""
        facts = self._project.index(path).facts
        if not facts.fragments:
            return ""
        keys = {fragment.router for fragment in facts.fragments}
        base, bracket, mark = chain.partition("(")
        is_default = base in ("", "default")
        names = [
            facts.exports.get(base or "default", base),
            base,
            f"exports.{base}",
            f"{MODULE_EXPORTS}.{base}",
        ]
        for name in [*names, *((MODULE_EXPORTS, "exports", "default") if is_default else ())]:
            if name and f"={name}{bracket}{mark}" in keys:
                return f"{self._project.module_id(path)}:{name}{bracket}{mark}"
        return ""


class Texts(Routers):
    """Finds the text of a constant that a chain means: `settings.API_PREFIX`."""

    def fill(self, path: str, fragment: Fragment) -> Fragment:
        """Return a computed fragment with the texts of its constants. If one is unknown, the
        template is its name and, behind a mark, the text that follows it.
        """
        if not (names := holes(fragment.template)):
            return fragment
        end, unknown = fill_end(fragment.template, lambda name: self._text(path, name, fragment.scope, 0))
        is_path = "maybe" not in fragment.flags or (unknown and self._is_path(path, names[0], fragment.scope))
        if not unknown or not is_path:
            return _with_text(fragment, "" if unknown else end)
        flags = tuple(flag for flag in fragment.flags if flag != "maybe")
        name = unknown[0] if len(unknown) == 1 and unknown[0] != "?" else ""
        template = f"{name}{OPEN_END}{end}" if end.strip("/") else name
        return msgspec.structs.replace(fragment, template=template, flags=flags)

    def _is_path(self, path: str, chain: str, scope: int) -> bool:
        """Return True for a name of a path, not of middleware."""
        values = self._evaluator.evaluate(chain, path, scope) if names_path(chain) else ()
        return names_path(chain) and all(value.tag != "def" for value in values)

    def fill_url(self, path: str, fragment: Fragment) -> Fragment:
        """Return a client or request with the texts of the constants in its URL."""
        if "{" not in fragment.template:
            return fragment
        imported = {name for _, name in self._project.index(path).imports}

        def text(match: re.Match[str]) -> str:
            name = match[1]
            is_constant = name.partition(".")[0] in imported or name[:1].isupper()
            return (self._text(path, name, fragment.scope, 0) if is_constant else None) or match[0]

        return msgspec.structs.replace(fragment, template=_NAME.sub(text, fragment.template))

    def _text(self, path: str, chain: str, scope: int, steps: int) -> str | None:
        if steps > _STEPS_MAX:
            return None
        entry = "" if self._is_variable(path, chain, scope) else self._find_text(path, chain, scope)
        file, mark, template = entry.partition("=")
        return fill(template, lambda name: self._text(file, name, -1, steps + 1)) if mark else None

    def _is_variable(self, path: str, chain: str, scope: int) -> bool:
        """Return True for a parameter or variable of the functions around."""
        index, name = self._project.index(path), chain.partition(".")[0]
        while scope >= 0:
            definition = index.facts.definitions[scope]
            if any(parameter.name == name for parameter in definition.parameters):
                return True
            if definition.kind not in TYPE_KINDS and any(
                isinstance(place, Binding) for place in index.places(scope, name)
            ):
                return True
            scope = definition.parent
        return False

    def _find_text(self, path: str, chain: str, scope: int) -> str:
        """Return the file and the template of a constant, with `=` between; "" for none."""
        if entry := self._by_name(path, chain, scope, 0):
            return entry
        owner, _, name = chain.rpartition(".")
        if owner:
            return self._member(path, owner, name, scope)
        for statement in self._project.index(path).facts.imports:  # of a class, or of a package
            if statement.member in (chain, "*"):
                package = self._project.find_module(statement.module, path).strip("@|")
                entries = (self._in_file(file, chain) for file in self._project.homes.get(package, ()))
                if entry := next(filter(None, entries), "") or self._member(
                    path, statement.module, chain, scope
                ):
                    return entry
        return ""

    def _member(self, path: str, owner: str, name: str, scope: int) -> str:
        for value in self._evaluator.evaluate(owner, path, scope):
            if value.tag == "mod" and (entry := self._in_module(value.path, name, 0)):
                return entry
            if value.tag in ("def", "inst"):
                for file, index in (value.ref, *self._evaluator.supertypes.of(value.ref).types):
                    qualified = self._project.definition((file, index)).qualified
                    if entry := self._in_file(file, f"{qualified}.{name}"):
                        return entry
        return ""

    def _in_file(self, path: str, chain: str) -> str:
        if path not in self._project.packed:
            return ""
        facts = self._project.index(path).facts
        base, dot, rest = chain.partition(".")
        local = f"{facts.exports.get(base, base)}{dot}{rest}"
        for name in (local, chain, f"{MODULE_EXPORTS}.{chain}"):
            if (text := facts.texts.get(name)) is not None:
                return f"{path}={text}"
        return ""


class Injected(Routers):
    """Finds the functions that a framework calls for a parameter whose type is an alias:
    `Annotated[Session, Depends(session)]`.
    """

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        super().__init__(project, evaluator)
        self._targets: dict[str, dict[str, str]] = {}

    def find_targets(self, path: str, name: str) -> dict[str, str]:
        """Return id → confidence of the functions for a type in a file."""
        if name not in self._targets:
            self._targets[name] = dict(self._find_targets(path, name))
        return self._targets[name]

    def _find_targets(self, path: str, name: str) -> Iterator[tuple[str, str]]:
        file, mark, alias = self._by_name(path, name, -1, 0).partition("=")
        for fragment in self._project.index(file).facts.fragments if mark else ():
            if fragment.kind == "injects" and fragment.router == f"={alias}":
                for value in self._evaluator.evaluate(fragment.target.removesuffix("()"), file, -1):
                    if value.tag == "def":
                        yield self._project.id_of(value.ref), "import"

    def _in_file(self, path: str, chain: str) -> str:
        fragments = self._project.index(path).facts.fragments if path in self._project.packed else ()
        is_alias = any(entry.kind == "injects" and entry.router == f"={chain}" for entry in fragments)
        return f"{path}={chain}" if is_alias else ""


def _with_text(fragment: Fragment, text: str) -> Fragment:
    flags = tuple(flag for flag in fragment.flags if flag not in ("computed", "maybe"))
    return msgspec.structs.replace(fragment, template=text, flags=flags)
