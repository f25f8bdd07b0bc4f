"""The selection of a project's files: ignore files, configuration, fixed rules. Reads names and
stat, no contents.

Rules, the first that decides wins: fixed rules (our cache, git's folders, other checkouts, secrets,
binary and generated files, fixed folders); `indexing.ignore`; .cortexignore, the deepest folder
first; the files that git tracks; .gitignore, the deepest folder first; .git/info/exclude; the
user's global ignore file. Symbolic links are not followed, as in git. In a submodule git's rules
begin anew.
"""

import os
import stat
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from cortex.indexer import checkouts
from cortex.indexer.checkouts import GIT_LINK, Checkout
from cortex.indexer.rules import Rules, common_rules, faults_of, read_rules
from cortex.indexer.syntax import documents
from cortex.settings.config import Config
from cortex.settings.folders.home import NAMED
from cortex.system import git_files
from cortex.system.errors import Misconfigured
from cortex.system.folders.mounts import has_lasting_inodes
from cortex.terms.languages import expand_language, language_of
from cortex.terms.records import Skipped
from cortex.terms.selection.ignores import read_lines, read_setting

#: most files of a project that no person has named; a folder with more is rather a disk
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
#: suffixes of pictures, sounds, archives and the like, which are never text. The bytes of all
#: other files decide: a library of circuits is called `.lib`, too, a model of Modelica `.mo`
BINARY_SUFFIXES = frozenset(
    ".png .jpg .jpeg .gif .ico .bmp .webp .tif .tiff .zip .gz .tgz .bz2 .xz .zst .7z .rar "
    ".tar .jar .war .so .dylib .dll .exe .pyc .pyo .pyd .whl .egg .wasm .sqlite .sqlite3 .npy .npz "
    ".onnx .safetensors .parquet .woff .woff2 .ttf .otf .eot .mp3 .mp4 .wav .ogg .mov .avi .webm "
    ".flac .psd .icns .deb .rpm .dmg .iso".split()
)
#: files that decide which others are ignored
IGNORE_FILES = frozenset({".gitignore", ".cortexignore"})
#: the beginning of the remark on a checkout that git did not list
UNLISTED = "files that git tracks are unknown"


class Candidate(NamedTuple):
    """A file to index: the values of stat that show a change."""

    size: int
    mtime_ns: int
    ctime_ns: int
    #: 0 where the file system may give the file another one
    inode: int


@dataclass(frozen=True, slots=True)
class Scope:
    """The rules that hold in one folder, of each kind the strongest first."""

    #: of .cortexignore
    cortex: tuple[Rules, ...]
    git: tuple[Rules, ...]
    #: the checkout of git that the folder belongs to
    checkout: Checkout | None = None
    #: git's rule that ignores the folder and the folder that it names: only tracked files count
    ignored_by: tuple[Rules, str] | None = None


@dataclass(slots=True)
class Scan:
    """The result of a walk: files, entered folders (to be watched), files left out."""

    files: dict[str, Candidate] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CheckoutAt:
    """A checkout in a walk, with the folder of its top below the project's root."""

    folder: str
    checkout: Checkout | None


