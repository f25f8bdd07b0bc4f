"""The selection of a project's files: ignore files, configuration, fixed rules. Reads names and
stat, no contents.

Rules, the first that decides wins: fixed rules; `indexing.ignore`; .cortexignore and .gitignore,
the deepest folder first; .git/info/exclude; the user's global ignore file. Symbolic links are not
followed, as in git.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cortex.indexer.rules import Rules, faults_of, outer_rules, read_rules
from cortex.indexer.syntax import documents
from cortex.settings.config import Config
from cortex.system.errors import Misconfigured
from cortex.terms.ignores import read_lines, read_setting
from cortex.terms.languages import expand_language, language_of
from cortex.terms.records import Skipped

#: most files of a project that the user did not name explicitly; a folder with more is rather a
#: disk
FILES_MAX = 100_000
#: folders that never hold a project's own source
FOLDERS_SKIPPED = frozenset(
    ".git .hg .svn .jj .cortex node_modules bower_components __pycache__ .venv .tox .nox "
    ".mypy_cache .ruff_cache .pytest_cache .hypothesis .gradle .terraform .idea .next .nuxt .yarn "
    ".pnpm-store .eggs".split()
)
#: a folder with this file is a virtual environment, whatever its name
VENV_FILE = "pyvenv.cfg"
#: files that hold keys and passwords
SECRETS = read_lines(
    "\n".join(
        ".env .env.* !.env.example !.env.sample !.env.template .netrc .npmrc .pypirc "
        "*.pem *.key *.p12 *.pfx *.jks *.keystore id_rsa id_dsa id_ecdsa id_ed25519".split()
    )
)
#: names of files that programs write
GENERATED = frozenset(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml poetry.lock uv.lock "
    "Pipfile.lock Cargo.lock composer.lock Gemfile.lock go.sum flake.lock bun.lock mix.lock".split()
)
GENERATED_SUFFIXES = (
    ".min.js", ".min.css", ".map", ".svg", ".csv", ".tsv", ".lock", ".log", ".patch", ".diff", ".po",
)  # fmt: skip
#: suffixes of files that are not text
BINARY_SUFFIXES = frozenset(
    ".png .jpg .jpeg .gif .ico .bmp .webp .tif .tiff .zip .gz .tgz .bz2 .xz .zst .7z .rar "
    ".tar .jar .war .class .so .dylib .dll .exe .o .a .lib .obj .pyc .pyo .pyd .whl .egg .wasm "
    ".bin .dat .db .sqlite .sqlite3 .npy .npz .pt .pth .onnx .safetensors .pkl .parquet .woff "
    ".woff2 .ttf .otf .eot .mp3 .mp4 .wav .ogg .mov .avi .webm .flac .psd .doc .xls "
    ".ppt .mo .icns .deb .rpm .dmg .iso .snap".split()
)
#: the file of a work tree or submodule in place of a `.git` folder
GIT_LINK = ".git"
#: files that decide which others are ignored
IGNORE_FILES = frozenset({".gitignore", ".cortexignore"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file to index, with its values of stat."""

    size: int
    mtime_ns: int


@dataclass(slots=True)
class Scan:
    """The result of one walk: the files, the entered folders (to be watched), and the files left
    out.
    """

    files: dict[str, Candidate] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


