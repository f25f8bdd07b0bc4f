"""The figures of graph_truth.py from sources and a reference's answers; no reference runs here."""

import dataclasses
import importlib
import re
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module


@pytest.fixture
def read(load, tmp_path):
    def read(path, text):
        (tmp_path / path).write_text(text)
        return load("truth_sites").read(tmp_path, path)

    return read


@pytest.mark.parametrize(
    ("path", "text", "called"),
    [
        ("a.py", 'def f(x):\n    g(h(x))\n    x.y.z()\n    "no(1)"  # no(2)\n', ["g", "h", "z"]),
        ("a.ts", "class A { m() { new B<C>(); d<E>(1); this.f?.(2); } }\n", ["B", "d", "f"]),
        ("a.go", "package a\n\nfunc (s *S) M() { go N(); s.t.U() }\n", ["N", "U"]),
        ("a.java", "class A { int m() { return n(new B(1)).o(); } }\n", ["n", "B", "o"]),
        ("a.c", "int f(int x) { return g(x) + (h)(x); }\n", ["g"]),
        (
            "a.cpp",
            "int f() { x.g<int>(1); return std::h<int>(2); }\ntemplate<> void k<int>() {}\n",
            ["g", "h"],
        ),
        ("a.rs", 'fn f() { g::<u8>(1); println!("{}", h(2)); }\n', ["g", "println", "h"]),
        ("a.php", "<?php\nfunction f() { g(); $a->h(); new B(); A::k(); }\n", ["g", "h", "B", "k"]),
    ],
)
def test_sites_are_names_before_parentheses_and_after_new_but_no_definitions(load, read, path, text, called):
    file = read(path, text)
    names = [
        re.match(rb"\w+", file.lines[line - 1][column:])[0].decode()
        for _, line, column in load("truth_sites").sites_of(file)
    ]
    assert names == called


@pytest.mark.parametrize(
    ("path", "text", "forms"),
    [
        ("a.py", "@cached\n@route(1)\ndef f(): return a.b(c)()\n", {"decorator": 1, "other callee": 1}),
        (
            "a.tsx",
            "@Part\nclass A { x = <Page a={f(1)}><div/><Menu.Row/></Page>; }\n",
            {"decorator": 1, "JSX": 2},
        ),
        (
            "a.js",
            "f(1); new A; new B.C(2); tag`x`; (0, f)(1);\n",
            {"without parentheses": 1, "other callee": 1},
        ),
        ("a.go", "package a\n\nfunc f() { g(1); a.b[int](2); func() {}() }\n", {"other callee": 1}),
        (
            "a.kt",
            "fun f() { g { it }; h(1) { 2 }; a shl b; x + y }\n",
            {"block": 1, "infix": 1, "operator": 1},
        ),
        (
            "a.scala",
            "object A { f(1); a map g; h { 1 }; x + y }\n",
            {"block": 1, "infix": 1, "operator": 1},
        ),
        ("a.scala", "object A { f(1)(2); g(1) { case 2 => 3 }; new B { def c = 1 } }\n", {}),
        ("a.cs", "class A { void F() { G(); a.B<int>(); A b = new(2); } }\n", {"other callee": 1}),
        ("a.cpp", "int f() { g(); a.b<int>(); return std::max<int>(1, 2); }\n", {}),
        ("a.rs", "fn f() { a.b::<T>(2); vec![h(1)]; }\n", {"without parentheses": 1}),
        ("a.swift", "func f() { g(1); xs.map { $0 }; xs[1] }\n", {"block": 1}),
        (
            "a.rb",
            "def f\n  g 1\n  a.b\n  c(1)\n  d(1) { 2 }\n  a.map { |x| x }\n  A.new\nend\n",
            {"without parentheses": 3, "block": 1},
        ),
        ("a.java", "class A { A() { this(g()); } }\n", {"other callee": 1}),
        ("a.php", "<?php f(1); new A; $a?->d(); ($x)(2);\n", {"other callee": 1}),
        ("a.c", "int f(void) { g(1); return (*h)(2); }\n", {"other callee": 1}),
    ],
)
def test_calls_that_are_no_sites_are_counted_by_form(load, read, path, text, forms):
    file = read(path, text)
    assert load("truth_calls").calls_left_out(file, load("truth_sites").sites_of(file)) == forms


