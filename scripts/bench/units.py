"""Questions for functions, and the units that a ranking puts first.

    scripts/bench/units.py make --mirrors DIR --work DIR [--only NAME] [--fixes N]
    scripts/bench/units.py ask --work DIR [--only NAME] [--sample N]

`make` mines three kinds of questions for each row of units.tsv (a git directory with history,
`OWNER+NAME/repo`): `fix`, the message of a commit that repairs a fault asks for the functions that
it changed (fixes.py); the tree is the parent of the oldest one, so that no answer is in it; `doc`,
the first sentence of a comment, whose lines are blank, asks for its definition (doc_comments.py);
`name`, a qualified name asks for its definition. It writes `trees/NAME` and `questions/NAME.json`.
`ask` indexes the trees, asks the engines in this process, and writes the signals of the candidates
of each question to `signals/NAME.json`; unit_weights.py judges weights over them. For the floor it
also asks what the project cannot answer: questions of other repositories that are `made` already
(`other`; not those of which one of the two rarest words is in the index), about everyday things
(`everyday`), and of made-up words (`madeup`).
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from commits import innermost, is_asked_about
from doc_comments import outline_of
from fixes import KINDS, Fix, is_fix, old_lines, read_fixes
from second_set import GIT_S, History, describe

LIST = Path(__file__).with_suffix(".tsv")
#: commits to read, the newest first; questions from fixes and of names for each repository
COMMITS_MAX, FIXES_MAX, NAMES_MAX = 6_000, 80, 20
#: numbers of newest fixes that are tried: the tree is older than all of them, and must still hold
#: their functions
NUMBERS = (15, 25, 40, 60, 80, 120, 160, 200)
#: fewest lines of a definition that a name asks for
LINES_MIN = 4

_LOG = (
    "log",
    "--no-merges",
    "--no-renames",
    "--name-status",
    "--format=%x01%H%x02%s%x02%b%x03",
    f"-{COMMITS_MAX}",
)


class Repairs(History):
    """The history of a repository, read for its fixes."""

    def fixes(self) -> list[Fix]:
        return list(read_fixes(self._git(*_LOG, self._revision).decode(errors="replace")))

    def extract(self, target: Path) -> None:
        """Write the files that the git directory holds; a snapshot may lack large ones."""
        paths = self.paths()
        revisions = "".join(f"{self._revision}:{path}\n" for path in paths).encode()
        words = ["git", "--git-dir", str(self._folder), "cat-file", "--batch"]
        out = subprocess.run(words, input=revisions, check=True, capture_output=True, timeout=GIT_S).stdout
        at = 0
        for path in paths:
            end = out.index(b"\n", at)
            head, at = out[at:end].split(), end + 1
            if head[-1] != b"missing":
                place, size = target / path, int(head[-1])
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(out[at : at + size])
                at += size + 1

    def at(self, revision: str) -> Repairs:
        return Repairs(self._folder, revision)

    def revision_of(self, name: str) -> str:
        return self._git("rev-parse", name).decode().strip()

    def functions(self, fix: Fix) -> list[tuple[str, str]]:
        """Return (path, name) of the definitions that the commit changed, as they were before."""
        functions = []
        for path in fix.files:
            spans = named_spans(path, self.file(f"{fix.sha}^", path))
            functions += [(path, name) for name in sorted(innermost(spans, self._old_lines(fix, path)))]
        return functions

    def _old_lines(self, fix: Fix, path: str) -> list[tuple[int, int]]:
        words = ("diff", "--no-ext-diff", "--no-textconv", "-U0", f"{fix.sha}^", fix.sha, "--", path)
        return old_lines(self._git(*words).decode(errors="replace"))

    def hunks(self, fix: Fix, path: str, name: str, now: Sequence[str]) -> list[tuple[int, int]]:
        """Return (first, last) of the lines that the commit changed in a definition, found again in
        its lines `now` (from 0), nearest to where they were; those that differ are left out.
        """
        raw = self.file(f"{fix.sha}^", path)
        start, end = next(span[1:] for span in named_spans(path, raw) if span[0] == name)
        before, hunks = raw.decode(errors="replace").replace("\r\n", "\n").split("\n"), []
        for first, last in self._old_lines(fix, path):
            text, size, at = before[first - 1 : last], last - first + 1, first - start
            if start <= first and last <= end:
                same = [
                    place for place in range(len(now) - size + 1) if list(now[place : place + size]) == text
                ]
                if same:
                    place = min(same, key=lambda place: abs(place - at))
                    hunks.append(without_blanks(now, place, place + size - 1))
        return hunks


def without_blanks(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """Return (first, last) of the lines of a hunk without blank ends; of blank lines alone, the
    line above them.
    """
    while last > 0 and not lines[last].strip():
        last -= 1
    while first < last and not lines[first].strip():
        first += 1
    return min(first, last), last


def without_owners(functions: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out a type of which a method is changed, too."""
    return [
        (path, name)
        for path, name in functions
        if not any(other == path and inner.startswith(f"{name}.") for other, inner in functions)
    ]


def named_spans(path: str, raw: bytes) -> list[tuple[str, int, int]]:
    """Return (qualified name, with its parameters where overloads share it; first, last line) of
    the definitions of a file.
    """
    read = outline_of(path, raw)
    symbols = [symbol for symbol in read[1].symbols if symbol.kind in KINDS] if read is not None else []
    names = [f"{symbol.scope}.{symbol.name}".lstrip(".") for symbol in symbols]
    shared = Counter(names)
    return [
        (
            f"{name}({symbol.signature.partition('(')[2]}" if shared[name] > 1 else name,
            symbol.start_line,
            symbol.end_line,
        )
        for name, symbol in zip(names, symbols, strict=True)
    ]


