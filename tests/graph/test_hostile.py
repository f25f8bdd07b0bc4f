"""Texts that only programs write: the graph reads and resolves them in a bounded number of steps,
and no file loses its graph because of its size.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest
from tree_sitter import QueryCursor

from cortex.graph.facts.captures import LAYER, captures_of, matches_of, query_of
from cortex.graph.facts.declared.types import alternatives
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.calling.targets import TWINS_MAX
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.parse import syntax_tree
from cortex.indexer.syntax.source import Source, decode
from cortex.terms.languages import sniff
from tests.graph.small_graphs import calls_in, project_of

#: content of the file → its name and its text; a pattern that backtracks takes minutes for each
LONG = {
    "blanks before a constructor": ("a.kt", " " * 40_000 + "constructorx"),
    "annotations before a constructor": ("a.kt", "@a(b) " * 8_000 + "constructor x"),
    "blanks behind a class's name": ("a.kt", "class a" + " " * 40_000 + "x\nconstructor("),
    "escaped quotes in a macro's arguments": ("a.cpp", 'A(bool,"\n' + 'A(bool,\\"\n' * 20_000),
    "a long word of an annotation": ("a.cpp", "int a LOCK_" + "LOCK_" * 4_000),
    "conditions inside one another": ("a.c", "#if A\n" * 6_000 + "int x;\n" + "#endif\n" * 6_000),
    "conditions that go on over lines": ("a.c", "#if a \\\n" * 20_000 + "\n" + "#endif\n" * 20_000),
    "blocks inside one another": (
        "a.kt",
        "class D {\n fun s() {}\n}\nfun f(x: D) {\n" + "x.apply { " * 60 + "s()" + " }" * 60 + "\n}\n",
    ),
    "calls behind one another in a block": ("a.kt", "fun f() {\n" + "s(1)\n" * 30_000 + "}\n"),
    "calls on results of calls": ("a.js", "x" + ".s(1)" * 4_000 + "\n"),
    "calls on results of calls, with their numbers of arguments": (
        "a.java",
        "class R { Object r() { return x" + ".s(1)\n" * 8_000 + "; } }\n",
    ),
    "calls on results of calls, which may have blocks": ("a.kt", "fun f() { x" + ".s(1)" * 8_000 + " }\n"),
    "blocks on results of blocks": ("a.kt", "fun f() {\n x" + ".s(1) { it }\n" * 2_000 + "}\n"),
    "star imports from star imports": (
        "a.scala",
        "package p\n" + "".join(f"import x{n}.y{n}._\n" for n in range(30)) + "class D { def f = s() }\n",
    ),
    "macros that begin and do not end": ("a.rs", "foo! {\nmod a;\n" * 20_000),
    "a long word behind typename": ("a.cpp", "auto y = f(typename " + "a" * 400_000 + ";\n"),
    "names that a Ruby macro computes": (
        "a.rb",
        "class D\n def self.s(n)\n" + "define_method(n) { 1 }\n" * 12_000 + "end\nend\n",
    ),
    "unnamed Ruby classes": ("a.rb", "Class.new(D) do\n def s(n)\n end\nend\n" * 16_000),
    "methods for words of a Ruby constant": (
        "a.rb",
        "class D\n"
        + "".join(f'W.each {{ |w{n}| define_method("#{{w{n}}}_s") {{ 1 }} }}\n' for n in range(12_000))
        + "end\n",
    ),
    "macros before braces in a comment": ("a.cpp", "// A_B {\n" * 20_000),
    "macros before braces in a directive": ("a.cpp", "#define X \\\n" + "  A_B { \\\n" * 20_000),
    "macros inside one another": ("a.rs", "foo! {\n" * 4_000 + "mod a;\n}\n"),
}
#: a process that reads one file after another: (path, text) as lines of JSON → "True"
_READ = """
import json, sys
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import Source
for line in sys.stdin:
    project, (path, text) = Project(LANGUAGES), json.loads(line)
    project.update({path: facts_of(Source(path, tuple(text.split("\\n"))), "0")})
    edges = list(edges_of(project, Evaluator(project), path))
    print(True, flush=True)
