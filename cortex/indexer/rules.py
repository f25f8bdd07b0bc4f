"""Ignore files: those that apply to a folder, and the decision of each. scan.py decides which files
are indexed, and which rule wins.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cortex.system import files
from cortex.terms.ignores import NO_GLOB, GlobFault, Ignores, read_lines
from cortex.terms.records import Skipped

#: bytes to read of an ignore file
READ_BYTES_MAX = 4 * 1024 * 1024
#: largest file of git that names a folder, in bytes
PATH_BYTES_MAX = 4096
#: malformed globs to report of one ignore file
FAULTS_NAMED = 3


@dataclass(frozen=True, slots=True)
class Rules:
    """The ignore file `name` of one folder. `prefix` makes a path relative to the root relative to
    the folder.
    """

    ignores: Ignores
    depth: int = 0
    prefix: str = ""
    name: str = ""

    def decide(self, path: str) -> bool | None:
        return self.ignores.decide(self.prefix + path[self.depth :])

    def line_of(self, root: str, path: str) -> str:
        """Return the last line of the file that matches `path`: `.gitignore, line 3: *.log`."""
        name = self.prefix + path[self.depth :]
        for number, line in reversed(
            list(enumerate(_read_text(os.path.join(root, self.name)).split("\n"), 1))
        ):
            if line.strip() and read_lines(line).decide(name):
                return f"{self.name}, line {number}: {line.strip()}"
        return self.name


def read_rules(root: str, path: str, *, depth: int = 0) -> list[Rules]:
    """Return the rules of the ignore file `path` below `root`; none if empty or missing."""
    return _drop_empty(Rules(_read_ignores(os.path.join(root, path)), depth=depth, name=path))


def outer_rules(root: Path) -> tuple[Rules, ...]:
    """Return the rules from outside the root: the .gitignore of folders above it up to the
    repository's top, its .git/info/exclude, and the user's global file.
    """
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)
    collected: list[Rules] = []
    if top is not None:
        folder = root
        while folder != top:
            folder = folder.parent
            path = str(folder / ".gitignore")
            collected += _drop_empty(
                Rules(_read_ignores(path), prefix=f"{root.relative_to(folder).as_posix()}/", name=path)
            )
        path = str(_git_dir(top) / "info" / "exclude")
        prefix = f"{root.relative_to(top).as_posix()}/" if root != top else ""
        collected += _drop_empty(Rules(_read_ignores(path), prefix=prefix, name=path))
    path = os.path.realpath(global_ignore())  # the user's own file, often a link
    return (*collected, *_drop_empty(Rules(_read_ignores(path), name=path)))


def faults_of(rules: Iterable[Rules]) -> list[Skipped]:
    """Return the malformed globs of ignore files: the first FAULTS_NAMED lines of each."""
    skipped: list[Skipped] = []
    for rule in rules:
        faults = rule.ignores.faults
        skipped += [Skipped(rule.name, _fault_reason(rule.name, fault)) for fault in faults[:FAULTS_NAMED]]
        if (more := len(faults) - FAULTS_NAMED) > 0:
            skipped.append(Skipped(rule.name, f"{NO_GLOB} in {more} more lines of {rule.name}"))
    return skipped


def _fault_reason(name: str, fault: GlobFault) -> str:
    """Return the reason; `cortex status` shows the text before the colon."""
    return f"{NO_GLOB} in line {fault.line} of {name}: {fault.quoted} {fault.why}"


def _drop_empty(rules: Rules) -> list[Rules]:
    return [rules] if rules.ignores or rules.ignores.faults else []


def _read_ignores(path: str) -> Ignores:
    """Return the globs of a file; none when it cannot be read."""
    return read_lines(_read_text(path))


def _read_text(path: str) -> str:
    """Return an ignore file's text, "" when it cannot be read. From a file larger than
    READ_BYTES_MAX, return the complete lines up to there.
    """
    try:
        raw = files.read_plain(path, READ_BYTES_MAX + 1)
    except OSError:
        return ""
    if len(raw) > READ_BYTES_MAX:
        raw = raw[: raw.rfind(b"\n", 0, READ_BYTES_MAX) + 1] + b"\0"  # NUL: a fault for the others
    return raw.decode("utf-8", "replace")


def _git_dir(top: Path) -> Path:
    """Return `.git`, or the target of the `.git` file of a work tree or submodule."""
    git_path = top / ".git"
    if git_path.is_file():
        try:
            target = _resolve_pointer(top, files.read_plain(git_path, PATH_BYTES_MAX))
        except OSError:
            return git_path
        with contextlib.suppress(OSError):
            return _resolve_pointer(target, files.read_plain(target / "commondir", PATH_BYTES_MAX))
        return target
    return git_path


def _resolve_pointer(folder: Path, raw: bytes) -> Path:
    """Return the path in a file of git, from its folder. Raises OSError for an invalid one."""
    try:
        return (folder / os.fsdecode(raw.removeprefix(b"gitdir:").strip())).resolve()
    except ValueError as error:  # the path contains a NUL
        raise OSError(errno.EINVAL, str(error)) from error


def global_ignore() -> str:
    """Return the file of the user's ignore rules, from git's configuration or by default."""
    usual = usual_ignore()
    for path in (os.path.expanduser("~/.gitconfig"), os.path.join(os.path.dirname(usual), "config")):
        try:
            text = files.read_plain(os.path.realpath(path), READ_BYTES_MAX).decode("utf-8", "replace")
        except OSError:
            continue
        match = re.search(r"^\s*excludesfile\s*=\s*\"?([^\"\n]+?)\"?\s*$", text, re.IGNORECASE | re.MULTILINE)
        if match:
            return os.path.expanduser(match[1])
    return usual


def usual_ignore() -> str:
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(base, "git", "ignore")
