"""A fuzzer of the ignore rules: trees and patterns are drawn, and the files of a scan compared with
those that git lists.

    scripts/fuzz_ignores.py --number 10000 --seed 1

Prints each difference with its seed, and the numbers at the end; ends with 1 if there is any.
tests/indexer/test_drawn_ignores.py draws a few hundred.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cortex.indexer.scan import Candidate, Scanner
from cortex.settings.config import Config

#: rule sets for each tree
RULES_EACH = 10
NAMES = (
    "a", "b", "ab", "ba", "A", "Ab", "a.py", "b.py", "a.b", "src", "build", "Build", "x y", "a ", " a", "#a", "!a",
    "[a]", "a*", "a\\b", "é", "éa", "\u4e2d", "a-b", "]", "-", "^", "a\tb", "a,b", "{a}", "1", "_",
)  # fmt: skip
#: pieces of patterns; some are no UTF-8, some no valid class
PIECES = (
    b"a", b"b", b"A", b"py", b".", b"src", b"build", b"*", b"*", b"*", b"**", b"**", b"***", b"?", b"?", b"/", b"/", b"/",
    b"/**", b"**/", b"/**/", b"[ab]", b"[!a]", b"[^a]", b"[a-c]", b"[A-C]", b"[c-a]", b"[]]", b"[!]]", b"[]a]", b"[a-]",
    b"[-a]", b"[[:alpha:]]", b"[[:upper:]]", b"[[:digit:]_]", b"[![:space:]]", b"[[:punct:]]", b"[[:bad:]]", b"[[:]",
    b"[[:alpha:]-z]", b"[\\]]", b"[\\a-b]", b"[a-\\b]", b"[", b"[a", b"]", b"[a/b]", b"[/]", b"\\", b"\\ ", b"\\*",
    b"\\[", b"\\a", b"\\/", b"\\#", b" ", b"x y", "é".encode(), "é".encode()[:1], "é".encode()[1:], b"\xff", b"[\xc3\xa9]",
    b"[\x80-\xff]", b"#", b"!", b"\t", b"-", b"^", b"{a,b}", b",", b"1", b"_",
)  # fmt: skip
#: whole patterns that people write
IDIOMS = (
    b"*", b"!*/", b"!*.py", b"!src", b"!/src/", b"!src/*", b"!src/**/*", b"!**/", b"**", b"!**/*.py", b"build/", b"build",
    b"/build", b"src/*", b"!src/a/", b"/*", b"!/a", b"!build/", b"*.py", b"a/**", b"**/a", b"a/*/b", b"/src/**/b",
    b"!.gitignore", b"src/", b"/a", b"a", b"!a", b"b/a",
)  # fmt: skip
ENDS = (b"", b"", b"", b"", b"/", b"/", b" ", b"  ", b"\\ ", b"\t", b"\\", b"//", b"/**", b"/*", b"*")


@dataclass(slots=True)
class Drawn:
    """One set of rules for a tree: ignore file (relative to the tree) → its bytes. `user` is the
    user's global file.
    """

    ignores: dict[str, bytes] = field(default_factory=dict)
    exclude: bytes = b""
    user: bytes = b""
    folds: bool = False
    tracked: tuple[str, ...] = ()


def draw_tree(chance: random.Random) -> list[str]:
    """Draw the paths of files; no path is a folder of another."""
    if chance.random() < 0.2:  # for classes: names of one letter, and some of two
        letters = [chr(code) for code in range(1, 127) if chr(code) not in "./\n"]
        pairs = [a + b for a in chance.sample(letters, 4) for b in chance.sample(letters, 4)]
        return sorted({*letters, *pairs, "é", "ü", "\x80"})
    folders = [""]
    for _ in range(chance.randint(1, 7)):
        folders.append(f"{chance.choice(folders)}{chance.choice(NAMES)}/")
    names = {f"{chance.choice(folders)}{chance.choice(NAMES)}" for _ in range(chance.randint(3, 16))}
    return sorted(name for name in names if f"{name}/" not in folders)


def draw_rules(chance: random.Random, paths: list[str]) -> Drawn:
    folders = sorted({"", *(path[: at + 1] for path in paths for at in _slashes(path))})
    drawn = Drawn({".gitignore": _draw_file(chance, paths)})
    for _ in range(chance.choice((0, 0, 1, 2))):
        drawn.ignores[f"{chance.choice(folders)}.gitignore"] = _draw_file(chance, paths)
    drawn.exclude = _draw_file(chance, paths) if chance.random() < 0.2 else b""
    drawn.user = _draw_file(chance, paths) if chance.random() < 0.2 else b""
    drawn.folds = chance.random() < 0.15
    if chance.random() < 0.3 and not drawn.folds:
        drawn.tracked = tuple(chance.sample(paths, chance.randint(0, len(paths))))
    return drawn


def _slashes(path: str) -> list[int]:
    return [at for at, letter in enumerate(path) if letter == "/"]


def _draw_file(chance: random.Random, paths: list[str]) -> bytes:
    end = b"\r\n" if chance.random() < 0.15 else b"\n"
    lines = [_draw_pattern(chance, paths) for _ in range(chance.choice((1, 1, 2, 2, 3, 4, 6)))]
    mark = b"\xef\xbb\xbf" if chance.random() < 0.05 else b""
    return mark + end.join(lines) + (end if chance.random() < 0.8 else b"")


def _draw_pattern(chance: random.Random, paths: list[str]) -> bytes:
    style = chance.random()
    if style < 0.7 and "!" in paths and "~" in paths:
        negation = b"!" if chance.random() < 0.2 else b""
        return negation + _draw_wildcard(chance, ord(chance.choice(paths)[0]) & 255)
    if style < 0.25:
        return chance.choice(IDIOMS)
    if style < 0.7:  # a path of the tree, or its end, changed in one place
        body = chance.choice(paths).encode()
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            at = chance.randrange(len(body))
            end = at + chance.choice((1, 1, 1, 0, 2))
            body = body[:at] + _draw_wildcard(chance, body[at]) + body[end:]
        body = body.rpartition(b"/")[2] if chance.random() < 0.3 else body
        body = body.rpartition(b"/")[0] or body if chance.random() < 0.3 else body
    else:
        body = b"".join(chance.choice(PIECES) for _ in range(chance.randint(1, 5)))
    body = (b"/" if chance.random() < 0.2 else b"") + body + chance.choice(ENDS)
    body = (b"!" if chance.random() < 0.3 else b"") + body
    return body + (b"\0x" if chance.random() < 0.005 else b"")


def _draw_wildcard(chance: random.Random, byte: int) -> bytes:
    """Draw a piece that may match one byte: a class with or beside it, a wildcard."""
    if chance.random() < 0.3:
        return chance.choice(PIECES)
    literal = bytes((byte,))
    low, high = bytes((max(1, byte - chance.randint(0, 2)),)), bytes((min(255, byte + chance.randint(0, 2)),))
    members = [
        literal, low, high, low + b"-" + high, high + b"-" + low, b"a", b"A-Z", b"\\" + literal, b"[:alpha:]", b"[:lower:]",
        b"[:upper:]", b"[:punct:]", b"[:space:]", b"[:print:]", b"[:graph:]", b"[:cntrl:]", b"[:xdigit:]", b"[:blank:]",
        b"[:alnum:]", b"[:digit:]", b"-", b"]", b"[", b"!", b"^", b"\\" + low + b"-\\" + high, b"/", b"[:", b":]",
    ]  # fmt: skip
    chosen = b"".join(chance.sample(members, chance.choice((1, 1, 2, 3))))
    return chance.choice((
        b"?", b"*", b"**", b"\\" + literal, b"[" + chosen + b"]", b"[" + chosen + b"]", b"[!" + chosen + b"]",
        b"[^" + chosen + b"]", b"[" + chosen + b"]*", b"*[" + chosen + b"]",
    ))  # fmt: skip


class Place:
    """A folder with a home and the project's tree."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root = folder, folder / "project"
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder / "home"), "XDG_CONFIG_HOME": str(folder / "home/.config"),
            "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
        }  # fmt: skip

    def make_tree(self, paths: list[str]) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        (self.folder / "home").mkdir(exist_ok=True)
        self.root.mkdir()
        self._git("init", "-q", "--template=")
        for path in paths:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(b"x\n")

    def write_rules(self, drawn: Drawn) -> None:
        for path in self.root.rglob(".gitignore"):
            path.unlink()
        for name, raw in drawn.ignores.items():
            (self.root / name).write_bytes(raw)
        (self.root / ".git/info").mkdir(exist_ok=True)
        (self.root / ".git/info/exclude").write_bytes(drawn.exclude)
        (self.folder / "home/user_ignore").write_bytes(drawn.user)
        (self.folder / "home/.gitconfig").write_text("[core]\n\texcludesFile = ~/user_ignore\n")
        folds = "true" if drawn.folds else "false"
        (self.root / ".git/config").write_text(
            f"[core]\n\trepositoryformatversion = 0\n\tignorecase = {folds}\n"
        )
        (self.root / ".git/index").unlink(missing_ok=True)
        if drawn.tracked:
            self._git("add", "-f", "--", *(f":(literal){path}" for path in drawn.tracked))

    def listed(self) -> set[str]:
        """Return the files that git takes for the project's."""
        raw = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return {os.fsdecode(name) for name in raw.split(b"\0") if name}

    def _git(self, *words: str) -> bytes:
        return subprocess.run(
            ["git", *words], cwd=self.root, env=self.environment, check=True, capture_output=True
        ).stdout