"""
#: seconds for one file
READ_S = 60


@pytest.fixture(scope="module")
def reader():
    """A function that returns what a process of its own prints of a file: a pattern that backtracks
    holds the interpreter, and only another process can end it. It starts anew after a failure.
    """
    processes: list[subprocess.Popen[str]] = []

    def read(path: str, text: str) -> str:
        if not processes or processes[-1].poll() is not None:
            command = [sys.executable, "-P", "-c", _READ]
            processes.append(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
        process = processes[-1]
        timer = threading.Timer(READ_S, process.kill)
        timer.start()
        try:
            process.stdin.write(json.dumps((path, text)) + "\n")
            process.stdin.flush()
            if not (answer := process.stdout.readline().strip()):
                process.wait()
            return answer
        finally:
            timer.cancel()

    yield read
    for process in processes:
        process.communicate()


@pytest.mark.parametrize("case", LONG)
def test_a_file_is_read_in_time_whatever_is_in_it(reader, case):
    assert reader(*LONG[case]) == "True"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.swift", "func f(a: Disk) { + += a }\nfunc g() { g() }\n"),
        ("a.swift", "func g() { g() }\nfunc f(a: Disk) { a[ = !\n  - }\n"),
        ("a.cpp", "void g() { g(); }\nvoid f(D a) { h(a && ...); while () {} - ; a ? ; operator () }\n"),
        ("a.cs", "class B { void G() { G(); } void F(Disk a) { var q = (Disk)a.; -; } }\n"),
        ("a.cs", "class B { void G() { G(); } void F(Disk a) { var q = a.[0]; } }\n"),
        ("a.cs", "class B { void G() { G(); } int f = + a; int x = a + ; }\n"),
        ("a.cs", "class B { void G() { G(); } public int this[int i] { get => 1; s{} } }\n"),
        ("shop_spec.rb", "def g\n g()\nend\ndescribe Shop do\n it { get-}\n end\n"),
    ],
)
def test_a_name_that_is_missing_costs_a_file_no_graph(path, text, caplog):
    assert calls_in(project_of({path: text}), path)
    assert not caplog.records


@pytest.mark.parametrize("between", [" | ", " & "])
def test_a_type_of_thousands_of_types_does_not_cost_a_file_its_graph(between):
    names = between.join(f"Part{number}" for number in range(3_000))
    packed = facts_of(Source("a.ts", (f"type Any = {names};", "export function go() {}")), "0")
    assert packed is not None
    project = Project(LANGUAGES)
    project.update({"a.ts": packed})
    assert "go" in {definition.name for definition in project.index("a.ts").facts.definitions}


def test_a_call_leads_to_a_bounded_number_of_twin_functions():
    lines = ("expect fun s(x: Int)", *["actual fun s(x: Int) {}"] * 300, "fun go() {", *["s(1)"] * 9, "}")
    packed = facts_of(Source("a.kt", lines), "0")
    assert packed is not None
    project = Project(LANGUAGES)
    project.update({"a.kt": packed})
    calls = [edge for edge in edges_of(project, Evaluator(project), "a.kt") if edge.type == "calls"]
    assert len(calls) == TWINS_MAX * 9


def test_chains_that_no_language_writes_raise_nothing():
    packed = facts_of(Source("a.py", ("def f():", "    return f")), "0")
    assert packed is not None
    project = Project(LANGUAGES)
    project.update({"a.py": packed})
    for chain in ("f(abc)", "f(_x)", "f(^)", "f(~\N{SUPERSCRIPT TWO})", "f(\N{SUPERSCRIPT TWO})", "f("):
        Evaluator(project).evaluate(chain, "a.py", -1)
    assert Evaluator(project).evaluate("f()", "a.py", -1)


@pytest.mark.parametrize("text", ["ReturnType<>", "InstanceType<", "Awaited<", "Pick<>"])
def test_a_type_that_was_cut_off_says_nothing(text):
    assert alternatives(text) in ((), (text.strip("<>"),))


def test_calls_that_are_nested_deeper_than_a_layer_have_all_their_facts():
    depth = 3 * LAYER + 7
    text = "".join(f"f{at}(g{at}, {{ a: 1 }}, () =>\n" for at in range(depth)) + "last" + ")\n" * depth
    source = decode("a.ts", (f"export function top() {{}}\n{text};").encode())
    assert isinstance(source, Source)
    tree, query = syntax_tree(source, sniff("a.ts", source.lines))[1], LANGUAGES["typescript"].syntax
    queries = query_of(tree.language, query.package, query.queries)
    expected = sorted(
        (pattern, str(sorted(nodes))) for pattern, nodes in QueryCursor(queries).matches(tree.root_node)
    )
    assert (
        sorted((pattern, str(sorted(nodes))) for pattern, nodes in matches_of(tree.root_node, queries))
        == expected
    )
    values = query_of(tree.language, query.package, query.values or query.queries, "values")
    names = captures_of(tree.root_node, values)["value"]
    assert sorted(node.text for node in names) == sorted(f"g{at}".encode() for at in range(depth))
