"""Reads what go.mod, tsconfig.json and package.json say of module names. Files that cannot be read
say nothing.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable
from typing import Any

import orjson

from cortex.graph.facts.modules import folder_of
from cortex.graph.resolution.project import Roots
from cortex.system import files

#: the files that are read
NAMES = frozenset({"go.mod", "tsconfig.json", "jsconfig.json", "package.json"})
#: bytes of one that are read
BYTES_MAX = 256 * 1024

_GO_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMA = re.compile(r",(\s*[}\]])")


def read_roots(root: str, paths: Iterable[str]) -> Roots:
    """What the configuration files in the folders of `paths`, and above them, say."""
    folders: set[str] = {""}
    for path in paths:
        folder = folder_of(path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder_of(folder)
    go: dict[str, str] = {}
    aliases: dict[str, tuple[str, ...]] = {}
    packages: dict[str, str] = {}
    for folder in sorted(folders):
        present = _present(os.path.join(root, folder))
        if "go.mod" in present and (match := _GO_MODULE.search(_read(root, folder, "go.mod"))):
            go[folder] = match[1]
        for name in ("tsconfig.json", "jsconfig.json"):
            if name in present:
                for alias, places in _aliases(_json(_read(root, folder, name)), folder).items():
                    aliases.setdefault(alias, places)
        if "package.json" in present and folder:
            package = _json(_read(root, folder, "package.json")).get("name")
            if isinstance(package, str) and package:
                packages.setdefault(package, folder)
    return Roots(go, aliases, packages)


def _present(folder: str) -> set[str]:
    return {name for name in NAMES if os.path.isfile(os.path.join(folder, name))}


def _read(root: str, folder: str, name: str) -> str:
    try:
        return files.read_plain(os.path.join(root, folder, name), BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return ""


def _json(text: str) -> dict[str, Any]:
    """JSON as people write it there: with comments and commas at ends."""
    try:
        value = orjson.loads(_COMMA.sub(r"\1", _COMMENT.sub(lambda match: match[1] or "", text)))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _aliases(config: dict[str, Any], folder: str) -> dict[str, tuple[str, ...]]:
    options = config.get("compilerOptions")
    if not isinstance(options, dict):
        return {}
    base = options.get("baseUrl")
    place = posixpath.join(folder, base) if isinstance(base, str) else folder
    found: dict[str, tuple[str, ...]] = {}
    paths = options.get("paths")
    for alias, targets in paths.items() if isinstance(paths, dict) else ():
        if isinstance(targets, list):
            found[str(alias)] = tuple(posixpath.normpath(posixpath.join(place, str(one))) for one in targets)
    if isinstance(base, str):
        found.setdefault("*", (posixpath.normpath(posixpath.join(place, "*")),))
    return found
