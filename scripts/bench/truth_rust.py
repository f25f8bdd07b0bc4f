"""The targets of Rust's names by rustdoc, which type-checks a crate and writes its source as pages
in which each name links to its definition. Only for crates whose dependencies are available:
rustdoc stops at a name that it cannot resolve.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from truth_checkers import Target
from truth_sites import File, Site

#: the compiler's own unstable options, which RUSTC_BOOTSTRAP allows in a stable compiler
_LINKS = ("-Zunstable-options", "--generate-link-to-definition", "--document-private-items")
_ENVIRONMENT = {"RUSTC_BOOTSTRAP": "1"}
#: without it a test is no item of the crate, and its calls have no links
_TEST = re.compile(r"#\[(?:\w+::)*test(?:\([^\]]*\))?\]")
_LINES = re.compile(r"#(\d+)(?:-\d+)?$")
#: target of links to Rust's own libraries
_LANGUAGES_OWN = "doc.rust-lang.org"
_FEATURE = re.compile(r"error: The `([\w-]+)` feature requires")
#: features that are left out, one after the other
FEATURES_REFUSED_MAX = 5
_FOREIGN_TRAIT = re.compile(r"/trait\.\w+\.html#(?:ty)?method\.")
_NAME = re.compile(r"([A-Za-z_]\w*)\W*$")

_Links = dict[tuple[str, int, int], list[Target]]


@dataclass(frozen=True)
class Crate:
    """A root of a package: its library, a program, a test, an example."""

    name: str
    root: Path
    edition: str
    features: tuple[str, ...]
    is_library: bool


def ask_rustdoc(
    root: Path, files: Iterable[tuple[File, Sequence[Site]]], seconds: float
) -> Iterator[tuple[Site, list[Target]]]:
    """Yield the targets that were read in `seconds`.

    A crate that does not compile alone is left out; third-party crates that it needs are built from
    FOLDER.crates.
    """
    ends = time.monotonic() + seconds
    links: _Links = {}
    with tempfile.TemporaryDirectory() as folder:
        copy, built = Path(folder).resolve() / "project", Path(folder).resolve() / "built"
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", "target"))
        built.mkdir()
        for place in copy.rglob("*.rs"):
            text = place.read_text("utf-8", "replace")
            place.write_text(_TEST.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text), "utf-8")
        siblings = root.with_name(f"{root.name}.crates")
        others = crates_of(siblings) if siblings.is_dir() else []
        for crate in (*others, *crates_of(copy, {sibling.name.replace("_", "-") for sibling in others})):
            links.update(_links_of(crate, copy, built, ends))
    for _, sites in files:
        for site in sites:
            if targets := links.get(site):
                yield site, targets


def crates_of(root: Path, sibling_names: AbstractSet[str] = frozenset()) -> list[Crate]:
    """Return the crates: libraries first, and before these the libraries that they need.

    `sibling_names` are crates that are available already.
    """
    packages = []
    for place in sorted(root.rglob("Cargo.toml")):
        read = tomllib.loads(place.read_text("utf-8"))
        if "package" in read:
            packages.append((place.parent, read))
    # Procedural macros are not built: they need crates of their own.
    names = {read["package"]["name"] for _, read in packages if not read.get("lib", {}).get("proc-macro")}
    packages.sort(key=lambda package: len(names & {*package[1].get("dependencies", {})}))
    libraries: list[Crate] = []
    others: list[Crate] = []
    for folder, read in packages:
        needed = read.get("dependencies", {})
        missing = {
            name
            for name, requirement in needed.items()
            if not (isinstance(requirement, dict) and requirement.get("optional"))
        } - (names | sibling_names)
        if not missing:
            _add_crates(folder, read, possible_features(read, names | sibling_names), libraries, others)
    return [*libraries, *others]


def _add_crates(
    folder: Path,
    read: Mapping[str, Any],
    features: tuple[str, ...],
    libraries: list[Crate],
    others: list[Crate],
) -> None:
    name = read["package"]["name"].replace("-", "_")
    edition = read["package"].get("edition", "2015")
    edition = edition if isinstance(edition, str) else "2021"
    library = folder / read.get("lib", {}).get("path", "src/lib.rs")
    if library.is_file() and not read.get("lib", {}).get("proc-macro"):
        libraries.append(Crate(name, library, edition, features, is_library=True))
    roots = [folder / "src" / "main.rs", *sorted(folder.glob("src/bin/*.rs"))]
    for kind in ("tests", "examples", "benches"):
        roots += sorted((folder / kind).glob("*.rs"))
    others += [
        Crate(f"{name}_{path.stem}".replace("-", "_"), path, edition, features, is_library=False)
        for path in roots
        if path.is_file()
    ]


def possible_features(read: Mapping[str, Any], at_hand: AbstractSet[str]) -> tuple[str, ...]:
    """Return the features of a package that need no missing crate."""
    table = read.get("features", {})
    refused = {"nightly", "unstable"}
    for _ in range(len(table) + 1):
        for feature, needs in table.items():
            crates = {need.removeprefix("dep:") for need in needs if need.startswith("dep:")}
            feature_names = {
                need.split("/")[0] for need in needs if "?/" not in need and not need.startswith("dep:")
            }
            if (crates | (feature_names - table.keys())) - at_hand or feature_names & refused:
                refused.add(feature)
    return tuple(feature for feature in table if feature not in refused)


def _links_of(crate: Crate, root: Path, built: Path, ends: float) -> _Links:
    """Return the links of a crate's pages; a library is built without features that it refuses."""
    refused: set[str] = set()
    for _ in range(FEATURES_REFUSED_MAX):
        links, errors = _links_with(
            crate, [feature for feature in crate.features if feature not in refused], root, built, ends
        )
        impossible = set(_FEATURE.findall(errors)) & set(crate.features) - refused
        if not impossible:
            break
        refused |= impossible
    return links


