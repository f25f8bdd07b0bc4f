"""Module names → files: one class for each system of names. Works only on the list of paths.

A module's key is its file's path; for Go, and for a Python package without `__init__.py`, it is the
folder with a slash at its end.
"""

import posixpath
import re
import sys
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from cortex.terms.code.components import COMPONENT_ENDINGS

#: endings that JavaScript's and TypeScript's resolution tries, in order
SCRIPT_ENDINGS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs")

#: all endings that such an import may leave out: those of components last
_ENDINGS_LEFT_OUT = (*SCRIPT_ENDINGS, *COMPONENT_ENDINGS)

#: ending of a declaration file, and endings of the scripts that it can declare
DECLARATIONS, _PLAIN_ENDINGS = ".d.ts", (".js", ".mjs", ".cjs", ".jsx")

#: folder of the files that a site serves as they are
_PUBLIC = "public"
#: SvelteKit's name of a folder, which only a generated tsconfig.json declares
_SVELTE_LIBRARY, _SVELTE_FOLDER = "$lib", "src/lib"
#: endings of build products of a script, which an import may name instead
_BUILT_ENDINGS = (".d.ts", ".d.mts", ".d.cts", ".js", ".jsx", ".mjs", ".cjs")

#: folders of build output, built from files below SOURCES
BUILT = frozenset("dist build lib out es esm cjs umd types output".split())
SOURCES = "src"
#: the files that make a folder a package of Python
PACKAGE_FILES = ("__init__.py", "__init__.pyi")
#: folders of a project that hold its modules, besides its root
SOURCE_FOLDERS = ("src", "lib", "python")
#: Python's standard modules: they never mean a file below a folder of the project
STANDARD = sys.stdlib_module_names


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _nearest(folders: Container[str], path: str) -> str | None:
    """Return the innermost of `folders` that `path` is in."""
    folder = folder_of(path)
    while folder and folder not in folders:
        folder = folder_of(folder)
    return folder if folder in folders else None


def _nearest_path(paths: Iterable[str], importer: str) -> str:
    """Return the path with the longest prefix in common with the importer; of several the first by
    name.
    """
    parts = importer.split("/")

    def shared(path: str) -> int:
        count = 0
        for part_name, other in zip(path.split("/"), parts, strict=False):
            if part_name != other:
                break
            count += 1
        return count

    return min(paths, key=lambda path: (-shared(path), path))


def _module_path(path: str) -> str:
    """Return a Python file's path in the form of its module name, with slashes."""
    bare = path.rpartition(".")[0]
    return folder_of(bare) if bare.rpartition("/")[2] == "__init__" else bare


