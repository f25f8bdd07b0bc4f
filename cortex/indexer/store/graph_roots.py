"""Reads what go.mod, tsconfig.json and package.json say of module names. Files that cannot be read
say nothing.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable

from cortex.graph.facts.modules import PACKAGE_FILES, Package, folder_of
from cortex.graph.resolution.project import Roots
from cortex.indexer.store.script_roots import CONFIGS, Options, ScriptRoots, read

#: the files that are read
NAMES = frozenset({"go.mod", "tsconfig.json", "jsconfig.json", "package.json"})

_GO_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)


def read_roots(root: str, paths: Iterable[str]) -> Roots:
    """What the configuration files in the folders of `paths`, and above them, say."""
    folders, own = {""}, ""
    for path in paths:
        if path in PACKAGE_FILES:
            own = os.path.basename(root)
        folder = folder_of(path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder_of(folder)
    go: dict[str, str] = {}
    aliases: dict[str, dict[str, tuple[str, ...]]] = {}
    packages: dict[str, Package] = {}
    scripts = ScriptRoots(root)
    for folder in sorted(folders):
        present = _present(os.path.join(root, folder))
        if "go.mod" in present and (match := _GO_MODULE.search(read(root, posixpath.join(folder, "go.mod")))):
            go[folder] = match[1]
        config = next((name for name in CONFIGS if name in present), "")
        options = scripts.options(posixpath.join(folder, config)) if config else Options()
        if config:
            aliases[folder] = options.aliases()
        if "package.json" in present and (package := scripts.package(folder, options)) is not None:
            packages[folder] = package
    return Roots(go, aliases, packages, own)


def is_root(path: str) -> bool:
    """Whether a file may say something of module names: any tsconfig may be extended by others."""
    name = path.rpartition("/")[2]
    return name in NAMES or (name.startswith("tsconfig") and name.endswith(".json"))


def _present(folder: str) -> set[str]:
    return {name for name in NAMES if os.path.isfile(os.path.join(folder, name))}
