"""Where Ruby's calls lead when a project's tests run: a reference for a language whose checkers are
not to be had everywhere. Only what the tests reach has an answer.
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

#: loads every test; one that lacks a library of others is left out
_RUN = "ARGV.each { |one| begin; require File.expand_path(one); rescue LoadError; warn one; end }"
_NAME = re.compile(rb"\w+[?!]?")
#: (path, line, name)
_Call = tuple[str, int, str]


def ask_ruby(
    root: Path, files: Iterable[tuple[File, Sequence[Site]]], seconds: float
) -> Iterator[tuple[Site, list[Target]]]:
    """What was called at the sites that were reached; a name that a line calls twice is no
    opinion.
    """
    told = _run(root, seconds)
    for file, sites in files:
        named = [(site, _name_at(file, site)) for site in sites]
        twice = Counter((site[1], name) for site, name in named)
        for site, name in named:
            if twice[site[1], name] == 1 and (targets := told.get((site[0], site[1], name))):
                inside = [target for target in targets if target is not None]
                yield site, inside or [None]


def _name_at(file: File, site: Site) -> str:
    found = _NAME.match(file.lines[site[1] - 1][site[2] :])
    return found[0].decode() if found else ""


def _run(root: Path, seconds: float) -> dict[_Call, list[Target]]:
    tests = sorted(str(place.relative_to(root)) for place in (root / "test").rglob("*_test.rb"))
    with tempfile.TemporaryDirectory() as folder:
        calls = Path(folder) / "calls"
        command = ["ruby", "-Ilib", "-Itest", f"-r{Path(__file__).parent / 'peers' / 'calls.rb'}"]
        command += ["-e", _RUN, *tests] if tests else ["-Ispec", "-S", "rspec", "spec"]
        subprocess.run(
            ["timeout", str(int(seconds)), *command],
            cwd=root,
            env=os.environ | {"CALLS_ROOT": str(root), "CALLS_TO": str(calls)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        lines = calls.read_text("utf-8").splitlines() if calls.is_file() else []
    told: dict[_Call, list[Target]] = {}
    for line in lines:
        path, row, name, there, its_row, own = line.split("\t")
        call = (Path(path).relative_to(root).as_posix(), int(row), name)
        targets = told.setdefault(call, [])
        targets.append(_target(root, there, int(its_row), own))
        if own != name:
            targets += _aliases(root, there, name, own)
    return told


def _aliases(root: Path, path: str, name: str, own: str) -> list[Target]:
    """Where a file gives its method `own` another name: what is written there is what is called,
    too.
    """
    if not Path(path).is_relative_to(root):
        return []
    words = re.compile(rf"\balias(?:_method)?\b\W*(?={re.escape(name)}\W+{re.escape(own)}(?![\w?!]))")
    lines = Path(path).read_text("utf-8", "replace").splitlines()
    found = ((at, words.search(line)) for at, line in enumerate(lines, start=1))
    return [(Path(path).relative_to(root).as_posix(), at, match.end()) for at, match in found if match]


def _target(root: Path, path: str, line: int, name: str) -> Target:
    if not Path(path).is_relative_to(root):
        return None
    text = Path(path).read_text("utf-8", "replace").splitlines()[line - 1]
    written = "initialize" if name == "new" and "initialize" in text else name
    return Path(path).relative_to(root).as_posix(), line, max(0, text.find(written))