class PythonModules:
    """Dotted names of Python modules.

    Searched in this order: the roots of the importer (the folder of its package, and each folder
    around it, with their SOURCE_FOLDERS); the roots of other packages; the name of the project's
    folder if that is a package.
    """

    def __init__(self, paths: Iterable[str], package: str = "") -> None:
        """`package`: the name of the project's folder, "" if it is no package."""
        self._package = package
        self.files = {path for path in paths if path.endswith((".py", ".pyi"))}
        self.folders = {folder_of(path) for path in self.files}
        for folder in list(self.folders):
            above = folder
            while above:
                above = folder_of(above)
                self.folders.add(above)
        #: last part of a module's name → the files that may be it
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self.files):
            self._by_name.setdefault(_module_path(path).rpartition("/")[2], []).append(path)

    def _is_package(self, folder: str) -> bool:
        return any(f"{folder}/{name}".lstrip("/") in self.files for name in PACKAGE_FILES)

    def find(self, module: str, importer: str) -> str:
        """The key of `module` as `importer` writes it; "" for a module outside the project."""
        if level := len(module) - len(module.lstrip(".")):
            folder = folder_of(importer)
            for _ in range(level - 1):
                folder = folder_of(folder)
            relative = module[level:].replace(".", "/")
            return self._file_at("/".join(filter(None, (folder, relative))))
        place, top = module.replace(".", "/"), module.partition(".")[0]
        if key := self._below_roots(place, self._roots(importer, nested=top not in STANDARD)):
            return key
        if top in STANDARD:
            return ""
        return self._in_other_roots(place, importer) or self._below_package_name(place)

    def stub(self, path: str) -> str:
        """Return the stub of a module, `x.pyi` of `x.py`; "" without one."""
        other = f"{path}i"
        return other if other in self.files else ""

    def _below_package_name(self, place: str) -> str:
        """Return the key of a module below the name of the project's folder."""
        _, name, inside = f"/{place}/".partition(f"/{self._package}/")
        return self._file_at(inside.rstrip("/")) if name and self._package else ""

    def _roots(self, importer: str, *, nested: bool) -> Iterator[str]:
        """Yield the folders in which `importer` finds modules, nearest first.

        `nested`: also folders below the project's root; they must not hide a standard module.
        """
        folder = folder_of(importer)
        while folder and nested:
            if not self._is_package(folder):
                yield folder
                yield from (f"{folder}/{name}" for name in SOURCE_FOLDERS)
            folder = folder_of(folder)
        yield ""
        yield from SOURCE_FOLDERS

    def _below_roots(self, place: str, roots: Iterable[str]) -> str:
        folder = ""
        for root in roots:
            path = f"{root}/{place}" if root else place
            key = self._file_at(path)
            if key and not key.endswith("/"):
                return key
            folder = folder or key  # a name-space package: another root may have a file
        return folder

    def _in_other_roots(self, place: str, importer: str) -> str:
        """Return a module below another root: a SOURCE_FOLDERS name, or no package with the module
        on top.
        """
        matches = []
        for path in self._by_name.get(place.rpartition("/")[2], ()):
            if f"/{_module_path(path)}".endswith(f"/{place}"):
                root = _module_path(path)[: -len(place)].rstrip("/")
                top = f"{root}/{place.partition('/')[0]}".lstrip("/")
                source = root.rpartition("/")[2] in SOURCE_FOLDERS
                if not self._is_package(root) and (source or "/" not in place or self._is_package(top)):
                    matches.append(path)
        return _nearest_path(matches, importer) if matches else ""

    def _file_at(self, place: str) -> str:
        for path in (f"{place}.py", f"{place}/__init__.py", f"{place}.pyi", f"{place}/__init__.pyi"):
            if path.lstrip("/") in self.files:
                return path.lstrip("/")
        return f"{place}/" if place in self.folders else ""

    def child(self, key: str, name: str) -> str:
        """Return the key of the submodule `name` of a package."""
        if key.endswith("/"):
            return self._file_at(f"{key}{name}")
        return (
            self._file_at(f"{folder_of(key)}/{name}".lstrip("/"))
            if key.endswith(("__init__.py", "__init__.pyi"))
            else ""
        )


class GoModules:
    """Import paths of Go, by the module names in go.mod files; without one, by the longest folder
    that ends the path.
    """

    def __init__(self, paths: Iterable[str], modules: Mapping[str, str]) -> None:
        self.folders = {folder_of(path) for path in paths if path.endswith(".go")}
        self._modules = sorted(modules.items(), key=lambda item: -len(item[1]))  # folder → module path

    def find(self, module: str, importer: str) -> str:  # noqa: ARG002 - one signature for all
        for folder, name in self._modules:
            if module == name or module.startswith(f"{name}/"):
                place = "/".join(filter(None, (folder, module[len(name) :].strip("/"))))
                return f"{place}/" if place in self.folders else ""
        if self._modules or "." not in module.partition("/")[0]:
            return ""  # of another module, or of the standard library
        parts = module.split("/")
        for start in range(1, len(parts)):
            place = "/".join(parts[start:])
            if place in self.folders:
                return f"{place}/"
        return ""