def _links_with(
    crate: Crate, features: Sequence[str], root: Path, built: Path, ends: float
) -> tuple[_Links, str]:
    options = [str(crate.root), "--crate-name", crate.name, "--edition", crate.edition, "-L", str(built)]
    options += [argument for feature in features for argument in ("--cfg", f'feature="{feature}"')]
    options += ["--cap-lints", "allow", "-Aunexpected_cfgs"]
    for library in built.glob("lib*.rmeta"):
        options += ["--extern", f"{library.stem.removeprefix('lib')}={library}"]
    if crate.is_library:
        emit = ["--crate-type", "lib", "--emit", "metadata", "--out-dir", str(built)]
        if error := _run(["rustc", *options, *emit], ends):
            return {}, error
    if not crate.root.is_relative_to(root):
        return {}, ""
    pages = built / "pages" / crate.name
    documented = ["rustdoc", *options, *_LINKS, "-o", str(pages)]
    # With its tests if they compile, else without.
    if _run([*documented, "--cfg", "test"], ends) and (error := _run(documented, ends)):
        return {}, error
    base = crate.root.parent
    links: _Links = {}
    for page in (pages / "src").rglob("*.rs.html"):
        source = base / page.relative_to(pages / "src" / crate.name).as_posix().removesuffix(".html")
        if source.is_file():
            reader = _Page()
            reader.feed(page.read_text("utf-8"))
            path = source.resolve().relative_to(root).as_posix()
            for row, column, name, href in reader.links:
                if _FOREIGN_TRAIT.search(href):
                    continue  # it may be the project's own `impl` of that
                if href.startswith("http") and _LANGUAGES_OWN not in href:
                    continue  # the library of a test, by its documentation
                target = _target(href, name, page, pages / "src" / crate.name, (base, root))
                links.setdefault((path, row, column), []).append(target)
    return links, ""


def _run(command: Sequence[str], ends: float) -> str:
    """Run a command; return its errors, "" for none."""
    left = ends - time.monotonic()
    if left <= 0:
        return "no time left"
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=left, env=os.environ | _ENVIRONMENT
        )
    except subprocess.TimeoutExpired:
        return "no time left"
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if line.startswith("error")), "")
        print(f"{command[0]} {command[1]}: {first}", file=sys.stderr)
    return done.stderr if done.returncode else ""


def _target(href: str, name: str, page: Path, pages: Path, sources: tuple[Path, Path]) -> Target:
    """Return the target of a link, None outside the project.

    `sources`: the folder that the pages describe, and the project's.
    """
    base, root = sources
    page_path, _, _ = href.partition("#")
    lines = _LINES.search(href)
    if href.startswith("http") or lines is None:
        return None
    goal = (page.parent / unquote(page_path)).resolve() if page_path else page
    if not goal.is_relative_to(pages):
        return None
    source = base / goal.relative_to(pages).as_posix().removesuffix(".html")
    if not source.is_file():
        return None
    row = int(lines[1])
    text = source.read_text("utf-8").split("\n")[row - 1]
    at = re.search(rf"\b{re.escape(name)}\b", text)
    column = len(text[: at.start()].encode()) if at else 0
    return source.resolve().relative_to(root).as_posix(), row, column


class _Page(HTMLParser):
    """A page's `links`: line, column in bytes and name of the last word of each link, and its
    target.
    """

    def __init__(self) -> None:
        super().__init__()
        self.links: list[tuple[int, int, str, str]] = []
        self._row, self._column = 0, 0
        self._in_code = self._in_number = False
        self._href, self._text, self._from = "", "", (0, 0)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "pre" and "rust" in (attributes.get("class") or ""):
            self._in_code, self._row, self._column = True, 1, 0
        elif tag == "a" and "data-nosnippet" in attributes:
            self._in_number = True
        elif tag == "a" and self._in_code:
            self._href, self._text, self._from = attributes.get("href") or "", "", (self._row, self._column)

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self._in_code = False
        elif tag == "a" and self._in_number:
            self._in_number = False
        elif tag == "a" and self._href:
            if (word := _NAME.search(self._text)) and "\n" not in self._text:
                before = len(self._text[: word.start(1)].encode())
                self.links.append((self._from[0], self._from[1] + before, word[1], self._href))
            self._href = ""

    def handle_data(self, data: str) -> None:
        if not self._in_code or self._in_number:
            return
        if self._href:
            self._text += data
        breaks = data.count("\n")
        self._row += breaks
        tail = len(data.rpartition("\n")[2].encode())
        self._column = tail if breaks else self._column + tail
