"""The names of modules and packages in go.mod, Cargo.toml, tsconfig.json and package.json, and
pytest's plugins in pyproject.toml and setup.cfg. Files that cannot be read, or are outside the
project, are ignored.
"""

from __future__ import annotations

import configparser
import os
import posixpath
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from cortex.graph.facts.modules import BUILT, PACKAGE_FILES, SOURCES, Package, folder_of
from cortex.graph.resolution.project import Roots
from cortex.system import files

#: the configuration files
NAMES = frozenset(
    {
        "go.mod",
        "tsconfig.json",
        "jsconfig.json",
        "package.json",
        "Cargo.toml",
        "pyproject.toml",
        "setup.cfg",
    }
)
#: the entry points of pytest's plugins
_PLUGINS = "pytest11"

_GO_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)
#: bytes to read of one file
BYTES_MAX = 256 * 1024
#: largest chain of configuration files that extend one another, and depth of conditions in
#: `exports`
DEPTH_MAX = 8
#: most entries of a package's `exports` or `imports`
ENTRIES_MAX = 500
#: the names of a folder's own configuration; the first existing one counts
CONFIGS = ("tsconfig.json", "jsconfig.json")


_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMA = re.compile(r",(\s*[}\]])")


def read_roots(root: str, paths: Iterable[str]) -> Roots:
    """Read the configuration files in the folders of `paths`, and above them."""
    folders, root_name = {""}, ""
    for path in paths:
        if path in PACKAGE_FILES:
            root_name = os.path.basename(root)
        folder = folder_of(path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder_of(folder)
    go: dict[str, str] = {}
    aliases: dict[str, dict[str, tuple[str, ...]]] = {}
    packages: dict[str, Package] = {}
    crates: dict[str, tuple[str, str]] = {}
    plugins: list[str] = []
    scripts = ScriptRoots(root)
    for folder in sorted(folders):
        present = {name for name in NAMES if os.path.isfile(os.path.join(root, folder, name))}
        if "go.mod" in present and (
            match := _GO_MODULE.search(read_project_text(root, posixpath.join(folder, "go.mod")))
        ):
            go[folder] = match[1]
        config = next((name for name in CONFIGS if name in present), "")
        options = scripts.options(posixpath.join(folder, config)) if config else Options()
        if config:
            aliases[folder] = options.aliases()
        if "Cargo.toml" in present and (
            crate := _crate(read_project_text(root, posixpath.join(folder, "Cargo.toml")))
        ):
            crates[folder] = crate
        if "package.json" in present and (package := scripts.package(folder, options)) is not None:
            packages[folder] = package
        if "pyproject.toml" in present:
            plugins += _plugins(read_project_text(root, posixpath.join(folder, "pyproject.toml")))
        if "setup.cfg" in present:
            plugins += _plugins_of_setup(read_project_text(root, posixpath.join(folder, "setup.cfg")))
    return Roots(go, aliases, packages, root_name, crates, tuple(dict.fromkeys(plugins)))


def is_root(path: str) -> bool:
    """Return whether a file may define names of modules: any tsconfig may be extended by others."""
    name = path.rpartition("/")[2]
    return name in NAMES or (name.startswith("tsconfig") and name.endswith(".json"))


def _toml(text: str) -> dict[str, Any]:
    """Return a TOML file; {} for a faulty one."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):  # also from endless numbers, and nested lists
        return {}


def _plugins(text: str) -> list[str]:
    """Return the modules of the pytest plugins that a pyproject.toml declares, also for Poetry."""
    if _PLUGINS not in text:
        return []
    manifest = _toml(text)
    modules: list[str] = []
    for keys in (("project", "entry-points", _PLUGINS), ("tool", "poetry", "plugins", _PLUGINS)):
        table: Any = manifest
        for key in keys:
            table = table.get(key) if isinstance(table, dict) else None
        modules += table.values() if isinstance(table, dict) else ()
    return [module.partition(":")[0].strip() for module in modules if isinstance(module, str)]


def _plugins_of_setup(text: str) -> list[str]:
    """Return the modules of the pytest plugins that a setup.cfg declares."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error:
        return []
    lines = parser.get("options.entry_points", _PLUGINS, fallback="").split("\n")
    modules = (line.partition("=")[2].partition(":")[0].strip() for line in lines)
    return [module for module in modules if module]


def _crate(text: str) -> tuple[str, str] | None:
    """Return a Cargo package's library in Rust's spelling and its file; None without one."""
    manifest = _toml(text)
    package, library = manifest.get("package"), manifest.get("lib", {})
    if not isinstance(package, dict) or not isinstance(library, dict):
        return None
    name = str(library.get("name", package.get("name", ""))).replace("-", "_")
    return name, posixpath.normpath(str(library.get("path", "src/lib.rs")))


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one tsconfig.json with those it extends: `paths` as paths in the project, None
    where it has none; `base`, `out` and `source` are folders (`baseUrl`, `outDir`, `rootDir`).
    """

    paths: Mapping[str, tuple[str, ...]] | None = None
    base: str | None = None
    out: str | None = None
    source: str | None = None

    def aliases(self) -> dict[str, tuple[str, ...]]:
        targets = dict(self.paths or {})
        if self.base is not None:
            targets.setdefault("*", (posixpath.normpath(posixpath.join(self.base, "*")),))
        return targets


@dataclass(slots=True)
class ScriptRoots:
    """Reads each file once."""

    root: str
    _parsed: dict[str, dict[str, Any]] = field(default_factory=dict)

    def json(self, path: str) -> dict[str, Any]:
        """Return a JSON file of the project, which may contain comments and trailing commas."""
        if path not in self._parsed:
            text = read_project_text(self.root, path)
            try:
                value = orjson.loads(_COMMA.sub(r"\1", _COMMENT.sub(lambda match: match[1] or "", text)))
            except ValueError:
                value = {}
            self._parsed[path] = value if isinstance(value, dict) else {}
        return self._parsed[path]

    def options(self, path: str, depth: int = 0) -> Options:
        """Return the options of a tsconfig.json with all that it extends; without `paths` of its
        own, also those of the references in its folder.
        """
        config, folder = self.json(path), folder_of(path)
        merged = Options()
        if depth < DEPTH_MAX:
            for name in _strings(config.get("extends")):
                if target := self._find_extended(name, folder):
                    merged = _merge(self.options(target, depth + 1), merged)
        merged = _merge(_own_options(config, folder, merged), merged)
        if merged.paths is None and depth == 0:
            for target in self._references(config, folder):
                inner = self.options(target, 1)
                if inner.paths is not None:
                    return _merge(merged, inner)
        return merged

    def _references(self, config: Mapping[str, Any], folder: str) -> Iterator[str]:
        references = config.get("references")
        for reference in references if isinstance(references, list) else ():
            path = (
                _project_path(folder, str(reference.get("path", ""))) if isinstance(reference, dict) else ""
            )
            if path.endswith(".json") and folder_of(path) == folder:
                yield path

    def _find_extended(self, name: str, folder: str) -> str:
        """Return the file that `extends` names, by its path or in an installed package."""
        places = [_project_path(folder, name)] if name.startswith(".") else []
        while not name.startswith("."):
            places.append(_project_path(folder, f"node_modules/{name}"))
            if not folder:
                break
            folder = folder_of(folder)
        for place in filter(None, places):
            for path in (place, f"{place}.json", f"{place}/tsconfig.json"):
                if os.path.isfile(os.path.join(self.root, path)):
                    return path
        return ""

    def package(self, folder: str, options: Options) -> Package | None:
        """Return the names in a package.json; None when it has neither a name nor `imports`."""
        config = self.json(_project_path(folder, "package.json"))
        name, exports = config.get("name"), config.get("exports")
        if not isinstance(exports, dict) or not all(key.startswith(".") for key in exports):
            exports = {".": exports} if exports else {}
        mains = [
            f"./{posixpath.normpath(config[key])}"
            for key in ("source", "types", "module", "main")
            if isinstance(config.get(key), str)
        ]
        exports = {".": mains, **exports} if mains else exports
        imports = config.get("imports")
        imports = imports if isinstance(imports, dict) else {}
        if not (isinstance(name, str) and name) and not imports:
            return None
        return Package(
            name if isinstance(name, str) else "",
            {
                key: _source_paths(value, folder, options)
                for key, value in list(exports.items())[:ENTRIES_MAX]
            },
            {
                key: _source_paths(value, folder, options)
                for key, value in list(imports.items())[:ENTRIES_MAX]
            },
        )


def read_project_text(root: str, path: str) -> str:
    """Return a configuration file's text, "" when it cannot be read."""
    try:
        return files.read_plain(os.path.join(root, path), BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return ""


def _project_path(folder: str, place: str) -> str:
    """Return a path in the project; "" for one outside it."""
    path = posixpath.normpath(posixpath.join(folder, place))
    return "" if path.startswith(("..", "/")) else "" if path == "." else path


def _strings(value: object) -> list[str]:
    return [entry for entry in (value if isinstance(value, list) else [value]) if isinstance(entry, str)]


def _own_options(config: Mapping[str, Any], folder: str, inherited: Options) -> Options:
    options = config.get("compilerOptions")
    if not isinstance(options, dict):
        return Options()

    def option_path(name: str) -> str | None:
        value = options.get(name)
        return _project_path(folder, value.replace("${configDir}", ".")) if isinstance(value, str) else None

    base, paths = option_path("baseUrl"), options.get("paths")
    if not isinstance(paths, dict):
        return Options(None, base, option_path("outDir"), option_path("rootDir"))
    start = base if base is not None else inherited.base if inherited.base is not None else folder
    path_aliases = {
        str(alias): tuple(
            posixpath.normpath(posixpath.join(start, target.replace("${configDir}", ".")))
            for target in _strings(targets)
        )
        for alias, targets in paths.items()
    }
    return Options(path_aliases, base, option_path("outDir"), option_path("rootDir"))


def _merge(preferred: Options, other: Options) -> Options:
    """Return `preferred`, with the values of `other` where it has none."""
    return Options(
        *(
            getattr(preferred, name) if getattr(preferred, name) is not None else getattr(other, name)
            for name in ("paths", "base", "out", "source")
        )
    )


def _leaves(value: object, depth: int = 0) -> Iterator[str]:
    """Yield the paths of one entry under all its conditions, in their order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict) and depth < DEPTH_MAX:
        for child in value.values() if isinstance(value, dict) else value:
            yield from _leaves(child, depth + 1)


def _source_paths(value: object, folder: str, options: Options) -> tuple[str, ...]:
    """Return an entry's possible source files: its own path, then what it is built from."""
    paths: list[str] = []
    for leaf in _leaves(value):
        if not leaf.startswith("./"):
            paths.append(leaf) if value is leaf else None
            continue
        path = _project_path(folder, leaf)
        paths.append(path)
        if options.out and path.startswith(f"{options.out}/"):
            source = options.source if options.source is not None else _project_path(folder, SOURCES)
            paths.append(posixpath.join(source, path[len(options.out) + 1 :]))
        parts = leaf[2:].split("/")
        while len(parts) > 1 and parts[0] in BUILT:
            parts.pop(0)
            paths.append(_project_path(folder, "/".join((SOURCES, *parts))))
        paths.append(_project_path(folder, "/".join((SOURCES, *parts))))
    return tuple(dict.fromkeys(filter(None, paths)))