@dataclass(frozen=True, slots=True)
class Package:
    """A package.json: its name, and the entries of `exports` and `imports`.

    They map an entry (`.`, `./x`, `./*`, `#x`) to places of its source, which may have a `*` too.
    """

    name: str
    exports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    imports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class ScriptModules:
    """Relative paths, with endings and `index` files; `paths` and `baseUrl` of the nearest
    tsconfig.json (folder → alias → places); names and entries of packages (by folder).
    """

    def __init__(
        self,
        paths: Iterable[str],
        aliases: Mapping[str, Mapping[str, tuple[str, ...]]],
        packages: Mapping[str, Package],
    ) -> None:
        self.files = {path for path in paths if path.endswith(_ENDINGS_LEFT_OUT)}
        self._aliases, self._packages = aliases, packages
        self._folders: dict[str, str] = {}
        for folder in sorted(packages):
            self._folders.setdefault(packages[folder].name, folder)

    def find(self, module: str, importer: str) -> str:
        module = module.partition("?")[0]  # a loader's options: `./icon.vue?raw`
        if module.startswith("."):
            place = posixpath.normpath(posixpath.join(folder_of(importer), module))
            return self._file_at(place) or self._built_from(place)
        if module.startswith("/"):
            return self._below_site(module[1:], importer)
        if module.partition("/")[0] == _SVELTE_LIBRARY and (
            path := self._below_site(_SVELTE_FOLDER + module[len(_SVELTE_LIBRARY) :], importer)
        ):
            return path
        if module.startswith("#"):
            nearest = _nearest(self._packages, importer)
            entries = self._packages[nearest].imports if nearest is not None else {}
            if path := self._entry(entries, module, importer):
                return path
        config = _nearest(self._aliases, importer)
        if config is not None and (path := self._entry(self._aliases[config], module, "")):
            return path
        return self._in_package(module)

    def _built_from(self, place: str) -> str:
        """The source of a file that is built: of `dist/core/x.js` in a package `src/core/x.ts`."""
        folder = _nearest(self._packages, place) or ""
        parts = place[len(folder) :].strip("/").split("/")
        while len(parts) > 1 and parts[0] in BUILT:
            parts.pop(0)
            if path := self._file_at(posixpath.join(folder, SOURCES, *parts)):
                return path
        return ""

    def _below_site(self, place: str, importer: str) -> str:
        """The file of `/src/main.ts`: a site's root is the importer's folder, or one around it."""
        folder = importer
        while folder:
            folder = folder_of(folder)
            for root in (folder, posixpath.join(folder, _PUBLIC)):
                if path := self._file_at(posixpath.join(root, place)):
                    return path
        return ""

    def counterpart(self, path: str) -> str:
        """Return the declaration file of a script, or the script of such a file; "" without one."""
        stem = path.removesuffix(DECLARATIONS)
        if stem != path:
            return next(
                (
                    f"{stem}{plain_ending}"
                    for plain_ending in _PLAIN_ENDINGS
                    if f"{stem}{plain_ending}" in self.files
                ),
                "",
            )
        stem, dot, ending = path.rpartition(".")
        other = f"{stem}{DECLARATIONS}"
        return other if f"{dot}{ending}" in _PLAIN_ENDINGS and other in self.files else ""

    def _entry(self, entries: Mapping[str, tuple[str, ...]], module: str, importer: str) -> str:
        """Return the file of the best entry: the whole name, else the longest prefix; "" for none.

        With `importer`, an entry may lead to another package.
        """
        best, middle = "", ""
        for pattern in entries:
            start, star, end = pattern.partition("*")
            if pattern == module:
                best, middle = pattern, ""
                break
            fits = star and module.startswith(start) and module.endswith(end)
            if fits and len(start) >= len(best.partition("*")[0]) and len(module) >= len(start) + len(end):
                best, middle = pattern, module[len(start) : len(module) - len(end)]
        for place in entries.get(best, ()):
            target = place.replace("*", middle)
            if path := self._file_at(posixpath.normpath(target)):
                return path
            if importer and (path := self._in_package(target)):
                return path
        return ""

    def _in_package(self, module: str) -> str:
        name = "/".join(module.split("/")[: 2 if module.startswith("@") else 1])
        folder = self._folders.get(name) if name else None
        if folder is None:
            return ""
        inside = module[len(name) :].strip("/")
        if path := self._entry(self._packages[folder].exports, f"./{inside}" if inside else ".", ""):
            return path
        for place in (inside, f"src/{inside}") if inside else ("src", "", "lib"):
            if path := self._file_at("/".join(filter(None, (folder, place)))):
                return path
        return ""

    def _file_at(self, place: str) -> str:
        place = place.removeprefix("./")
        if place.startswith(".."):
            return ""
        if place in self.files:
            return place
        bare = next((place.removesuffix(ending) for ending in _BUILT_ENDINGS if place.endswith(ending)), "")
        for stem in filter(None, (place, bare)):
            for ending in _ENDINGS_LEFT_OUT:
                if f"{stem}{ending}" in self.files:
                    return f"{stem}{ending}"
        for ending in _ENDINGS_LEFT_OUT:
            index = f"{place}/index{ending}" if place not in ("", ".") else f"index{ending}"
            if index in self.files:
                return index
        package = self._packages.get("" if place == "." else place)
        mains = package.exports.get(".", ()) if package is not None else ()
        return next((main for main in map(posixpath.normpath, mains) if main in self.files), "")


#: folders of a Cargo package in which each file is a crate
_CRATES = frozenset({"tests", "examples", "benches"})


