"""Ignore files: those that apply to a folder, and the decision of each. scan.py decides which files
are indexed, and which rule wins.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cortex.system import files, git_files
from cortex.terms.records import Skipped
from cortex.terms.selection.ignores import NO_GLOB, GlobFault, Ignores, read_lines

#: bytes to read of an ignore file
READ_BYTES_MAX = 4 * 1024 * 1024
#: malformed globs to report of one ignore file
FAULTS_NAMED = 3


@dataclass(frozen=True, slots=True)
class Rules:
    """The ignore file `name` of a folder; `prefix` leads from the root's paths to the folder's."""

    ignores: Ignores
    depth: int = 0
    prefix: str = ""
    name: str = ""

    def decide(self, path: str) -> bool | None:
        return self.ignores.decide(self.prefix + path[self.depth :])

    def line_of(self, root: str, path: str) -> str:
        """Return the last line of the file that matches `path`: `.gitignore, line 3: *.log`."""
        match = self.ignores.last(self.prefix + path[self.depth :])
        lines = _read_bytes(os.path.join(root, self.name)).split(b"\n")
        if match is None or match.line > len(lines):
            return self.name
        return f"{self.name}, line {match.line}: {lines[match.line - 1].decode('utf-8', 'replace').strip()}"


def read_rules(root: str, path: str, *, depth: int = 0, folds: bool = False) -> list[Rules]:
    """Return the rules of the ignore file `path` below `root`; none if empty or missing."""
    return _drop_empty(Rules(_read_ignores(os.path.join(root, path), folds=folds), depth=depth, name=path))


def rules_between(top: Path, root: Path, *, folds: bool = False) -> tuple[Rules, ...]:
    """Return the rules of the .gitignore files above `root`, up to the checkout's `top`."""
    collected: list[Rules] = []
    folder = root
    while folder != top:
        folder = folder.parent
        path = str(folder / ".gitignore")
        prefix = f"{root.relative_to(folder).as_posix()}/"
        collected += _drop_empty(Rules(_read_ignores(path, folds=folds), prefix=prefix, name=path))
    return tuple(collected)


def common_rules(
    common: Path | None, *, prefix: str = "", depth: int = 0, folds: bool = False
) -> list[Rules]:
    """Return the rules that hold in a whole checkout: `info/exclude` of its git folder `common`,
    and the user's global file. `prefix` and `depth` as in `Rules`.
    """
    paths = [] if common is None else [str(common / "info" / "exclude")]
    paths.append(os.path.realpath(global_ignore()))  # the user's own file, often a link
    return [
        rules
        for path in paths
        for rules in _drop_empty(Rules(_read_ignores(path, folds=folds), depth, prefix, path))
    ]


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


def _read_ignores(path: str, *, folds: bool = False) -> Ignores:
    """Return the globs of a file; none when it cannot be read."""
    return read_lines(_read_bytes(path), folds=folds)


def _read_bytes(path: str) -> bytes:
    """Return an ignore file's bytes, none when it cannot be read. From a file larger than
    READ_BYTES_MAX, return the complete lines up to there.
    """
    try:
        raw = files.read_plain(path, READ_BYTES_MAX + 1)
    except OSError:
        return b""
    if len(raw) > READ_BYTES_MAX:
        raw = raw[: raw.rfind(b"\n", 0, READ_BYTES_MAX) + 1] + b"\0"  # NUL: a fault for the others
    return raw


def global_ignore() -> str:
    """Return the file of the user's ignore rules, from git's configuration or by default."""
    named = git_files.user_settings().get("core.excludesfile", "")
    return os.path.expanduser(named) if named else usual_ignore()


def usual_ignore() -> str:
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(base, "git", "ignore")
