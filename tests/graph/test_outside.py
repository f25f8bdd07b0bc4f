"""A call on an external receiver does not mean the project's only method of its name."""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest
from tests.graph.small_graphs import calls_in

#: file → its text; in each the project has a method `weighIt`
CASES = {
    "app.js": "class Scale {\n  weighIt() {}\n}\nfunction run(thing) {\n  console.weighIt();\n  Reflect.weighIt();\n  thing.weighIt();\n}\n",
    "app.py": "class Scale:\n    def weighIt(self): ...\ndef run(thing):\n    str.weighIt()\n    memoryview.weighIt()\n    thing.weighIt()\n",
    "App.java": "class Scale {\n  void weighIt() {}\n}\nclass App {\n  void run(var thing) {\n    Objects.weighIt();\n"
    "    Math.weighIt();\n    unknown().weighIt();\n  }\n}\n",
    "Star.java": "import java.util.*;\nimport static shop.Checks.*;\nclass Scale {\n  void weighIt() {}\n}\n"
    "class App {\n  void run(var thing) {\n    Double.weighIt();\n    unknown().weighIt();\n  }\n}\n",
    "star.kt": "import shop.*\nclass Scale {\n  fun weighIt() {}\n}\nfun run() {\n"
    "    Regex.weighIt()\n    unknown().weighIt()\n}\n",
}


@pytest.mark.parametrize("path", CASES)
def test_only_a_receiver_that_may_be_the_projects_is_guessed_by_the_name(path):
    raw = CASES[path].encode()
    project = Project(LANGUAGES)
    project.update({path: facts_of(decode(path, raw), digest(raw))})
    edges = calls_in(project, path)
    lines = raw.decode().split("\n")
    assert [lines[edge.location.line - 1].strip(" ;") for edge in edges] in (
        ["thing.weighIt()"],
        ["unknown().weighIt()"],
    )
    assert [edge.confidence for edge in edges] == ["name"]


def test_methods_of_streams_and_sockets_are_not_guessed_in_a_script():
    raw = (
        b"class Scale {\n  destroy() {}\n  weighIt() {}\n}\n"
        b"function run(thing) {\n  thing.destroy();\n  thing.weighIt();\n  new Scale().destroy();\n}\n"
    )
    for path in ("app.js", "app.ts", "app.tsx"):
        project = Project(LANGUAGES)
        project.update({path: facts_of(decode(path, raw), digest(raw))})
        edges = calls_in(project, path)
        sites = {(edge.location.line, edge.confidence) for edge in edges}
        assert sites == {(7, "name"), (8, "exact"), (8, "receiver")}


#: file → its text: `weigh`, besides a method of that name, calls an external function
BARE = {
    "app.py": "class Scale:\n    def floor(self): ...\n    def weigh(self):\n        floor(1)\n",
    "app.ts": "class Scale {\n  floor() {}\n  weigh() { const f = () => floor(1); }\n}\n",
    "app.go": "package app\n\ntype Scale struct{}\n\nfunc (s *Scale) floor() {}\nfunc (s *Scale) weigh() { floor() }\n",
    "app.rs": "struct Scale {}\nimpl Scale {\n    fn floor(&self) {}\n    fn weigh(&self) { floor(); }\n}\n",
    "app.php": "<?php\ntrait Scale {\n  function floor() {}\n  function weigh() { return floor(1); }\n}\n",
}


@pytest.mark.parametrize("path", BARE)
def test_a_bare_call_is_no_method_where_methods_need_a_receiver(path):
    raw = BARE[path].encode()
    project = Project(LANGUAGES)
    project.update({path: facts_of(decode(path, raw), digest(raw))})
    assert calls_in(project, path) == []


#: call sites in a Java class besides `Scale`, and those that may call Scale's method by name
GUESSES = [
    ("thing.weighIt(1)", True),
    ("thing.weighIt(1, 2)", False),
    ("Thing.class.weighIt(1)", False),
    ("getClass().weighIt(1)", False),
    ("Made.weighIt(1)", False),
    ("shop.made.Made.weighIt(1)", False),
    ("thing.getClass().weighIt(1)", False),
]


