"""Uses of a name that the project defines, where syntax cannot tell the definition."""

import pytest

from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.resolve import resolve_file
from tests.graph.small_graphs import project_of

DEFINES = "def step():\n    pass\n\n\nclass Disk:\n    def save(self):\n        pass\n"


def unresolved(files, path):
    project = project_of(files)
    return resolve_file(project, Evaluator(project), path)[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(thing):\n    thing.step()\n", {"step": [2]}),
        ("def f(thing):\n    thing.step()\n\n\ndef g(other):\n    other.inner.step()\n", {"step": [2, 6]}),
        ("from store import Disk\n\n\ndef f():\n    Disk().step()\n", {"step": [5]}),
        # the receiver is a library's, or a built-in
        ("import os\n\n\ndef f():\n    os.step()\n", {}),
        ("def f():\n    open('a').step()\n", {}),
        # the name is a parameter, or a variable
        ("def f(step):\n    step()\n", {}),
        ("def f(make):\n    step = make()\n    step()\n", {}),
        # resolved
        ("from store import step\n\nstep()\n", {}),
        ("def f(thing):\n    thing.save()\n", {}),
        # a name that the project does not define
        ("def f(thing):\n    thing.other()\n", {}),
    ],
)
def test_what_is_unresolved_in_python(text, expected):
    assert unresolved({"store.py": DEFINES, "run.py": text}, "run.py") == expected


@pytest.mark.parametrize(
    ("files", "path", "expected"),
    [
        (
            {"a.js": "export function step() {}\n", "b.js": "function f(x) { x.step(); console.step(); }\n"},
            "b.js",
            {"step": [1]},
        ),
        (
            {"a.go": "package a\n\nfunc step() {}\n", "b/b.go": "package b\n\nfunc f(x any) { x.step() }\n"},
            "b/b.go",
            {"step": [3]},
        ),
        (
            {"A.java": "class A { void step() {} }\n", "B.py": "def f(x):\n    x.step()\n"},
            "B.py",
            {},
        ),
    ],
)
def test_what_is_unresolved_elsewhere(files, path, expected):
    assert unresolved(files, path) == expected


def test_a_name_counts_while_it_is_defined():
    files = {"store.py": DEFINES, "run.py": "def f(thing):\n    thing.step()\n"}
    project = project_of(files)
    project.update({"store.py": None})
    assert resolve_file(project, Evaluator(project), "run.py")[1] == {}


def test_a_call_that_fits_too_many_overloads_of_a_type_in_the_package_is_unresolved():
    kinds = [f"K{n}" for n in range(13)]
    overloads = "".join(f"  Sink put({kind} value, int at) {{ return this; }}\n" for kind in kinds)
    types = "".join(f"class {kind} {{}}\n" for kind in kinds)
    files = {
        "shop/Sink.java": f"package shop;\n{types}class Sink {{\n{overloads}}}\n",
        "shop/Use.java": "package shop;\nclass Use {\n  void run(Object a) {\n    new Sink().put(a, 1);\n    Sink.put(a, 2);\n"
        "    String.put(a, 3);\n  }\n}\n",
    }
    assert unresolved(files, "shop/Use.java") == {"put": [4, 5]}