class Scanner:
    """Walks a project. Paths of files and folders are relative to the root, with `/`; the root
    itself is "".
    """

    def __init__(self, config: Config) -> None:
        """Raises Misconfigured for a malformed glob in a setting."""
        self._root = str(config.root)
        self._settings = config.indexing
        self._limit = 0 if config.explicit_root else FILES_MAX
        self._ignore = read_setting(config.indexing.ignore, "indexing.ignore")
        self._include = read_setting(config.indexing.include, "indexing.include")
        self._languages = frozenset(
            language for name in config.indexing.languages for language in expand_language(name)
        )
        self._cache = _relative_folder(config.home.parent, config.root)
        self._outer = outer_rules(config.root) if config.indexing.respect_gitignore else ()

    def walk(self, enter: Callable[[str], None] = lambda _folder: None) -> Scan:
        """Return the tree as it is. `enter` is called with each folder before it is listed: a watch
        that it sets then misses no later change.

        Raises Misconfigured for more than FILES_MAX files in a project that the user did not name
        explicitly.
        """
        scan = Scan(skipped=faults_of(self._outer))
        stack: list[tuple[str, tuple[Rules, ...]]] = [("", self._outer)]
        while stack:
            folder, rules = stack.pop()
            enter(folder)
            try:
                with os.scandir(os.path.join(self._root, folder)) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except OSError as error:
                scan.skipped.append(Skipped(folder or ".", f"unreadable folder: {error.strerror}"))
                continue
            names = {entry.name for entry in entries}
            if VENV_FILE in names and folder:
                continue
            scan.folders.append(folder)
            folder_rules = tuple(self._rules(folder, names))
            scan.skipped += faults_of(folder_rules)
            rules = (*folder_rules, *rules)
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if _is_undecodable(path):
                    readable_path = os.fsencode(path).decode("utf-8", "replace")
                    scan.skipped.append(Skipped(readable_path, "name is not valid text"))
                elif not entry.is_dir(follow_symlinks=False):
                    self._add_entry(scan, path, entry, rules)
                elif self._enters(path, entry.name, rules):
                    stack.append((path, rules))
            self._check_limit(scan)
        scan.folders.sort()
        scan.files = dict(sorted(scan.files.items()))
        return scan

    def check_path(self, path: str) -> Candidate | Skipped | None:
        """Return the same answer for one file as a walk: a Candidate, a Skipped with the reason, or
        None when it is ignored or removed.
        """
        if _is_undecodable(path):
            return None
        rules = self._outer
        parts = path.split("/")
        for depth in range(len(parts)):
            folder = "/".join(parts[:depth])
            if folder and (
                not self._enters(folder, parts[depth - 1], rules) or self._is_link_or_venv(folder)
            ):
                return None
            rules = (*self._rules(folder, None), *rules)
        try:
            info = os.lstat(os.path.join(self._root, path))
        except OSError:
            return None
        is_file, is_link = (
            os.path.isfile(os.path.join(self._root, path)),
            os.path.islink(os.path.join(self._root, path)),
        )
        if not is_file and not is_link:
            return None
        reason = self._skip_reason(path, parts[-1], rules, info.st_size, is_link=is_link)
        if reason is None:
            return Candidate(info.st_size, info.st_mtime_ns)
        return Skipped(path, reason) if reason else None

    def exclusion_reason(self, path: str) -> str:
        """Return the reason why a file, or a folder above it, is left out; "" for none."""
        rules, parts = self._outer, path.split("/")
        for depth in range(len(parts)):
            folder = "/".join(parts[:depth])
            if folder and (why := self._folder_exclusion_reason(folder, parts[depth - 1], rules)):
                return why
            rules = (*self._rules(folder, None), *rules)
        full = os.path.join(self._root, path)
        if not os.path.lexists(full):
            return "there is no such file"
        if os.path.isdir(full) and not os.path.islink(full):
            return self._folder_exclusion_reason(path, parts[-1], rules)
        size, is_link = os.lstat(full).st_size, os.path.islink(full)
        reason = self._skip_reason(path, parts[-1], rules, size, is_link=is_link)
        if reason is None:
            return ""
        if reason:
            return f"left out: {reason}"
        if by := self._ignored_by(path, rules):
            return f"ignored by {by}"
        if self._include and not self._include.match(path):
            return "indexing.include does not name it"
        return "indexing.languages does not name its language" if self._languages else "left out: git's own"

    def _folder_exclusion_reason(self, folder: str, name: str, rules: tuple[Rules, ...]) -> str:
        """Return the reason why a folder is not entered; "" when it is."""
        if name in FOLDERS_SKIPPED:
            return f"{folder}/ is left out: folders called {name} hold no project's own source"
        if folder == self._cache:
            return f"{folder}/ is left out: it is our own cache"
        if by := self._ignored_by(folder + "/", rules):
            return f"{folder}/ is ignored by {by}"
        if self._is_link_or_venv(folder):
            return f"{folder}/ is left out: it is a symbolic link or a virtual environment"
        return ""

    def _ignored_by(self, path: str, rules: tuple[Rules, ...]) -> str:
        """Return the setting, or the line of an ignore file, that ignores `path`; "" for none."""
        if self._ignore.match(path):
            return "indexing.ignore"
        for rule in rules:
            decision = rule.decide(path)
            if decision is not None:
                return rule.line_of(self._root, path) if decision else ""
        return ""

    def _add_entry(self, scan: Scan, path: str, entry: os.DirEntry[str], rules: tuple[Rules, ...]) -> None:
        is_link = entry.is_symlink()
        if not is_link and not entry.is_file(follow_symlinks=False):
            return  # a socket or device
        try:
            info = entry.stat(follow_symlinks=False)
        except OSError as error:
            scan.skipped.append(Skipped(path, f"unreadable: {error.strerror}"))
            return
        reason = self._skip_reason(path, entry.name, rules, info.st_size, is_link=is_link)
        if reason is None:
            scan.files[path] = Candidate(info.st_size, info.st_mtime_ns)
        elif reason:
            scan.skipped.append(Skipped(path, reason))

    def _skip_reason(
        self, path: str, name: str, rules: tuple[Rules, ...], size: int, *, is_link: bool
    ) -> str | None:
        """Return the reason why a file is left out: None if it is not, "" if a rule or setting
        excludes it on purpose, which is not reported.
        """
        if name == GIT_LINK or (self._include and not self._include.match(path)):
            return ""
        if self._is_ignored(path, rules):
            return ""
        if self._languages and language_of(path).name not in self._languages:
            return ""
        if is_link:
            return "symbolic link"
        suffix = os.path.splitext(name)[1].lower()
        if suffix in documents.LIBRARIES and not documents.is_readable(suffix):
            return documents.MISSING
        if suffix in BINARY_SUFFIXES:
            return "binary"
        if name in GENERATED or name.endswith(GENERATED_SUFFIXES):
            return "generated or data"
        if SECRETS.match(name):
            return "may hold secrets"
        if size > self._settings.max_file_kb * 1024:
            return f"larger than {self._settings.max_file_kb} kB"
        return None

    def _enters(self, path: str, name: str, rules: tuple[Rules, ...]) -> bool:
        return name not in FOLDERS_SKIPPED and path != self._cache and not self._is_ignored(path + "/", rules)

    def _is_link_or_venv(self, folder: str) -> bool:
        full = os.path.join(self._root, folder)
        return os.path.islink(full) or os.path.exists(os.path.join(full, VENV_FILE))

    def _is_ignored(self, path: str, rules: tuple[Rules, ...]) -> bool:
        if self._ignore.match(path):
            return True
        for rule in rules:
            decision = rule.decide(path)
            if decision is not None:
                return decision
        return False

    def _rules(self, folder: str, names: set[str] | None) -> Iterator[Rules]:
        """Yield the rules of one folder, the strongest first. `names` are the folder's entries,
        None to try the files.
        """
        wanted = (".cortexignore", ".gitignore") if self._settings.respect_gitignore else (".cortexignore",)
        for name in wanted:
            if names is None or name in names:
                path = f"{folder}/{name}" if folder else name
                yield from read_rules(self._root, path, depth=len(folder) + 1 if folder else 0)

    def _check_limit(self, scan: Scan) -> None:
        if self._limit and len(scan.files) > self._limit:
            raise Misconfigured(
                f"{self._root} holds more than {self._limit:,} files to index; if it is the right folder, pass "
                f'--project "{self._root}" or set CORTEX_PROJECT="{self._root}"; else narrow it with indexing.include '
                "or indexing.ignore in .cortex/config.yml."
            )


def _is_undecodable(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return "\n" in path


def _relative_folder(folder: Path, root: Path) -> str:
    """Return `folder` relative to `root`, with `/`; "" when it is outside."""
    return folder.relative_to(root).as_posix() if folder.is_relative_to(root) else ""