class RustModules:
    """Paths of `use`: from the crate's root (the folder of lib.rs or main.rs), from the module
    itself, or from another crate of the project.
    """

    def __init__(self, paths: Iterable[str], crates: Mapping[str, tuple[str, str]] | None = None) -> None:
        """`crates`: folder → name and file of a package's library, from its Cargo.toml."""
        self.files = {path for path in paths if path.endswith(".rs")}
        #: name → folder and file
        self._crates: dict[str, tuple[str, str]] = {}
        self._libraries: set[str] = set()
        self._packages = set(crates or ())
        for folder, (name, file) in (crates or {}).items():
            path = f"{folder}/{file}" if folder else file
            if path in self.files:
                self._crates[name] = folder_of(path), path
                self._libraries.add(path)
        for path in sorted(self.files):
            if path.endswith(("src/lib.rs", "src/main.rs")) and folder_of(path).rpartition("/")[0]:
                name = folder_of(path).rpartition("/")[0].rpartition("/")[2].replace("-", "_")
                self._crates.setdefault(name, (folder_of(path), path))

    def find(self, module: str, importer: str) -> str:
        """Return `path.rs`, or `path.rs|inner` for a module inside a file; "" for another crate."""
        parts = module.split(".")
        if parts[0] == "crate":
            root_file = importer if self._is_root(importer) else ""
            return self._resolve_path(
                self._module_folder(importer) if root_file else self.root(importer), parts[1:], root_file
            )
        if parts[0] == "self":
            return self._resolve_path(self._module_folder(importer), parts[1:], importer)
        if parts[0] == "super":
            place = self._module_folder(importer)
            while parts and parts[0] == "super":
                place = folder_of(place)
                parts.pop(0)
            return self._resolve_path(place, parts)
        key = self._resolve_path(self._module_folder(importer), parts)
        if key and not (parts[0] in self._crates and "|" in key):
            return key
        if parts[0] in self._crates:  # before a module inside a file, which may not exist
            folder, file = self._crates[parts[0]]
            return self._resolve_path(folder, parts[1:], file)
        return ""

    def child(self, key: str, name: str) -> str:
        """Return the file of the module `name` that a file declares."""
        place = self._module_folder(key)
        return self._file(f"{place}/{name}" if place else name)

    def root(self, importer: str) -> str:
        """Return the folder of the crate that a file belongs to."""
        folder = folder_of(importer)
        while folder:
            if f"{folder}/lib.rs" in self.files or f"{folder}/main.rs" in self.files:
                return folder
            folder = folder_of(folder)
        return folder

    def _module_folder(self, path: str) -> str:
        """Return the folder of a file's submodules."""
        if path.rpartition("/")[2] in ("mod.rs", "lib.rs", "main.rs") or self._is_root(path):
            return folder_of(path)
        return path.removesuffix(".rs")

    def _is_root(self, path: str) -> bool:
        """True if a file is the root of a crate: a library, a program, a test, an example."""
        if path in self._libraries or path.endswith(("src/lib.rs", "src/main.rs")):
            return True
        around, _, last = folder_of(path).rpartition("/")
        return (around in self._packages and last in _CRATES) or folder_of(path).endswith("src/bin")

    def _resolve_path(self, place: str, parts: list[str], place_file: str = "") -> str:
        if not parts:
            return place_file or self._file(place)
        for count in range(len(parts), -1, -1):
            file = (
                self._file("/".join(filter(None, (place, *parts[:count]))))
                if count or not place_file
                else place_file
            )
            if file and (count or len(parts)):
                inner = ".".join(parts[count:])
                if count == 0 and not place_file:
                    return f"{file}|{inner}" if file else ""
                return f"{file}|{inner}" if inner else file
        return ""

    def _file(self, place: str) -> str:
        prefix = f"{place}/" if place else ""
        for path in (f"{place}.rs", f"{prefix}mod.rs", f"{prefix}lib.rs", f"{prefix}main.rs"):
            if path in self.files:
                return path
        return ""


#: folders of headers that repeat a library in one file, under the names of its own headers
_SINGLE_HEADER = re.compile(r"(?:^|/)(?:single[_-]?(?:include|header)s?|amalgamat\w+)/")


class IncludedFiles:
    """Files of `#include` and `require`: relative to the includer, else the file whose path has the
    same end.
    """

    def __init__(self, paths: Iterable[str], endings: tuple[str, ...], added: str = "") -> None:
        self._added = added
        self._by_name: dict[str, list[str]] = {}
        self.files = {path for path in paths if path.endswith(endings)}
        for path in self.files:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def find(self, module: str, importer: str) -> str:
        wanted = module if module.endswith(self._added) else module + self._added
        neighbour = posixpath.normpath(posixpath.join(folder_of(importer), wanted))
        if neighbour in self.files:
            return neighbour
        tail = "/" + wanted.removeprefix("./")
        matches = [
            path for path in self._by_name.get(wanted.rpartition("/")[2], ()) if f"/{path}".endswith(tail)
        ]
        if len(matches) > 1 and not _SINGLE_HEADER.search(importer):
            matches = [path for path in matches if not _SINGLE_HEADER.search(path)] or matches
        return _nearest_path(matches, importer) if matches and not module.startswith(".") else ""
