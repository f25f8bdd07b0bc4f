"""A benchmark of the code graph against compilers and type checkers: precision and recall of calls.

    python scripts/bench/graph_truth.py REFERENCE=FOLDER … [--peer] [--sample 4000] [--json]

REFERENCE is one of jedi, pyright (Python), typescript (TypeScript, TSX, JavaScript: `tsc`), gopls,
clangd (C, C++), rustdoc, rust-analyzer, intelephense (PHP), ruby (truth_ruby.py), javac, kotlin,
scala and roslyn (C#; truth_compilers.py); the command must be on PATH, jedi importable. FOLDER is a
whole checkout: with its tests, its configuration files and its roots.

Compared is every call site (truth_sites.py), or `--sample` of them, evenly, the files in a random
order that is the same in every run; a reference has `--seconds` for a project, and the sites that
it resolved by then count (`answered` of `asked`). Precision: of our calls at sites for which the
reference has a target, the share with one of its targets; calls of definitions outside the project
count as wrong; an import that the reference cannot follow is no target, nor is the variable that
holds a called value. The signatures of an overload and its body are one. Static recall: of the
sites whose target is a definition with a name, the share that we name. Raw recall: of all sites
with a target in the project, interfaces' members and called values included. A call that may mean
several definitions counts as not found; `listed` is the recall with those calls, if the target is
one of their candidates. `--peer` adds codegraph (`npm install @colbymchenry/codegraph`), over the
same sites.

The judge prints the limits of these figures. `calls`: the share of calls that are sites, and the
other forms of calls (truth_calls.py). `no opinion`: the share of answered sites for which the
reference names nothing; they count nowhere. clangd's guesses are no opinions: where its syntax tree
has no target, in inactive branches and on values of a template's parameter, it returns definitions
of the same word, but no description. Sites with several sure edges: one right edge makes the
site right above, so the edges are also counted one by one (`edges`). `value`: the holder of a
called value; a sure edge to another definition there is no error, and is counted as `unjudged`.
`widened`: sites that are right only by a further definition, a body of a prototype's name in C, or
a method of an `impl` of the named trait in Rust. `--bare`: Kotlin's names before a block or between
two operands are sites, too, and Ruby's names without parentheses; for those of them that the tests
do not call the reference has no answer.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from report import Figures, begin, make_parser, print_machine, print_table, write
from truth_calls import OPERATOR, calls_left_out
from truth_checkers import SERVERS, Target, ask_jedi, ask_server, ask_typescript
from truth_compilers import ask_javac, ask_kotlin, ask_roslyn, ask_scala
from truth_peer import ask_codegraph
from truth_ruby import ask_ruby
from truth_rust import ask_rustdoc
from truth_sites import (
    HOLDERS,
    File,
    Place,
    Site,
    files_of,
    holder_at,
    is_callee,
    is_own,
    name_position,
    read,
    sites_of,
)

from cortex.graph.facts.tables import FileIndex
from cortex.graph.languages.table import LANGUAGES as GRAPH_LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.store.graph_roots import read_roots
from cortex.indexer.syntax.source import digest
from cortex.terms.kinds import CALLABLE_KINDS

LANGUAGES: dict[str, tuple[str, ...]] = {
    "jedi": ("python",),
    "javac": ("java",),
    "ruby": ("ruby",),
    "typescript": ("typescript", "tsx", "javascript"),
    "rustdoc": ("rust",),
    "kotlin": ("kotlin",),
    "scala": ("scala",),
    "roslyn": ("csharp",),
    **{name: tuple(server.languages) for name, server in SERVERS.items()},
}
#: references that are no language servers
_CHECKERS = {
    "jedi": ask_jedi,
    "javac": ask_javac,
    "typescript": ask_typescript,
    "ruby": ask_ruby,
    "rustdoc": ask_rustdoc,
    "kotlin": ask_kotlin,
    "scala": ask_scala,
    "roslyn": ask_roslyn,
}
#: a class's constructor: a call that resolves to it and one that resolves to the class mean the
#: same
_CONSTRUCTOR_NAMES = frozenset({"__init__", "__new__", "constructor", "__construct", "initialize", "new"})
#: files with functions of C and C++, and files with their declarations
C_SOURCES, C_HEADERS = (".c", ".cc", ".cpp", ".cxx"), (".h", ".hh", ".hpp", ".hxx")
#: kinds of edges that lead from a name to its definition
_COUNTED = ("calls", "references")


@dataclass
class Answers:
    """The answers of one side: site → (places, confidence).

    Several places that are added at once are alternatives; several that are added one by one are
    definitions of the same function, and each of them is right.
    """

    of: dict[Site, tuple[frozenset[Place], str]] = field(default_factory=dict)
    #: site → the places of each edge
    edges: dict[Site, set[frozenset[Place]]] = field(default_factory=dict)
    unsure: set[Site] = field(default_factory=set)

    def add(self, site: Site, places: Iterable[Place], confidence: str) -> None:
        added = frozenset(places)
        before, same = self.of.get(site, (frozenset[Place](), ""))
        self.of[site] = (added | before if same == confidence else added, confidence)
        if same != confidence:
            self.edges[site] = set()
        self.edges[site].add(added)
        if len(added) > 1:
            self.unsure.add(site)


def main() -> None:
    arguments = parse_arguments()
    head = begin("graph-truth")
    figures: Figures = {"sample": arguments.sample, "projects": {}}
    for project in arguments.projects:
        name, _, folder = project.partition("=")
        root = Path(folder).resolve()
        try:
            row = judge(name, root, arguments)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"\n{root.name}, {name}: no figures: {error}")
            continue
        figures["projects"][f"{root.name} {name}"] = row
        counts = f"{row['answered']} of {row['asked']} sites answered, of {row['sites']}"
        print(f"\n{root.name}, {name}: {row['files']} files, {counts}")
        print(limits_of(row))
        show(row["sides"])
        if arguments.json:
            write(head | figures)
    print()
    print_machine(head)


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__)
    parser.add_argument("projects", nargs="+", metavar="REFERENCE=FOLDER")
    parser.add_argument("--peer", action="store_true", help="codegraph beside it")
    parser.add_argument("--sample", type=int, default=4000, help="sites of a project; 0 for all")
    parser.add_argument("--seconds", type=float, default=600, help="for a reference and a project")
    parser.add_argument(
        "--keep", default="", metavar="FOLDER", help="file for the reference's answers, a site a line"
    )
    parser.add_argument("--show", type=int, default=0, help="differences to print, of each kind")
    parser.add_argument("--exclude", default="", help="a word: files with it in their path are left out")
    parser.add_argument("--bare", action="store_true", help="names without parentheses are sites")
    return parser.parse_args()


def judge(name: str, root: Path, arguments: argparse.Namespace) -> Figures:
    files = list(files_of(root, LANGUAGES[name]))
    every = [
        (file, sites_of(file, bare=arguments.bare))
        for file in files
        if is_own(file) and (not arguments.exclude or arguments.exclude not in file.path)
    ]
    total = sum(len(sites) for _, sites in every)
    left_out = Counter[str]()
    for file, sites in every:
        left_out.update(calls_left_out(file, sites))
    operators = left_out.pop(OPERATOR, 0)
    step = max(1, total // arguments.sample) if arguments.sample else 1
    sampled = [(file, [s for s in sites if hash_of(s) % step == 0]) for file, sites in every]
    sampled = sorted(
        ((f, sites) for f, sites in sampled if sites), key=lambda row: digest(row[0].path.encode())
    )
    project = load(root, files)
    truth = Truth(root, project, ask(name, root, sampled, arguments.seconds))
    if arguments.keep:
        (Path(arguments.keep) / f"{root.name}.{name}").write_text("\n".join(answer_lines(truth)) + "\n")
    sides = {"cortex": our_answers(project)}
    if arguments.peer:
        try:
            sides["codegraph"] = peer_answers(root, sampled)
        except subprocess.TimeoutExpired as error:
            print(f"{root.name}: no codegraph: {error}", file=sys.stderr)
    sides_figures = {side: truth.compare(answers, arguments.show, side) for side, answers in sides.items()}
    return {
        "files": len(files),
        "sites": total,
        "asked": sum(len(sites) for _, sites in sampled),
        "answered": truth.answered,
        "calls": {
            "sites": share(total, total + sum(left_out.values())),
            "left_out": dict(left_out.most_common()),
            "operators": operators,
        },
        "no_opinion": share(truth.no_opinion, truth.answered),
        "load": os.getloadavg()[0],
        "sides": sides_figures,
    }


def hash_of(site: Site) -> int:
    """Return a hash of a site that is the same in every run."""
    return site[1] * 31 + site[2] * 17 + sum(site[0].encode())


def load(root: Path, files: Sequence[File]) -> Project:
    facts = {file.path: facts_of(file.source, digest(file.raw)) for file in files}
    project = Project(GRAPH_LANGUAGES, read_roots(str(root), facts))
    project.update({path: file_facts for path, file_facts in facts.items() if file_facts is not None})
    return project


def indexes(project: Project) -> Iterator[tuple[str, FileIndex]]:
    """Yield the files of a project, each unpacked as its turn comes."""
    return ((path, project.index(path)) for path in project.packed)


def ask(
    name: str, root: Path, sampled: Sequence[tuple[File, Sequence[Site]]], seconds: float
) -> Iterator[tuple[Site, list[Target]]]:
    if name in _CHECKERS:
        return _CHECKERS[name](root, sampled, seconds)
    return ask_server(name, root, sampled, seconds)


class Truth:
    """The reference's answers, as lines of definitions."""

    def __init__(self, root: Path, project: Project, answers: Iterable[tuple[Site, list[Target]]]) -> None:
        self.project = project
        self.files: dict[str, File | None] = {}
        self.root = root
        #: sites that the reference answered; those of them at which it names nothing of use
        self.answered = self.no_opinion = 0
        #: site → (places in the project, kind): no places if the target is outside it
        self.of: dict[Site, tuple[frozenset[Place], str]] = {}
        #: site → the places that the reference names itself, where further ones count
        self.named: dict[Site, frozenset[Place]] = {}
        #: site of a called value → its holder
        self.holders: dict[Site, str] = {}
        self.type_places = types_of_constructors(project)
        #: places of the names of definitions
        self.names: set[Site] = {
            (path, definition.line, definition.column)
            for path, index in indexes(project)
            for definition in index.facts.definitions
        }
        self.functions: dict[str, set[Place]] = {}
        self.declared: dict[Place, str] = {}
        #: signature of an overloaded function → the place of its body
        self.bodies: dict[Place, Place] = {}
        #: a trait's method in Rust → the methods of its `impl`s: the checker names the trait's for
        #: any type
        self.implementations: dict[Place, set[Place]] = {}
        self._read_bodies()
        self._read_impls()
        for site, targets in answers:
            self.answered += 1
            inside = [self._name_position(*target) for target in targets if target is not None]
            if inside and all(self._is_call(*target) for target in inside):
                self.no_opinion += 1  # C's first use of an undeclared name: the checker lacks a header
                continue
            if any((path, line) == site[:2] and abs(column - site[2]) <= 1 for path, line, column in inside):
                continue  # a definition's own name
            if inside and (kind := self._kind(inside)) != "import":
                places = {(path, line) for path, line, _ in inside}
                places |= {self.type_places[place] for place in places if place in self.type_places}
                places |= {self.bodies[place] for place in places if place in self.bodies}
                named = frozenset(places)
                for path, line, column in inside:
                    places |= self._bodies(path, line, column)
                places |= {other for place in places for other in self.implementations.get(place, ())}
                if site in self.names and site[:2] in places:
                    continue  # the name of a definition, behind a macro that the grammar does not read
                self.of[site] = frozenset(places), "value" if kind in HOLDERS else kind
                if places != named:
                    self.named[site] = named
                if kind in HOLDERS:
                    self.holders[site] = kind
            elif targets and not inside:
                self.of[site] = frozenset(), "outside"
            else:
                self.no_opinion += 1

    def _read_bodies(self) -> None:
        """Find the bodies of signatures and prototypes, and members of C++ by their types'
        names.
        """
        for path, index in indexes(self.project):
            full_definitions = {
                definition.qualified: definition
                for definition in index.facts.definitions
                if definition.kind in CALLABLE_KINDS
            }
            full_definitions |= {
                definition.qualified: definition
                for definition in index.facts.definitions
                if "overload" not in definition.flags and definition.kind in CALLABLE_KINDS
            }
            for definition in index.facts.definitions:
                place = (path, definition.line)
                if "overload" in definition.flags and definition.qualified in full_definitions:
                    self.bodies[place] = (path, full_definitions[definition.qualified].line)
                    continue
                free = definition.kind != "method" or not any(
                    self.project.types_named(self.project.home(path), definition.scope)
                )
                if "declared" in definition.flags:
                    self.declared[place] = definition.name if free else definition.qualified
                elif path.endswith(C_SOURCES):
                    self.functions.setdefault(definition.name if free else definition.qualified, set()).add(
                        place
                    )

    def _read_impls(self) -> None:
        traits: dict[tuple[str, str], set[Place]] = {}
        for path, index in indexes(self.project):
            for definition in index.facts.definitions:
                outer = index.facts.definitions[definition.parent] if definition.parent >= 0 else None
                if outer is not None and outer.kind == "trait" and index.facts.language == "rust":
                    traits.setdefault((outer.name, definition.name), set()).add((path, definition.line))
        for path, index in indexes(self.project):
            for extension in index.facts.extensions:
                name = extension.base.chain.rpartition(".")[2]
                for definition in index.facts.definitions:
                    if definition.scope == extension.type:
                        for place in traits.get((name, definition.name), ()):
                            self.implementations.setdefault(place, set()).add((path, definition.line))

    def _file(self, path: str) -> File | None:
        if path not in self.files:
            self.files[path] = read(self.root, path)
        return self.files[path]

    def _name_position(self, path: str, line: int, column: int) -> tuple[str, int, int]:
        file = self._file(path)
        return (
            (path, line, column) if file is None or column < 0 else (path, *name_position(file, line, column))
        )

    def _bodies(self, path: str, line: int, column: int) -> set[Place]:
        """Return the functions of C or C++ that a header's prototype declares; for a member, its
        type's.

        A reference that reads a file with its headers alone gets no further than the prototype.
        """
        file = self._file(path)
        if file is None or not path.endswith(C_HEADERS):
            return set()
        if (member := self.declared.get((path, line))) is not None:
            return self.functions.get(member, set())
        word = re.match(rb"\w+", file.lines[line - 1][column:])
        return self.functions.get(word[0].decode(), set()) if word else set()

    def _is_call(self, path: str, line: int, column: int) -> bool:
        file = self._file(path)
        return file is not None and is_callee(file, line, column)

    def _kind(self, targets: Sequence[tuple[str, int, int]]) -> str:
        kinds = set()
        for path, line, column in targets:
            file = self._file(path)
            kinds.add(holder_at(file, line, column) if file is not None else "other")
        return next((kind for kind in ("static", "dispatch", *HOLDERS) if kind in kinds), "import")

    def compare(self, answers: Answers, differences_max: int, side: str) -> Figures:
        right, judged = Counter[str](), Counter[str]()
        wanted, recalled, listed = Counter[str](), Counter[str](), Counter[str]()
        edges, several = Counter[bool](), Counter[bool]()
        several_sites = widened = unjudged = 0
        holders, called = Counter[str](), Counter[str]()
        wrong: list[Any] = []
        missed: list[Any] = []
        for site, (places, kind) in self.of.items():
            ours, confidence = answers.of.get(site, (frozenset(), ""))
            hit = bool(ours & places)
            sure = bool(ours) and site not in answers.unsure
            if sure and (hit or kind != "value"):
                judged[confidence] += 1
                right[confidence] += hit
                widened += hit and not ours & self.named.get(site, places)
                verdicts = Counter(bool(edge & places) for edge in answers.edges[site])
                edges += verdicts
                if len(answers.edges[site]) > 1:
                    several_sites += 1
                    several += verdicts
                if not hit:
                    wrong.append((site, confidence, set(ours), set(places) or "outside", kind))
            elif sure:
                unjudged += 1
            if holder := self.holders.get(site):
                holders[holder] += 1
                called[holder] += hit and sure
            if places:
                wanted[kind] += 1
                recalled[kind] += hit and sure
                listed[kind] += hit
                if not hit and not ours:
                    missed.append((site, kind, set(places)))
        for difference in (*spread(wrong, differences_max), *spread(missed, differences_max)):
            print(f"{side}: {'wrong' if len(difference) == 5 else 'missed'}", *difference, file=sys.stderr)
        return {
            "precision": share(sum(right.values()), sum(judged.values())),
            "edges": share(edges[True], edges.total()),
            "static recall": share(recalled["static"], wanted["static"]),
            "raw recall": share(sum(recalled.values()), sum(wanted.values())),
            "listed": share(sum(listed.values()), sum(wanted.values())),
            "judged": sum(judged.values()),
            "by_confidence": {name: f"{right[name]}/{judged[name]}" for name in sorted(judged)},
            "by_kind": {kind: f"{recalled[kind]}/{wanted[kind]}" for kind in sorted(wanted)},
            "by_holder": {holder: f"{called[holder]}/{count}" for holder, count in sorted(holders.items())},
            "several": {"sites": several_sites, "edges": f"{several[True]}/{several.total()}"},
            "unjudged": unjudged,
            "widened": widened,
        }