class Scanner:
    """Walks a project; paths are relative to the root (""), with `/`."""

    def __init__(self, config: Config) -> None:
        """Raises Misconfigured for a malformed glob in a setting."""
        self._root = str(config.root)
        self._settings = config.indexing
        self._has_inodes = has_lasting_inodes(config.root)
        #: whether a project with more than FILES_MAX files is refused
        self.is_limited = not (config.explicit_root or (config.home / NAMED).exists())
        self._ignore = read_setting(config.indexing.ignore, "indexing.ignore")
        self._include = read_setting(config.indexing.include, "indexing.include")
        self._languages = frozenset(
            language for name in config.indexing.languages for language in expand_language(name)
        )
        self._cache = _relative_folder(config.home.parent, config.root)
        checkout = checkouts.checkout_around(config.root)
        #: the folders of git that `.git` of the root names
        self._git_folders = frozenset(
            filter(None, (_relative_folder(folder, config.root) for folder in _git_folders(checkout)))
        )
        outer: tuple[Rules, ...] = ()
        if config.indexing.respect_gitignore:
            outer = checkout.rules(config.root) if checkout else tuple(common_rules(None))
        self._outer = Scope((), outer, checkout)

    def walk(self, enter: Callable[[str], None] = lambda _folder: None) -> Scan:
        """Return the tree as it is. `enter` is called with each folder before it is listed: a watch
        that it sets then misses no later change.

        Raises Misconfigured for more than FILES_MAX files in a project that no person has named.
        """
        scan = Scan(skipped=faults_of(self._outer.git))
        checkouts_met = [CheckoutAt("", self._outer.checkout)]
        stack = [("", self._outer)]
        while stack:
            folder, outer = stack.pop()
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
            opened = self._open(folder, outer, names)
            if isinstance(opened, str):
                scan.skipped.append(Skipped(folder or ".", opened))
                continue
            scope, rules = opened
            if scope.checkout is not outer.checkout:
                checkouts_met.append(CheckoutAt(folder, scope.checkout))
            scan.folders.append(folder)
            scan.skipped += faults_of(rules)
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if _is_undecodable(path):
                    readable_path = os.fsencode(path).decode("utf-8", "replace")
                    scan.skipped.append(Skipped(readable_path, "name is not valid text"))
                elif not entry.is_dir(follow_symlinks=False):
                    self._add_entry(scan, path, entry, scope)
                elif (inner := self._enter(path, entry.name, scope)) is not None:
                    stack.append((path, inner))
            self._check_limit(scan)
        if self._settings.respect_gitignore:
            scan.skipped += _unlisted(checkouts_met)
        scan.folders.sort()
        scan.files = dict(sorted(scan.files.items()))
        return scan

    def tracked_paths(self) -> object:
        """Return a value that differs once git tracks other files of the project's checkout."""
        checkout = self._outer.checkout
        return checkout.tracked_paths if checkout and self._settings.respect_gitignore else None

    def check_path(self, path: str) -> Candidate | Skipped | None:
        """Return the same answer for one file as a walk: a Candidate, a Skipped with the reason, or
        None when it is ignored or removed.
        """
        if _is_undecodable(path):
            return None
        scope = self._scope_of(path)
        full = os.path.join(self._root, path)
        try:
            info = os.lstat(full)
        except OSError:
            return None
        is_link = os.path.islink(full)
        if isinstance(scope, str) or not (os.path.isfile(full) or is_link):
            return None
        reason = self._skip_reason(path, os.path.basename(path), scope, info.st_size, is_link=is_link)
        if reason is None:
            return self._candidate(info)
        return Skipped(path, reason) if reason else None

    def exclusion_reason(self, path: str) -> str:
        """Return the reason why a file, or a folder above it, is left out; "" for none."""
        full = os.path.join(self._root, path)
        if not os.path.lexists(full):
            return "there is no such file"
        scope, name = self._scope_of(path), os.path.basename(path)
        if isinstance(scope, str):
            return scope
        if os.path.isdir(full) and not os.path.islink(full):
            inside = self._inside(path, name, scope)
            return inside if isinstance(inside, str) else ""
        info, is_link = os.lstat(full), os.path.islink(full)
        reason = self._skip_reason(path, name, scope, info.st_size, is_link=is_link)
        if reason is None:
            return "" if stat.S_ISREG(info.st_mode) else "left out: a pipe, socket or device"
        if reason:
            return f"left out: {reason}"
        if by := self._ignored_by(path, scope):
            return f"ignored by {by}"
        if self._include and not self._include.covers(path):
            return "indexing.include does not name it"
        return "indexing.languages does not name its language" if self._languages else "left out: git's own"

    def inclusion_reason(self, path: str) -> str:
        """Return the rule that takes in a file which git's rules ignore; "" for none."""
        scope = self._scope_of(path)
        if isinstance(scope, str) or self._is_ignored(path, scope):
            return ""
        by = self._ignored_by_git(path, scope)
        for rule in scope.cortex:
            if rule.decide(path) is False:
                return rule.line_of(self._root, path)
        return f"git tracks it, although {by} ignores it" if by else ""

    def _scope_of(self, path: str) -> Scope | str:
        """Return the rules in the folder of a file, or why a folder above it is left out."""
        opened = self._open("", self._outer, None)
        parts = path.split("/")
        for depth in range(1, len(parts)):
            if isinstance(opened, str):
                return opened
            opened = self._inside("/".join(parts[:depth]), parts[depth - 1], opened[0])
        return opened if isinstance(opened, str) else opened[0]

    def _inside(self, folder: str, name: str, scope: Scope) -> tuple[Scope, list[Rules]] | str:
        """As `_open`, for a folder that may be left out of one with the rules `scope`."""
        if name in FOLDERS_SKIPPED:
            return f"{folder}/ is left out: folders called {name} hold no project's own source"
        if folder == self._cache:
            return f"{folder}/ is left out: it is our own cache"
        inner = self._enter(folder, name, scope)
        if inner is None:
            return f"{folder}/ is ignored by {self._ignored_by(folder + '/', scope)}"
        if self._is_link_or_venv(folder):
            return f"{folder}/ is left out: it is a symbolic link or a virtual environment"
        opened = self._open(folder, inner, None)
        return f"{folder}/ is left out: it is {opened}" if isinstance(opened, str) else opened

    def _enter(self, path: str, name: str, scope: Scope) -> Scope | None:
        """Return the rules for a folder in one with the rules `scope`; None if it is left out."""
        if name in FOLDERS_SKIPPED or path == self._cache:
            return None
        decision = self._own_decision(path + "/", scope)
        if decision:
            return None
        if decision is False:
            return replace(scope, ignored_by=None) if scope.ignored_by else scope
        rule = self._git_rule(path + "/", scope)
        if rule is None:
            return scope
        is_tracked = scope.checkout is not None and scope.checkout.tracks(path + "/")
        return replace(scope, ignored_by=rule) if is_tracked else None

    def _open(
        self, folder: str, scope: Scope, names: Collection[str] | None
    ) -> tuple[Scope, list[Rules]] | str:
        """Return the rules in a folder, with its own ignore files, and these alone; or the reason
        why it is left out: a folder of git, another checkout. `names` are its entries, None to look
        for them.
        """
        full = os.path.join(self._root, folder)
        if folder in self._git_folders or git_files.is_git_folder(full, names):
            return _name_worktrees(Path(full)) if not folder else checkouts.GIT_FOLDER
        git_rules = scope.git
        added: list[Rules] = []
        if folder and (names is None or GIT_LINK in names) and checkouts.is_checkout(Path(full)):
            inner = checkouts.checkout_in(Path(self._root), folder)
            if why := checkouts.foreign_reason(Path(self._root), scope.checkout, inner):
                return f"{why}: open it by itself (--project {folder})"
            git_rules = inner.rules(Path(self._root)) if self._settings.respect_gitignore else ()
            added += [rules for rules in git_rules if rules not in scope.git]
            scope = Scope(scope.cortex, git_rules, inner)
        cortex_rules = self._read_rules(folder, ".cortexignore", names, folds=False)
        git_added: list[Rules] = []
        if self._settings.respect_gitignore and scope.ignored_by is None:
            folds = scope.checkout is not None and scope.checkout.folds
            git_added = self._read_rules(folder, ".gitignore", names, folds=folds)
        if cortex_rules or git_added:
            scope = replace(scope, cortex=(*cortex_rules, *scope.cortex), git=(*git_added, *scope.git))
        return scope, [*added, *cortex_rules, *git_added]

    def _own_decision(self, path: str, scope: Scope) -> bool | None:
        """Return the decision of `indexing.ignore` and .cortexignore; None for none."""
        if self._ignore.match(path):
            return True
        for rule in scope.cortex:
            if (decision := rule.decide(path)) is not None:
                return decision
        return None

    def _git_rule(self, path: str, scope: Scope) -> tuple[Rules, str] | None:
        """Return git's rule that ignores a path, and what it names: the file or a folder above."""
        if scope.ignored_by is not None:
            return scope.ignored_by
        for rule in scope.git:
            if (decision := rule.decide(path)) is not None:
                return (rule, path) if decision else None
        return None

    def _is_ignored(self, path: str, scope: Scope) -> bool:
        if (decision := self._own_decision(path, scope)) is not None:
            return decision
        if self._git_rule(path, scope) is None:
            return False
        return scope.checkout is None or not scope.checkout.tracks(path)

    def _ignored_by(self, path: str, scope: Scope) -> str:
        """Return the setting, or the line of an ignore file, that ignores `path`; "" for none."""
        if not self._is_ignored(path, scope):
            return ""
        if self._ignore.match(path):
            return "indexing.ignore"
        for rule in scope.cortex:
            if rule.decide(path):
                return rule.line_of(self._root, path)
        return self._ignored_by_git(path, scope)

    def _ignored_by_git(self, path: str, scope: Scope) -> str:
        rule = self._git_rule(path, scope)
        return rule[0].line_of(self._root, rule[1]) if rule else ""

    def _add_entry(self, scan: Scan, path: str, entry: os.DirEntry[str], scope: Scope) -> None:
        is_link = entry.is_symlink()
        if not is_link and not entry.is_file(follow_symlinks=False):
            return  # a socket or device
        try:
            info = entry.stat(follow_symlinks=False)
        except OSError as error:
            scan.skipped.append(Skipped(path, f"unreadable: {error.strerror}"))
            return
        reason = self._skip_reason(path, entry.name, scope, info.st_size, is_link=is_link)
        if reason is None:
            scan.files[path] = self._candidate(info)
        elif reason:
            scan.skipped.append(Skipped(path, reason))

    def _candidate(self, info: os.stat_result) -> Candidate:
        inode = info.st_ino if self._has_inodes else 0
        return Candidate(info.st_size, info.st_mtime_ns, info.st_ctime_ns, inode)

    def _skip_reason(self, path: str, name: str, scope: Scope, size: int, *, is_link: bool) -> str | None:
        """Return the reason why a file is left out: None if it is not, "" if a rule or setting
        excludes it on purpose, which is not reported.
        """
        if name == GIT_LINK or (self._include and not self._include.covers(path)):
            return ""
        if self._is_ignored(path, scope):
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

    def _is_link_or_venv(self, folder: str) -> bool:
        full = os.path.join(self._root, folder)
        return os.path.islink(full) or os.path.exists(os.path.join(full, VENV_FILE))

    def _read_rules(
        self, folder: str, name: str, names: Collection[str] | None, *, folds: bool
    ) -> list[Rules]:
        if names is not None and name not in names:
            return []
        path = f"{folder}/{name}" if folder else name
        return read_rules(self._root, path, depth=len(folder) + 1 if folder else 0, folds=folds)

    def _check_limit(self, scan: Scan) -> None:
        if self.is_limited and len(scan.files) > FILES_MAX:
            raise Misconfigured(
                f"{self._root} holds more than {FILES_MAX:,} files to index; if it is the right folder, pass "
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


def _git_folders(checkout: Checkout | None) -> tuple[Path, ...]:
    return (checkout.folder, checkout.common) if checkout else ()


def _name_worktrees(folder: Path) -> str:
    """Return the reason why a repository's own folder is not indexed, with its checkouts."""
    places = [str(place) for place in git_files.worktrees_of(git_files.common_dir(folder))]
    named = f"; open one of its worktrees: {', '.join(places)}" if places else ""
    return f"{checkouts.GIT_FOLDER}: it holds no files of a project{named}"


def _unlisted(checkouts_met: list[CheckoutAt]) -> list[Skipped]:
    """Return a remark for each checkout whose index git did not list."""
    return [
        Skipped(
            f"{each.folder}/{GIT_LINK}" if each.folder else GIT_LINK, f"{UNLISTED}: {each.checkout.fault}"
        )
        for each in checkouts_met
        if each.checkout is not None and each.checkout.fault
    ]
