"""Locations of the sources of a project's installed packages, and notes of those that a user added
as read-only projects.
"""

import contextlib
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path

import orjson

from cortex.settings.folders.home import cache_base, root_id, user_home
from cortex.system import files

#: largest list of packages, in bytes: a lock file of thousands
LIST_BYTES_MAX = 8 << 20
#: largest note, in bytes; and modules of Go or Rust that become a project each
NOTE_BYTES_MAX, MODULES_MAX = 1 << 20, 100
#: names of folders that contain packages: other paths are not looked up in the notes
MARKS = frozenset(("site-packages", "node_modules", "mod", "registry"))
#: a direct dependency of a Go module
_GO = re.compile(r"^\s*(?:require\s+)?([\w.~-]+(?:/[\w.~-]+)+)\s+(v[\w.+-]+)\s*$", re.MULTILINE)


def installed_packages(root: Path) -> dict[str, Path]:
    """Return name → existing folder of packages. No link is followed below the root."""
    places = dict(_python(root))
    if _is_folder(root / "node_modules"):
        places["node"] = root / "node_modules"
    modules = [*_go(root), *_rust(root)]
    return places | dict(modules[:MODULES_MAX])


def write_note(root: Path, places: dict[str, Path]) -> None:
    """Save the places of a project's packages, in place of earlier ones. Raises OSError."""
    files.make_folder(_notes(), anywhere=True)
    content = {"root": os.fspath(root), "places": {name: os.fspath(place) for name, place in places.items()}}
    files.replace(_notes() / f"{root_id(root)}.json", orjson.dumps(content))


def read_notes() -> Iterator[tuple[str, Path, Path]]:
    """Yield (name, place, the project's root) of all saved places that exist."""
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = sorted(files.names(_notes()))
    for name in names:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            content = orjson.loads(files.read_ours(_notes() / name, NOTE_BYTES_MAX))
            root = Path(content["root"])
            for label, place in content["places"].items():
                if os.path.isdir(place):
                    yield f"{root.name}:{label}", Path(place), root


def is_noted(root: Path) -> bool:
    """Whether `root` is a saved place of packages."""
    return not MARKS.isdisjoint(root.parts) and any(place == root for _, place, _ in read_notes())


def _notes() -> Path:
    return cache_base() / "dependencies"


def _python(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the package folders of each virtual environment in the root, `.venv` first."""
    for name in _folders(root):
        if not os.path.isfile(root / name / "pyvenv.cfg"):
            continue
        for version in _folders(root / name / "lib"):
            place = root / name / "lib" / version / "site-packages"
            if version.startswith("python") and _is_folder(place):
                yield "python" if name == ".venv" else f"python-{name}", place


def _go(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the folders of modules that go.mod requires; the cache writes `A` as `!a`."""
    base = os.environ.get("GOMODCACHE") or os.path.join(
        os.environ.get("GOPATH") or os.path.join(user_home(), "go"), "pkg", "mod"
    )
    for path, version in _GO.findall(_read_text(root / "go.mod")):
        place = Path(base, re.sub(r"[A-Z]", lambda match: f"!{match[0].lower()}", f"{path}@{version}"))
        if ".." not in place.parts and place.is_dir():
            yield path, place


def _rust(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the folders of crates that Cargo.toml requires, in their locked versions."""
    with contextlib.suppress(tomllib.TOMLDecodeError, AttributeError, TypeError, KeyError):
        wanted = set(tomllib.loads(_read_text(root / "Cargo.toml")).get("dependencies", {}))
        source = Path(os.environ.get("CARGO_HOME") or os.path.join(user_home(), ".cargo"), "registry", "src")
        registries = _folders(source)
        for package in tomllib.loads(_read_text(root / "Cargo.lock")).get("package", ()):
            name = f"{package['name']}-{package['version']}"
            if package["name"] in wanted and re.fullmatch(r"[\w.+-]+", name):
                yield from (
                    (package["name"], source / registry / name)
                    for registry in registries
                    if _is_folder(source / registry / name)
                )


def _read_text(path: Path) -> str:
    with contextlib.suppress(OSError):
        return files.read_plain(path, LIST_BYTES_MAX).decode("utf-8", "replace")
    return ""


def _is_folder(path: Path) -> bool:
    return path.name in _folders(path.parent)


def _folders(folder: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return sorted(name for name, info in files.entries(folder).items() if stat.S_ISDIR(info.st_mode))
    return []
