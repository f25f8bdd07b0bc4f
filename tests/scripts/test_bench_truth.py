"""The figures of graph_truth.py from sources and a reference's answers; no reference runs here."""

import importlib
import re
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
    assert truth.answered == len(reference)
    assert set(truth.of) == {constructed, value, outside}
    assert figures["by_confidence"] == {"exact": "1/1", "name": "0/1"}
    assert figures["by_kind"] == {"static": "1/1", "value": "0/1"}
    shares = [figures[name] for name in ("precision", "static recall", "raw recall", "listed")]
    assert shares == [0.5, 1.0, 0.5, 1.0]


def test_a_share_of_nothing_is_no_figure(load):
    assert load("graph_truth").share(0, 0) is None


def test_shown_rows_are_spread_over_all(load):
    assert list(load("graph_truth").spread(range(100), 4)) == [0, 25, 50, 75]
    assert list(load("graph_truth").spread(range(3), 0)) == []