def limits_of(row: Figures) -> str:
    """Return two lines: the calls that are no sites, and the sites without an opinion."""
    calls = row["calls"]
    forms = ", ".join(f"{form} {count}" for form, count in calls["left_out"].items())
    return (
        f"  calls: {percent(calls['sites'])} are sites; others: {forms or 'none'}; operators {calls['operators']}\n"
        f"  reference: no opinion at {percent(row['no_opinion'])} of the answered sites"
    )


def percent(part: float | None) -> str:
    return "–" if part is None else f"{part:.1%}"


def answer_lines(truth: Truth) -> list[str]:
    """Return the reference's answers: path, line, column, kind, and the possible places."""
    return [
        " ".join([*map(str, site), kind, *sorted(f"{path}:{line}" for path, line in places)])
        for site, (places, kind) in sorted(truth.of.items())
    ]


def types_of_constructors(project: Project) -> dict[Place, Place]:
    """Return the place of a constructor → the place of its type."""
    places = {}
    for path, index in indexes(project):
        definitions = index.facts.definitions
        for definition in definitions:
            type_name = definition.scope.rpartition(".")[2]
            if type_name and (definition.name in _CONSTRUCTOR_NAMES or definition.name == type_name):
                parent = definitions[definition.parent] if definition.parent >= 0 else None
                outer = next(
                    (
                        other
                        for other in (parent, *definitions)
                        if other and other.qualified == definition.scope
                    ),
                    None,
                )
                if outer is not None:
                    places[path, definition.line] = (path, outer.line)
    return places