@pytest.mark.parametrize(
    ("path", "text", "at", "holder"),
    [
        ("a.py", "def f(g):\n    return g()\n", (1, 6), "parameter"),
        ("a.ts", "const f = g();\n", (1, 6), "variable"),
        ("a.ts", "class A { f: () => void }\n", (1, 10), "field"),
        ("a.go", "package a\n\ntype S struct { f func() }\n", (3, 16), "field"),
        ("a.py", "for f in g:\n    f()\n", (1, 4), "variable"),
        ("a.cpp", "void f(int n) { Archive save(n); save(1); }\n", (1, 24), "variable"),
        ("a.cpp", "class A { std::function<int()> run_; };\n", (1, 31), "field"),
        ("a.cpp", "struct A { void (*run)(int); };\n", (1, 18), "field"),
        ("a.c", "static void (*hook)(int) = note;\n", (1, 14), "variable"),
        ("a.cpp", "class A { int *run(int n); };\n", (1, 15), "static"),
        ("a.cpp", "int run(int n);\n", (1, 4), "static"),
    ],
)
def test_a_called_value_has_a_holder(load, read, path, text, at, holder):  # noqa: PLR0917
    assert load("truth_sites").holder_at(read(path, text), *at) == holder


@pytest.mark.parametrize(
    ("path", "text", "at", "kind"),
    [
        ("a.py", "class A:\n    def m(self): ...\n", (2, 8), "static"),
        ("a.py", "def f(g):\n    return g()\n", (1, 6), "value"),
        ("a.ts", "interface A { m(): void }\n", (1, 14), "dispatch"),
        ("a.ts", "const f = () => 1;\n", (1, 6), "static"),
        ("a.ts", "const f = g();\n", (1, 6), "value"),
        ("a.ts", "import { f } from 'x';\n", (1, 9), "import"),
        ("a.js", "var http = require('http');\n", (1, 4), "import"),
        ("a.js", "const { get } = require('http');\n", (1, 8), "import"),
        ("a.go", "package a\n\ntype S interface { M() }\n", (3, 19), "dispatch"),
        ("a.java", "abstract class A { int m() { return 1; } }\n", (1, 23), "static"),
    ],
)
def test_the_kind_of_a_target_is_read_from_its_text(load, read, path, text, at, kind):  # noqa: PLR0917
    assert load("truth_sites").kind_at(read(path, text), *at) == kind


def test_the_start_of_a_definition_maps_to_its_name(load, read):
    file = read(
        "a.php", "<?php\nclass A {\n    /** Says. */\n    public function m() { return $this->m(); }\n}\n"
    )
    named_at = load("truth_sites").name_position
    assert named_at(file, 3, 4) == named_at(file, 4, 4) == (4, 20)
    assert named_at(file, 4, 20) == (4, 20)
    assert named_at(file, 4, 33) == (4, 33)


def test_a_go_project_that_is_asked_offline_requires_nothing(load):
    text = "module a.b/c\n\ngo 1.19\n\nrequire x.org/y v1.0.0\n\nrequire (\n\tx.org/z v1.2.0 // indirect\n)\n"
    assert load("truth_checkers").requiring_nothing(text).split() == ["module", "a.b/c", "go", "1.19"]


SOURCE = "import os\n\n\nclass A:\n    def __init__(self): ...\n\n\ndef f(g):\n    A()\n    g()\n    os()\n"


def compare_with_truth(load, root, reference, ours):
    """Return the figures over one file, from a reference's answers and ours."""
    truth = load("graph_truth")
    (root / "a.py").write_text(SOURCE)
    files = list(load("truth_sites").files_of(root, ("python",)))
    reference_truth = truth.Truth(root, truth.load(root, files), reference)
    answers = truth.Answers()
    for site, places, confidence in ours:
        answers.add(site, places, confidence)
    return reference_truth, reference_truth.compare(answers, 0, "ours")


def test_right_wrong_missed_and_unsure_calls_are_counted_apart(load, tmp_path):
    constructed, value, outside = ("a.py", 9, 4), ("a.py", 10, 4), ("a.py", 11, 4)
    reference = [
        (constructed, [("a.py", 5, 8)]),
        (value, [("a.py", 8, 6)]),
        (outside, [None]),
        (("a.py", 8, 4), [("a.py", 8, 4)]),  # a definition's own name
        (("a.py", 11, 0), [("a.py", 1, 7)]),  # an import that leads nowhere
        (("a.py", 12, 0), []),
    ]
    ours = [
        (constructed, [("a.py", 4)], "exact"),
        (outside, [("a.py", 8)], "name"),
        (value, [("a.py", 8), ("a.py", 4)], "name"),
    ]
    truth, figures = compare_with_truth(load, tmp_path, reference, ours)
    assert (truth.answered, truth.no_opinion) == (len(reference), 2)
    assert set(truth.of) == {constructed, value, outside}
    assert figures["by_confidence"] == {"exact": "1/1", "name": "0/1"}
    assert figures["by_kind"] == {"static": "1/1", "value": "0/1"}
    shares = [figures[name] for name in ("precision", "static recall", "raw recall", "listed")]
    assert shares == [0.5, 1.0, 0.5, 1.0]


