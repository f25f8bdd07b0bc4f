"""The names of modules and packages in go.mod, Cargo.toml, tsconfig.json and package.json.
Unreadable files are ignored.
"""

from __future__ import annotations

import os
import posixpath
import re
import tomllib
from collections.abc import Iterable

from cortex.graph.facts.modules import PACKAGE_FILES, Package, folder_of
from cortex.graph.resolution.project import Roots
from cortex.indexer.store.script_roots import CONFIGS, Options, ScriptRoots, read_project_text

#: the configuration files
NAMES = frozenset({"go.mod", "tsconfig.json", "jsconfig.json", "package.json", "Cargo.toml"})

_GO_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)


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
    scripts = ScriptRoots(root)
    for folder in sorted(folders):
        present = _present_names(os.path.join(root, folder))
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
    return Roots(go, aliases, packages, root_name, crates)


def is_root(path: str) -> bool:
    """Return whether a file may define names of modules: any tsconfig may be extended by others."""
    name = path.rpartition("/")[2]
    return name in NAMES or (name.startswith("tsconfig") and name.endswith(".json"))


def _crate(text: str) -> tuple[str, str] | None:
    """Return a Cargo package's library in Rust's spelling and its file; None without one."""
    try:
        manifest = tomllib.loads(text)
    except (ValueError, RecursionError):  # also from endless numbers, and nested lists
        return None
    package, library = manifest.get("package"), manifest.get("lib", {})
    if not isinstance(package, dict) or not isinstance(library, dict):
        return None
    name = str(library.get("name", package.get("name", ""))).replace("-", "_")
    return name, posixpath.normpath(str(library.get("path", "src/lib.rs")))


def _present_names(folder: str) -> set[str]:
    return {name for name in NAMES if os.path.isfile(os.path.join(folder, name))}