def spread(rows: Sequence[Any], count: int) -> Sequence[Any]:
    """Return `count` of all rows, evenly."""
    return rows[:: max(1, len(rows) // count)][:count] if count else ()


def share(count: int, total: int) -> float | None:
    return round(count / total, 4) if total else None


def our_answers(project: Project) -> Answers:
    evaluator = Evaluator(project)
    places = {
        project.id_of((path, at)): (path, definition.line)
        for path, index in indexes(project)
        for at, definition in enumerate(index.facts.definitions)
    }
    answers = Answers()
    for path in project.packed:
        for edge in sorted(edges_of(project, evaluator, path), key=lambda edge: edge.type != "references"):
            if edge.type in _COUNTED:
                targets = [edge.target] if edge.target else edge.candidates
                site = (path, edge.location.line, edge.location.column)
                answers.add(site, {places[target] for target in targets if target in places}, edge.confidence)
                if not edge.target:
                    answers.unsure.add(site)
    return answers


def peer_answers(root: Path, sampled: Sequence[tuple[File, Sequence[Site]]]) -> Answers:
    answers = Answers()
    for site, places in ask_codegraph(root, sampled):
        answers.add(site, places, "any")
    return answers


def show(sides: Mapping[str, Figures]) -> None:
    columns = ("precision", "edges", "static recall", "raw recall", "listed", "judged")
    print_table(
        ("side", *columns), [(side, *(row[column] for column in columns)) for side, row in sides.items()]
    )
    for side, row in sides.items():
        for kind in ("by_confidence", "by_kind"):
            print(f"  {side}: " + ", ".join(f"{name} {value}" for name, value in row[kind].items()))
        holders = ", ".join(f"{name} {value}" for name, value in row["by_holder"].items())
        several = row["several"]
        print(
            f"  {side}: several edges at {several['sites']} sites, right {several['edges']}; "
            f"value: {holders or 'none'}; unjudged {row['unjudged']}; widened {row['widened']}"
        )


if __name__ == "__main__":
    sys.exit(main())
