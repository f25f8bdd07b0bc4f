"""Propose the gold of a "breaks" task: the calls of a definition, by a compiler or type checker.

    scripts/bench/agents/sites.py CHECKER=TREE                    definitions with 6 to 16 calls
    scripts/bench/agents/sites.py CHECKER=TREE FILE:LINE …        the calls of these, as gold

CHECKER is one of graph_truth.py's: pyright, typescript, javac, … TREE is a checkout. The places of
calls come from the syntax, their targets from the checker alone: neither Cortex's graph nor a
search for the name is asked. A call with two targets counts for none. Tests, documents and examples
are left out, and the question says so. A call that the checker cannot resolve is missing: choose
a definition if each other use of its name has another target.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH / "agents")]

from graph_truth import _CHECKERS, LANGUAGES  # noqa: E402 - scripts are no package
from records import Gold  # noqa: E402
from truth_checkers import ask_server  # noqa: E402
from truth_sites import File, Site, files_of, sites_of  # noqa: E402

from cortex.terms.paths import is_test  # noqa: E402

#: calls of a proposed definition, and the files that they are in
CALLS_MIN, CALLS_MAX, FILES_MIN = 6, 16, 3
UNSHIPPED = re.compile(r"^(docs?|examples?|playground|benchmarks?)/|(^|/)tests?/")

Calls = dict[tuple[str, int], set[tuple[str, int]]]


def calls(checker: str, tree: Path, seconds: float) -> Calls:
    """Return definition → its calls, each as (path, line)."""
    files: list[tuple[File, list[Site]]] = [
        (file, sites_of(file))
        for file in files_of(tree, LANGUAGES[checker])
        if not UNSHIPPED.search(file.path) and not is_test(file.path)
    ]
    ask = _CHECKERS.get(checker)
    rows = ask(tree, files, seconds) if ask else ask_server(checker, tree, files, seconds)
    calls_of: Calls = defaultdict(set)
    for site, targets in rows:
        if len(targets) == 1 and targets[0]:
            calls_of[targets[0][:2]].add(site[:2])
    return calls_of


def as_gold(tree: Path, sites: Iterable[tuple[str, int]]) -> list[dict[str, object]]:
    rows = []
    for path, line in sorted(sites):
        text = (tree / path).read_text(encoding="utf-8", errors="replace").split("\n")[line - 1]
        gold = Gold(path, line, line, max(re.findall(r"\w+", text), key=len, default=""))
        rows.append({key: value for key, value in asdict(gold).items() if value})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checked", metavar="CHECKER=TREE")
    parser.add_argument("definition", nargs="*", metavar="FILE:LINE")
    parser.add_argument("--seconds", type=float, default=600, help="time for the checker (default: 600)")
    options = parser.parse_args()
    checker, _, name = options.checked.partition("=")
    tree = Path(name).resolve()
    calls_of = calls(checker, tree, options.seconds)
    for text in options.definition:
        path, _, line = text.rpartition(":")
        print(json.dumps({"definition": text, "gold": as_gold(tree, calls_of[path, int(line)])}))
    for (path, line), sites in sorted(calls_of.items()) if not options.definition else ():
        if CALLS_MIN <= len(sites) <= CALLS_MAX and len({file for file, _ in sites}) >= FILES_MIN:
            text = (tree / path).read_text(encoding="utf-8", errors="replace").split("\n")[line - 1].strip()
            print(f"{path}:{line}\t{len(sites)}\t{text}")


if __name__ == "__main__":
    main()
