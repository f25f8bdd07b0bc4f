"""The targets of Ruby's calls while a project's tests run: a reference where no checker is
available.

Only calls that the tests reach have a target.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from truth_checkers import Target
from truth_sites import File, Site

#: loads every test; a test that lacks a library is left out
_RUN = "ARGV.each { |one| begin; require File.expand_path(one); rescue LoadError; warn one; end }"
_ACCESSORS = re.compile(r"^\s*attr_\w+")
_NAME = re.compile(rb"\w+[?!]?")
#: libraries of stubs: a method of theirs that stands for another is no target
_STUBS = re.compile(r"/(?:rspec/mocks|mocha|rr)/")
#: (path, line, name)
_Call = tuple[str, int, str]


def ask_ruby(
    root: Path, files: Iterable[tuple[File, Sequence[Site]]], seconds: float
) -> Iterator[tuple[Site, list[Target]]]:
    """Yield the targets at the sites that were reached; a name that a line calls twice has none."""
    targets_by_call = _run(root, seconds)
    for file, sites in files:
        site_names = [(site, _name_at(file, site)) for site in sites]
        name_counts = Counter((site[1], name) for site, name in site_names)
        for site, name in site_names:
            if name_counts[site[1], name] == 1 and (targets := targets_by_call.get((site[0], site[1], name))):
                inside = [target for target in targets if target is not None]
                yield site, inside or [None]


def _name_at(file: File, site: Site) -> str:
    match = _NAME.match(file.lines[site[1] - 1][site[2] :])
    return match[0].decode() if match else ""


def _files(root: Path, folder: str, pattern: str) -> list[str]:
    places = (root / folder).rglob(pattern)
    return sorted(str(place.relative_to(root)) for place in places if "helper" not in place.name)


def _run(root: Path, seconds: float) -> dict[_Call, list[Target]]:
    tests = _files(root, "test", "*_test.rb") or _files(root, "test", "test*.rb")
    helper = root / "spec" / "spec_helper.rb"
    if not tests and helper.is_file() and "minitest" in helper.read_text("utf-8", "replace"):
        tests = _files(root, "spec", "*_spec.rb")
    with tempfile.TemporaryDirectory() as folder:
        calls = Path(folder) / "calls"
        command = ["ruby", "-Ilib", "-Itest", "-Ispec", f"-r{Path(__file__).parent / 'peers' / 'calls.rb'}"]
        command += ["-e", _RUN, *tests] if tests else ["-S", "rspec", "spec"]
        subprocess.run(
            ["timeout", str(int(seconds)), *command],
            cwd=root,
            env=os.environ | {"CALLS_ROOT": str(root), "CALLS_TO": str(calls)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        lines = calls.read_text("utf-8").splitlines() if calls.is_file() else []
    targets_by_call: dict[_Call, list[Target]] = {}
    for line in lines:
        path, row, name, target_path, its_row, method_name = line.split("\t")
        if _STUBS.search(target_path):
            continue
        call = (Path(path).relative_to(root).as_posix(), int(row), name)
        targets = targets_by_call.setdefault(call, [])
        targets.append(_target(root, target_path, int(its_row), method_name))
        if method_name != name:
            targets += _aliases(root, target_path, name, method_name)
    return targets_by_call


def _aliases(root: Path, path: str, name: str, method_name: str) -> list[Target]:
    """Return the places where a file makes `name` an alias of `method_name`: targets, too."""
    if not Path(path).is_relative_to(root):
        return []
    words = re.compile(rf"\balias(?:_method)?\b\W*(?={re.escape(name)}\W+{re.escape(method_name)}(?![\w?!]))")
    lines = Path(path).read_text("utf-8", "replace").splitlines()
    matches = ((at, words.search(line)) for at, line in enumerate(lines, start=1))
    return [(Path(path).relative_to(root).as_posix(), at, match.end()) for at, match in matches if match]


def _target(root: Path, path: str, line: int, name: str) -> Target:
    if not Path(path).is_relative_to(root):
        return None
    lines = Path(path).read_text("utf-8", "replace").splitlines()
    # Ruby's line of `class Disk < Store` may be a later one if comments or blank lines follow.
    opens = re.compile(rf"\bclass\s+(?:\w+::)*{re.escape(name)}\b")
    above = (at for at in range(line, 0, -1) if name[:1].isupper() and opens.search(lines[at - 1]))
    line = next(above, line)
    lines = lines[line - 1 :]
    written = "initialize" if name == "new" and "initialize" in lines[0] else name
    # The place of a method that `attr_accessor` makes is that of the statement, of several lines.
    below = next((n for n, text in enumerate(_statement(lines)) if re.search(rf":{written}\b", text)), 0)
    return Path(path).relative_to(root).as_posix(), line + below, max(0, lines[below].find(written))


def _statement(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a statement that makes accessors: all but the last end with a comma."""
    is_open = _ACCESSORS.search(lines[0]) is not None
    for line in lines:
        if not is_open:
            return
        yield line
        is_open = line.rstrip().endswith((",", "_accessor", "_reader", "_writer", "\\"))