@pytest.mark.parametrize(("site", "is_called"), GUESSES)
def test_a_guess_by_name_needs_the_same_arity_and_a_receiver_that_is_no_type(site, is_called):
    text = f"import shop.made.Made;\nclass Scale {{\n  void weighIt(int a) {{}}\n}}\nclass App {{\n  void run(var thing) {{ {site}; }}\n}}\n"
    files = {"App.java": text, "Other.java": "package shop.made;\nclass Other {}\n"}  # `Made` is generated
    assert bool(_called(files, "App.java")) == is_called


@pytest.mark.parametrize(
    ("path", "defined_in", "is_called"),
    [
        ("src/app.py", "tests/scale.py", False),
        ("tests/test_app.py", "tests/scale.py", True),
        ("tests/app.py", "tests/scale.py", True),
        ("tests/test_app.py", "tests/test_scale.py", False),  # made for its own tests
        ("tests/test_app.py", "tests/test_helpers.py", True),
    ],
)
def test_product_code_is_not_guessed_to_call_methods_of_tests(path, defined_in, is_called):
    files = {
        defined_in: "class Scale:\n    def weigh_it(self): ...\n",
        path: "def run(thing):\n    thing.weigh_it()\n",
    }
    assert bool(_called(files, path)) == is_called


@pytest.mark.parametrize(("name", "is_called"), [("weigh_it", True), ("merge", False), ("key?", False)])
def test_methods_of_rubys_core_types_are_not_guessed(name, is_called):
    text = f"class Scale\n  def {name}(a)\n  end\nend\n\ndef run(thing)\n  thing.{name}(1)\nend\n"
    assert bool(_called({"app.rb": text}, "app.rb")) == is_called


def _called(files, path):
    project = Project(LANGUAGES)
    project.update({file: facts_of(decode(file, text.encode()), file) for file, text in files.items()})
    edges = calls_in(project, path)
    assert all(edge.confidence == "name" for edge in edges)
    return edges


@pytest.mark.parametrize(
    ("site", "is_called"),
    [("QTest::weighIt(1);", False), ("Box<Scale>::weighIt(1);", False), ("thing->weighIt(1);", True)],
)
def test_a_type_of_a_library_has_no_method_of_the_project_beside_a_name_space_that_is_used(site, is_called):
    files = {
        "scale.h": "class Scale {\npublic:\n  static void weighIt(int a);\n};\n",
        "app.cpp": f'#include "scale.h"\nusing namespace Outside;\nvoid run() {{ {site} }}\n',
    }
    assert bool(_called(files, "app.cpp")) == is_called


@pytest.mark.parametrize("method", ["post", "warning", "filter_by", "assert_called_with"])
def test_a_method_that_libraries_have_is_one_that_may_be_called_and_no_sure_one(method):
    files = {
        "own.py": f"class Own:\n    def {method}(self, *things): ...\n",
        "app.py": f"def run(client):\n    client.{method}(1)\n",
    }
    assert [(edge.confidence, bool(edge.candidates)) for edge in _called(files, "app.py")] == [("name", True)]


@pytest.mark.parametrize(
    ("path", "is_called"),
    [("src/menu.js", True), ("vendor/menu.js", False), ("public/menu.min.js", False)],
)
def test_code_that_is_made_elsewhere_is_guessed_to_call_its_own_file_alone(path, is_called):
    text = "class Own {\n  weighThat() {}\n  run(thing) {\n    thing.weighIt();\n    thing.weighThat();\n  }\n}\n"
    files = {"src/scale.js": "class Scale {\n  weighIt() {}\n}\n", path: text}
    lines = [edge.location.line for edge in _called(files, path)]
    assert lines == ([4, 5] if is_called else [5])