def take_fixes(history: Repairs, most: int) -> list[tuple[Fix, list[tuple[str, str]]]]:
    """Return the newest `most` fixes with their functions, the newest first."""
    taken, queries = [], set()
    for fix in history.fixes():
        if fix.query.lower() in queries:
            continue
        functions = without_owners(history.functions(fix))
        if is_fix(functions):
            queries.add(fix.query.lower())
            taken.append((fix, functions))
        if len(taken) == most:
            break
    return taken


def choose_base(history: Repairs, taken: Sequence[tuple[Fix, list[tuple[str, str]]]]) -> tuple[str, int]:
    """Return (the parent of the oldest of some newest fixes, their number), so that most of them
    find a function in that tree.
    """
    best = (0, "", 0)
    for number in sorted({min(number, len(taken)) for number in NUMBERS}):
        base = history.revision_of(f"{taken[number - 1][0].sha}^")
        tree = history.at(base)
        present = set(tree.paths())
        names: dict[str, set[str]] = {}
        number_found = 0
        for _, functions in taken[:number]:
            for path in {path for path, _ in functions if path in present and path not in names}:
                names[path] = {name for name, *_ in named_spans(path, tree.file(base, path))}
            number_found += any(name in names.get(path, ()) for path, name in functions)
        best = max(best, (number_found, base, number))
    return best[1:]


def make(mirror: Path, revision: str, work: Path, most: int) -> None:
    name = mirror.name.partition("+")[2]
    folder = mirror / "repo" if (mirror / "repo").is_dir() else mirror
    history = Repairs(folder, revision)
    taken = take_fixes(history, most)
    base, number = choose_base(history, taken)
    root = work / "trees" / name
    shutil.rmtree(root, ignore_errors=True)
    tree = history.at(base)
    tree.extract(root)
    paths = [path for path in tree.paths() if is_asked_about(path) and (root / path).is_file()]
    spans = {path: named_spans(path, (root / path).read_bytes()) for path in paths}
    places = {
        (path, symbol): [path, start, end]
        for path, symbols in spans.items()
        for symbol, start, end in symbols
    }
    rows: list[dict[str, Any]] = []
    for fix, functions in taken[:number]:
        gold = [places[function] for function in functions if function in places]
        if gold:
            hunks = [
                [path, start + first, start + last]
                for path, symbol in functions
                if (path, symbol) in places
                for _, start, end in [places[path, symbol]]
                for first, last in history.hunks(fix, path, symbol, lines_of(root / path)[start - 1 : end])
            ]
            rows.append({"kind": "fix", "sha": fix.sha, "query": fix.query, "gold": gold, "hunks": hunks})
    rows += [
        {"kind": "name", "query": symbol, "gold": [[path, start, end]]}
        for symbol, path, start, end in _names(spans)
    ]
    rows += [
        {"kind": "doc", "query": ask.query, "gold": [[ask.path, ask.start, ask.end]]}
        for ask in describe(root, paths)
    ]
    for row in rows:
        row["id"] = sha256(f"{name} {row['query']}".encode()).hexdigest()[:12]
    (work / "questions").mkdir(exist_ok=True)
    (work / "questions" / f"{name}.json").write_text(
        json.dumps({"repo": name, "revision": base, "questions": rows}, indent=1)
    )
    counts = Counter(row["kind"] for row in rows)
    print(f"{name:16}{number:5} fixes {dict(counts)} files {len(paths)} {base[:10]}", flush=True)


def lines_of(path: Path) -> list[str]:
    return path.read_text(errors="replace").split("\n")


def _names(spans: dict[str, list[tuple[str, int, int]]]) -> list[tuple[str, str, int, int]]:
    """Return NAMES_MAX of (name, path, first, last), evenly chosen: names of one definition."""
    rows = [
        (name, path, start, end)
        for path, symbols in spans.items()
        for name, start, end in symbols
        if "(" not in name and end - start + 1 >= LINES_MIN
    ]
    shared = Counter(name for name, *_ in rows)
    unique = [row for row in rows if shared[row[0]] == 1]
    return sorted(unique, key=lambda row: sha256("\0".join(row[:2]).encode()).digest())[:NAMES_MAX]


def rows_of(only: Iterable[str], mirrors: Path) -> list[tuple[Path, str]]:
    listed = csv.reader(LIST.read_text().splitlines()[1:], delimiter="\t")
    repositories = []
    for repository, revision in listed:
        name, mirror = repository.partition("/")[2], mirrors / repository.replace("/", "+")
        if only and name not in only:
            continue
        if not mirror.is_dir():
            print(f"{repository}: not below {mirrors}, left out", file=sys.stderr)
            continue
        repositories.append((mirror, revision))
    return repositories


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("make", "ask"))
    parser.add_argument("--mirrors", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", action="append", default=[], help="a repository's name; may be repeated")
    parser.add_argument("--fixes", type=int, default=FIXES_MAX)
    parser.add_argument("--sample", type=int, default=0, help="questions of each kind; all of them for 0")
    options = parser.parse_args()
    options.work.mkdir(exist_ok=True)
    if options.step == "make":
        for mirror, revision in rows_of(options.only, options.mirrors):
            make(mirror, revision, options.work, options.fixes)
        return
    from unit_signals import ask  # opens the engines

    (options.work / "signals").mkdir(exist_ok=True)
    for path in sorted((options.work / "questions").glob("*.json")):
        if not options.only or path.stem in options.only:
            ask(path.stem, options.work.resolve(), options.sample)


if __name__ == "__main__":
    main()