def test_edges_of_one_site_are_also_counted_one_by_one(load, tmp_path):
    constructed, value = ("a.py", 9, 4), ("a.py", 10, 4)
    reference = [(constructed, [("a.py", 5, 8)]), (value, [("a.py", 8, 6)])]
    ours = [
        (constructed, [("a.py", 4)], "exact"),
        (constructed, [("a.py", 8)], "exact"),
        (value, [("a.py", 4)], "name"),
    ]
    _, figures = compare_with_truth(load, tmp_path, reference, ours)
    assert (figures["precision"], figures["edges"]) == (1.0, 0.5)
    assert figures["several"] == {"sites": 1, "edges": "1/2"}
    assert (figures["unjudged"], figures["by_holder"]) == (1, {"parameter": "0/1"})


def test_sites_that_are_right_by_a_further_definition_are_counted(load, tmp_path):
    """A header's prototype stands for each function of its name."""
    truth = load("graph_truth")
    (tmp_path / "a.h").write_text("int f(int x);\n")
    (tmp_path / "a.c").write_text(
        '#include "a.h"\nint f(int x) { return x; }\nint g(void) { return f(1); }\n'
    )
    files = list(load("truth_sites").files_of(tmp_path, ("c",)))
    site = ("a.c", 3, 22)
    reference = truth.Truth(tmp_path, truth.load(tmp_path, files), [(site, [("a.h", 1, 4)])])
    answers = truth.Answers()
    answers.add(site, [("a.c", 2)], "exact")
    figures = reference.compare(answers, 0, "ours")
    assert (figures["precision"], figures["widened"]) == (1.0, 1)


def test_the_limits_of_figures_are_printed(load):
    truth = load("graph_truth")
    calls = {"sites": 0.365, "left_out": {"without parentheses": 6573}, "operators": 806}
    lines = truth.limits_of({"calls": calls, "no_opinion": 0.6})
    assert lines.split("\n") == [
        "  calls: 36.5% are sites; others: without parentheses 6573; operators 806",
        "  reference: no opinion at 60.0% of the answered sites",
    ]


def test_a_share_of_nothing_is_no_figure(load):
    assert load("graph_truth").share(0, 0) is None


def test_shown_rows_are_spread_over_all(load):
    assert list(load("graph_truth").spread(range(100), 4)) == [0, 25, 50, 75]
    assert list(load("graph_truth").spread(range(3), 0)) == []


#: a server that has a target for each word, and a description of those in its syntax tree
_GUESSING = """
import json, sys

def send(body):
    text = json.dumps(body).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(text), text))
    sys.stdout.buffer.flush()

text = ""
while head := sys.stdin.buffer.readline():
    size = int(head.split(b":")[1])
    sys.stdin.buffer.readline()
    message = json.loads(sys.stdin.buffer.read(size))
    method = message.get("method")
    if method == "textDocument/didOpen":
        document = message["params"]["textDocument"]
        uri = document["uri"]
        dead = document["text"].split("\\n").index("#if 0")
    if "id" not in message:
        continue
    result = {"contents": ""} if method == "initialize" else None
    if method == "textDocument/definition":
        start = {"line": 0, "character": 4}
        result = [{"uri": uri, "range": {"start": start, "end": start}}]
    elif method == "textDocument/hover" and message["params"]["position"]["line"] < dead:
        result = {"contents": "int save()"}
    send({"jsonrpc": "2.0", "id": message["id"], "result": result})
"""


def test_a_guess_of_a_language_server_is_no_answer(load, read, tmp_path, monkeypatch):
    checkers, sites = load("truth_checkers"), load("truth_sites")
    (tmp_path / "server.py").write_text(_GUESSING)
    file = read(
        "a.cpp",
        "int save() { return 1; }\nint a() { return save(); }\n#if 0\nint b() { return save(); }\n#endif\n",
    )
    command = (sys.executable, str(tmp_path / "server.py"))
    server = dataclasses.replace(checkers.SERVERS["clangd"], command=command)
    for guesses, second in ((True, []), (False, [("a.cpp", 1, 4)])):
        monkeypatch.setitem(checkers.SERVERS, "clangd", dataclasses.replace(server, guesses=guesses))
        answers = dict(checkers.ask_server("clangd", tmp_path, [(file, sites.sites_of(file))], 60))
        assert [answers[site] for site in sorted(answers)] == [[("a.cpp", 1, 4)], second]