def differences(place: Place, paths: list[str], drawn: Drawn) -> list[str]:
    """Return the paths on which a scan, or a look at one file, and git differ."""
    place.write_rules(drawn)
    listed = place.listed()
    scanner = Scanner(Config(root=place.root))
    files = set(scanner.walk().files)
    single = {path for path in [*paths, *drawn.ignores] if isinstance(scanner.check_path(path), Candidate)}
    return sorted((listed ^ files) | (listed ^ single))


def run(folder: Path, number: int, seed: int) -> Iterator[tuple[int, list[str], Drawn, list[str]]]:
    """Draw `number` sets of rules; yield (seed, paths, rules, different paths) of each."""
    place = Place(folder)
    home = {name: place.environment[name] for name in ("HOME", "XDG_CONFIG_HOME")}
    before = {name: os.environ.get(name) for name in home}
    os.environ.update(home)
    try:
        for start in range(seed, seed + number, RULES_EACH):
            paths = draw_tree(random.Random(start))
            while not paths:
                paths = [*NAMES[:3]]
            place.make_tree(paths)
            for each in range(start, min(start + RULES_EACH, seed + number)):
                drawn = draw_rules(random.Random(each), paths)
                yield each, paths, drawn, differences(place, paths, drawn)
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    different = number = 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for seed, paths, drawn, different_paths in run(Path(folder).resolve(), options.number, options.seed):
            number += 1
            if different_paths:
                different += 1
                print(f"seed {seed}: {different_paths}\n  of {paths}\n  {drawn}", flush=True)
    print(f"{number} drawn, {different} different, {time.monotonic() - began:.0f} s")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
